"""Where the data files lie that come with the package, installed or in its checkout."""

from etils import epath

_PACKAGE = epath.Path(__file__).parent.parent


def folder(name: str) -> epath.Path:
    """Returns the folder `checksums` or `dummy_data`.

    A wheel carries them inside the package; in a checkout they lie beside it.
    """
    packaged = _PACKAGE / name
    return packaged if packaged.exists() else _PACKAGE.parent / name
