"""Describes the parts of an image, so that a crop or a mirrored part of it is recognized.

An image is described by up to 24 keypoints of SIFT: position, size, direction and the signs of 47
DCT coefficients of the square around each, which is turned upright first. So a crop, a scaled,
turned or mirrored copy has many of the same keypoints. `shared_parts` compares them.

References:
  D. Lowe: Distinctive image features from scale-invariant keypoints. IJCV 60, 2004.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.folder.picture_signs import make_cosines

if TYPE_CHECKING:
    import cv2

KEYPOINTS_PER_IMAGE = 24
"""How many keypoints describe an image at most."""

IMAGE_SIDE_PX = 160
"""An image is scaled to a long side of so many pixels before keypoints are sought in it."""

SIGN_BITS = 47
"""How many signs of DCT coefficients describe the patch around a keypoint."""

_PATCH_SIDE_PX = 16
_PATCH_WIDTH_IN_SIZES = 6  # the patch is a square of so many keypoint sizes
_MIN_PATCH_WIDTH_PX = 10  # a smaller patch has too few pixels to tell patches apart
_MIN_CONTRAST = 0.02  # of SIFT; its default of 0.04 finds too little in smooth images

KEYPOINT = np.dtype(
    [
        ("x", np.float32),
        ("y", np.float32),
        ("log_size", np.float32),
        ("direction", np.float32),
        ("signs", np.uint64),
        ("exists", np.bool_),
    ],
    align=True,
)
"""The fields of a keypoint.

    x: its column, as a share of the image's long side.
    y: its row, as a share of the image's long side.
    log_size: the natural logarithm of its size as a share of the long side.
    direction: radians from the x axis towards the y axis.
    signs: the 47 signs as the bits of a number.
    exists: False where an image has fewer keypoints; then the other fields are 0.
"""

CONSTANTS: Mapping[str, float] = {
    "keypoints_per_image": KEYPOINTS_PER_IMAGE,
    "keypoint_image_side_px": IMAGE_SIDE_PX,
    "keypoint_sign_bits": SIGN_BITS,
    "keypoint_patch_side_px": _PATCH_SIDE_PX,
    "keypoint_patch_width_in_sizes": _PATCH_WIDTH_IN_SIZES,
    "keypoint_min_patch_width_px": _MIN_PATCH_WIDTH_PX,
    "keypoint_min_contrast": _MIN_CONTRAST,
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

MIRRORED_SIGNS = np.uint64(
    sum(1 << bit for bit, (vertical, _) in enumerate(_FREQUENCIES.tolist()) if vertical % 2)
)
"""The bits of `signs` that a mirrored patch has inverted: odd vertical frequencies."""


def is_available() -> bool:
    """Returns whether OpenCV is installed, which finds keypoints."""
    return requirements.is_installed("cv2")


def opencv_version() -> str:
    """Returns the version of OpenCV, on which keypoints depend a little."""
    import cv2

    return str(cv2.__version__)


def describe(gray: np.ndarray) -> np.ndarray:
    """Returns the keypoints of an image.

    Args:
      gray: the image's brightness, uint8 `[H, W]`. A long side of at least `IMAGE_SIDE_PX` is best.

    Returns:
      `KEYPOINT` `[24]`; zeros for each keypoint that the image lacks.

    Raises:
      MissingPackageError: if OpenCV is not installed.
    """
    requirements.require("cv2", "finding shared parts")
    image = _scale(gray)
    strongest = _strongest_keypoints(image)
    described = np.zeros(KEYPOINTS_PER_IMAGE, KEYPOINT)
    if not strongest:
        return described
    found = described[: len(strongest)]
    long_side = max(image.shape)
    found["x"] = [keypoint.pt[0] / long_side for keypoint in strongest]
    found["y"] = [keypoint.pt[1] / long_side for keypoint in strongest]
    found["log_size"] = [np.log(keypoint.size / long_side) for keypoint in strongest]
    found["direction"] = [np.deg2rad(keypoint.angle) for keypoint in strongest]
    found["signs"] = _sign_bits(_cut_patches(strongest, image))
    found["exists"] = True
    return described


def _scale(gray: np.ndarray) -> np.ndarray:
    """Returns the image with a long side of `IMAGE_SIDE_PX`, uint8 `[H, W]`.

    By OpenCV; `pixel_confirmation` scales by Pillow, as pixels are compared without OpenCV, too.
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
