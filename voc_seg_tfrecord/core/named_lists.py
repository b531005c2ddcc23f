"""The id lists that papers name, such as `trainaug` and `semi_92`, and the ids that users want."""

from collections.abc import Collection, Iterator
import dataclasses
import functools
import re
from typing import Any, TypeAlias, cast

from voc_seg_tfrecord.core import display, releases
from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean, several

IdList: TypeAlias = str | Collection[str]
"""The name of a list, such as `semi_1_16`, or image ids."""

_PREFIX_OF_2007_IN_2012 = "2007_"
"""What VOC2012 puts before the id of an image of VOC2007."""

_FILE_RULE = re.compile(r"(?P<is_renamed>2007_:)?(?P<file>\w+)(?P<takes_every_second>\[::2\])?")
"""One file of `made_from`, such as `2007_:voc2007_train[::2]`."""


@dataclasses.dataclass(frozen=True)
class NamedList:
    """A published id list that comes with the package.

    Attributes:
      name: name of the list, such as `semi_92`.
      role: `train` or `evaluation`, as papers use the list.
      images: the dataset of the images, such as `VOC2012`.
      examples: number of ids.
      sha256: hash of the sorted ids, one per line, with LF after each.
      made_from: the files of the package that the list is made from, joined by ` + `.
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
        return display.brief_line(self, self.name, f"{ids} of {self.images}", self.role)

    def _repr_html_(self) -> str:
        return display.brief_table(self.name, ("", ""), dataclasses.asdict(self).items())


@functools.cache
def named_lists() -> dict[str, NamedList]:
    """Returns each published list that comes with the package, by name."""
    lists = {}
    for row in releases.read_table(releases.FACTS / "lists.tsv"):
        fields = row | {"examples": int(row["examples"])}
        lists[row["name"]] = NamedList(**cast(Any, fields))
    return lists


@functools.cache
def list_ids(name: str) -> tuple[str, ...]:
    """Returns the ids of a named list, ascending.

    Args:
      name: a name of `splits.named()`, such as `trainaug`, `semi_1_16` or `voc2007_test_in_2012`.

    Raises:
      ConfigError: if there is no such list.
    """
    if name not in named_lists():
        raise ConfigError(
            f"list {name!r}",
            found=f"no such list{did_you_mean(name, named_lists())}",
            expected=f"one of {', '.join(named_lists())}",
        )
    ids: list[str] = []
    for file_rule in named_lists()[name].made_from.split(" + "):
        ids += _read_ids(file_rule)
    return tuple(sorted(ids))


def identify(sha256: str) -> str:
    """Returns the name of the list with this hash; empty if none is known."""
    for named_list in named_lists().values():
        if named_list.sha256 == sha256:
            return named_list.name
    return ""


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
      ConfigError: if some are missing and `partial` is False.
    """
    present = frozenset(ids).intersection(present_ids)
    missing = sorted(set(ids) - present)
    if not missing or partial:
        return present
    if not remedy:
        remedy = (
            "read the split that the list was made for, or give partial=True to use "
            f"the {len(present)} that are there"
        )
    raise ConfigError(
        where,
        found=f"{len(missing)} of {counted(len(ids), 'id')} missing: {several(missing)}",
        expected="a split that holds the complete list",
        remedy=remedy,
    )


def _read_ids(file_rule: str) -> Iterator[str]:
    """Yields the ids that a file of the folder `ids` gives by a rule, such as `2007_:name[::2]`.

    A `2007_:` before the file's name renames the ids; `[::2]` after it takes every second one.
    """
    rule = cast(re.Match[str], _FILE_RULE.fullmatch(file_rule))
    prefix = _PREFIX_OF_2007_IN_2012 if rule["is_renamed"] else ""
    ids = (releases.FACTS / "ids" / f"{rule['file']}.txt").read_text().split()
    if rule["takes_every_second"]:
        ids = ids[::2]
    for image_id in ids:
        yield f"{prefix}{image_id}"
