"""The table of classes: what each value, color and class of masks becomes in a dataset.

It is the user's rows (see `class_rows`) over the names that were found, or that the user gave.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.class_rows import (
    MAX_LISTED_NAMES,
    STAR,
    UNKNOWN,
    VOID_CLASS,
    Rows,
    color_of,
    is_name,
    table_error,
)
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean, several
from voc_seg_tfrecord.core.names import VOID, Color, background_index, plain
from voc_seg_tfrecord.core.spelling import group_by_case, show_name

MAX_DESCRIBED_SOURCES = 6
"""How many keys a description of a table lists for each class."""


@dataclasses.dataclass(frozen=True)
class ClassTable:
    """The user's rows over the names of the masks' classes.

    Where there are names, the dataset's classes are first those of rows by name, in their order,
    then the names that stay, each at its place; then the classes of values and colors. Without
    names, or with rows by name, background becomes class 0.

    Attributes:
      names: the classes of the masks, each at its value, names that mean void among them; empty
        where the rows are all that is known.
      rows: what the user said, as `check_rows` returns it.
      background: name of the class, before or after, that is background, if its own name does not
        say so.

    Raises:
      ConfigError: if a row names no class, no class is left, or two differ in spelling alone.
    """

    names: tuple[str, ...]
    rows: Rows = ()
    background: str = ""

    def __post_init__(self) -> None:
        for name in self.class_by_name:
            if name not in self.names:
                raise self._no_class(name)
        reserved = {STAR, UNKNOWN, str(VOID)}.intersection(self.class_names)
        if reserved:
            raise table_error(f"the class {min(reserved)!r}", "a name", "rename this class")
        if self.rows and not self.class_names:
            raise table_error("rows that leave no class", "at least one class that is not void")
        self._check_spelling()

    def _no_class(self, name: str) -> ConfigError:
        """Returns the error that a row names a class that the masks do not have."""
        same = [other for other in self.names if plain(other) == plain(name)]
        hint = f", but {same[0]!r} is one" if same else did_you_mean(name, self.names)
        names = several(self.names, MAX_LISTED_NAMES)
        choices = names or "values, colors and * alone, without names"
        return table_error(f"{name!r}, which is no class{hint}", f"some of {choices}")

    def _check_spelling(self) -> None:
        """Checks that no row makes a class that differs from another one in spelling alone."""
        for alike in group_by_case(self.class_names):
            new_names = [name for name in alike if name not in self.names]
            if new_names:
                name, other = alike[:2]
                found = f"the classes {show_name(name)} and {show_name(other)}"
                raise table_error(found, "one spelling of each")

    # What the rows say.

    @functools.cached_property
    def class_by_value(self) -> dict[int, str]:
        """The class of each value that has a row."""
        return {key: name for key, name in self.rows if isinstance(key, int)}

    @functools.cached_property
    def class_by_color(self) -> dict[Color, str]:
        """The class of each color that has a row."""
        colors = ((color_of(key), name) for key, name in self.rows)
        return {color: name for color, name in colors if color is not None}

    @functools.cached_property
    def class_by_name(self) -> dict[str, str]:
        """The class of each class of the masks that has a row."""
        return {str(key): name for key, name in self.rows if is_name(key)}

    @property
    def class_of_star(self) -> str | None:
        """The class of `*`; None without it."""
        return dict(self.rows).get(STAR)

    @property
    def star_takes_pixels(self) -> bool:
        """Whether `*` is every other value and color in use, and not just every other name."""
        if self.class_of_star is None:
            return False
        has_rows_of_pixels = bool(self.class_by_value or self.class_by_color)
        return has_rows_of_pixels or not self.names

    @property
    def _star_takes_names(self) -> bool:
        return self.class_of_star is not None and bool(self.names)

    @property
    def _changes_names(self) -> bool:
        return bool(self.class_by_name) or self._star_takes_names

    # What the masks' classes become.

    def target(self, name: str) -> str:
        """Returns what a class of the masks becomes: `void`, or the name of a class."""
        if name in self.class_by_name:
            return self.class_by_name[name]
        if is_void_name(name):
            return VOID_CLASS
        return name if self.class_of_star is None else self.class_of_star

    def _target_of_value(self, value: int) -> str:
        """Returns what a value of masks that hold numbers of `names` becomes."""
        if value in self.class_by_value:
            return self.class_by_value[value]
        return self.target(self.names[value])

    def became(self) -> dict[str, str]:
        """Returns what each class of the masks became, if any did not just stay; else nothing."""
        targets = {name: self.target(name) for name in self.names}
        return targets if self._changes_names or VOID_CLASS in targets.values() else {}

    # The classes of the dataset.

    @functools.cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes of the dataset, in order."""
        classes_of_names = []
        classes_of_pixels = []
        for key, name in self.rows:
            if is_name(key) or (key == STAR and self._changes_names):
                classes_of_names.append(name)
            else:
                classes_of_pixels.append(name)
        classes_at_places = [self._target_of_value(value) for value in range(len(self.names))]
        names = list(dict.fromkeys([*classes_of_names, *classes_at_places, *classes_of_pixels]))
        if VOID_CLASS in names:
            names.remove(VOID_CLASS)
        index = background_index(names, self._background_among(names))
        background_may_move = bool(self.rows) and (self._changes_names or not self.names)
        if index is not None and background_may_move:
            names.insert(0, names.pop(index))
        return tuple(names)

    def _background_among(self, names: Sequence[str]) -> str:
        """Returns the name of the new background, if the user named either the old or the new."""
        if not self.background or self.background in names:
            return self.background
        if self.background not in self.names:
            return ""
        new_name = self._target_of_value(self.names.index(self.background))
        return new_name if new_name in names else ""

    @property
    def background_name(self) -> str:
        """The name of the background class; empty where none is known."""
        index = background_index(self.class_names, self._background_among(self.class_names))
        return "" if index is None else self.class_names[index]

    @property
    def fill(self) -> int | None:
        """What an image without any mask is filled with; None where there is no background.

        It is what the background of the masks becomes, so it may be void.
        """
        old_name = self._background_of_masks()
        if old_name is not None:
            return self.index(self._target_of_value(self.names.index(old_name)))
        return self.index(self.background_name) if self.background_name else None

    def _background_of_masks(self) -> str | None:
        """Returns the background among the classes of the masks; None if none is known."""
        names = [name for name in self.names if not is_void_name(name)]
        if self.background and self.background not in names:
            return None
        index = background_index(names, self.background)
        return None if index is None else names[index]

    def index(self, name: str) -> int:
        """Returns the index of a class of the dataset; that of `void` is 255."""
        return VOID if name == VOID_CLASS else self.class_names.index(name)

    def index_values(self, places: Mapping[int, int] | None = None) -> dict[int, int]:
        """Returns the class of each value of masks that hold numbers of `names`; 255 is void.

        Args:
          places: the place among the names, or 255, of each value; by default the value is it.
        """
        if places is None:
            places = {value: value for value in range(len(self.names))}
        classes = {-1: VOID, VOID: VOID}
        for value, place in places.items():
            if value in self.class_by_value:
                continue  # the class at its place may be none of the dataset
            if place == VOID:
                classes[value] = VOID
            else:
                classes[value] = self.index(self.target(self.names[place]))
        for value, name in self.class_by_value.items():
            classes[value] = self.index(name)
        return classes

    def describe(self) -> str:
        """Returns the table in words: `0 background from sky; 1 vehicle from car, bus`."""
        parts = []
        for name in [*self.class_names, VOID_CLASS]:
            sources = self._sources_of(name)
            if not sources:
                continue
            words = name if name == VOID_CLASS else f"{self.index(name)} {name}"
            if sources != [name]:
                words += f" from {several(sources, MAX_DESCRIBED_SOURCES)}"
            parts.append(words)
        return "; ".join(parts)

    def _sources_of(self, name: str) -> list[str]:
        """Returns the classes of the masks, and then the keys of rows, that become a class."""
        became = self.became() or {old: old for old in self.names}
        sources = [old for old, new in became.items() if new == name]
        for key, new_name in self.rows:
            if new_name == name and key not in self.class_by_name:
                sources.append(str(key))
        return sources
