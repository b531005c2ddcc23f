"""The data files that come with the package: where they lie, and how their tables are read."""

from etils import epath

_PACKAGE = epath.Path(__file__).parent.parent


def folder(name: str) -> epath.Path:
    """Returns the package's folder `facts`, `checksums` or `dummy_data`.

    A wheel carries `checksums` and `dummy_data` inside the package. In a checkout they lie
    beside it.
    """
    packaged = _PACKAGE / name
    return packaged if packaged.exists() else _PACKAGE.parent / name


def read(path: epath.Path) -> list[dict[str, str]]:
    """Reads a table of tab-separated values.

    Args:
      path: the file. Empty lines and lines that begin with `#` are passed over; the first
        line that is left names the columns.

    Returns:
      The rows below it, in order, each by the names of the columns. A `?` stands for a value
      that no source gives and is returned as an empty text.

    Raises:
      ValueError: if a row has more or fewer cells than there are columns.
    """
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    columns, *rows = (line.split("\t") for line in lines)
    return [
        {name: "" if cell == "?" else cell for name, cell in zip(columns, row, strict=True)}
        for row in rows
    ]
