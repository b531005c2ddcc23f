"""Says whether images look alike, by a few brightness values of each.

The question is whether images show one scene: frames of a film, visits of a place, copies that were
augmented. The signs of `formats.picture_signs` answer another one, whether two images are the same
picture. Measured on frames 1 and 10 apart of CamVid's test film, the median difference in parts of
the lower quartile of unrelated photos: 0.16 and 0.35 by brightness, 0.62 and 0.96 by signs.
"""

from collections.abc import Callable, Collection, Iterable
import dataclasses
import itertools

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images

MIN_PAIRS = 3
"""Pairs of images that say anything."""

_MAX_IMAGES = 128
"""Images that one comparer reads at most."""

_QUANTILE_ACROSS_GROUPS = 0.25
_MAX_SHARE_OF_QUANTILE = 0.5
"""How large the median difference in pairs may be, as a share of that quantile across groups.

Measured: films have 0.05 to 0.4 of it, unrelated photos 0.7 and more.
"""

_THUMBNAIL_SIDE_PX = 16
_MIN_CONTRAST = 4  # of 255; less is noise

Thumbnail = np.ndarray
"""An image squeezed to a few brightness values, float32 `[16, 16]` of mean 0 and contrast 1."""


@dataclasses.dataclass(frozen=True)
class ComparedPair:
    """Two images that may look alike.

    Attributes:
      group: the group that they are in; images of different groups should look different.
      one: the id of an image.
      other: the id of another one.
    """

    group: str
    one: str
    other: str


@dataclasses.dataclass
class _Differences:
    """The differences between images of pairs, and between images of different groups."""

    in_pairs: list[float]
    across_groups: list[float]

    @property
    def are_much_smaller_in_pairs(self) -> bool:
        """Whether the images of a pair look much more alike than those of different groups."""
        if len(self.in_pairs) < MIN_PAIRS or not self.across_groups:
            return False
        quantile = np.quantile(self.across_groups, _QUANTILE_ACROSS_GROUPS)
        return bool(np.median(self.in_pairs) < _MAX_SHARE_OF_QUANTILE * quantile)


@dataclasses.dataclass(frozen=True)
class _GroupedThumbnail:
    """The thumbnail of an image, and its group."""

    group: str
    thumbnail: Thumbnail


class LooksComparer:
    """Compares pairs of images, and keeps what it has read.

    Args:
      path_of: returns the file of an image.
    """

    def __init__(self, path_of: Callable[[str], epath.Path]):
        self._path_of = path_of
        self._thumbnail_by_id: dict[str, Thumbnail | None] = {}

    def are_alike(self, pairs: Collection[ComparedPair]) -> bool:
        """Says whether the images of a pair look much more alike than images of different groups.

        They do not if more than `_MAX_IMAGES` images would have to be read, in all calls together.
        An image that cannot be read does not count.
        """
        if not self._try_to_read(pairs):
            return False
        return self._measure(pairs).are_much_smaller_in_pairs

    def _try_to_read(self, pairs: Collection[ComparedPair]) -> bool:
        """Reads the images of pairs that were not read before; False if they are too many."""
        ids = dict.fromkeys(image_id for pair in pairs for image_id in (pair.one, pair.other))
        new_ids = [image_id for image_id in ids if image_id not in self._thumbnail_by_id]
        if len(self._thumbnail_by_id) + len(new_ids) > _MAX_IMAGES:
            return False
        for image_id, thumbnail in ordered_map(self._read, new_ids):
            self._thumbnail_by_id[image_id] = thumbnail
        return True

    def _measure(self, pairs: Collection[ComparedPair]) -> _Differences:
        """Returns the differences in pairs, and those between the first images of the pairs."""
        differences_in_pairs = []
        first_images = list[_GroupedThumbnail]()
        for pair in pairs:
            one = self._thumbnail_by_id[pair.one]
            other = self._thumbnail_by_id[pair.other]
            if one is not None and other is not None:
                differences_in_pairs.append(difference(one, other))
                first_images.append(_GroupedThumbnail(pair.group, one))
        return _Differences(differences_in_pairs, _measure_across_groups(first_images))

    def _read(self, image_id: str) -> Thumbnail | None:
        return read_thumbnail(self._path_of(image_id))


def _measure_across_groups(images_of_groups: Iterable[_GroupedThumbnail]) -> list[float]:
    """Returns the differences of all two images of different groups."""
    differences = []
    for first, second in itertools.combinations(images_of_groups, 2):
        if first.group != second.group:
            differences.append(difference(first.thumbnail, second.thumbnail))
    return differences


def read_thumbnail(path: epath.Path) -> Thumbnail | None:
    """Returns the thumbnail of an image; None if it cannot be read.

    Its values are what differs from the mean, so photos of one dark class are not alike
    because they are dark.
    """
    try:
        file = File.read(path, ImageError)
        with images.large_in_turn(file):
            decoded = images.decode(file, side=4 * _THUMBNAIL_SIDE_PX)
            pixels = decoded.gray(_THUMBNAIL_SIDE_PX, _THUMBNAIL_SIDE_PX)
    except VocSegError:  # the build says what is wrong with it
        return None
    values = pixels.astype(np.float32) - pixels.mean(dtype=np.float32)
    return np.asarray(values / max(float(values.std()), _MIN_CONTRAST))


MAX_DIFFERENCE_OF_COPIES = 0.3
"""Mean difference of the thumbnails of an image and its copy, at most.

Measured on 60 photos: copies at 1/2 to 1/8 of the size differ by 0.04 in the median and 0.27 at
most, unrelated photos by 0.95 in the median and 0.38 at least.
"""


def difference(one: Thumbnail, other: Thumbnail) -> float:
    """Returns the mean difference of two images, whichever way one is mirrored and turned."""
    turned = [np.rot90(image, turns) for image in (other, other.T) for turns in range(4)]
    return min(float(np.abs(one - image).mean()) for image in turned)
