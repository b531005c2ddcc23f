"""The table of classes: what each value, colour and class of masks becomes in a dataset.

The user's rows (`rows`) stand over the names that were found, or that the user gave.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.base.errors import did_you_mean
from voc_seg_tfrecord.base.names import VOID, Color, background_index, plain
from voc_seg_tfrecord.base.wording import several
from voc_seg_tfrecord.formats.class_files import is_void_name
from voc_seg_tfrecord.masks.rows import SHOWN, STAR, VOID_CLASS, Rows, color_of, table_error


@dataclasses.dataclass(frozen=True)
class ClassTable:
    """The user's rows over the names of the masks' classes.

    Where there are names, the dataset's classes are first those of rows by name, in their order,
    then the names that stay, each at its place; then the classes of values and colours. Without
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
        for name in self.named:
            if name not in self.names:
                alike = [n for n in self.names if plain(n) == plain(name)]
                near = did_you_mean(name, self.names)
                hint = f", but {alike[0]!r} is one" if alike else near
                of = several(self.names, SHOWN) or "values, colours and * alone, without names"
                raise table_error(f"{name!r}, which is no class{hint}", f"some of {of}")
        if self.rows and not self.class_names:
            raise table_error("rows that leave no class", "at least one class that is not void")
        spelled = {plain(name) or name: name for name in self.class_names}
        for name in self.class_names:
            other = spelled[plain(name) or name]
            if other != name and not {name, other} <= {*self.names}:
                raise table_error(f"the classes {name!r} and {other!r}", "one spelling of each")

    @functools.cached_property
    def values(self) -> dict[int, str]:
        """The class of each value that has a row."""
        return {key: name for key, name in self.rows if isinstance(key, int)}

    @functools.cached_property
    def colors(self) -> dict[Color, str]:
        """The class of each colour that has a row."""
        colors = ((color_of(key), name) for key, name in self.rows)
        return {color: name for color, name in colors if color is not None}

    @functools.cached_property
    def named(self) -> dict[str, str]:
        """The class of each class of the masks that has a row."""
        words = ((k, n) for k, n in self.rows if isinstance(k, str) and k != STAR)
        return {key: name for key, name in words if color_of(key) is None}

    @property
    def star(self) -> str | None:
        """The class of `*`; None without it."""
        return dict(self.rows).get(STAR)

    @property
    def star_of_keys(self) -> bool:
        """Whether `*` is every other value and colour in use, and not just every other name."""
        keyed = bool(self.values or self.colors)
        return self.star is not None and (keyed or not self.names)

    @property
    def _renames(self) -> bool:
        return bool(self.named) or (self.star is not None and bool(self.names))

    @staticmethod
    def names_needed(rows: Rows) -> bool:
        """Says whether rows speak of classes of the masks by name."""
        return any(isinstance(k, str) and k != STAR and color_of(k) is None for k, _ in rows)

    def target(self, name: str) -> str:
        """Returns what a class of the masks becomes: `void`, or the name of a class."""
        if name in self.named:
            return self.named[name]
        if is_void_name(name):
            return VOID_CLASS
        return name if self.star is None else self.star

    @functools.cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes of the dataset, in order."""
        keyed = [n for k, n in self.rows if isinstance(k, int) or k == STAR or color_of(k)]
        first_names = [n for k, n in self.rows if k in self.named or (k == STAR and self._renames)]
        first_names += [self.values.get(v, self.target(n)) for v, n in enumerate(self.names)]
        names = [name for name in dict.fromkeys([*first_names, *keyed]) if name != VOID_CLASS]
        first = background_index(names, self._background_among(names))
        if first and self.rows and (self._renames or not self.names):
            names.insert(0, names.pop(first))
        return tuple(names)

    def _background_among(self, names: Sequence[str]) -> str:
        """Returns the name of the new background, if the user named either the old or the new."""
        if not self.background or self.background in names:
            return self.background
        became = self.target(self.background) if self.background in self.names else ""
        return became if became in names else ""

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
        names = [name for name in self.names if not is_void_name(name)]
        new_named = self.background and self.background not in self.names
        old = None if new_named else background_index(names, self.background)
        name = self.background_name if old is None else self.target(names[old])
        return self.index(name) if name else None

    def index(self, name: str) -> int:
        """Returns the index of a class of the dataset; that of `void` is 255."""
        return VOID if name == VOID_CLASS else self.class_names.index(name)

    def became(self) -> dict[str, str]:
        """Returns what each class of the masks became, if any did not just stay; else nothing."""
        new = {name: self.target(name) for name in self.names}
        return new if self._renames or VOID_CLASS in new.values() else {}

    def index_values(self, places: Mapping[int, int] | None = None) -> dict[int, int]:
        """Returns the class of each value of masks that hold numbers of `names`; 255 is void.

        Args:
          places: the place among the names, or 255, of each value; by default the value is it.
        """
        places = dict(enumerate(range(len(self.names)))) if places is None else places
        by_place = {
            value: VOID if place == VOID else self.index(self.target(self.names[place]))
            for value, place in places.items()
            if value not in self.values
        }
        by_row = {value: self.index(name) for value, name in self.values.items()}
        return {-1: VOID, VOID: VOID, **by_place, **by_row}

    def describe(self) -> str:
        """Returns the table in words: `0 background from sky; 1 vehicle from car, bus`."""
        parts = []
        became = self.became() or {n: n for n in self.names}
        for name in [*self.class_names, VOID_CLASS]:
            from_ = [n for n, new in became.items() if new == name]
            from_ += [str(k) for k, n in self.rows if n == name and k not in self.named]
            number = "" if name == VOID_CLASS else f"{self.index(name)} "
            if from_ and from_ != [name]:
                parts.append(f"{number}{name} from {several(from_, 6)}")
            elif from_:
                parts.append(f"{number}{name}")
        return "; ".join(parts)
