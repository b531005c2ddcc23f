"""A file's bytes together with its name, which every error about them needs."""

import dataclasses
from typing import Self

from etils import epath


@dataclasses.dataclass(frozen=True)
class File:
    """A file that has been read, but not looked into.

    Attributes:
      data: its bytes.
      where: its path, or another name for it, for errors.
    """

    data: bytes = dataclasses.field(repr=False)
    where: str

    @classmethod
    def read(cls, path: epath.Path) -> Self:
        """Returns the file at a path.

        Raises:
          OSError: if there is none, or it cannot be read.
        """
        return cls(path.read_bytes(), str(path))
