"""Looks at the masks of a set and notes what they use: palette entries, colours and values.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded. `decide`
judges what was noted.
"""

from collections.abc import Collection, Iterable, Sized
import dataclasses

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.base.errors import MaskError, VocSegError
from voc_seg_tfrecord.base.names import VOID, voc_palette
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.formats import images, png
from voc_seg_tfrecord.formats.class_files import VOID_COLOR
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.masks.lookup import counts_by_color, counts_by_value
from voc_seg_tfrecord.masks.stored import Samples, read_samples

VOC_NUMBERS = {tuple(color): number for number, color in enumerate(voc_palette().tolist())}
"""VOC's number of each colour of its palette, 0 to 255."""


@dataclasses.dataclass
class Seen:
    """How often something was seen.

    Attributes:
      masks: the number of masks.
      first: the path of the first of them.
      pixels: the number of pixels, where they are counted.
    """

    masks: int = 0
    first: str = ""
    pixels: int = 0

    def add(self, path: str, pixels: int = 0) -> None:
        """Notes one more mask."""
        self.first = self.first or path
        self.masks += 1
        self.pixels += pixels


@dataclasses.dataclass(frozen=True)
class Shared:
    """A used palette entry whose colour stands at a lower index of the same palette too.

    Attributes:
      lower: the lower index; one that is in use, if there is one.
      index: the index in use.
      color: the colour of both.
      both_used: whether the lower index is in use in the same mask.
    """

    lower: int
    index: int
    color: Color
    both_used: bool


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pairs: index and colour of each palette entry in use. The colour is None where a value
        lies beyond the end of the palette.
      shared: used palette entries whose colour stands at a lower index as well.
      colors: colours in use in RGB masks, with the number of pixels.
      greys: values in use in greyscale masks.
      rgb: RGB masks.
      strange: RGB masks that have colours that are neither in VOC's palette nor void.
      binary_greys: greyscale masks that have no other values than 0 and 255, and have 255.
      binary_palettes: palette masks of that kind, if 255 does not have VOC's colour of void.
      void: masks in which 255 is void as far as one can see: 255 stands beside a class, or the
        palette has VOC's colour of void there.
      gaps: palette masks that leave out a value between 0 and their highest one below 255. A
        program that makes a palette from the colours in use leaves out none.
      voc: number of masks with VOC's own palette.
      examined: number of masks that were looked at.
      damaged: number of those that could not be read.
    """

    pairs: dict[tuple[int, Color | None], Seen] = dataclasses.field(default_factory=dict)
    shared: dict[Shared, Seen] = dataclasses.field(default_factory=dict)
    colors: dict[Color, Seen] = dataclasses.field(default_factory=dict)
    greys: set[int] = dataclasses.field(default_factory=set)
    rgb: Seen = dataclasses.field(default_factory=Seen)
    strange: Seen = dataclasses.field(default_factory=Seen)
    binary_greys: Seen = dataclasses.field(default_factory=Seen)
    binary_palettes: Seen = dataclasses.field(default_factory=Seen)
    void: Seen = dataclasses.field(default_factory=Seen)
    gaps: Seen = dataclasses.field(default_factory=Seen)
    voc: int = 0
    examined: int = 0
    damaged: int = 0

    @property
    def palette_colors(self) -> set[Color]:
        """The colours in use in palette masks."""
        return {color for _, color in self.pairs if color is not None}

    @property
    def valued(self) -> int:
        """The number of masks that have one number per pixel."""
        return self.examined - self.damaged - self.rgb.masks


_MOST_COLORS = 1 << 16
"""How many colours of a mask are kept, the most frequent ones; one with more is a photo."""


def survey(
    paths: Iterable[epath.PathLike],
    total: int | None = None,
    *,
    all_colors: bool = False,
    void: Collection[Color] = (),
) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      paths: the masks.
      total: how many there are, if `paths` does not tell; only to show how far it is.
      all_colors: whether masks with VOC's palette have to be decoded like any other.
      void: colours that are known to be void.

    Returns:
      The values and colours in use.
    """
    found = Survey()
    known = {*VOC_NUMBERS, *void}
    for path, used in tqdm(
        ordered_map(lambda p: _look(p, all_colors), paths, ahead=1),
        total=len(paths) if total is None and isinstance(paths, Sized) else total,
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        found.examined += 1
        _add(found, str(path), used, known)
    return found


@dataclasses.dataclass(frozen=True)
class _Look:
    """What one mask uses, without its pixels."""

    kind: str  # palette, grey, rgb, voc or damaged
    values: tuple[int, ...] = ()
    palette: tuple[Color, ...] = ()
    colors: tuple[tuple[Color, int], ...] = ()


def _look(path: epath.PathLike, all_colors: bool) -> _Look:
    try:
        file = File.read(path, MaskError)
        is_png = file.kind is Kind.PNG
        if is_png and not all_colors and png.has_palette(file.data, _VOC_BYTES):
            return _Look("voc")
        with images.large_in_turn(file):
            return _used(read_samples(file))
    except VocSegError:
        return _Look("damaged")


def _used(samples: Samples) -> _Look:
    if samples.kind == "rgb":
        return _Look("rgb", colors=_count_colors(samples))
    values = tuple(counts_by_value(samples.values))
    palette = () if samples.palette is None else map(tuple, samples.palette.tolist())
    return _Look(samples.kind, values, tuple(palette))


def _count_colors(samples: Samples) -> tuple[tuple[Color, int], ...]:
    colors, counts = counts_by_color(samples.values)
    most = np.sort(np.argsort(-counts.astype(np.int64))[:_MOST_COLORS])
    colors, counts = colors[most], counts[most]
    split = [(p >> 16, p >> 8 & 255, p & 255) for p in colors.tolist()]
    return tuple(zip(split, counts.tolist(), strict=True))


def _add(found: Survey, path: str, used: _Look, known: Collection[Color]) -> None:
    if used.kind == "damaged":
        found.damaged += 1
    elif used.kind == "voc":
        found.voc += 1
        found.void.add(path)
    elif used.kind == "rgb":
        _add_colors(found, path, used, known)
    else:
        if used.kind == "grey":
            found.greys.update(used.values)
        else:
            _add_palette(found, path, used)
        _add_void(found, path, used)


def _add_colors(found: Survey, path: str, used: _Look, known: Collection[Color]) -> None:
    found.rgb.add(path)
    for color, pixels in used.colors:
        found.colors.setdefault(color, Seen()).add(path, pixels)
    if not {color for color, _ in used.colors} <= known:
        found.strange.add(path)


def _add_palette(found: Survey, path: str, used: _Look) -> None:
    palette = used.palette
    classes = [value for value in used.values if value < VOID]
    if classes and classes[-1] >= len(classes):
        found.gaps.add(path)
    lowest_used: dict[Color, int] = {}
    for value in used.values:
        color = palette[value] if value < len(palette) else None
        found.pairs.setdefault((value, color), Seen()).add(path)
        if color is None:
            continue
        both_used = color in lowest_used
        lower = lowest_used.setdefault(color, palette.index(color))
        if lower < value:
            shared = Shared(lower, value, color, both_used)
            found.shared.setdefault(shared, Seen()).add(path)
        if not both_used:
            lowest_used[color] = value


def _add_void(found: Survey, path: str, used: _Look) -> None:
    """Notes what a mask tells of 255: void, or perhaps the foreground."""
    if VOID not in used.values:
        return
    if set(used.values) - {0, VOID} or used.palette[VOID : VOID + 1] == (VOID_COLOR,):
        found.void.add(path)
    elif used.kind == "grey":
        found.binary_greys.add(path)
    else:
        found.binary_palettes.add(path)


_VOC_BYTES = voc_palette().tobytes()
