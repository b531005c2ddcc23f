"""The versions that a dataset, a report or a question about an error should name."""

from importlib import metadata
import pathlib
import platform

PACKAGE = "voc_seg_tfrecord"

_OTHERS = ("tensorflow-datasets", "tensorflow", "numpy", "pillow")
_CHECKOUT = pathlib.Path(__file__).parents[2]


def package() -> str:
    """Returns this package's version.

    A checkout says its own, because another version may be installed beside it: `tfds build` in
    the root of a checkout takes the builder from there. What is installed says what pip knows.
    """
    return _of_checkout() or _installed(PACKAGE) or "unknown"


def everything() -> dict[str, str]:
    """Returns the versions of this package, of what it stands on, and of Python, by name.

    Nothing is imported to ask it. What is not installed says so.
    """
    others = {name: _installed(name) or "not installed" for name in _OTHERS}
    return {PACKAGE: package(), **others, "python": platform.python_version()}


def _of_checkout() -> str:
    import tomllib  # for those who ask, and not for every start

    try:
        project = tomllib.loads((_CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):  # installed, so that another folder lies here
        return ""
    return project["version"] if project.get("name") == PACKAGE else ""


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
