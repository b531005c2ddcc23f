"""Says whether images look alike, by a few brightness values of each.

The question is whether images show one scene: frames of a film, visits of a place, copies that were
augmented. The signs of `formats.picture_signs` answer another one, whether two images are the same
picture. Measured on frames 1 and 10 apart of CamVid's test film, the median difference in parts of
the lower quartile of unrelated photos: 0.16 and 0.35 by brightness, 0.62 and 0.96 by signs.
"""

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images

MAX_DIFFERENCE_OF_COPIES = 0.3
"""Mean difference of the thumbnails of an image and its copy, at most.

Measured on 60 photos: copies at 1/2 to 1/8 of the size differ by 0.04 in the median and 0.27 at
most, unrelated photos by 0.95 in the median and 0.38 at least.
"""

_THUMBNAIL_SIDE_PX = 16
_MIN_CONTRAST = 4  # of 255; less is noise

Thumbnail = np.ndarray
"""An image squeezed to a few brightness values, float32 `[16, 16]` of mean 0 and contrast 1."""


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
