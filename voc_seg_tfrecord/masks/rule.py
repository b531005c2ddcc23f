"""The rule by which every mask of a set is read: decided once, then only applied."""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools

import numpy as np

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import ClassFile, Color
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.decide import Decision, colors_of


@dataclasses.dataclass(frozen=True)
class MaskRule:
    """What the masks of a set mean, decided once for all of them. Frozen and picklable.

    Attributes:
      values: class index, or 255, by the value that a file has.
      colors: class index, or 255, by colour, where colours decide.
      grey_is_color: whether in a set that is read by colour a grey value v is the colour
        (v, v, v); otherwise it is a value.
    """

    values: Mapping[int, int]
    colors: Mapping[Color, int] | None = None
    grey_is_color: bool = False

    @functools.cached_property
    def packed_colors(self) -> tuple[np.ndarray, np.ndarray]:
        """The known colours as sorted 24-bit numbers, and their classes."""
        packed = sorted((r << 16 | g << 8 | b, c) for (r, g, b), c in self.colors.items())
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
    void: Collection[int | str | Color] = (VOID,),
) -> MaskRule:
    """Turns a decision into the rule by which each mask is read.

    Args:
      class_names: names in the order of the class indices.
      class_file: the labelling tool's class file, where there is one.
      decision: whether values or colours are the class.
      values: class index by mask value, where the user gave it.
      void: values, names and colours that mean void.

    Returns:
      The rule.

    Raises:
      ConfigError: if the class names are not those of the class file.
    """
    names = class_file.class_names(void) if class_file else class_names
    source = class_file.source if class_file else ""
    index_of = _index_of(class_names, names, source, any_number=values is not None)
    colors = None
    if decision.by == "color":
        named = colors_of(decision, class_file, void)
        colors = {
            color: index_of.get(name, VOID) if isinstance(name, str) else name
            for color, name in named.items()
            if isinstance(name, str) or name == VOID or name < len(class_names)
        }
    if values is not None:
        known = dict(values)
    elif class_file:
        known = {
            e.value: VOID if class_files.is_void(e, void) else index_of[e.name]
            for e in class_file.entries
        }
    else:
        known = {value: value for value in range(len(class_names))}
    voids = [value for value in (-1, *void) if isinstance(value, int)]
    return MaskRule(dict.fromkeys(voids, VOID) | known, colors, decision.grey_is_color)


def _index_of(
    class_names: Sequence[str], names: Sequence[str], source: str, *, any_number: bool
) -> dict[str, int]:
    """Returns the class index of each of a class file's names: by name, else by its place."""
    if set(names) == set(class_names):
        return {name: index for index, name in enumerate(class_names)}
    if any_number or len(names) == len(class_names):
        return {name: index for index, name in enumerate(names)}
    raise ConfigError(
        "option class_names",
        found=f"{len(class_names)} names: {', '.join(class_names)}",
        expected=f"the {len(names)} names in {source}: {', '.join(names)}",
        remedy="give these names, in the order that you want",
    )
