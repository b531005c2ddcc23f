"""Looks at the masks of a set and notes what they use: palette entries, colours and values.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded. `decide`
judges what was noted. A `Look` is what is kept of one mask, so that it is not looked at again.
"""

from collections.abc import Callable, Collection, Mapping
import dataclasses
import functools
import hashlib
from typing import Any

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.base.errors import MaskError, VocSegError
from voc_seg_tfrecord.base.names import VOC_NUMBERS, VOID, VOID_COLOR, Color
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.formats import images, png
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.masks.stored import (
    Counted,
    counts_by_color,
    counts_by_value,
    read_samples,
)


@dataclasses.dataclass
class Seen:
    """How often something was seen.

    Attributes:
      masks: the number of masks.
      first: the path of the first of them.
      pixels: the number of pixels, of values and colours.
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
      pairs: index and colour of each palette entry in use, with the number of pixels. The colour
        is None where a value lies beyond the end of the palette.
      shared: used palette entries whose colour stands at a lower index as well.
      colors: colours in use in RGB masks, with the number of pixels.
      greys: values in use in greyscale masks, with the number of pixels.
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
    greys: dict[int, Seen] = dataclasses.field(default_factory=dict)
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
"""How many colours of a mask are counted, the most frequent ones; one with more is a photo."""

_MOST_USED, _MOST_LOOKS = 256, 200_000
"""How many values or colours a look has that is kept, and how many are: 620 bytes each, mostly."""


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """What one mask uses, without its pixels.

    Attributes:
      kind: `palette`, `grey`, `rgb`, `damaged`, or `voc`: VOC's own palette, and not decoded.
      values: number of pixels of each value in use, ascending; none of an RGB mask.
      palette: the colours of a palette mask.
      colors: number of pixels of each colour of an RGB mask.
      voc: whether it has VOC's own palette.
      sha256: of the file's bytes, in hexadecimal, if the mask was decoded.
    """

    kind: str
    values: Mapping[int, int] = dataclasses.field(default_factory=dict)
    palette: tuple[Color, ...] = ()
    colors: Mapping[Color, int] = dataclasses.field(default_factory=dict)
    voc: bool = False
    sha256: str = ""

    @property
    def counted(self) -> Counted | None:
        """What the gate can use, as plain data; None of a mask without values."""
        return (self.sha256, tuple(self.values.items())) if self.values else None


def survey(
    ids: Collection[Any],
    path_of: Callable[[Any], epath.PathLike] = str,
    looks: dict[Any, Look] | None = None,
    *,
    all_colors: bool = False,
    void: Collection[Color] = (),
) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      ids: the masks.
      path_of: returns the path of each; by default it is the id.
      looks: what was seen of masks before, by id; what is seen now is added.
      all_colors: whether masks with VOC's palette have to be decoded like any other.
      void: colours that are known to be void.
    """
    looks = {} if looks is None else looks

    def look_at(mask_id: Any) -> Look:
        look = looks.get(mask_id)
        if look is None or (look is _VOC and all_colors):
            return _look(path_of(mask_id), all_colors)
        return look

    found = Survey()
    with_meaning = {*VOC_NUMBERS, *void}
    for mask_id, look in tqdm(
        ordered_map(look_at, ids, ahead=1),
        total=len(ids),
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        if len(look.colors) + len(look.values) <= _MOST_USED and len(looks) < _MOST_LOOKS:
            looks[mask_id] = look
        found.examined += 1
        _add(found, str(path_of(mask_id)), look, with_meaning, as_voc=look.voc and not all_colors)
    return found


_VOC = Look("voc", voc=True)


def _look(path: epath.PathLike, all_colors: bool) -> Look:
    voc = False
    try:
        file = File.read(path, MaskError)
        voc = file.kind is Kind.PNG and png.has_voc_palette(file.data)
        if voc and not all_colors:
            return _VOC
        with images.large_in_turn(file):
            samples = read_samples(file)
        sha256 = hashlib.sha256(file.data).hexdigest()
        if samples.kind == "rgb":
            return Look("rgb", colors=_count_colors(samples.values), voc=voc, sha256=sha256)
        palette = () if samples.palette is None else _colors(samples.palette.tobytes())
        return Look(samples.kind, counts_by_value(samples.values), palette, voc=voc, sha256=sha256)
    except VocSegError:
        return Look("damaged", voc=voc)


@functools.lru_cache(256)
def _colors(palette: bytes) -> tuple[Color, ...]:
    """Returns the colours of a palette; masks of one set mostly share theirs."""
    return tuple(zip(palette[0::3], palette[1::3], palette[2::3], strict=True))


def _count_colors(pixels: np.ndarray) -> dict[Color, int]:
    colors, counts = counts_by_color(pixels)
    most = np.sort(np.argsort(-counts.astype(np.int64))[:_MOST_COLORS])
    split = [(p >> 16, p >> 8 & 255, p & 255) for p in colors[most].tolist()]
    return dict(zip(split, counts[most].tolist(), strict=True))


def _add(found: Survey, path: str, look: Look, with_meaning: set[Color], *, as_voc: bool) -> None:
    if as_voc:
        found.voc += 1
        found.void.add(path)
    elif look.kind == "damaged":
        found.damaged += 1
    elif look.kind == "rgb":
        _add_colors(found, path, look, with_meaning)
    else:
        if look.kind == "grey":
            for value, pixels in look.values.items():
                found.greys.setdefault(value, Seen()).add(path, pixels)
        else:
            _add_palette(found, path, look)
        _add_void(found, path, look)


def _add_colors(found: Survey, path: str, look: Look, with_meaning: set[Color]) -> None:
    found.rgb.add(path)
    for color, pixels in look.colors.items():
        found.colors.setdefault(color, Seen()).add(path, pixels)
    if not look.colors.keys() <= with_meaning:
        found.strange.add(path)


def _add_palette(found: Survey, path: str, look: Look) -> None:
    palette = look.palette
    classes = [value for value in look.values if value < VOID]
    if classes and classes[-1] >= len(classes):
        found.gaps.add(path)
    lowest_used: dict[Color, int] = {}
    for value, pixels in look.values.items():
        color = palette[value] if value < len(palette) else None
        found.pairs.setdefault((value, color), Seen()).add(path, pixels)
        if color is None:
            continue
        both_used = color in lowest_used
        lower = lowest_used.setdefault(color, palette.index(color))
        if lower < value:
            shared = Shared(lower, value, color, both_used)
            found.shared.setdefault(shared, Seen()).add(path)
        if not both_used:
            lowest_used[color] = value


def _add_void(found: Survey, path: str, look: Look) -> None:
    """Notes what a mask tells of 255: void, or perhaps the foreground."""
    if VOID not in look.values:
        return
    if look.values.keys() - {0, VOID} or look.palette[VOID : VOID + 1] == (VOID_COLOR,):
        found.void.add(path)
    elif look.kind == "grey":
        found.binary_greys.add(path)
    else:
        found.binary_palettes.add(path)
