"""The lowest frequencies of the discrete cosine transform (DCT-II), as a matrix."""

import numpy as np


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
