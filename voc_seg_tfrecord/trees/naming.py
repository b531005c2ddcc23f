"""Patterns of file names, such as `gt_{id}.png`: which id a file belongs to."""

import dataclasses
import posixpath
from typing import Self

from voc_seg_tfrecord.errors import ConfigError

ID = "{id}"


@dataclasses.dataclass(frozen=True)
class Naming:
    """What a file's name has around its id.

    Attributes:
      prefix: what stands before the id; with a `/`, the folders below the first one too.
      suffix: what stands between the id and the ending.
      ending: the ending, in lower case; empty means any.
      whole: whether the pattern names folders, and so is compared with the whole name below
        the folder of images or masks in place of its last part.
    """

    prefix: str = ""
    suffix: str = ""
    ending: str = ""
    whole: bool = False

    @classmethod
    def parse(cls, pattern: str, option: str = "mask_name") -> Self:
        """Reads a pattern.

        Args:
          pattern: a name with one `{id}` in it, with or without an ending: `gt_{id}.png`.
          option: for the error.

        Raises:
          ConfigError: if there is not exactly one `{id}`.
        """
        prefix, *rest = pattern.split(ID)
        if len(rest) != 1 or "\\" in pattern or pattern.startswith("/"):
            raise ConfigError(
                f"option {option}",
                found=repr(pattern),
                expected=f"a file name with one {ID} where the id stands, such as gt_{ID}.png",
                remedy="change the pattern",
            )
        # Not splitext, which takes the .png of `{id}.png` for the name of a hidden file.
        suffix, dot, ending = rest[0].rpartition(".") if "." in rest[0] else (rest[0], "", "")
        return cls(prefix, suffix, dot + ending.lower(), "/" in pattern)

    def id_of(self, name: str) -> str | None:
        """Returns the id of a file by its name below its folder, None if it does not fit."""
        stem, ending = posixpath.splitext(name)
        if self.ending and ending.lower() != self.ending:
            return None
        return self.core_of(stem)

    def core_of(self, stem: str) -> str | None:
        """Returns the id in a name without its ending, None if it does not fit."""
        if not self.prefix and not self.suffix:
            return None if not stem or stem.endswith("/") else stem
        folder, slash, last = ("", "", stem) if self.whole else stem.rpartition("/")
        inner = last[len(self.prefix) : len(last) - len(self.suffix)]
        fits = last.startswith(self.prefix) and last.endswith(self.suffix)
        return folder + slash + inner if fits and inner else None

    def name_of(self, image_id: str, ending: str) -> str:
        """Returns the name with an id and an ending: what `id_of` takes apart."""
        folder, slash, last = ("", "", image_id) if self.whole else image_id.rpartition("/")
        return f"{folder}{slash}{self.prefix}{last}{self.suffix}{ending}"

    def __str__(self) -> str:
        return f"{self.prefix}{ID}{self.suffix}{self.ending}"


ANY = Naming()
