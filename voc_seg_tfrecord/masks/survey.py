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

from voc_seg_tfrecord.errors import MaskError, VocSegError
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.class_files import VOID_COLOR, ClassFile, Color, is_void
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


@dataclasses.dataclass(frozen=True)
class Decision:
    """Whether values or colours decide, and why.

    Attributes:
      by: `index` or `color`.
      reason: why, in a few words, for showing.
      voc_colors: whether the colours are those of VOC's palette, not of a class file.
      grey_is_color: whether grey masks hold colours as well.
      warning: what the user should look at; empty mostly.
    """

    by: By
    reason: str
    voc_colors: bool = False
    grey_is_color: bool = False
    warning: str = ""


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


def decide(
    found: Survey,
    class_file: ClassFile | None,
    forced: By | None = None,
    where: object = "masks",
) -> Decision:
    """Applies the rules.

    Args:
      found: the survey.
      class_file: the set's, if it has one.
      forced: the user's own decision.
      where: the mask folder, for errors.

    Returns:
      The decision.

    Raises:
      MaskError: if neither is safe: black or void's colour at a strange index, or only 0 and
        255, which may be a foreground.
    """
    own = {e.color for e in class_file.entries} | {VOID_COLOR} if class_file else set()
    colored = class_file is not None and class_file.colored
    source = f"from {class_file.source}" if class_file else ""
    used = {color for _, color in found.pairs} | found.colors
    grey_is_color = colored and (255, 255, 255) in own and found.greys == {0, VOID}
    if forced == "index":
        return Decision("index", "as you said")
    if forced == "color":
        said = "as you said, " + (source if colored else "with VOC's palette")
        return Decision("color", said, voc_colors=not colored, grey_is_color=grey_is_color)
    if colored and (used or grey_is_color) and used <= own:
        return Decision("color", source, grey_is_color=grey_is_color)
    if found.colors:
        return _decide_rgb(found, colored, source, where)
    if found.binary:
        raise MaskError(
            where,
            found=f"only the values 0 and {VOID} in all {found.examined} masks",
            expected=f"{VOID} to be void and classes beside it; here it may be a foreground",
            remedy=f'if {VOID} is a class, say so with "values": {{"0": 0, "{VOID}": 1}} '
            f"(--values 0=0,{VOID}=1); if it is void, with --masks_by index",
        )
    return _decide_palette(found, where)


def colors_of(
    decision: Decision, class_file: ClassFile | None, void: Collection[int | str | Color]
) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour that decides.

    VOC's own colours give class numbers instead of names.
    """
    if decision.voc_colors or class_file is None:
        palette = {tuple(c): n for n, c in enumerate(voc_palette().tolist())}
        return {color: VOID if color in void else n for color, n in palette.items()}
    colors: dict[Color, int | str] = {color: VOID for color in void if isinstance(color, tuple)}
    for entry in class_file.entries:
        colors[entry.color] = VOID if is_void(entry, void) else entry.name
    return colors


def _decide_rgb(found: Survey, colored: bool, source: str, where: object) -> Decision:
    palette = set(map(tuple, voc_palette().tolist()))
    if colored:  # unknown colours are in it: the build names each file
        return Decision("color", source)
    if found.colors | {color for _, color in found.pairs} <= palette:
        return Decision("color", "VOC's palette", voc_colors=True)
    raise MaskError(
        where,
        found=f"RGB masks with colours such as {sorted(found.colors - palette)[0]}",
        expected="a class file that says which colour is which class",
        remedy="put a labelmap.txt with lines such as crack:250,50,83:: beside the image folder",
    )


def _decide_palette(found: Survey, where: object) -> Decision:
    palette = [tuple(color) for color in voc_palette().tolist()]
    if not found.pairs or all(c is None or c == palette[i] for i, c in found.pairs):
        return Decision("index", "VOC's palette" if found.pairs or found.voc else "grey values")
    if all(color in palette for _, color in found.pairs):
        return Decision("color", "VOC's palette, entries in another order", voc_colors=True)
    for (index, color), path in sorted(found.pairs.items(), key=lambda item: item[0][0]):
        if (color == (0, 0, 0) and index) or (color == VOID_COLOR and index != VOID):
            meaning = "black" if index and color == (0, 0, 0) else "VOC's colour of void"
            raise MaskError(
                path,
                found=f"{meaning} at palette index {index}, so values cannot be classes",
                expected="a class file with the colours, or a palette in the classes' order",
                remedy=f"put a labelmap.txt beside the image folder ({where}), or say that "
                "values decide: --masks_by index",
            )
    return Decision(
        "index",
        "a private palette",
        warning="the palette's colours are not VOC's, so the values are taken as classes; "
        "look at a preview",
    )


def _look(
    path: epath.Path, found: Survey, all_colors: bool
) -> tuple[set[tuple[int, Color | None]], set[Color], set[int]] | None:
    """Returns the palette entries, colours and grey values in use; None for VOC's palette."""
    try:
        data = path.read_bytes()
        if data.startswith(png.SIGNATURE) and not all_colors and png.has_palette(data, _VOC):
            return None
        if _is_grey(data) and found.greys - {0, VOID}:
            return set(), set(), set()
        samples = read_samples(data, path)
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
    return data.startswith(png.SIGNATURE) and data[25:26] == bytes([png.ColorType.GREY])


_VOC = voc_palette().tobytes()
