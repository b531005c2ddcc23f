"""The scaling, turn, shift and mirroring that carry one image's content onto another's."""

import dataclasses

import numpy as np

_MAX_UNNAMED_ROTATION_DEGREES = 3  # as exact as the direction of a keypoint


@dataclasses.dataclass(frozen=True)
class Similarity:
    """Carries a point of the second image onto the first one.

    Points are (x, y) as shares of each image's own long side, from its left upper corner. A
    mirrored second image is turned upside down first, so that `y` becomes `-y`.

    Attributes:
      is_mirrored: whether the second image is mirrored.
      cosine: of the turn, times the scale.
      sine: of the turn, times the scale.
      shift_x: added to x after the turn.
      shift_y: added to y after the turn.
    """

    is_mirrored: bool
    cosine: float
    sine: float
    shift_x: float
    shift_y: float

    @property
    def scale(self) -> float:
        """How many times longer the content is in the first image, in shares of the long sides."""
        return float(np.hypot(self.cosine, self.sine))

    def matrix(self) -> np.ndarray:
        """Returns the affine map of (x, y, 1), float64 `[2, 3]`."""
        flip = -1 if self.is_mirrored else 1
        return np.array(
            [
                [self.cosine, -self.sine * flip, self.shift_x],
                [self.sine, self.cosine * flip, self.shift_y],
            ]
        )

    def describe(self) -> str:
        """Returns how the first image's content was turned to become the second's.

        Rotations are clockwise, as in `picture_signs.ORIENTATIONS`.
        """
        turn = np.degrees(np.arctan2(self.sine, self.cosine))
        # A mirrored image was turned upside down, which is mirrored and rotated by 180 degrees.
        clockwise = turn - 180 if self.is_mirrored else -turn
        rotation = round(clockwise) % 360
        is_rotated = min(rotation, 360 - rotation) > _MAX_UNNAMED_ROTATION_DEGREES
        if self.is_mirrored and is_rotated:
            return f"mirrored, then rotated by {rotation} degrees"
        if self.is_mirrored:
            return "mirrored"
        if is_rotated:
            return f"rotated by {rotation} degrees"
        return "upright"


def fit_similarity(
    first_points: np.ndarray, second_points: np.ndarray, *, is_mirrored: bool
) -> Similarity:
    """Returns the similarity that carries points onto others with the least squares.

    Args:
      first_points: `x + iy` in the first image, complex `[N]`; at least two that differ.
      second_points: the same points in the second image, upside down if it is mirrored.
      is_mirrored: whether the second image is mirrored.
    """
    first_center = first_points.mean()
    second_center = second_points.mean()
    centered = second_points - second_center
    product = (np.conj(centered) * (first_points - first_center)).sum()
    turn_and_scale = product / (np.abs(centered) ** 2).sum()
    shift = first_center - turn_and_scale * second_center
    return Similarity(
        is_mirrored,
        cosine=float(turn_and_scale.real),
        sine=float(turn_and_scale.imag),
        shift_x=float(shift.real),
        shift_y=float(shift.imag),
    )
