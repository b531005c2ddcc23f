"""Looks at the masks of a set and notes what they use: values, colours, and both of palettes.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded. `meaning`
judges what was noted. A `Look` is what is kept of one mask, so that it is not looked at again.
"""

import collections
from collections.abc import Callable, Collection, Iterator, Mapping
import dataclasses
import functools
import hashlib
from typing import Any, NamedTuple, cast

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.base.errors import MaskError, VocSegError
from voc_seg_tfrecord.base.names import VOID, VOID_COLOR, Color
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.formats import images, png
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.masks.stored import (
    Counted,
    counts_by_color,
    counts_by_value,
    equal_channels,
    read_samples,
)
from voc_seg_tfrecord.masks.table import color_key


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


class Pixel(NamedTuple):
    """What pixels have; see `rule.MaskRule.class_of`."""

    kind: str
    value: int | None
    color: Color | None

    def key(self, *, by_color: bool) -> int | str:
        """Returns its key in a table of classes: the colour if that counts, else the value."""
        if self.color and (self.value is None or (by_color and self.kind != "grey")):
            return color_key(self.color)
        return cast(int, self.value)


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pixels: what is in use, with the number of pixels.
      alike: masks by all that they use; those that use too much for a mask are left out.
      binary: masks that use 255 and nothing else but 0, unless 255 has VOC's colour of void.
      void: masks in which 255 is void as far as one can see: it stands beside a class, or has
        VOC's colour of void.
      voc: masks with VOC's own palette that were not decoded.
      examined: number of masks that were looked at.
      damaged: number of those that could not be read.
    """

    pixels: dict[Pixel, Seen] = dataclasses.field(default_factory=dict)
    alike: dict[frozenset[Pixel], Seen] = dataclasses.field(default_factory=dict)
    binary: Seen = dataclasses.field(default_factory=Seen)
    void: Seen = dataclasses.field(default_factory=Seen)
    voc: Seen = dataclasses.field(default_factory=Seen)
    examined: int = 0
    damaged: int = 0

    @functools.cached_property
    def values(self) -> dict[int, int]:
        """The number of pixels of each value in use, ascending."""
        return self._counted(1)

    @functools.cached_property
    def colors(self) -> dict[Color, int]:
        """The number of pixels of each colour in use, in RGB and palette masks, ascending."""
        return self._counted(2)

    @functools.cached_property
    def palettes(self) -> list[Any]:
        """The entries of palettes in use that have a colour."""
        return [pixel for pixel in self.pixels if pixel.kind == "palette" and pixel.color]

    def _counted(self, key: int) -> dict[Any, int]:
        counts: collections.Counter[Any] = collections.Counter()
        for pixel, seen in self.pixels.items():
            counts[pixel[key]] += seen.pixels
        del counts[None]
        return dict(sorted(counts.items()))

    def add(self, path: str, look: "Look") -> None:
        """Notes one more mask."""
        self.examined += 1
        if look.kind == "damaged":
            self.damaged += 1
            return
        if look.kind == "voc":
            self.voc.add(path)
            self.void.add(path)
            return
        pixels = dict(look.pixels())
        for pixel, count in pixels.items():
            self.pixels.setdefault(pixel, Seen()).add(path, count)
        if len(pixels) <= _MOST_USED:
            self.alike.setdefault(frozenset(pixels), Seen()).add(path)
        if VOID in look.values:
            of_voc = look.palette[VOID : VOID + 1] == (VOID_COLOR,)
            shows_void = look.values.keys() - {0, VOID} or of_voc
            (self.void if shows_void else self.binary).add(path)


MOST_COLORS = 1 << 16
"""How many colours of a mask are counted, the most frequent ones; one with more is a photo."""

_MOST_USED, _MOST_LOOKS = 256, 200_000
"""How many values or colours a look has that is kept, and how many are: 620 bytes each, mostly."""


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """What one mask uses, without its pixels.

    Attributes:
      kind: that of `rule.MaskRule.class_of`; or `damaged`; or `voc`: VOC's own palette, and not
        decoded.
      values: number of pixels of each value in use, ascending; none of an RGB mask.
      palette: the colours of a palette mask.
      colors: number of pixels of each colour of an RGB mask.
      sha256: of the file's bytes, in hexadecimal, if the mask was decoded.
    """

    kind: str
    values: Mapping[int, int] = dataclasses.field(default_factory=dict)
    palette: tuple[Color, ...] = ()
    colors: Mapping[Color, int] = dataclasses.field(default_factory=dict)
    sha256: str = ""

    @property
    def counted(self) -> Counted | None:
        """What the gate can use, as plain data; None of a mask without values."""
        return (self.sha256, tuple(self.values.items())) if self.values else None

    def pixels(self) -> Iterator[tuple[Pixel, int]]:
        """Yields what is in use, and on how many pixels."""
        for of_rgb, count in self.colors.items():
            yield Pixel("rgb", None, of_rgb), count
        for value, count in self.values.items():
            color: Color | None = None
            if self.kind == "equal":
                color = (value, value, value)
            elif 0 <= value < len(self.palette):
                color = self.palette[value]
            yield Pixel(self.kind, value, color), count


def survey(
    ids: Collection[Any],
    path_of: Callable[[Any], epath.PathLike] = str,
    looks: dict[Any, Look] | None = None,
    *,
    all_colors: bool = False,
) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      ids: the masks.
      path_of: returns the path of each; by default it is the id.
      looks: what was seen of masks before, by id; what is seen now is added.
      all_colors: whether masks with VOC's palette have to be decoded like any other.
    """
    looks = {} if looks is None else looks

    def look_at(mask_id: Any) -> Look:
        seen = looks.get(mask_id)
        if seen is None or (seen is _VOC and all_colors):
            return _look(path_of(mask_id), all_colors)
        return seen

    result = Survey()
    for mask_id, seen in tqdm(
        ordered_map(look_at, ids, ahead=1),
        total=len(ids),
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        if len(seen.colors) + len(seen.values) <= _MOST_USED and len(looks) < _MOST_LOOKS:
            looks[mask_id] = seen
        result.add(str(path_of(mask_id)), seen)
    return result


_VOC = Look("voc")


def _look(path: epath.PathLike, all_colors: bool) -> Look:
    try:
        file = File.read(path, MaskError)
        if not all_colors and file.kind is Kind.PNG and png.has_voc_palette(file.data):
            return _VOC
        return look(file)
    except VocSegError:
        return Look("damaged")


def look(file: File) -> Look:
    """Returns what a mask file uses.

    Raises:
      VocSegError: if it cannot be read.
    """
    with images.large_in_turn(file):
        samples = read_samples(file)
    sha256 = hashlib.sha256(file.data).hexdigest()
    if samples.kind == "rgb" and equal_channels(samples.values):
        return Look("equal", counts_by_value(samples.values[..., 0]))
    if samples.kind == "rgb":
        return Look("rgb", colors=_count_colors(samples.values), sha256=sha256)
    palette = () if samples.palette is None else _colors(samples.palette.tobytes())
    return Look(samples.kind, counts_by_value(samples.values), palette, sha256=sha256)


@functools.lru_cache(256)
def _colors(palette: bytes) -> tuple[Color, ...]:
    """Returns the colours of a palette; masks of one set mostly share theirs."""
    return tuple(zip(palette[0::3], palette[1::3], palette[2::3], strict=True))


def _count_colors(pixels: np.ndarray) -> dict[Color, int]:
    colors, counts = counts_by_color(pixels)
    most = np.sort(np.argsort(-counts.astype(np.int64))[:MOST_COLORS])
    split = [(p >> 16, p >> 8 & 255, p & 255) for p in colors[most].tolist()]
    return dict(zip(split, counts[most].tolist(), strict=True))
