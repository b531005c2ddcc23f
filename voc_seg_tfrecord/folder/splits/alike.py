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


@dataclasses.dataclass(frozen=True)
class _GroupedThumbnail:
    """The thumbnail of an image, and its group."""

    group: str
    thumbnail: Thumbnail


@dataclasses.dataclass(frozen=True)
class LooksComparer:
    """Compares pairs of images, and keeps what it has read.

    Attributes:
      path_of: returns the file of an image.
      thumbnails: what was read, by id; None of an image that cannot be read.
    """

    path_of: Callable[[str], epath.Path]
    thumbnails: dict[str, Thumbnail | None] = dataclasses.field(default_factory=dict)

    def are_alike(self, pairs: Collection[ComparedPair]) -> bool:
        """Says whether pairs are much more alike than images of pairs of different groups.

        They are not if more than 128 images would have to be read, in all calls together. An image
        that cannot be read does not count.
        """
        names = dict.fromkeys(name for pair in pairs for name in (pair.one, pair.other))
        new = [name for name in names if name not in self.thumbnails]
        if len(self.thumbnails) + len(new) > _MAX_IMAGES:
            return False
        for name, thumbnail in ordered_map(self._read, new):
            self.thumbnails[name] = thumbnail
        differences_in_pairs = []
        first_images = list[_GroupedThumbnail]()
        for pair in pairs:
            one = self.thumbnails[pair.one]
            other = self.thumbnails[pair.other]
            if one is not None and other is not None:
                differences_in_pairs.append(difference(one, other))
                first_images.append(_GroupedThumbnail(pair.group, one))
        differences_across_groups = _measure_across_groups(first_images)
        if len(differences_in_pairs) < MIN_PAIRS or not differences_across_groups:
            return False
        # Measured: films 0.05 to 0.4 of the quantile, unrelated photos 0.7 and more.
        typical_difference = np.median(differences_in_pairs)
        return bool(2 * typical_difference < np.quantile(differences_across_groups, 0.25))

    def _read(self, image_id: str) -> Thumbnail | None:
        return read_thumbnail(self.path_of(image_id))


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


def difference(one: Thumbnail, other: Thumbnail) -> float:
    """Returns the mean difference of two images, whichever way one is mirrored and turned."""
    turned = [np.rot90(image, turns) for image in (other, other.T) for turns in range(4)]
    return min(float(np.abs(one - image).mean()) for image in turned)
