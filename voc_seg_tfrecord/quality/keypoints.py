"""Describes the parts of an image, so that a crop or a mirrored part of it is recognized.

An image is described by up to 24 keypoints of SIFT, in 9 bytes each: position, size, direction and
the signs of 47 DCT coefficients of the square around it, which is turned upright first. So a crop,
a scaled, turned or mirrored copy has many of the same keypoints. `shared_parts` compares them.

References:
  D. Lowe: Distinctive image features from scale-invariant keypoints. IJCV 60, 2004.
"""

from collections.abc import Mapping
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.formats.dct import make_cosines

if TYPE_CHECKING:
    import cv2

KEYPOINTS_PER_IMAGE = 24
"""How many keypoints describe an image at most."""

BYTES_PER_KEYPOINT = 9

IMAGE_SIDE_PX = 160
"""An image is scaled to a long side of so many pixels before keypoints are sought in it."""

SIGN_BITS = 47
"""How many signs of DCT coefficients describe the patch around a keypoint."""

_PATCH_SIDE_PX = 16
_PATCH_WIDTH_IN_SIZES = 6  # the patch is a square of so many keypoint sizes
_MIN_PATCH_WIDTH_PX = 10  # a smaller patch has too few pixels to tell patches apart
_MIN_CONTRAST = 0.02  # of SIFT; its default of 0.04 finds too little in smooth images

# The geometry takes 25 bits, so that a keypoint with its 47 signs fits into 9 bytes. From the
# highest bit: column (7 bits), row (7), size (5), direction (6). The highest bit lies beside the
# signs in the first 6 bytes, the other 24 are the last 3.
_POSITION_STEPS = 1 << 7  # of the long side
_SIZE_STEPS = 1 << 5
_DIRECTION_STEPS = 1 << 6  # of a full turn
_BITS_OF_LAST_BYTES = 24

_SIZE_STEPS_PER_OCTAVE = 4
_SIZE_OCTAVES = 7.75  # sizes from 2**-7.75 of the long side to all of it; code 0 says no keypoint


CONSTANTS: Mapping[str, float] = {
    "keypoints_per_image": KEYPOINTS_PER_IMAGE,
    "keypoint_image_side_px": IMAGE_SIDE_PX,
    "keypoint_sign_bits": SIGN_BITS,
    "keypoint_patch_side_px": _PATCH_SIDE_PX,
    "keypoint_patch_width_in_sizes": _PATCH_WIDTH_IN_SIZES,
    "keypoint_min_patch_width_px": _MIN_PATCH_WIDTH_PX,
    "keypoint_min_contrast": _MIN_CONTRAST,
    "keypoint_position_steps": _POSITION_STEPS,
    "keypoint_direction_steps": _DIRECTION_STEPS,
    "keypoint_size_steps": _SIZE_STEPS,
    "keypoint_size_steps_per_octave": _SIZE_STEPS_PER_OCTAVE,
    "keypoint_size_octaves": _SIZE_OCTAVES,
}
"""What the keypoints of an image depend on, for files that keep them."""


def _list_frequencies() -> np.ndarray:
    """Returns the vertical and horizontal frequencies of the signs, int64 `[47, 2]`.

    They are the lowest without the average and without nine that tell little. Most keypoints are
    dark or bright blobs, so five signs say only which; four have mostly one sign.
    """
    alike_in_all_blobs = {(0, 2), (2, 2), (2, 4), (0, 4), (2, 0)}
    mostly_of_one_sign = {(0, 1), (2, 1), (2, 3), (0, 5)}
    frequencies = []
    for vertical in range(8):
        for horizontal in range(8):
            frequency = (vertical, horizontal)
            if frequency != (0, 0) and frequency not in alike_in_all_blobs | mostly_of_one_sign:
                frequencies.append(frequency)
    frequencies.sort(key=lambda frequency: (frequency[0] ** 2 + frequency[1] ** 2, frequency))
    return np.array(frequencies[:SIGN_BITS])


_FREQUENCIES = _list_frequencies()
_COSINES = make_cosines(_PATCH_SIDE_PX, 8)

MIRRORED_SIGNS = int(
    sum(1 << bit for bit, (vertical, _) in enumerate(_FREQUENCIES.tolist()) if vertical % 2)
)
"""The bits of `Keypoints.signs` that a mirrored patch has inverted: odd vertical frequencies."""


