"""The rule by which every mask of a set is read: decided once, then only applied."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
from typing import Any, Literal

import numpy as np

from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.base.names import VOID, Color
from voc_seg_tfrecord.formats.class_files import ClassFile, is_void, is_void_name
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.class_map import ClassMap
from voc_seg_tfrecord.masks.question import Void, colors_of_file, colors_of_values, colors_of_voc

By = Literal["index", "color"]
"""What gives a pixel's class: its value, or its colour."""


_Reading = Callable[[Void], Mapping[Any, int | str]]
"""Returns the name or 255 of each value or colour, by what means void."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """Whether values or colours give the class, and why.

    Attributes:
      by: `index` or `color`.
      reason: why, in a few words that are shown to the user.
      voc_colors: whether the colours are those of VOC's palette, not of a class file.
      voc_names: whether they mean VOC's classes by name; otherwise VOC's colour n is class n.
      grey_is_color: whether a grey value v stands for the colour (v, v, v) too.
      rgb_values: whether an RGB pixel (v, v, v) stands for the value v, because the user said
        that values decide, or nothing else fits.
      high_is_1: whether the value 255 stands for the class of the value 1.
      notes: what the user should look at.
    """

    by: By
    reason: str
    voc_colors: bool = False
    voc_names: bool = False
    grey_is_color: bool = False
    rgb_values: bool = False
    high_is_1: bool = False
    notes: tuple[str, ...] = ()


AS_SAID = Decision("index", "as you said", rgb_values=True)
"""The user said that values decide."""


@dataclasses.dataclass(frozen=True)
class MaskRule:
    """What the masks of a set mean, decided once for all of them. Frozen and picklable.

    Attributes:
      values: class index, or 255, by the value that a file has.
      colors: class index, or 255, by colour, where colours decide.
      grey_is_color: whether in a set that is read by colour a grey value v is the colour
        (v, v, v); otherwise it is a value.
      rgb_values: whether in a set that is read by value an RGB pixel (v, v, v) is the value v;
        otherwise RGB masks are refused.
      source: the name of the class file with the colours; empty where there is none.
      folders: `values` of the masks below each folder, where folders number the classes in
        different ways.
    """

    values: Mapping[int, int]
    colors: Mapping[Color, int] | None = None
    grey_is_color: bool = False
    rgb_values: bool = False
    source: str = ""
    folders: Mapping[str, Mapping[int, int]] = dataclasses.field(default_factory=dict)

    def of_mask(self, path: str) -> "MaskRule":
        """Returns the rule of one mask: that of its folder, where folders differ.

        Raises:
          MaskError: if folders differ, and the mask is in none of them.
        """
        if not self.folders:
            return self
        for folder, values in self.folders.items():
            if path.startswith(folder):
                return dataclasses.replace(self, values=values, folders={})
        raise MaskError(
            path,
            found="a mask outside the folders of splits, which number the classes in their own way",
            expected=f"a mask below one of {', '.join(self.folders)}",
            remedy="move the mask to its split",
        )

    def by_color(self, kind: str) -> bool:
        """Says whether colours give the classes of a mask of a kind of `stored.Samples`."""
        return self.colors is not None and (kind != "grey" or self.grey_is_color)

    def class_of(
        self, kind: str, value: int | None = None, color: Color | None = None
    ) -> int | None:
        """Returns the class index of a pixel; None if the rule does not know it.

        Args:
          kind: the kind of its mask; see `stored.Samples`.
          value: the pixel's value, in a palette or greyscale mask.
          color: its colour, in an RGB or palette mask; None beyond the end of a palette.
        """
        if kind == "rgb" and color is not None and self.colors is None:
            value = color[0] if self.rgb_values and len({*color}) == 1 else None
        if self.colors is None or not self.by_color(kind):
            return None if value is None else self.values.get(value)
        if kind == "grey" and value is not None:
            white = VOID if value == VOID and self.values.get(VOID) == VOID else None
            return self.colors.get((value, value, value), white)
        return None if color is None else self.colors.get(color)

    def mapped(self, class_map: ClassMap) -> "MaskRule":
        """Returns the rule that gives the classes of a map in place of the source's."""

        def new(values: Mapping[int, int]) -> dict[int, int]:
            return {value: class_map.index(index) for value, index in values.items()}

        folders = {folder: new(values) for folder, values in self.folders.items()}
        colors = self.colors
        if colors is not None:
            colors = {color: class_map.index(index) for color, index in colors.items()}
        return dataclasses.replace(self, values=new(self.values), colors=colors, folders=folders)

    @functools.cached_property
    def packed_colors(self) -> tuple[np.ndarray, np.ndarray]:
        """The known colours as sorted 24-bit numbers, and their classes."""
        packed = sorted((r << 16 | g << 8 | b, c) for (r, g, b), c in (self.colors or {}).items())
        keys, classes = zip(*packed, strict=True)
        return np.array(keys), np.array(classes, np.uint8)


def index_rule(num_classes: int) -> MaskRule:
    """Returns the rule of VOC itself: 0 to `num_classes` - 1 are classes, 255 is void."""
    return MaskRule({value: value for value in (*range(num_classes), VOID)})


