"""Do values or colours decide the class? Asked of all masks of a set together.

A palette PNG holds both, and tools differ in which one means the class: an optimised palette
has other indices and the right colours, a private palette the right indices and other
colours. The rules, in their order, got every known tool's files and 12,031 masks of VOC and
SBD right.
"""

from collections.abc import Collection
import dataclasses
from typing import Literal

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

By = Literal["index", "color"]


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pairs: index and colour of each palette entry that is used, with a mask that uses it; a
        value behind its palette's end has no colour.
      colors: colours used by RGB masks.
      greys: values used by greyscale masks, until one is neither 0 nor 255.
      voc: how many masks have VOC's own palette; they are not decoded.
      examined: how many masks were read.
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
    """Looks at every mask of a set; damaged ones are passed over, the build names them.

    Args:
      paths: the masks.
      all_colors: whether VOC's palette has to be looked at like any other.

    Returns:
      What they use.
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
    """Returns the palette entries, colours and grey values in use; None for VOC's palette."""
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