@dataclasses.dataclass(frozen=True, eq=False)
class Keypoints:
    """The unpacked keypoints of N images. `K` is `KEYPOINTS_PER_IMAGE`.

    Attributes:
      x: column of each, as a share of the image's long side, float32 `[N, K]`.
      y: row of each, as a share of the image's long side, float32 `[N, K]`.
      log_size: natural logarithm of the size as a share of the long side, float32 `[N, K]`.
      direction: radians from the x axis towards the y axis, float32 `[N, K]`.
      signs: the 47 signs as the bits of a number, uint64 `[N, K]`.
      exists: False where an image has fewer keypoints, bool `[N, K]`.
    """

    x: np.ndarray
    y: np.ndarray
    log_size: np.ndarray
    direction: np.ndarray
    signs: np.ndarray
    exists: np.ndarray

    def take(self, image: int, numbers: np.ndarray) -> "Keypoints":
        """Returns some keypoints of an image, by their numbers, `[M]` each."""
        return Keypoints(
            self.x[image][numbers],
            self.y[image][numbers],
            self.log_size[image][numbers],
            self.direction[image][numbers],
            self.signs[image][numbers],
            self.exists[image][numbers],
        )


def is_available() -> bool:
    """Returns whether OpenCV is installed, which finds keypoints."""
    return requirements.is_installed("cv2")


def opencv_version() -> str:
    """Returns the version of OpenCV, on which keypoints depend a little."""
    import cv2

    return str(cv2.__version__)


def describe(gray: np.ndarray) -> np.ndarray:
    """Returns the keypoints of an image, packed.

    Args:
      gray: the image's brightness, uint8 `[H, W]`. A long side of at least `IMAGE_SIDE_PX` is best.

    Returns:
      uint8 `[24, 9]`; zeros for each keypoint that the image lacks.

    Raises:
      MissingPackageError: if OpenCV is not installed.
    """
    requirements.require("cv2", "finding shared parts")
    image = _scale(gray)
    keypoints = _strongest_keypoints(image)
    packed = np.zeros((KEYPOINTS_PER_IMAGE, BYTES_PER_KEYPOINT), np.uint8)
    if keypoints:
        packed[: len(keypoints)] = _pack(keypoints, image)
    return packed


def _scale(gray: np.ndarray) -> np.ndarray:
    """Returns the image with a long side of `IMAGE_SIDE_PX`, uint8 `[H, W]`.

    By OpenCV, though `pixel_confirmation` scales by Pillow, whose pixels differ a little: keypoints
    in index files have to stay what they are, and pixels are compared without OpenCV as well.
    """
    import cv2

    height, width = gray.shape
    factor = IMAGE_SIDE_PX / max(height, width)
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return cv2.resize(np.ascontiguousarray(gray), size, interpolation=interpolation)


def _strongest_keypoints(image: np.ndarray) -> "list[cv2.KeyPoint]":
    """Returns the keypoints that a crop most likely has too: those of high contrast and size."""
    import cv2

    sift = cv2.SIFT.create(contrastThreshold=_MIN_CONTRAST, enable_precise_upscale=True)
    large_enough = []
    for keypoint in sift.detect(image, None):
        if keypoint.size * _PATCH_WIDTH_IN_SIZES >= _MIN_PATCH_WIDTH_PX:
            large_enough.append(keypoint)
    large_enough.sort(
        key=lambda keypoint: (-keypoint.response * keypoint.size, keypoint.pt, keypoint.angle)
    )
    return large_enough[:KEYPOINTS_PER_IMAGE]


def _pack(keypoints: "list[cv2.KeyPoint]", image: np.ndarray) -> np.ndarray:
    """Returns keypoints in 9 bytes each, uint8 `[N, 9]`: 47 signs, then 25 bits of geometry."""
    long_side = max(image.shape)
    position = np.array([keypoint.pt for keypoint in keypoints]) / long_side
    size = np.array([keypoint.size for keypoint in keypoints]) / long_side
    turns = np.array([keypoint.angle for keypoint in keypoints]) / 360

    column, row = np.clip(position * _POSITION_STEPS, 0, _POSITION_STEPS - 1).astype(np.uint64).T
    size_code = np.rint((np.log2(size) + _SIZE_OCTAVES) * _SIZE_STEPS_PER_OCTAVE)
    size_code = np.clip(size_code, 1, _SIZE_STEPS - 1).astype(np.uint64)
    direction_code = np.rint(turns * _DIRECTION_STEPS).astype(np.uint64) % _DIRECTION_STEPS
    position_code = column * _POSITION_STEPS + row
    geometry = (position_code * _SIZE_STEPS + size_code) * _DIRECTION_STEPS + direction_code

    highest_bit, other_bits = np.divmod(geometry, np.uint64(1 << _BITS_OF_LAST_BYTES))
    signs = _sign_bits(_cut_patches(keypoints, image))
    first_bytes = signs | (highest_bit << np.uint64(SIGN_BITS))
    return np.concatenate([_as_bytes(first_bytes)[:, :6], _as_bytes(other_bits)[:, :3]], axis=1)