def make_rule(
    class_names: Sequence[str],
    class_file: ClassFile | None,
    decision: Decision,
    *,
    values: Mapping[int, int] | None = None,
    void: Void = (VOID,),
) -> MaskRule:
    """Turns a decision into the rule by which each mask is read.

    Args:
      class_names: names in the order of the class indices.
      class_file: the labelling tool's class file, where there is one.
      decision: whether values or colours are the class.
      values: class index by mask value, where the user gave it.
      void: values, names and colours that mean void.

    Raises:
      ConfigError: if the class names are not those of the class file, and do not replace all
        of them either.
    """
    index_of = index_of_names(class_names, class_file, void, any_number=values is not None)
    if class_file and class_file.folders:
        _check_one_reading(class_file, decision, values)
    names = class_file.class_names(void) if class_file else class_names
    by_voc = decision.by == "color" and (decision.voc_colors or class_file is None)
    read: _Reading = functools.partial(colors_of_values, class_names, class_file)
    if by_voc:
        read = functools.partial(colors_of_voc, names, class_file, by_name=decision.voc_names)
    if values is None and (by_voc or class_file is None):
        _check_void(read, names, void)

    def indexed(meaning: Mapping[Any, int | str]) -> dict[Any, int]:
        return {k: VOID if isinstance(n, int) else index_of[n] for k, n in meaning.items()}

    by_value = indexed(colors_of_values(class_names, class_file, void))
    if values is not None:
        by_value = dict.fromkeys((VOID, *(v for v in void if isinstance(v, int))), VOID)
        by_value |= values
    if decision.high_is_1:
        by_value[VOID] = by_value[1]
    colors = None
    if decision.by == "color":
        if class_file is None or by_voc:
            colors = indexed(read(void))
        else:
            colors = indexed(colors_of_file(class_file, void))
    folders = class_file.folders if class_file else {}
    return MaskRule(
        {-1: VOID} | by_value,
        colors,
        decision.grey_is_color,
        decision.rgb_values,
        class_file.source if class_file and class_file.colored else "",
        {
            folder: {-1: VOID} | indexed(colors_of_values((), ClassFile("", entries), void))
            for folder, entries in folders.items()
        },
    )


def _check_one_reading(
    class_file: ClassFile, decision: Decision, values: Mapping[int, int] | None
) -> None:
    """Checks that nothing gives all masks one meaning, where folders have their own numbers."""
    if values is None and decision.by == "index":
        return
    raise ConfigError(
        "option values" if values is not None else "option masks_by",
        found=f"{'values' if values is not None else 'colours'} for all masks, but "
        f"{class_file.source} has other numbers in each split",
        expected="masks that are read by the numbers of their split",
        remedy=f"leave the option out, or delete the files {class_file.source}",
    )


def _check_void(read: _Reading, names: Sequence[str], void: Void) -> None:
    """Checks that no class loses its value or colour to void, because it would never occur."""
    left = read(void).values()
    for key, name in read([word for word in void if isinstance(word, str)]).items():
        if name in names and name not in left:
            shown = ",".join(map(str, key)) if isinstance(key, tuple) else key
            raise ConfigError(
                "option void",
                found=f"{shown}, which is the class {name!r}, so that no pixel could have it",
                expected="values and colours of no class, or the name of the class too",
                remedy=f"if {name!r} means void, add the name to void (--void '{shown} {name}'); "
                f"if not, leave {shown} out of it",
            )


def index_of_names(
    class_names: Sequence[str],
    class_file: ClassFile | None,
    void: Void,
    *,
    any_number: bool,
) -> dict[str, int]:
    """Returns the class index of each name of a class file: by name, else by its place.

    Other names take the places of the file's, of all or of those that are not void. A name that
    is in both lists at two places contradicts that, because it would be given to the pixels of
    another class. So does a class in the place of void.

    Args:
      class_names: the names that the dataset is made with, in order; void names among them.
      class_file: the class file; without one, each name has its own place.
      void: what means void.
      any_number: whether there may be more or fewer names than in the file.

    Raises:
      ConfigError: if the names neither are the file's nor replace all of them.
    """
    places = {name: index for index, name in enumerate(class_names)}
    if class_file is None:
        return places
    names = class_file.class_names(void)
    if set(names) == {name for name in class_names if not is_void_name(name, void)}:
        return places
    listed: Sequence[Entry] = class_file.entries
    if len(class_names) == len(names):
        listed = [entry for entry in listed if not is_void(entry, void)]
    contradicted = len(listed) != len(class_names) or any(
        places.get(entry.name, place) != place
        or (is_void(entry, void) and not is_void_name(class_names[place], void))
        for place, entry in enumerate(listed)
    )
    if any_number or not contradicted:
        return {entry.name: place for place, entry in enumerate(listed)}
    raise ConfigError(
        "option class_names",
        found=f"{len(class_names)} names: {', '.join(class_names)}",
        expected=f"the {len(names)} names in {class_file.source}: {', '.join(names)}",
        remedy="give these names, in the order that you want",
    )
