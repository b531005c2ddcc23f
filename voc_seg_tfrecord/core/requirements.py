"""Optional packages: checks whether they are installed, and says how to install one.

`voc_seg_tfrecord_lite` brings neither TensorFlow nor Apache Beam; object stores and some kinds of
image files need a library of their own.
"""

import dataclasses
from importlib import metadata
import importlib.util
import pathlib
import platform

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


PACKAGE = "voc_seg_tfrecord"
LITE = "voc_seg_tfrecord_lite"
"""The distribution of the same package without TensorFlow and Beam."""

_REQUIRED_PACKAGES = ("tensorflow-datasets", "tensorflow", "numpy", "pillow")
_CHECKOUT = pathlib.Path(__file__).parents[2]


def package_version() -> str:
    """Returns this package's version.

    A checkout gives its own, because another version may be installed beside it: `tfds build` in
    the root of a checkout takes the builder from there. An installed package has the version that
    pip has recorded.
    """
    return (
        _checkout_version() or _installed_version(PACKAGE) or _installed_version(LITE) or "unknown"
    )


def all_versions() -> dict[str, str]:
    """Returns the versions of this package, of what it stands on, and of Python, by name.

    Nothing is imported to find them. A package that is not installed has "not installed" as its
    version. This package is listed under the name of each of its distributions that is installed.
    """
    versions = {}
    lite = _installed_version(LITE)
    is_lite_alone = bool(lite) and not (_checkout_version() or _installed_version(PACKAGE))
    if not is_lite_alone:
        versions[PACKAGE] = package_version()
    if lite:
        versions[LITE] = lite
    for name in _REQUIRED_PACKAGES:
        versions[name] = _installed_version(name) or "not installed"
    versions["python"] = platform.python_version()
    return versions


def _checkout_version() -> str:
    """Returns the version of the checkout that holds this file; empty if it is installed."""
    import tomllib  # for those who ask, and not for every start

    try:
        project = tomllib.loads((_CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return ""
    is_ours = project.get("name") == PACKAGE
    return project["version"] if is_ours else ""


def _installed_version(name: str) -> str:
    """Returns the version of an installed distribution; empty if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
