"""The table of classes: what each value, color and class of masks becomes in a dataset.

It puts the user's rows (see `class_rows`) over `names`, the classes of the masks, which were found
or given by the user. From these two follow, in this order:

1. the class of the dataset, or void, that each of `names` becomes: by the row of its index, or else
   of its name, or else of the wildcard `*`; names that mean void stay void beside `*`;
2. the classes of the dataset in their order, of which one may be background;
3. the index in the dataset of each value of a mask.

The wildcard takes:

| names | rows of values or colors | `*` takes |
|---|---|---|
| yes | no | all names without a row |
| yes | yes | all names without a row, and all values and colors in use without a class |
| no | yes or no | all values and colors in use without a class |
"""

from collections.abc import Mapping
import dataclasses
import functools

from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.class_rows import (
    MAX_LISTED_NAMES,
    UNKNOWN,
    VOID_CLASS,
    VOID_VALUES,
    WILDCARD,
    Key,
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

    The classes of the dataset are first those of rows by name, in their order, then what the other
    names become, in the order of the masks; then the classes of values and colors. Without names,
    or with rows by name, background becomes class 0.

    A mask holds indices of `names`, so the row of a value replaces the name at this index. Masks
    with other values have a table without rows of values; see `index_values`.

    Attributes:
      names: the classes of the masks, by index, with the names that mean void; empty
        where the rows are all that is known.
      rows: the user's rows, as `check_rows` returns them.
      background: the background that the user gave, by its name in the masks or in the dataset;
        empty if the names of classes decide.

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
        reserved = {WILDCARD, UNKNOWN, str(VOID)}.intersection(self.class_names)
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
    def wildcard_class(self) -> str | None:
        """The class of the row `*`; None without such a row."""
        return dict(self.rows).get(WILDCARD)

    @property
    def wildcard_takes_pixels(self) -> bool:
        """Whether `*` stands for all other values and colors in use, and not for names alone."""
        if self.wildcard_class is None:
            return False
        has_rows_of_pixels = bool(self.class_by_value or self.class_by_color)
        return has_rows_of_pixels or not self.names

    @property
    def _has_rows_of_names(self) -> bool:
        return any(self._is_row_of_names(key) for key, _ in self.rows)

    def _is_row_of_names(self, key: Key) -> bool:
        """Says whether the row of a key gives classes to names of the masks."""
        wildcard_takes_names = key == WILDCARD and bool(self.names)
        return is_name(key) or wildcard_takes_names

    def class_of_name(self, name: str) -> str:
        """Returns what a class of the masks becomes by its name: a new class, or `void`."""
        if name in self.class_by_name:
            return self.class_by_name[name]
        if is_void_name(name):
            return VOID_CLASS
        return name if self.wildcard_class is None else self.wildcard_class

    @functools.cached_property
    def _new_classes(self) -> tuple[str, ...]:
        """What the class at each index of `names` becomes; the row of an index as a value wins.

        Example: `background` and `crack` become `background` and `hole` by the row `1=hole`.
        """
        classes = []
        for index, name in enumerate(self.names):
            classes.append(self.class_by_value.get(index, self.class_of_name(name)))
        return tuple(classes)

    @functools.cached_property
    def _new_class_by_name(self) -> dict[str, str]:
        return dict(zip(self.names, self._new_classes, strict=True))

    def map_names_by_rows(self) -> dict[str, str]:
        """Returns what each class of the masks becomes by rows; nothing if all stay.

        This also counts where a name stands elsewhere, such as in an annotated box. The row of a
        value is that of the name at this index: with `2=void`, the third name becomes void.
        """
        is_one_changed = self._new_classes != self.names
        is_one_void = VOID_CLASS in self._new_classes
        if self._has_rows_of_names or is_one_changed or is_one_void:
            return self._new_class_by_name
        return {}

    @functools.cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes of the dataset, in order."""
        names = self._classes_in_order_of_rows
        is_order_free = self._has_rows_of_names or not self.names
        if not is_order_free or not self.background_name:
            return names
        others = [name for name in names if name != self.background_name]
        return (self.background_name, *others)

    @functools.cached_property
    def _classes_in_order_of_rows(self) -> tuple[str, ...]:
        """The classes of the dataset before background comes first."""
        classes_of_names = []
        classes_of_pixels = []
        for key, name in self.rows:
            if self._is_row_of_names(key):
                classes_of_names.append(name)
            else:
                classes_of_pixels.append(name)
        classes = dict.fromkeys([*classes_of_names, *self._new_classes, *classes_of_pixels])
        return tuple(name for name in classes if name != VOID_CLASS)

    @functools.cached_property
    def background_name(self) -> str:
        """The background class of the dataset; empty where none is known."""
        names = self._classes_in_order_of_rows
        given_name = self.background
        if given_name not in names:  # it may be a name that the masks have
            given_name = self._new_class_by_name.get(given_name, "")
        index = background_index(names, given_name if given_name in names else "")
        return "" if index is None else names[index]

    @property
    def fill(self) -> int | None:
        """The index that fills an image without any mask; None where there is no background.

        The masks' own background comes first, as it is what an empty mask would hold. It may be
        void in the dataset, and then such an image is void: 255.
        """
        names = [name for name in self.names if not is_void_name(name)]
        is_given_by_new_name = bool(self.background) and self.background not in names
        if not is_given_by_new_name:
            index = background_index(names, self.background)
            if index is not None:
                new_class = self._new_class_by_name[names[index]]
                return self.index(new_class)
        if self.background_name:
            return self.index(self.background_name)
        return None

    def index(self, name: str) -> int:
        """Returns the index of a class of the dataset; that of `void` is 255."""
        return VOID if name == VOID_CLASS else self.class_names.index(name)

    def index_values(self, index_by_value: Mapping[int, int] | None = None) -> dict[int, int]:
        """Returns the index in the dataset of each value of masks; 255 is void.

        Args:
          index_by_value: the index in `names`, or 255, that each value means; by default a value
            is this index itself.

        Raises:
          ConfigError: if values have indices and rows. A row would have two meanings.
        """
        if index_by_value is None:
            index_by_value = {index: index for index in range(len(self.names))}
        elif self.class_by_value:
            raise table_error(
                f"rows of the values {several(map(str, self.class_by_value), MAX_LISTED_NAMES)}",
                "rows of names and *, as the meaning of these masks' values is known",
            )
        new_index_by_value = dict(VOID_VALUES)
        for value, index in index_by_value.items():
            new_class = VOID_CLASS if index == VOID else self._new_classes[index]
            new_index_by_value[value] = self.index(new_class)
        for value, new_class in self.class_by_value.items():
            new_index_by_value[value] = self.index(new_class)
        return new_index_by_value

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
        classes_by_source = [*self._new_class_by_name.items(), *rows_of_pixels]
        return [str(source) for source, new_name in classes_by_source if new_name == name]
