"""The versions of this package, of the packages that it stands on, and of Python."""

from importlib import metadata
import pathlib
import platform

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
