"""Looks at the masks of a set and notes what they use: values, colors, and both of palettes.

A mask with VOC's own palette is recognized by the palette's bytes and is not decoded.
`folder.meaning` judges what was noted. A `MaskContent` is what is kept of one mask, so that it is
not decoded again.
"""

import collections
from collections.abc import Callable, Collection, Iterator, Mapping
import dataclasses
import functools
import hashlib
from typing import Any, NamedTuple, TypeVar

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.example import SurveyedMask
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.mask_rule import MaskKind
from voc_seg_tfrecord.core.names import VOID, VOID_COLOR, Color
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images, png
from voc_seg_tfrecord.formats.mask_samples import (
    counts_by_color,
    counts_by_value,
    equal_channels,
    read_samples,
    unpack_colors,
)

_Key = TypeVar("_Key", int, Color)
"""What pixels are counted by."""

MAX_COUNTED_COLORS = 1 << 16
"""How many colors of a mask are counted, the most frequent ones; a mask with more is a photo."""

MAX_VALUES_OF_MASK = 256
"""How many values or colors a mask may use; the content of one with more is not kept."""

MAX_KEPT_CONTENTS = 200_000
"""How many contents are kept; most of them take 620 bytes."""


@dataclasses.dataclass
class Occurrence:
    """How often something occurs.

    Attributes:
      masks: the number of masks.
      first: the path of the first of them.
      pixels: the number of pixels, of values and colors.
    """

    masks: int = 0
    first: str = ""
    pixels: int = 0

    def add_mask(self, path: str, pixels: int = 0) -> None:
        """Notes one more mask."""
        if not self.masks:
            self.first = path
        self.masks += 1
        self.pixels += pixels


class StoredPixel(NamedTuple):
    """What a mask stores of a pixel; see `mask_rule.MaskRule.class_of`.

    Attributes:
      kind: the kind of the mask.
      value: the value; None in an RGB mask.
      color: the color; None in a grayscale mask, and beyond the end of a palette.
    """

    kind: str
    value: int | None
    color: Color | None

    def key(self, *, by_color: bool) -> int | str:
        """Returns its key in a table of classes: the color if that counts, else the value."""
        color_counts = self.value is None or (by_color and self.kind != "gray")
        if self.color and color_counts:
            return color_key(self.color)
        assert self.value is not None  # a pixel has a value or a color
        return self.value


@dataclasses.dataclass(frozen=True, slots=True)
class MaskContent:
    """What one mask uses, without its pixels.

    Attributes:
      kind: how it stores its pixels; None if it is damaged.
      is_decoded: whether its pixels were decoded; those with VOC's own palette need not be.
      values: number of pixels of each value in use, ascending; none of an RGB mask.
      palette: the colors of a palette mask.
      colors: number of pixels of each color of an RGB mask.
      sha256: of the file's bytes, in hexadecimal, so that a build need not count the values again;
        empty of an RGB mask, which a build decodes in any case.
      transparent: the values or colors that lie under transparent pixels.
    """

    kind: MaskKind | None
    values: Mapping[int, int] = dataclasses.field(default_factory=dict)
    palette: tuple[Color, ...] = ()
    colors: Mapping[Color, int] = dataclasses.field(default_factory=dict)
    sha256: str = ""
    is_decoded: bool = True
    transparent: frozenset[int | Color] = frozenset()

    def as_surveyed(self) -> SurveyedMask | None:
        """Returns what `index_masks.read_mask` can use; None if the mask is damaged."""
        if self.kind is None:
            return None
        stored_kind = "rgb" if self.kind == "equal" else self.kind
        if not self.sha256:
            return SurveyedMask(stored_kind)
        return SurveyedMask(stored_kind, self.sha256, self.values)

    def count_pixels(self) -> Iterator[tuple[StoredPixel, int]]:
        """Yields what a decoded mask uses, and on how many pixels."""
        assert self.kind is not None
        for color, pixels in self.colors.items():
            yield StoredPixel("rgb", None, color), pixels
        for value, pixels in self.values.items():
            yield StoredPixel(self.kind, value, self._color_of(value)), pixels

    def is_transparent(self, pixel: StoredPixel) -> bool:
        """Says whether what the mask stores of a pixel lies under transparent ones."""
        if pixel.kind in ("rgb", "equal"):
            return pixel.color in self.transparent
        return pixel.value in self.transparent

    def _color_of(self, value: int) -> Color | None:
        """Returns the color of a value; None if it has none."""
        if self.kind == "equal":
            return value, value, value
        return self.palette[value] if 0 <= value < len(self.palette) else None


