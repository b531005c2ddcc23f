"""Shows all images of more than 8-bit RGB alike: the same bands, and one range of values.

Images of one range can be compared: what is bright on one is bright on all. Pixels without data
would make the range too wide, so those that are void, not finite, or 0 in all bands do not count.
"""

from collections.abc import Iterable, Iterator, Sequence
import contextlib
import dataclasses

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.names import IMAGE, MASK, VOID
from voc_seg_tfrecord.formats.bands import shown_bands, stretch_bands, stretch_limits
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.records import Record, read_at

MAX_SAMPLED_IMAGES_PER_SPLIT = 24
"""Images of a split whose values decide what is black and white."""

_MAX_SAMPLED_PIXELS_PER_IMAGE = 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class BandDisplay:
    """How the images of a dataset or a folder are shown.

    Attributes:
      bands: the band of each color, red first; or one band that is shown in gray.
      black: the value of each band that is shown as black, float32 `[len(bands)]`.
      white: the value of each band that is shown as white, likewise.
    """

    bands: tuple[int, ...]
    black: np.ndarray
    white: np.ndarray

    def show(self, pixels: np.ndarray) -> np.ndarray:
        """Returns an image of the dataset, `[H, W, N]` of any dtype, as uint8 `[H, W, 3]`."""
        return stretch_bands(pixels[..., list(self.bands)], self.black, self.white)


def find_display(
    builder: tfds.core.DatasetBuilder, rgb: Sequence[int] | None = None
) -> BandDisplay | None:
    """Returns how the images of a dataset are shown; None of RGB of 8 bits, as they are.

    Args:
      builder: of the built dataset.
      rgb: the bands for red, green and blue, from 0; by default the first three, or one.

    Raises:
      ConfigError: if there is no such band, or all images are RGB of 8 bits.
    """
    if metadata.bands_of(builder):
        image = builder.info.features[IMAGE]
        return make_display(image.shape[-1], image.np_dtype, _sample_pixels(builder), rgb)
    if rgb is None:
        return None
    raise ConfigError(
        "--rgb",
        found=f"{builder.info.full_name}, whose images are RGB of 8 bits",
        expected="a dataset of other bands, built with --bands or --dtype",
        remedy="leave --rgb out",
    )


def make_display(
    band_count: int, dtype: np.dtype, samples: Iterable[np.ndarray], rgb: Sequence[int] | None
) -> BandDisplay:
    """Returns how images of bands are shown.

    Of images of uint8, 0 is black and 255 is white. Of others, black is the 2nd percentile and
    white the 98th of some pixels.

    Args:
      band_count: how many bands the images have.
      dtype: of the images.
      samples: pixels of the images, `[M, band_count]`; they are read only if they are needed.
      rgb: the bands for red, green and blue, from 0; by default the first three, or one.

    Raises:
      ConfigError: if there is no such band.
    """
    bands = _check_rgb(rgb, band_count) if rgb else shown_bands(band_count)
    if dtype == np.uint8:
        zeros = np.zeros(len(bands), np.float32)
        return BandDisplay(bands, zeros, zeros + 255)
    chosen = [pixels[:, list(bands)].astype(np.float32) for pixels in samples]
    if not chosen:
        chosen = [np.zeros((1, len(bands)), np.float32)]
    black, white = stretch_limits(np.concatenate(chosen))
    return BandDisplay(bands, black, white)


def _check_rgb(rgb: Sequence[int], band_count: int) -> tuple[int, ...]:
    """Returns the bands that the user chose.

    Raises:
      ConfigError: if they are not three bands of the images.
    """
    if len(rgb) == 3 and all(0 <= number < band_count for number in rgb):
        return tuple(rgb)
    last = band_count - 1
    raise ConfigError(
        f"--rgb {','.join(map(str, rgb))}",
        found=f"images whose bands are 0 to {last}" if last else "images of one band",
        expected="the bands for red, green and blue, such as 2,1,0",
        remedy="name three bands, or leave --rgb out",
    )


def _sample_pixels(builder: tfds.core.DatasetBuilder) -> Iterator[np.ndarray]:
    """Yields some pixels with data of some images, `[M, N]` of their dtype."""
    places = set()
    for split, info in builder.info.splits.items():
        for number in range(min(info.num_examples, MAX_SAMPLED_IMAGES_PER_SPLIT)):
            places.add((split, number))
    for _, record in read_at(builder, places):
        with contextlib.suppress(VocSegError):  # a damaged image has no pixels
            mask = record.pixels(MASK) if MASK in record.features else None
            yield pixels_with_data(record.bands(), mask)


def pixels_with_data(image: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Returns some pixels of an image, `[M, N]` of its dtype, without those that have no data.

    Args:
      image: `[H, W, N]`.
      mask: class indices, uint8 `[H, W]`; None if there is none.
    """
    height, width, band_count = image.shape
    step = max(1, height * width // _MAX_SAMPLED_PIXELS_PER_IMAGE)
    pixels = image.reshape(-1, band_count)[::step]
    has_data = np.isfinite(pixels).all(axis=1)
    has_data &= pixels.any(axis=1)
    if mask is not None:
        values = mask.ravel()[::step]
        has_data &= values != VOID
    return pixels[has_data]


def decode_shown(record: Record, display: BandDisplay | None) -> np.ndarray:
    """Returns the image of a record as a page shows it, uint8 `[H, W, 3]`.

    Raises:
      RecordError: if it cannot be decoded.
    """
    return record.image() if display is None else display.show(record.bands())
