"""Optional packages: checks whether they are installed, and says how to install one.

`voc_seg_tfrecord_lite` brings neither TensorFlow nor Apache Beam; object stores and some kinds of
image files need a library of their own.
"""

import dataclasses
import importlib.util

from voc_seg_tfrecord.core.errors import MissingPackageError


@dataclasses.dataclass(frozen=True)
class _Package:
    """An optional package.

    Attributes:
      name: its name for people.
      install: the command that installs it.
    """

    name: str
    install: str


_INSTALL_BANDS = "pip install tifffile imagecodecs"  # the extra `bands`; both are needed

_PACKAGES = {
    "apache_beam": _Package("Apache Beam", "pip install 'apache-beam>=2.69'"),
    "cv2": _Package("OpenCV", "pip install opencv-python-headless"),  # the extra `leaks`
    "gcsfs": _Package("gcsfs", "pip install gcsfs"),
    "imagecodecs": _Package("imagecodecs", _INSTALL_BANDS),
    "keras": _Package("Keras", "pip install keras"),
    "s3fs": _Package("s3fs", "pip install s3fs"),
    "scipy": _Package("SciPy", "pip install 'scipy>=1.13'"),  # the extra `matlab`
    "tensorflow": _Package("TensorFlow", "pip install 'tensorflow>=2.20'"),
    "tifffile": _Package("tifffile", _INSTALL_BANDS),
    "torch": _Package("PyTorch", "pip install 'torch>=2.4'"),  # the extra `torch`
}
"""The optional packages by the names of their modules."""


def is_installed(module: str) -> bool:
    """Returns whether a package is installed, without importing it."""
    return importlib.util.find_spec(module) is not None


def require(module: str, needed_by: str, alternative: str = "") -> None:
    """Checks that a package is installed, without importing it.

    Args:
      module: the name of its module, one of `_PACKAGES`.
      needed_by: what needs it, such as a function, a file or an address.
      alternative: what to do instead of installing it.

    Raises:
      MissingPackageError: if it is not installed.
    """
    if not is_installed(module):
        raise missing_error(module, needed_by, alternative)


def missing_error(module: str, needed_by: str, alternative: str = "") -> MissingPackageError:
    """Returns the error for a package that is not installed; see `require`."""
    package = _PACKAGES[module]
    remedy = f"{package.install}, or {alternative}" if alternative else package.install
    return MissingPackageError(
        needed_by, found=f"this needs {package.name}, which is not installed", remedy=remedy
    )
