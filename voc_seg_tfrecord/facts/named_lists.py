"""The id lists that papers name, as the package carries them in the folder facts."""

from collections.abc import Iterable
import dataclasses
import functools

from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.facts import tables
from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.wording import brief
from voc_seg_tfrecord.wording.near_names import did_you_mean

_IN_2012 = "2007_"


@dataclasses.dataclass(frozen=True)
class NamedList:
    """One id list of `facts/lists.tsv`.

    Attributes:
      name: such as `semi_92`.
      role: what papers use it for, `train` or `evaluation`.
      images: whose images it lists.
      examples: how many ids it has.
      sha256: hash of the sorted ids, one per line, with LF after each.
      made_from: the files of `facts/ids` that it is made from, joined by ` + `.
      source: where the list was taken from.
    """

    name: str
    role: str
    images: str
    examples: int
    sha256: str
    made_from: str
    source: str

    def __repr__(self) -> str:
        ids = brief.counted(self.examples, "id")
        return brief.line(self, self.name, f"{ids} of {self.images}", self.role)

    def _repr_html_(self) -> str:
        return brief.table(self.name, ("", ""), dataclasses.asdict(self).items())


@functools.cache
def named() -> dict[str, NamedList]:
    """Returns what is known of each named list, by name."""
    return {
        row["name"]: NamedList(**{**row, "examples": int(row["examples"])})
        for row in tables.read(tables.folder("facts") / "lists.tsv")
    }


@functools.cache
def ids(name: str) -> tuple[str, ...]:
    """Returns the ids of a named list, ascending.

    Args:
      name: a name of `named()`, such as `trainaug`, `semi_1_16` or `voc2007_test_in_2012`.

    Raises:
      ConfigError: if there is no such list.
      ListError: if the package's copy is not the list that its hash pins.
    """
    if name not in named():
        raise ConfigError(
            f"list {name!r}",
            found=f"no such list{did_you_mean(name, named())}",
            expected=f"one of {', '.join(named())}",
        )
    entry = named()[name]
    found = sorted(i for part in entry.made_from.split(" + ") for i in _part(part))
    if id_list_sha256(found) != entry.sha256:
        raise ListError(
            f"list {name!r}",
            found=f"{len(found)} ids, sha256 {id_list_sha256(found)}",
            expected=f"{entry.examples} ids, sha256 {entry.sha256}",
            remedy="install the package again",
        )
    return tuple(found)


def identify(sha256: str) -> str:
    """Returns the name of the list with this hash, empty where none is known."""
    return next((entry.name for entry in named().values() if entry.sha256 == sha256), "")


def _part(made_from: str) -> Iterable[str]:
    """Returns the ids of a file of the folder `ids`.

    A `2007_:` before its name renames them; `[::2]` behind it takes every second one.
    """
    whole, every_second, _ = made_from.partition("[::2]")
    prefix, _, name = whole.rpartition(":")
    text = (tables.folder("facts") / "ids" / f"{name}.txt").read_text()
    lines = text.split()[:: 2 if every_second else 1]
    return (f"{_IN_2012 if prefix else ''}{line}" for line in lines)


@dataclasses.dataclass(frozen=True)
class PublishedLeak:
    """How many ids two lists share, where the package has only one of the lists.

    Attributes:
      first: the name of one list.
      second: the name of the other.
      ids: how many ids are in both.
      source: where this was published.
    """

    first: str
    second: str
    ids: int
    source: str


def published_leaks() -> list[PublishedLeak]:
    """Returns the rows of `facts/leaks.tsv`."""
    rows = tables.read(tables.folder("facts") / "leaks.tsv")
    return [PublishedLeak(**{**row, "ids": int(row["ids"])}) for row in rows]
