"""Looks at all masks of a set and notes the values and colours they use; `decide` judges them.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded.
"""

from collections.abc import Collection
import dataclasses

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.class_files import Color
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
      greys: values in use in greyscale masks. Once one of them is neither 0 nor 255, no more
        greyscale masks are decoded.
      voc: number of masks with VOC's own palette.
      examined: number of masks that were read.
    """

    pairs: dict[tuple[int, Color | None], str] = dataclasses.field(default_factory=dict)
    colors: set[Color] = dataclasses.field(default_factory=set)
    greys: set[int] = dataclasses.field(default_factory=set)
    voc: int = 0
    examined: int = 0

    @property
    def binary(self) -> bool:
        """Whether 0 and 255 are the only values, so that 255 may mean foreground."""
        used = self.greys | {index for index, _ in self.pairs}
        return not (self.voc or self.colors) and used == {0, VOID}


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
        ordered_map(lambda p: _look(p, found, all_colors), paths),
        total=len(paths),
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        found.examined += 1
        if used is None:
            found.voc += 1
            continue
        pairs, colors, greys = used
        for pair in pairs:
            found.pairs.setdefault(pair, str(path))
        found.colors |= colors
        found.greys |= greys
    return found


def _look(
    path: epath.Path, found: Survey, all_colors: bool
) -> tuple[set[tuple[int, Color | None]], set[Color], set[int]] | None:
    """Returns palette entries, colours and grey values in use; None for VOC's own palette."""
    try:
        data = path.read_bytes()
        if kind_of(data) is Kind.PNG and not all_colors and png.has_palette(data, _VOC):
            return None
        if _is_grey(data) and found.greys - {0, VOID}:
            return set(), set(), set()
        samples = read_samples(File(data, str(path)))
    except (VocSegError, OSError):
        return set(), set(), set()
    if samples.kind == "rgb":
        packed = np.unique(samples.values.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1]))
        return set(), {(p >> 16, p >> 8 & 255, p & 255) for p in packed.tolist()}, set()
    values = np.unique(samples.values).tolist()
    if samples.kind == "grey":
        return set(), set(), set(values)
    palette = [tuple(color) for color in samples.palette.tolist()]
    return {(v, palette[v] if v < len(palette) else None) for v in values}, set(), set()


def _is_grey(data: bytes) -> bool:
    return kind_of(data) is Kind.PNG and data[25:26] == bytes([png.ColorType.GREY])


_VOC = voc_palette().tobytes()
