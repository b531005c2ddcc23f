"""Looks at all masks of a set and notes the values and colours they use; `decide` judges them.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded.
"""

from collections.abc import Collection, Sequence
import dataclasses

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.class_files import VOID_COLOR, Color
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.stored import read_samples
from voc_seg_tfrecord.pool import ordered_map


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pairs: index and colour of each palette entry in use, with the path of a mask that uses
        it. The colour is None where a value lies beyond the end of the palette.
      colors: colours in use in RGB masks.
      greys: values in use in greyscale masks.
      repeated: the first mask in which a colour in use stands at a lower index of its palette
        too, and what was found, in words: by colour two indices would become one class.
      binary: number of masks whose only values are 0 and 255, or 255 alone, and whose palette
        does not say that 255 is void.
      voids: number of other masks in which 255 occurs.
      voc: number of masks with VOC's own palette.
      examined: number of masks that were read.
    """

    pairs: dict[tuple[int, Color | None], str] = dataclasses.field(default_factory=dict)
    colors: set[Color] = dataclasses.field(default_factory=set)
    greys: set[int] = dataclasses.field(default_factory=set)
    repeated: tuple[str, str] | None = None
    binary: int = 0
    voids: int = 0
    voc: int = 0
    examined: int = 0

    @property
    def looks_binary(self) -> bool:
        """Whether 255 mostly stands beside 0 alone, so that it may mean foreground."""
        return self.binary > self.voids + self.voc and not self.colors


@dataclasses.dataclass(frozen=True)
class _Used:
    """What one mask uses; see `Survey`."""

    pairs: frozenset[tuple[int, Color | None]] = frozenset()
    colors: frozenset[Color] = frozenset()
    greys: frozenset[int] = frozenset()
    repeated: str = ""

    @property
    def values(self) -> set[int]:
        return {*self.greys, *(index for index, _ in self.pairs)}


def survey(paths: Collection[epath.Path], *, all_colors: bool = False) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      paths: the masks.
      all_colors: whether masks with VOC's palette have to be decoded like any other.

    Returns:
      The values and colours in use.
    """
    found = Survey()
    for path, used in tqdm(
        ordered_map(lambda p: _look(p, all_colors), paths),
        total=len(paths),
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        found.examined += 1
        if used is None:
            found.voc += 1
            continue
        for pair in used.pairs:
            found.pairs.setdefault(pair, str(path))
        found.colors |= used.colors
        found.greys |= used.greys
        if used.repeated and not found.repeated:
            found.repeated = (str(path), used.repeated)
        if VOID in used.values:
            proved = (VOID, VOID_COLOR) in used.pairs
            binary = used.values <= {0, VOID} and not proved
            found.binary += binary
            found.voids += not binary
    return found


def _look(path: epath.Path, all_colors: bool) -> _Used | None:
    """Returns palette entries, colours and grey values in use; None for VOC's own palette."""
    try:
        data = path.read_bytes()
        if kind_of(data) is Kind.PNG and not all_colors and png.has_palette(data, _VOC):
            return None
        samples = read_samples(File(data, str(path)))
    except (VocSegError, OSError):
        return _Used()
    if samples.kind == "rgb":
        packed = np.unique(samples.values.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1]))
        return _Used(colors=frozenset((p >> 16, p >> 8 & 255, p & 255) for p in packed.tolist()))
    values = np.unique(samples.values).tolist()
    if samples.kind == "grey":
        return _Used(greys=frozenset(values))
    palette = [tuple(color) for color in samples.palette.tolist()]
    pairs = frozenset((v, palette[v] if v < len(palette) else None) for v in values)
    return _Used(pairs, repeated=_repeated(pairs, palette))


def _repeated(pairs: Collection[tuple[int, Color | None]], palette: Sequence[Color]) -> str:
    """Says which colour in use stands at a lower index too; nothing if none does."""
    for index, color in sorted(pairs, key=lambda pair: pair[0]):
        if color is not None and (lower := palette.index(color)) < index:
            shown = ",".join(map(str, color))
            return f"the colour {shown} at the palette indices {lower} and {index}"
    return ""


_VOC = voc_palette().tobytes()