_DAMAGED = MaskContent(None, is_decoded=False)
_VOC_PALETTE = MaskContent("palette", is_decoded=False)


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pixels: what is in use, with the number of pixels.
      masks_by_pixels: masks by all that they use; those that use too much for a mask are left out.
      binary: masks that use 255 and nothing else but 0, unless 255 has VOC's color of void.
      void: masks in which 255 is void as far as one can see: it stands beside a class, or has
        VOC's color of void.
      voc: masks with VOC's own palette that were not decoded.
      transparent: what lies under transparent pixels.
      examined: number of masks that were looked at.
      damaged: number of those that could not be read.
    """

    pixels: dict[StoredPixel, Occurrence] = dataclasses.field(default_factory=dict)
    masks_by_pixels: dict[frozenset[StoredPixel], Occurrence] = dataclasses.field(
        default_factory=dict
    )
    binary: Occurrence = dataclasses.field(default_factory=Occurrence)
    void: Occurrence = dataclasses.field(default_factory=Occurrence)
    voc: Occurrence = dataclasses.field(default_factory=Occurrence)
    transparent: dict[StoredPixel, Occurrence] = dataclasses.field(default_factory=dict)
    examined: int = 0
    damaged: int = 0

    @functools.cached_property
    def values(self) -> dict[int, int]:
        """The number of pixels of each value in use, ascending."""
        return self._count_pixels(lambda pixel: pixel.value)

    @functools.cached_property
    def colors(self) -> dict[Color, int]:
        """The number of pixels of each color in use, in RGB and palette masks, ascending."""
        return self._count_pixels(lambda pixel: pixel.color)

    def _count_pixels(self, key_of: Callable[[StoredPixel], _Key | None]) -> dict[_Key, int]:
        """Returns the number of pixels of each key, ascending; those without a key do not count."""
        counts: collections.Counter[_Key] = collections.Counter()
        for pixel, occurrence in self.pixels.items():
            key = key_of(pixel)
            if key is not None:
                counts[key] += occurrence.pixels
        return dict(sorted(counts.items()))

    @property
    def is_255_doubtful(self) -> bool:
        """Whether more masks have 255 beside 0 alone than masks in which 255 is void."""
        return self.binary.masks > self.void.masks

    @functools.cached_property
    def palette_entries(self) -> list[StoredPixel]:
        """The entries of palettes in use that have a color."""
        return [pixel for pixel in self.pixels if pixel.kind == "palette" and pixel.color]

    def add(self, path: str, content: MaskContent) -> None:
        """Notes one more mask."""
        self.examined += 1
        if content.kind is None:
            self.damaged += 1
        elif not content.is_decoded:
            self.voc.add_mask(path)
            self.void.add_mask(path)
        else:
            self._add_decoded(path, content)

    def _add_decoded(self, path: str, content: MaskContent) -> None:
        pixels = dict(content.count_pixels())
        for pixel, count in pixels.items():
            self.pixels.setdefault(pixel, Occurrence()).add_mask(path, count)
            if content.is_transparent(pixel):
                self.transparent.setdefault(pixel, Occurrence()).add_mask(path, count)
        if len(pixels) <= MAX_VALUES_OF_MASK:
            self.masks_by_pixels.setdefault(frozenset(pixels), Occurrence()).add_mask(path)
        if VOID not in content.values:
            return
        stands_beside_class = any(value > 0 and value != VOID for value in content.values)
        has_void_color = content.palette[VOID : VOID + 1] == (VOID_COLOR,)
        if stands_beside_class or has_void_color:
            self.void.add_mask(path)
        else:
            self.binary.add_mask(path)


def survey(
    ids: Collection[Any],
    path_of: Callable[[Any], epath.PathLike] = str,
    contents: dict[Any, MaskContent] | None = None,
    *,
    all_colors: bool = False,
) -> Survey:
    """Looks at every mask of a set, as its file stores it; see `survey_files`.

    Args:
      ids: the masks.
      path_of: returns the path of each; by default it is the id.
      contents: see `survey_files`; by default none was looked at before.
      all_colors: see `survey_files`.
    """
    known_contents = {} if contents is None else contents
    return survey_files(ids, path_of, _read_mask_file, known_contents, all_colors=all_colors)


def _read_mask_file(path: epath.PathLike) -> File:
    return File.read(path, MaskError)


def survey_files(
    ids: Collection[Any],
    path_of: Callable[[Any], epath.PathLike],
    read: Callable[[epath.PathLike], File],
    known_contents: dict[Any, MaskContent],
    *,
    all_colors: bool = False,
) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      ids: the masks.
      path_of: returns the path of each.
      read: returns the mask at a path; it raises a `VocSegError` if it is damaged.
      known_contents: the contents of masks that were looked at before, by id; those that are looked
        at now are added.
      all_colors: whether masks with VOC's palette have to be decoded like any other.
    """

    def content_of(mask_id: Any) -> MaskContent:
        content = known_contents.get(mask_id)
        if content is None or (content is _VOC_PALETTE and all_colors):
            return _read_content(path_of(mask_id), read, all_colors=all_colors)
        return content

    result = Survey()
    progress = tqdm(
        ordered_map(content_of, ids),
        total=len(ids),
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    )
    for mask_id, content in progress:
        number_of_keys = len(content.colors) + len(content.values)
        if number_of_keys <= MAX_VALUES_OF_MASK and len(known_contents) < MAX_KEPT_CONTENTS:
            known_contents[mask_id] = content
        result.add(str(path_of(mask_id)), content)
    return result


