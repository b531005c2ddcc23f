"""The table of classes: what each value, color and class of masks becomes in a dataset.

It is the user's rows (see `class_rows`) over the names that were found, or that the user gave. The
row `*` takes:

| names | rows of values or colors | `*` takes |
|---|---|---|
| yes | no | all names without a row |
| yes | yes | all names without a row, and all values and colors in use without a class |
| no | yes or no | all values and colors in use without a class |

Names that mean void stay void beside it.
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
    Key,
    Rows,
    color_of,
    is_name,
    table_error,
)
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean, several
from voc_seg_tfrecord.core.mask_rule import VOID_VALUES
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

    Masks hold places of `names`, so a row by value replaces the name at this place. Masks with
    other values have a table without rows by value; see `index_values`.

    Attributes:
      names: the classes of the masks, each at its place, names that mean void among them; empty
        where the rows are all that is known.
      rows: the user's rows, as `check_rows` returns them.
      background: the background class, by its name in the masks or in the dataset; empty if a
        class is called background anyway, or none is background.

    Raises:
      ConfigError: if a row names no class, no class is left, or two differ in spelling alone.
    """

    names: tuple[str, ...]
    rows: Rows = ()
    background: str = ""

    def __post_init__(self) -> None:
        for name in self.class_by_name:
            if name not in self.names:
                raise self._unknown_name_error(name)
        reserved = {STAR, UNKNOWN, str(VOID)}.intersection(self.class_names)
        if reserved:
            raise table_error(f"the class {min(reserved)!r}", "a name", "rename this class")
        if self.rows and not self.class_names:
            raise table_error("rows that leave no class", "at least one class that is not void")
        self._check_spelling()

    def _unknown_name_error(self, name: str) -> ConfigError:
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
                others = [name for name in alike if name != new_names[0]]
                found = f"the classes {show_name(new_names[0])} and {show_name(others[0])}"
                raise table_error(found, "one spelling of each")

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
    def _has_rows_of_names(self) -> bool:
        return any(self._is_row_of_names(key) for key, _ in self.rows)

    def _is_row_of_names(self, key: Key) -> bool:
        """Says whether the row of a key gives classes to names of the masks."""
        star_takes_names = key == STAR and bool(self.names)
        return is_name(key) or star_takes_names

    def target(self, name: str) -> str:
        """Returns what a class of the masks becomes: `void`, or the name of a class."""
        if name in self.class_by_name:
            return self.class_by_name[name]
        if is_void_name(name):
            return VOID_CLASS
        return name if self.class_of_star is None else self.class_of_star

    @functools.cached_property
    def _new_by_old(self) -> dict[str, str]:
        """What each class of `names` becomes, in their order, by a row of its place or its name.

        Example: 1 is `hole` of `background` and `crack`, with the row `1=hole`: the two become
        `background` and `hole`.
        """
        new_by_old: dict[str, str] = {}
        for place, name in enumerate(self.names):
            new_by_old[name] = self.class_by_value.get(place, self.target(name))
        return new_by_old

    def map_names_by_rows(self) -> dict[str, str]:
        """Returns what each class of the masks becomes by rows; nothing if all stay.

        This also counts where a name stands elsewhere, such as in an annotated box. The row of a
        value is that of the name at this place: with `2=void`, the third name becomes void.
        """
        is_one_changed = [*self._new_by_old.values()] != [*self.names]
        is_one_void = VOID_CLASS in self._new_by_old.values()
        if self._has_rows_of_names or is_one_changed or is_one_void:
            return self._new_by_old
        return {}

    @functools.cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes of the dataset, in order."""
        classes_of_names = []
        classes_of_pixels = []
        for key, name in self.rows:
            if self._is_row_of_names(key):
                classes_of_names.append(name)
            else:
                classes_of_pixels.append(name)
        classes = [*classes_of_names, *self._new_by_old.values(), *classes_of_pixels]
        names = [name for name in dict.fromkeys(classes) if name != VOID_CLASS]
        if self._has_rows_of_names or not self.names:
            index = background_index(names, self._new_background(names))
            if index is not None:  # it comes before all others
                names.insert(0, names.pop(index))
        return tuple(names)

    def _new_background(self, class_names: Sequence[str]) -> str:
        """Returns the class of the dataset that the user's background is; empty if none is.

        The user may give the name that background has in the masks, or in the dataset.
        """
        if self.background in class_names:
            return self.background
        new_name = self._new_by_old.get(self.background, "")
        return new_name if new_name in class_names else ""

    @property
    def background_name(self) -> str:
        """The name of the background class of the dataset; empty where none is known."""
        index = background_index(self.class_names, self._new_background(self.class_names))
        return "" if index is None else self.class_names[index]

    @property
    def fill(self) -> int | None:
        """The class that fills an image without any mask; None where there is no background.

        The masks' own background comes first, as it is what an empty mask would hold. It may be
        void in the dataset, and then such an image is void.
        """
        old_name = self._background_of_masks()
        if old_name is not None:
            return self.index(self._new_by_old[old_name])
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
        """Returns the class of each value of masks that hold places of `names`; 255 is void.

        Args:
          places: the place among the names, or 255, of each value; by default the value is it.

        Raises:
          ConfigError: if there are places and rows by value. A row would have two meanings.
        """
        if places is None:
            places = {place: place for place in range(len(self.names))}
        elif self.class_by_value:
            raise table_error(
                f"rows of the values {several(map(str, self.class_by_value), MAX_LISTED_NAMES)}",
                "rows of names and *, as the meaning of these masks' values is known",
            )
        classes = dict(VOID_VALUES)
        for value, place in places.items():
            new_name = VOID_CLASS if place == VOID else self._new_by_old[self.names[place]]
            classes[value] = self.index(new_name)
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
        rows_of_pixels = [row for row in self.rows if row[0] not in self.class_by_name]
        classes_by_source = [*self._new_by_old.items(), *rows_of_pixels]
        return [str(source) for source, new_name in classes_by_source if new_name == name]
