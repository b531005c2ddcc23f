"""The releases of Pascal VOC: archives, classes, citations, and the counts and hashes of splits.

`checksums/splits.tsv` pins the splits.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import json
import types
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import VOC_CLASSES, VOID
from voc_seg_tfrecord.core.shell import command

_PACKAGE = epath.Path(__file__).parent.parent

FACTS = epath.Path(__file__).parent / "facts"
"""The folder of the tables of facts."""


def facts_folder(name: str) -> epath.Path:
    """Returns the package's folder `checksums` or `dummy_data`.

    A wheel carries `checksums` and `dummy_data` inside the package. In a checkout they lie
    beside it.
    """
    packaged = _PACKAGE / name
    return packaged if packaged.exists() else _PACKAGE.parent / name


def read_table(path: epath.Path) -> list[dict[str, str]]:
    """Reads a table of tab-separated values.

    Args:
      path: the file. Empty lines and lines that begin with `#` are skipped; the first other
        line names the columns.

    Returns:
      The rows below it, in order, each by the names of the columns. A `?` stands for a value
      that no source gives and is returned as an empty text.

    Raises:
      ValueError: if a row has more or fewer cells than there are columns.
    """
    rows = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            rows.append(["" if cell == "?" else cell for cell in line.split("\t")])
    columns = rows.pop(0)
    return [dict(zip(columns, row, strict=True)) for row in rows]


VOC_SPLITS = {"train": "train", "validation": "val", "test": "test"}
"""VOC's name of the list of each split of TFDS."""

CONTEXT_NUMBERS = {
    row["name"]: int(row["number"]) for row in read_table(FACTS / "pascal_context.tsv")
}
"""The 59 classes of Pascal Context, and the number of each in its original labels."""

CONTEXT_LABELS = 459
"""How many classes the original labels have, from 1."""


@dataclasses.dataclass(frozen=True)
class Archive:
    """One archive of a release.

    Attributes:
      filename: its name at every address.
      sha256s: the hash of each archive that was published under this name.
      urls: addresses whose size and sha256 are registered in `checksums/checksums.tsv`, the
        official one first. Empty if the size is not known, because TFDS registers size and
        hash together.
      splits: the splits that a release reads from it.
    """

    filename: str
    sha256s: tuple[str, ...]
    urls: tuple[str, ...]
    splits: tuple[str, ...] = ("train", "validation")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Release:
    """One official release. `config` makes an official config of each row.

    Attributes:
      name: the name of the release and of its config.
      year: the release's folder is `VOC<year>`.
      description: one sentence for the config.
      page: the address of the release's page.
      citations: keys of entries in `CITATIONS.bib`.
      archives: what the release is unpacked from.
      reader: the module of the room `sources` that opens the release.
      masks: whether it has masks; without, its examples are images alone.
      instances: whether examples have `instance_mask` by default.
      objects: whether examples have `objects` by default.
      mask_sources: who may have drawn a mask: the values of the feature `mask_source`, and
        what they mean. Empty if a release has no such feature.
      class_names: names in mask order.
      values: class index, or 255, by the value in a mask. Empty if the value is the index.
    """

    name: str
    year: str
    description: str
    page: str
    citations: tuple[str, ...]
    archives: tuple[Archive, ...]
    reader: str = "devkit"
    masks: bool = True
    instances: bool = True
    objects: bool = True
    mask_sources: Mapping[str, str] = dataclasses.field(default_factory=dict)
    class_names: tuple[str, ...] = VOC_CLASSES
    values: Mapping[int, int] = dataclasses.field(default_factory=dict)

    @property
    def list_by_split(self) -> dict[str, str]:
        """The list of each split that is read from the archives."""
        in_archives = {split for archive in self.archives for split in archive.splits}
        return {split: name for split, name in VOC_SPLITS.items() if split in in_archives}


_ARCHIVES = {
    row["filename"]: Archive(
        row["filename"],
        tuple(row["sha256"].split(" or ")),
        tuple(row["urls"].split()),
        tuple(row["splits"].split(" and ")),
    )
    for row in read_table(FACTS / "archives.tsv")
}


def _voc(year: str, *archives: str, splits: str = "train and validation") -> Release:
    return Release(
        name=year,
        year=year,
        description=f"Pascal VOC{year}'s segmentation task: {splits}, 20 classes and background.",
        page=f"http://host.robots.ox.ac.uk/pascal/VOC/voc{year}/",
        citations=(f"pascal-voc-{year}",),
        archives=tuple(_ARCHIVES[filename] for filename in archives),
    )


_VOC2012 = _voc("2012", "VOCtrainval_11-May-2012.tar")
_VOC2010 = _voc("2010", "VOCtrainval_03-May-2010.tar")

# The archive of SBD, the Semantic Boundaries Dataset.
_SBD = _ARCHIVES["benchmark.tgz"]

# Pascal Context: other labels of VOC2010's images. Nobody serves them with a known hash.
_CONTEXT60 = Release(
    name="context60",
    year="2010",  # whose images it labels
    description="Pascal Context on VOC2010's images, 59 classes and background: train 4998 or "
    "4996, validation 5105 or 5104. Built from --manual_dir. No hash of its lists or labels is "
    "known, and this reader was tested with made files only.",
    page="https://cs.stanford.edu/~roozbeh/pascal-context/",
    citations=("mottaghi-2014-context", "pascal-voc-2010"),
    archives=_VOC2010.archives,
    reader="context",
    instances=False,
    objects=False,
    class_names=("background", *CONTEXT_NUMBERS),
)

