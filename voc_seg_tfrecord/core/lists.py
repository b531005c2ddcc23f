"""The id lists that papers name, PASCAL-5i among them, and the ids that a caller wants."""

from collections.abc import Collection, Iterable
import dataclasses
import functools
from typing import Any, TypeAlias, cast

from voc_seg_tfrecord.core import releases, wording
from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean, several

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
        ids = counted(self.examples, "id")
        return wording.brief_line(self, self.name, f"{ids} of {self.images}", self.role)

    def _repr_html_(self) -> str:
        return wording.brief_table(self.name, ("", ""), dataclasses.asdict(self).items())


@functools.cache
def named_lists() -> dict[str, NamedList]:
    """Returns what is known of each named list, by name."""
    return {
        row["name"]: NamedList(**cast(Any, row | {"examples": int(row["examples"])}))
        for row in releases.read_table(releases.FACTS / "lists.tsv")
    }


@functools.cache
def list_ids(name: str) -> tuple[str, ...]:
    """Returns the ids of a named list, ascending.

    Args:
      name: a name of `named_lists()`, such as `trainaug`, `semi_1_16` or `voc2007_test_in_2012`.

    Raises:
      ConfigError: if there is no such list.
    """
    if name not in named_lists():
        raise ConfigError(
            f"list {name!r}",
            found=f"no such list{did_you_mean(name, named_lists())}",
            expected=f"one of {', '.join(named_lists())}",
        )
    parts = named_lists()[name].made_from.split(" + ")
    return tuple(sorted(image_id for part in parts for image_id in _part(part)))


def identify(sha256: str) -> str:
    """Returns the name of the list with this hash, empty where none is known."""
    return next((entry.name for entry in named_lists().values() if entry.sha256 == sha256), "")


def _part(made_from: str) -> Iterable[str]:
    """Returns the ids of a file of the folder `ids`.

    A `2007_:` before its name renames them; `[::2]` behind it takes every second one.
    """
    whole, every_second, _ = made_from.partition("[::2]")
    prefix, _, name = whole.rpartition(":")
    text = (releases.FACTS / "ids" / f"{name}.txt").read_text()
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
    rows = releases.read_table(releases.FACTS / "leaks.tsv")
    return [PublishedLeak(**cast(Any, row | {"ids": int(row["ids"])})) for row in rows]


FOLDS = 4
_CLASSES = 5  # of each fold

Pairs = tuple[tuple[str, int], ...]
"""Image ids, each with the index of one class in the image."""


@dataclasses.dataclass(frozen=True)
class Fold:
    """One fold of PASCAL-5i: its classes are evaluated, and those of the other folds trained.

    An image with several classes is in several pairs. It may also show classes of other folds.

    Attributes:
      number: 0 to 3.
      classes: the indices of the classes that are evaluated: 5 * number + 1 and the next four.
      train: pairs to train on, of the other three folds, from images of trainaug.
      evaluation: pairs to evaluate on, of this fold, from images of VOC2012 val.

    References:
      Shaban et al., One-Shot Learning for Semantic Segmentation, BMVC 2017, table 1, for the
      classes. The pairs are those of Min et al., HSNet, ICCV 2021, which others took over.
    """

    number: int
    classes: tuple[int, ...]
    train: Pairs
    evaluation: Pairs

    def __repr__(self) -> str:
        return wording.brief_line(
            self,
            f"fold {self.number} of PASCAL-5i",
            f"classes {self.classes[0]} to {self.classes[-1]}",
            f"{len(self.train):,} pairs to train on",
            f"{len(self.evaluation):,} to evaluate on",
        )

    @property
    def train_ids(self) -> tuple[str, ...]:
        """The ids of the images to train on, ascending, each once."""
        return _ids(self.train)

    @property
    def evaluation_ids(self) -> tuple[str, ...]:
        """The ids of the images to evaluate on, ascending, each once."""
        return _ids(self.evaluation)


def fold_classes(number: int) -> tuple[int, ...]:
    """Returns the indices of the classes of a fold of PASCAL-5i, in VOC's order."""
    first = _CLASSES * number + 1
    return tuple(range(first, first + _CLASSES))


@functools.cache
def pascal5i(number: int) -> Fold:
    """Returns a fold of PASCAL-5i.

    Raises:
      ConfigError: if there is no such fold.
    """
    if number not in range(FOLDS):
        raise ConfigError("fold", found=str(number), expected=f"0 to {FOLDS - 1}")
    others = (other for other in range(FOLDS) if other != number)
    return Fold(
        number,
        fold_classes(number),
        tuple(pair for other in others for pair in _pairs(other, "train")),
        _pairs(number, "evaluation"),
    )


def _pairs(fold: int, part: str) -> Pairs:
    """Returns the pairs of a file of the folder `pascal5i`, in its order."""
    path = releases.FACTS / "pascal5i" / f"{part}_{fold}.txt"
    lines = (line.split("__") for line in path.read_text().split())
    return tuple((image_id, int(index)) for image_id, index in lines)


def _ids(pairs: Pairs) -> tuple[str, ...]:
    return tuple(sorted({image_id for image_id, _ in pairs}))


IdList: TypeAlias = str | Collection[str]
"""The name of a list, such as `semi_1_16`, or image ids."""


def ids_in(wanted: IdList) -> frozenset[str]:
    """Returns the ids of a list.

    Args:
      wanted: the name of a list that `named_lists` knows, or image ids.

    Raises:
      ConfigError: if no list has this name, or there is no id.
    """
    ids = frozenset(list_ids(wanted) if isinstance(wanted, str) else wanted)
    if not ids:
        raise ConfigError("the list", found="no id", expected="at least one image id")
    return ids


def check_present(
    ids: Collection[str],
    present_ids: Collection[str],
    where: object,
    *,
    partial: bool,
    remedy: str = "",
) -> frozenset[str]:
    """Checks that a dataset has all ids of a list.

    Args:
      ids: the list.
      present_ids: the ids that the dataset has.
      where: the dataset, for the error.
      partial: whether it may have only some of them, or none.
      remedy: for the error; by default what Python code can do.

    Returns:
      The ids of the list that the dataset has.

    Raises:
      ConfigError: if some are not there and `partial` is False.
    """
    present = frozenset(ids).intersection(present_ids)
    lacking = sorted(set(ids) - present)
    if lacking and not partial:
        raise ConfigError(
            where,
            found=f"{len(lacking)} of the {len(ids)} ids of the list are not in it: "
            + several(lacking),
            expected="a split that holds the complete list",
            remedy=remedy
            or "read the split that the list was made for, or give partial=True to use "
            f"the {len(present)} that are there",
        )
    return present
