"""Reduces an image to 255 signs, which stay the same where the image is encoded again or scaled.

The brightness is squeezed to 64 x 64 pixels, of which the 16 x 16 lowest coefficients of the
discrete cosine transform (DCT) are computed. What is kept of each is its sign, so contrast does not
matter. The first coefficient, the mean, is left out, so brightness does not matter either.

Signs are packed into 32 bytes: bit `16 * u + v` is set if the coefficient of frequency `u` from top
to bottom and `v` from left to right is positive. Bit 0, of the mean, is never set.

Mirroring and turning an image needs no second look at it: mirroring changes the signs of all odd
frequencies in one direction, and a turn by 90 degrees swaps `u` and `v`.

An image without structure, such as a blank page or a smooth gradient, has no signs: where
coefficients are as small as rounding, they would say nothing, or the same for all such images.
"""

from collections.abc import Mapping, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.formats.stills import Still

SIGN_BYTES = 32
"""Bytes of the signs of an image."""

SIGNS = 255
"""How many bits of them are used: all but bit 0."""

MIN_SIDE_PX = 320
"""Pixels that the shorter side of a decoded image should have, if the image is that large.

A JPEG that is decoded to less has other signs: 7 to 32 of them at an eighth of its size.
"""


def make_cosines(side: int, frequencies: int) -> np.ndarray:
    """Returns the matrix C whose `C @ pixels @ C.T` are the lowest coefficients of the DCT.

    Args:
      side: rows and columns of the pixels.
      frequencies: how many frequencies of each direction.

    Returns:
      The orthonormal DCT's rows, float64 `[frequencies, side]`.
    """
    frequency = np.arange(frequencies)[:, np.newaxis]
    position = np.arange(side) + 0.5
    cosines: np.ndarray = np.cos(np.pi * frequency * position / side) * np.sqrt(2 / side)
    cosines[0] /= np.sqrt(2)
    return cosines


_SQUEEZED_SIDE_PX = 64
_FREQUENCIES = 16  # in each direction
_COSINES = make_cosines(_SQUEEZED_SIDE_PX, _FREQUENCIES)
_MIN_COEFFICIENT = 1.0  # three times the error of rounding to whole levels, of 256
_MIN_CLEAR_COEFFICIENTS = 160
"""Coefficients that are larger than rounding, below which an image has no signs.

Signs of two images differ in half of these, 80, with a standard deviation of 6, even if all other
signs are equal. That is five standard deviations above the 48 that may differ in one picture.
Photos have at least 232.
"""
_ZERO = 1e-6  # smaller coefficients are 0; their signs would depend on the machine

CONSTANTS: Mapping[str, float] = {
    "squeezed_side_px": _SQUEEZED_SIDE_PX,
    "frequencies": _FREQUENCIES,
    "min_side_px": MIN_SIDE_PX,
    "min_coefficient": _MIN_COEFFICIENT,
    "min_clear_coefficients": _MIN_CLEAR_COEFFICIENTS,
}
"""What the signs of an image depend on, for files that keep them."""


@dataclasses.dataclass(frozen=True)
class Orientation:
    """One of the eight ways in which an image can be mirrored and turned by right angles.

    Attributes:
      name: what was done to the image, for people.
      is_transposed: whether rows and columns were swapped, before the rest.
      is_flipped: whether top and bottom were swapped.
      is_mirrored: whether left and right were swapped.
    """

    name: str
    is_transposed: bool
    is_flipped: bool
    is_mirrored: bool

    def apply_to_signs(self, signs: np.ndarray) -> np.ndarray:
        """Returns the signs of images that are turned so, uint8 `[N, 32]`.

        Args:
          signs: of the images as they are, uint8 `[N, 32]`.
        """
        if self.is_transposed:
            bits = unpack_signs(signs).reshape(-1, _FREQUENCIES, _FREQUENCIES)
            signs = pack_signs(bits.transpose(0, 2, 1).reshape(-1, 8 * SIGN_BYTES))
        return signs ^ pack_signs(self.changed_bits())

    def changed_bits(self) -> np.ndarray:
        """Returns which signs change after rows and columns were swapped, bool `[256]`."""
        is_odd = np.arange(_FREQUENCIES) % 2 == 1
        changes_by_flip = is_odd[:, np.newaxis] & self.is_flipped
        changes_by_mirroring = is_odd[np.newaxis] & self.is_mirrored
        return (changes_by_flip ^ changes_by_mirroring).ravel()

    def apply_to_pixels(self, pixels: np.ndarray) -> np.ndarray:
        """Returns an image that is turned so, `[H, W, ...]`, or `[W, H, ...]` if transposed.

        Args:
          pixels: of the image as it is, `[H, W, ...]`.
        """
        if self.is_transposed:
            pixels = pixels.swapaxes(0, 1)
        if self.is_flipped:
            pixels = pixels[::-1]
        if self.is_mirrored:
            pixels = pixels[:, ::-1]
        return pixels

    def apply_to_points(self, points: np.ndarray) -> np.ndarray:
        """Returns where points of an image are after it is turned so, float64 `[N, 2]`.

        Args:
          points: (x, y) in the image as it is, as shares of its width and height, `[N, 2]`.
        """
        x, y = points.T
        if self.is_transposed:
            x, y = y, x
        if self.is_flipped:
            y = 1 - y
        if self.is_mirrored:
            x = 1 - x
        return np.stack([x, y], axis=1)


ORIENTATIONS: Sequence[Orientation] = (
    Orientation("upright", is_transposed=False, is_flipped=False, is_mirrored=False),
    Orientation("mirrored", is_transposed=False, is_flipped=False, is_mirrored=True),
    Orientation("flipped", is_transposed=False, is_flipped=True, is_mirrored=False),
    Orientation("rotated by 180 degrees", is_transposed=False, is_flipped=True, is_mirrored=True),
    Orientation("transposed", is_transposed=True, is_flipped=False, is_mirrored=False),
    Orientation("rotated by 90 degrees", is_transposed=True, is_flipped=False, is_mirrored=True),
    Orientation("rotated by 270 degrees", is_transposed=True, is_flipped=True, is_mirrored=False),
    Orientation(
        "transposed and rotated by 180 degrees",
        is_transposed=True,
        is_flipped=True,
        is_mirrored=True,
    ),
)
"""All of them; the first is the image as it is. Rotations are clockwise."""


def compute_signs(still: Still) -> np.ndarray | None:
    """Returns the signs of an image, uint8 `[32]`; None if it has too little structure.

    Args:
      still: the image, decoded to at least `MIN_SIDE_PX` if it is that large.
    """
    brightness = still.gray(_SQUEEZED_SIDE_PX, _SQUEEZED_SIDE_PX).astype(np.float64)
    coefficients = _COSINES @ brightness @ _COSINES.T
    coefficients[0, 0] = 0  # the mean
    is_clear = np.abs(coefficients) >= _MIN_COEFFICIENT
    if np.count_nonzero(is_clear) < _MIN_CLEAR_COEFFICIENTS:
        return None
    return pack_signs((coefficients > _ZERO).ravel())


def pack_signs(bits: np.ndarray) -> np.ndarray:
    """Returns bool `[..., 256]` as uint8 `[..., 32]`."""
    return np.packbits(bits, axis=-1)


def unpack_signs(signs: np.ndarray) -> np.ndarray:
    """Returns uint8 `[..., 32]` as bits, uint8 `[..., 256]`."""
    return np.unpackbits(signs, axis=-1)