_ROWS = (
    _VOC2012,
    _voc(
        "2007",
        "VOCtrainval_06-Nov-2007.tar",
        "VOCtest_06-Nov-2007.tar",
        splits="train, validation and test",
    ),
    _voc("2008", "VOCtrainval_14-Jul-2008.tar"),
    _voc("2009", "VOCtrainval_11-May-2009.tar"),
    _VOC2010,
    _voc("2011", "VOCtrainval_25-May-2011.tar"),
    # VOC2012 with SBD's masks where it has none: a release that was never one archive.
    dataclasses.replace(
        _VOC2012,
        name="2012_aug",
        description="VOC2012 with SBD's masks where VOC has none (trainaug): train 10582, "
        "validation 1449.",
        citations=("pascal-voc-2012", "hariharan-2011-sbd"),
        archives=(*_VOC2012.archives, _SBD),
        reader="trainaug",
        # Trees with SBD's masks often come without Annotations.
        objects=False,
        mask_sources={"voc": "VOC2012", "sbd": "SBD"},
    ),
    # The images of VOC's evaluation server, whose masks are not public. This is a release of its
    # own so that a build of 2012 neither downloads them nor changes.
    dataclasses.replace(
        _VOC2012,
        name="2012_test",
        description="The 1456 images of VOC2012's segmentation test, without masks, for the "
        "evaluation server.",
        archives=(_ARCHIVES["VOC2012test.tar"],),
        masks=False,
        instances=False,
        objects=False,
    ),
    # SBD by itself: its own split and its own masks, also of images for which VOC has masks.
    Release(
        name="sbd",
        year="2012",  # whose images it labels
        description="SBD, the Semantic Boundaries Dataset, with its own masks, which have no "
        "void: train 8498, validation 2857.",
        page="http://home.bharathh.info/pubs/codes/SBD/download.html",
        citations=("hariharan-2011-sbd",),
        archives=(dataclasses.replace(_SBD, splits=("train", "validation")),),
        reader="sbd",
        objects=False,
    ),
    # Pixels of no class are void here, and a class of their own in context60.
    dataclasses.replace(
        _CONTEXT60,
        name="context59",
        description=_CONTEXT60.description.replace(
            "59 classes and background", "59 classes, all else void"
        ),
        class_names=tuple(CONTEXT_NUMBERS),
        values={
            0: VOID,
            VOID: VOID,
            **{index + 1: index for index in range(len(CONTEXT_NUMBERS))},
        },
    ),
    _CONTEXT60,
)

RELEASES: dict[str, Release] = {row.name: row for row in _ROWS}
"""The releases by name. The first is the default config."""


def advise_part(
    name: str,
    manual_dir: epath.PathLike | None,
    fields: Mapping[str, Any] = types.MappingProxyType({}),
) -> str:
    """Returns how to build a part of a release: the command, for an error about its lists.

    Args:
      name: the release.
      manual_dir: the folder with its tree or archive; None if the archive was downloaded.
      fields: further fields of the config, such as `instance_mask` if there are no such masks.
    """
    config = json.dumps({"name": "part", "release": name, "strict": False, **fields})
    words = ("tfds", "build", "voc_seg_tfrecord")
    call = command(*words, imports="voc_seg_tfrecord", config=config, manual_dir=manual_dir)
    return f"build it as a part of {title(name)} under another name: {call}"


@dataclasses.dataclass(frozen=True)
class OfficialSplit:
    """One official split.

    Attributes:
      config: the name of the release and of its config, such as `2012`.
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

    def describe_counts(self) -> str:
        """Returns the counts in words, such as `4998 or 4996`."""
        return " or ".join(map(str, self.counts))


def title(config: str) -> str:
    """Returns what people call a release, such as `VOC2012` or `SBD`, by its config's name."""
    if config.startswith("context"):
        return f"Pascal Context ({config.removeprefix('context')} classes)"
    is_year = config[:1].isdigit()
    return f"VOC{config}" if is_year else config.upper()


@functools.cache
def official_splits() -> dict[tuple[str, str], OfficialSplit]:
    """Returns the official splits by config and name.

    References:
      The header of `checksums/splits.tsv` names the sources.
    """
    splits = {}
    for row in read_table(facts_folder("checksums") / "splits.tsv"):
        counts = tuple(int(count) for count in row["examples"].split(" or "))
        split = OfficialSplit(
            row["config"], row["name"], counts, row["ids_sha256"], row["masks_sha256"]
        )
        splits[split.config, split.name] = split
    return splits


def _split_with_ids(ids_sha256: str) -> OfficialSplit | None:
    """Returns the official split whose ids have a hash; None if no split has it."""
    for split in official_splits().values():
        if split.ids_sha256 == ids_sha256:
            return split
    return None


def check_ids(config: str, split: str, ids: Sequence[str], where: object) -> None:
    """Checks that a list is the official one of its release.

    Raises:
      ListError: if the count or the hash differs. It names both, and the official list that
        this one is, if it is one.
    """
    expected = official_splits()[config, split]
    digest = id_list_sha256(ids)
    is_other_list = bool(expected.ids_sha256) and digest != expected.ids_sha256
    if len(ids) in expected.counts and not is_other_list:
        return
    found = f"{counted(len(ids), 'id')}, sha256 {digest}"
    other = _split_with_ids(digest)
    if other is not None:
        found += f". This is the list {other.name} of {title(other.config)}"
    official = f"the official list {split} of {title(config)}: {expected.describe_counts()} ids"
    if expected.ids_sha256:
        official += f", sha256 {expected.ids_sha256}"
    raise ListError(
        where,
        found=found,
        expected=official,
        remedy="use the official release",
    )
