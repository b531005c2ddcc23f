"""Counts and hashes of the official splits, and where the package's own tables lie.

`checksums/splits.tsv` pins the splits.
"""

from collections.abc import Sequence
import dataclasses
import functools

from etils import epath

from voc_seg_tfrecord.base.errors import ListError
from voc_seg_tfrecord.formats.id_lists import id_list_sha256


@dataclasses.dataclass(frozen=True)
class Split:
    """One official split.

    Attributes:
      config: the official config's name, such as `2012`.
      name: TFDS's name of the split, such as `validation`.
      counts: how many ids it may have. Several, where several were published; the first is
        that of papers.
      ids_sha256: hash of the sorted ids, empty if no source gives it.
      masks_sha256: hash of the masks, empty if no source gives it.
    """

    config: str
    name: str
    counts: tuple[int, ...]
    ids_sha256: str
    masks_sha256: str

    @property
    def examples(self) -> int:
        """How many ids it has, as papers say."""
        return self.counts[0]

    def describe_counts(self) -> str:
        """Returns the counts in words, such as `4998 or 4996`."""
        return " or ".join(map(str, self.counts))


def title(config: str) -> str:
    """Returns what people call a release, such as `VOC2012` or `SBD`, by its config's name."""
    if config.startswith("context"):
        return f"Pascal Context ({config.removeprefix('context')} classes)"
    return f"VOC{config}" if config[:1].isdigit() else config.upper()


@functools.cache
def splits() -> dict[tuple[str, str], Split]:
    """Returns the official splits by config and name.

    References:
      The header of `checksums/splits.tsv` names the sources.
    """
    rows = read_table(facts_folder("checksums") / "splits.tsv")
    return {
        (row["config"], row["name"]): Split(
            row["config"],
            row["name"],
            tuple(map(int, row["examples"].split(" or "))),
            row["ids_sha256"],
            row["masks_sha256"],
        )
        for row in rows
    }


def check_ids(config: str, split: str, ids: Sequence[str], where: object) -> None:
    """Checks that a list is the official one of its release.

    Raises:
      ListError: if the count or the hash differs. It names both, and the list that this
        really is, if that is known.
    """
    expected = splits()[config, split]
    digest = id_list_sha256(ids)
    if len(ids) in expected.counts and expected.ids_sha256 in ("", digest):
        return
    other = next((s for s in splits().values() if s.ids_sha256 == digest), None)
    really = f". This is the list {other.name} of {title(other.config)}" if other else ""
    sha256 = f", sha256 {expected.ids_sha256}" if expected.ids_sha256 else ""
    raise ListError(
        where,
        found=f"{len(ids)} ids, sha256 {digest}{really}",
        expected=f"the official list {split} of {title(config)}: "
        f"{expected.describe_counts()} ids{sha256}",
        remedy=(
            "use the official release, or build this tree as a part of it under another name: "
            f'--config \'{{"name": "part", "release": "{config}", "strict": false}}\''
        ),
    )


_PACKAGE = epath.Path(__file__).parent.parent


def facts_folder(name: str) -> epath.Path:
    """Returns the package's folder `facts`, `checksums` or `dummy_data`.

    A wheel carries `checksums` and `dummy_data` inside the package. In a checkout they lie
    beside it.
    """
    packaged = _PACKAGE / name
    return packaged if packaged.exists() else _PACKAGE.parent / name


def read_table(path: epath.Path) -> list[dict[str, str]]:
    """Reads a table of tab-separated values.

    Args:
      path: the file. Empty lines and lines that begin with `#` are passed over; the first
        line that is left names the columns.

    Returns:
      The rows below it, in order, each by the names of the columns. A `?` stands for a value
      that no source gives and is returned as an empty text.

    Raises:
      ValueError: if a row has more or fewer cells than there are columns.
    """
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    columns, *rows = (line.split("\t") for line in lines)
    return [
        {name: "" if cell == "?" else cell for name, cell in zip(columns, row, strict=True)}
        for row in rows
    ]
