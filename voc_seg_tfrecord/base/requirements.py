"""Packages that only some calls need: says which one is missing, and how to install it.

`voc_seg_tfrecord_lite` brings neither TensorFlow nor Apache Beam, and object stores need a library
of their own.
"""

import importlib.util
from typing import NamedTuple

from voc_seg_tfrecord.base.errors import MissingPackageError


class _Package(NamedTuple):
    name: str
    install: str


_PACKAGES = {
    "apache_beam": _Package("Apache Beam", "pip install 'apache-beam>=2.69'"),
    "gcsfs": _Package("gcsfs", "pip install gcsfs"),
    "imagecodecs": _Package("imagecodecs", "pip install tifffile imagecodecs"),
    "keras": _Package("Keras", "pip install keras"),
    "s3fs": _Package("s3fs", "pip install s3fs"),
    "tensorflow": _Package("TensorFlow", "pip install 'tensorflow>=2.20'"),
    "tifffile": _Package("tifffile", "pip install tifffile imagecodecs"),
}
"""What people call each package, and the command that installs it, by the name of its module."""


def is_installed(module: str) -> bool:
    """Returns whether a package is installed, without importing it."""
    return importlib.util.find_spec(module) is not None


def require(module: str, user: str, instead: str = "") -> None:
    """Checks that a package is installed, without importing it.

    Args:
      module: the name of its module, one of `_PACKAGES`.
      user: what needs it, for the error.
      instead: what does the same without it, for the error.

    Raises:
      MissingPackageError: if it is not installed.
    """
    if not is_installed(module):
        raise missing(module, user, instead)


def missing(module: str, user: str, instead: str = "") -> MissingPackageError:
    """Returns the error for a package that is not installed; see `require`."""
    package = _PACKAGES[module]
    remedy = package.install
    if instead:
        remedy = f"{package.install}, or {instead}"
    return MissingPackageError(
        user, found=f"this needs {package.name}, which is not installed", remedy=remedy
    )