def _as_bytes(numbers: np.ndarray) -> np.ndarray:
    """Returns the bytes of uint64 `[N]`, the lowest first, uint8 `[N, 8]`."""
    return numbers.astype("<u8").view(np.uint8).reshape(-1, 8)


def unpack(packed: np.ndarray) -> Keypoints:
    """Returns the keypoints of N images from uint8 `[N, 24, 9]`."""
    first_bytes = _as_numbers(packed[..., :6])
    highest_bit = first_bytes >> np.uint64(SIGN_BITS)
    geometry = (highest_bit << np.uint64(_BITS_OF_LAST_BYTES)) | _as_numbers(packed[..., 6:])
    rest, direction_code = np.divmod(geometry, np.uint64(_DIRECTION_STEPS))
    rest, size_code = np.divmod(rest, np.uint64(_SIZE_STEPS))
    column, row = np.divmod(rest, np.uint64(_POSITION_STEPS))
    log2_size = size_code.astype(np.float32) / _SIZE_STEPS_PER_OCTAVE - _SIZE_OCTAVES
    return Keypoints(
        x=(column.astype(np.float32) + 0.5) / _POSITION_STEPS,
        y=(row.astype(np.float32) + 0.5) / _POSITION_STEPS,
        log_size=log2_size * np.float32(np.log(2)),
        direction=direction_code.astype(np.float32) * np.float32(2 * np.pi / _DIRECTION_STEPS),
        signs=first_bytes & np.uint64((1 << SIGN_BITS) - 1),
        exists=size_code > 0,
    )


def _as_numbers(little_endian: np.ndarray) -> np.ndarray:
    """Returns the numbers in bytes, the lowest byte first: uint8 `[..., B]` to uint64 `[...]`."""
    padded = np.zeros((*little_endian.shape[:-1], 8), np.uint8)
    padded[..., : little_endian.shape[-1]] = little_endian
    return padded.view("<u8")[..., 0].astype(np.uint64)


def _cut_patches(keypoints: "list[cv2.KeyPoint]", image: np.ndarray) -> np.ndarray:
    """Returns the square around each keypoint, turned upright, float32 `[N, 16, 16]`."""
    import cv2

    pyramid = _blur_and_halve(image)
    patches = np.empty((len(keypoints), _PATCH_SIDE_PX, _PATCH_SIDE_PX), np.float32)
    for number, keypoint in enumerate(keypoints):
        pixels_per_sample = keypoint.size * _PATCH_WIDTH_IN_SIZES / _PATCH_SIDE_PX
        # The level whose pixels are at most as large as a sample: nothing is skipped.
        level = int(np.clip(np.log2(pixels_per_sample), 0, len(pyramid) - 1))
        patches[number] = cv2.warpAffine(
            pyramid[level],
            _patch_to_image(keypoint, pixels_per_sample, 1 << level),
            (_PATCH_SIDE_PX, _PATCH_SIDE_PX),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
    return patches


def _blur_and_halve(image: np.ndarray) -> list[np.ndarray]:
    """Returns the image, then each time half as large and blurred, float32."""
    import cv2

    pyramid: list[np.ndarray] = [image.astype(np.float32)]
    while min(pyramid[-1].shape) >= 2 * _PATCH_SIDE_PX:
        pyramid.append(cv2.pyrDown(pyramid[-1]))
    return pyramid


def _patch_to_image(
    keypoint: "cv2.KeyPoint", pixels_per_sample: float, reduction: int
) -> np.ndarray:
    """Returns the affine map from the patch's samples to pixels of a level, float64 `[2, 3]`.

    Args:
      keypoint: in the middle of the patch, which is turned by its angle.
      pixels_per_sample: how many pixels of the image a sample of the patch is wide.
      reduction: how many times smaller the level is than the image.
    """
    angle = np.deg2rad(keypoint.angle)
    step = pixels_per_sample / reduction
    turn = step * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    # A pixel's center lies at a half in both levels.
    center = (np.array(keypoint.pt) + 0.5) / reduction - 0.5
    middle_of_patch = np.full(2, (_PATCH_SIDE_PX - 1) / 2)
    shift = center - turn @ middle_of_patch
    return np.column_stack([turn, shift])


def _sign_bits(patches: np.ndarray) -> np.ndarray:
    """Returns the signs of the chosen DCT coefficients as the bits of a number, uint64 `[N]`."""
    coefficients = _COSINES @ patches @ _COSINES.T
    is_positive = coefficients[:, _FREQUENCIES[:, 0], _FREQUENCIES[:, 1]] > 0
    bits = np.uint64(1) << np.arange(SIGN_BITS, dtype=np.uint64)
    return (is_positive * bits).sum(axis=1, dtype=np.uint64)