def _read_content(
    path: epath.PathLike, read: Callable[[epath.PathLike], File], *, all_colors: bool
) -> MaskContent:
    """Returns what a mask uses, also if it is damaged or has VOC's palette."""
    try:
        file = read(path)
        may_be_skipped = not all_colors and file.kind is Kind.PNG
        if may_be_skipped and png.has_voc_palette(file.data) and not _has_transparency(file.data):
            return _VOC_PALETTE
        return content_of_file(file)
    except VocSegError:
        return _DAMAGED


def _has_transparency(data: bytes) -> bool:
    """Says whether a PNG may have the chunk tRNS, which stands before its pixels."""
    return data.find(b"tRNS", 0, data.find(b"IDAT")) >= 0


def content_of_file(file: File) -> MaskContent:
    """Returns what a mask file uses.

    Raises:
      VocSegError: if it cannot be read.
    """
    with images.large_in_turn(file):
        samples = read_samples(file)
    if samples.kind == "rgb" and equal_channels(samples.values):
        counts = counts_by_value(samples.values[..., 0])
        return MaskContent("equal", counts, transparent=samples.transparent)
    if samples.kind == "rgb":
        colors = _count_colors(samples.values)
        return MaskContent("rgb", colors=colors, transparent=samples.transparent)
    sha256 = hashlib.sha256(file.data).hexdigest()
    palette: tuple[Color, ...] = ()
    if samples.kind == "palette":
        palette = _colors_of_palette(samples.palette.tobytes())
    return MaskContent(
        samples.kind,
        counts_by_value(samples.values),
        palette,
        sha256=sha256,
        transparent=samples.transparent,
    )


@functools.lru_cache(256)
def _colors_of_palette(palette: bytes) -> tuple[Color, ...]:
    """Returns the colors of a palette; masks of one set mostly share theirs."""
    return tuple(zip(palette[0::3], palette[1::3], palette[2::3], strict=True))


def _count_colors(pixels: np.ndarray) -> dict[Color, int]:
    """Returns on how many pixels of uint8 `[H, W, 3]` each of the most frequent colors is."""
    counts = counts_by_color(pixels)
    most_frequent = np.argsort(-counts.pixels.astype(np.int64))[:MAX_COUNTED_COLORS]
    ascending = np.sort(most_frequent)
    colors = unpack_colors(counts.numbers[ascending])
    return dict(zip(colors, counts.pixels[ascending].tolist(), strict=True))
