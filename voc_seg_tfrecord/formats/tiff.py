"""The headers of TIFF files: sizes, bands and what a sample is, read without a library.

Pillow and tifffile each read a part of all TIFFs. The header says what a file holds whether or not
one of them reads it, so that a message can name it and no band is lost on the way.

References:
  TIFF Revision 6.0, sections 2 and 8; the BigTIFF design.
"""

from collections.abc import Mapping
import dataclasses
import enum
import math
import struct

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import (
    File,
    Kind,
    animated_error,
    damaged_image_error,
    once_per_file,
)


class Tag(enum.IntEnum):
    """The tags of a TIFF that are read here, as the format numbers them."""

    SUBFILE = 254
    WIDTH = 256
    HEIGHT = 257
    BITS_PER_SAMPLE = 258
    COMPRESSION = 259
    PHOTOMETRIC = 262
    STRIP_OFFSETS = 273
    ORIENTATION = 274
    SAMPLES_PER_PIXEL = 277
    ROWS_PER_STRIP = 278
    STRIP_BYTES = 279
    PLANAR_CONFIGURATION = 284
    COLOR_MAP = 320
    TILE_WIDTH = 322
    TILE_HEIGHT = 323
    TILE_OFFSETS = 324
    TILE_BYTES = 325
    EXTRA_SAMPLES = 338
    SAMPLE_FORMAT = 339
    SLICES = 32997


_Tags = Mapping[int, tuple[int, ...]]
"""The values of the tags of one page that hold whole numbers, by the number of the tag."""

# Color models, as the tag `PHOTOMETRIC` numbers them. The first two are gray.
WHITE_IS_ZERO = 0
BLACK_IS_ZERO = 1
RGB = 2
PALETTE = 3
_CMYK = 5
_YCBCR = 6

SEPARATE_PLANES = 2
"""The planar configuration in which each band lies alone."""

UPRIGHT = 1
"""The orientation of an image that is shown as it is stored."""

_MAX_PAGES = 16
_MAX_STRIPS = 1 << 20
_MAX_VALUES = 4096
"""Values of any other tag, which has at most one for each band."""

_TAGS_OF_STRIPS = (Tag.STRIP_OFFSETS, Tag.STRIP_BYTES, Tag.TILE_OFFSETS, Tag.TILE_BYTES)
_HEADER_BYTES = 8
_SMALLER_COPY_OR_TRANSPARENCY = 0b101  # bits of the tag of subfiles
_ALPHA_KINDS = (1, 2)  # of the tag of extra samples: premultiplied or not
_UNCOMPRESSED = 1
_OLD_JPEG = 6  # a compression whose strips other tags describe

_INTEGERS = {1: "B", 3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
"""The types of tags that hold whole numbers, and how `struct` reads them."""

_FORMATS = {1: "uint", 2: "int", 3: "float", 4: "uint", 5: "complex int", 6: "complex"}
"""What a sample is; 4 is undefined, which all programs take for whole numbers."""

UNKNOWN_COLORS = {
    4: "a mask of transparency",
    8: "CIELab",
    9: "ICCLab",
    10: "ITULab",
    32803: "the raw colors of a sensor",
    32844: "LogL",
    32845: "LogLuv",
}
"""The color models that no reader turns into RGB."""


@dataclasses.dataclass(frozen=True)
class TiffHeader:
    """What the first page of a TIFF is.

    Attributes:
      width: in pixels.
      height: in pixels.
      bands: samples per pixel, alpha included.
      bits: per sample, the most of all bands.
      sample_format: such as `uint` or `float`.
      compression: as the format numbers it.
      photometric: the color model as the format numbers it: 0 and 1 gray, 2 RGB, 3 palette.
      has_photometric: whether the file says so; `photometric` is 1 otherwise.
      alpha_bands: how many bands are declared as transparency.
      is_planar: whether each band lies alone, and not all samples of a pixel together.
    """

    width: int
    height: int
    bands: int
    bits: int
    sample_format: str
    compression: int
    photometric: int
    has_photometric: bool
    alpha_bands: int
    is_planar: bool

    @property
    def dtype(self) -> str:
        """The NumPy dtype that holds a sample, such as `uint16` for 12 or 16 bits."""
        for size in (8, 16, 32, 64):
            if self.bits <= size:
                return f"{self.sample_format}{size}"
        return f"{self.sample_format}{self.bits}"

    @property
    def color_bands(self) -> int:
        """How many bands become colors: alpha is left out, and CMYK becomes RGB."""
        colors = self.bands - self.alpha_bands
        return 3 if self.photometric == _CMYK and colors == 4 else colors


@once_per_file
def read_header(file: File) -> TiffHeader:
    """Reads the header of a TIFF or BigTIFF that has one image; smaller copies may follow.

    Raises:
      ImageError: if the file is cut off, or has several images.
    """
    pages = _read_pages(file)
    tags = pages[0]
    slices = _first(tags, Tag.SLICES, 1)
    if slices > 1:
        raise ImageError(
            file.where,
            found=f"a TIFF of {slices} slices",
            expected="a still image",
            remedy="save one slice as a PNG",
        )
    for page in pages[1:]:
        if not _first(page, Tag.SUBFILE, 0) & _SMALLER_COPY_OR_TRANSPARENCY:
            raise _several_pages_error(file)
    width = _first(tags, Tag.WIDTH, 0)
    height = _first(tags, Tag.HEIGHT, 0)
    if width < 1 or height < 1:
        raise damaged_image_error(file.where, f"a TIFF of {width} x {height} pixels")
    bands = _first(tags, Tag.SAMPLES_PER_PIXEL, 1)
    extra_samples = tags.get(Tag.EXTRA_SAMPLES, ())
    alpha_bands = sum(1 for kind in extra_samples if kind in _ALPHA_KINDS)
    are_planes_separate = _first(tags, Tag.PLANAR_CONFIGURATION, 1) == SEPARATE_PLANES
    return TiffHeader(
        width=width,
        height=height,
        bands=bands,
        bits=max(tags.get(Tag.BITS_PER_SAMPLE, (1,))),
        sample_format=_FORMATS.get(_first(tags, Tag.SAMPLE_FORMAT, 1), "unknown"),
        compression=_first(tags, Tag.COMPRESSION, _UNCOMPRESSED),
        photometric=_first(tags, Tag.PHOTOMETRIC, BLACK_IS_ZERO),
        has_photometric=Tag.PHOTOMETRIC in tags,
        alpha_bands=min(alpha_bands, bands - 1),
        is_planar=bands > 1 and are_planes_separate,
    )


def _first(tags: _Tags, tag: Tag, default: int) -> int:
    """Returns the first value of a tag, or a default if the page does not have the tag."""
    values = tags.get(tag)
    return default if values is None else values[0]


def check_strips(file: File) -> None:
    """Checks that all strips or tiles are in the file: decoders read what lies there otherwise.

    Call it when the size of the image was checked.

    Raises:
      ImageError: if some are missing, lie outside of the file, or are shorter than their pixels.
    """
    header = read_header(file)
    tags = _read_pages(file)[0]
    if Tag.TILE_OFFSETS in tags:
        strips = _arrange_tiles(header, tags)
        offsets = tags.get(Tag.TILE_OFFSETS)
        lengths = tags.get(Tag.TILE_BYTES)
    else:
        strips = _arrange_strips(header, tags)
        offsets = tags.get(Tag.STRIP_OFFSETS)
        lengths = tags.get(Tag.STRIP_BYTES)
    if offsets is None or header.compression == _OLD_JPEG:
        return
    if len(offsets) < strips.number:
        raise damaged_image_error(
            file.where, f"a TIFF with {len(offsets)} of {strips.number} strips"
        )
    if lengths is None:  # as some programs write them
        lengths = tuple(strips.pixel_bytes(index) for index in range(strips.number))
    if len(lengths) < strips.number:
        found = f"a TIFF with lengths of {len(lengths)} of {strips.number} strips"
        raise damaged_image_error(file.where, found)
    is_bare = header.compression == _UNCOMPRESSED and header.photometric != _YCBCR
    wrong = 0
    for index in range(strips.number):
        min_bytes = strips.pixel_bytes(index) if is_bare else 1
        is_inside = _HEADER_BYTES <= offsets[index] <= len(file.data) - lengths[index]
        if not is_inside or lengths[index] < min_bytes:
            wrong += 1
    if wrong:
        found = f"{wrong} of {strips.number} strips outside of the file, or truncated"
        raise damaged_image_error(file.where, found)


@dataclasses.dataclass(frozen=True)
class _Strips:
    """How the pixels of a TIFF are divided into strips or tiles.

    Attributes:
      number: how many there are, of all planes.
      row_bytes: bytes of a row of pixels in one of them, without compression.
      rows: how many rows one has.
      rows_of_last: how many rows the last strip of a plane has.
      number_per_plane: how many a plane has.
    """

    number: int
    row_bytes: int
    rows: int
    rows_of_last: int
    number_per_plane: int

    def pixel_bytes(self, index: int) -> int:
        """Returns the bytes of the pixels of one, without compression."""
        is_last = (index + 1) % self.number_per_plane == 0
        return self.row_bytes * (self.rows_of_last if is_last else self.rows)


def _arrange_strips(header: TiffHeader, tags: _Tags) -> _Strips:
    rows_in_tag = _first(tags, Tag.ROWS_PER_STRIP, header.height)
    rows = min(max(1, rows_in_tag), header.height)
    number_per_plane = math.ceil(header.height / rows)
    return _Strips(
        number=number_per_plane * _count_planes(header),
        row_bytes=math.ceil(header.width * _count_bits_of_pixel(header, tags) / 8),
        rows=rows,
        rows_of_last=header.height - rows * (number_per_plane - 1),
        number_per_plane=number_per_plane,
    )


def _arrange_tiles(header: TiffHeader, tags: _Tags) -> _Strips:
    tile_width = max(1, _first(tags, Tag.TILE_WIDTH, header.width))
    tile_height = max(1, _first(tags, Tag.TILE_HEIGHT, header.height))
    across = math.ceil(header.width / tile_width)
    down = math.ceil(header.height / tile_height)
    return _Strips(
        number=across * down * _count_planes(header),
        row_bytes=math.ceil(tile_width * _count_bits_of_pixel(header, tags) / 8),
        rows=tile_height,
        rows_of_last=tile_height,
        number_per_plane=across * down,
    )


def _count_planes(header: TiffHeader) -> int:
    return header.bands if header.is_planar else 1


def _count_bits_of_pixel(header: TiffHeader, tags: _Tags) -> int:
    """Returns the bits that a pixel has in one plane."""
    bits = tags.get(Tag.BITS_PER_SAMPLE, (1,))
    if header.is_planar:
        return min(bits)
    if len(bits) == header.bands:
        return sum(bits)
    return header.bands * min(bits)


@dataclasses.dataclass(frozen=True)
class _NumberForms:
    """How a TIFF or a BigTIFF stores numbers, as `struct` names them.

    Attributes:
      order: the byte order.
      count: the number of tags in a directory.
      offset: a position in the file.
      tag: a tag: its number, its type, the number of its values, and the values or their offset.
      start_of_first_offset: the byte at which the offset of the first directory stands.
    """

    order: str
    count: str
    offset: str
    tag: str
    start_of_first_offset: int

    @property
    def offset_bytes(self) -> int:
        """Bytes of a position in the file."""
        return struct.calcsize(self.order + self.offset)

    @property
    def tag_bytes(self) -> int:
        """Bytes of a tag."""
        return struct.calcsize(self.order + self.tag)


def _number_forms(data: bytes) -> _NumberForms:
    order = "<" if data[:2] == b"II" else ">"
    is_big = data[2:4] in (b"+\0", b"\0+")
    if is_big:
        return _NumberForms(order, count="Q", offset="Q", tag="HHQQ", start_of_first_offset=8)
    return _NumberForms(order, count="H", offset="I", tag="HHII", start_of_first_offset=4)


@once_per_file
def _read_pages(file: File) -> list[_Tags]:
    """Returns the tags of each page that hold whole numbers.

    Raises:
      ImageError: if a directory lies outside of the file, or there are too many.
    """
    data = file.data
    forms = _number_forms(data)
    pages: list[_Tags] = []
    starts: set[int] = set()
    try:
        start = _read_offset(data, forms.start_of_first_offset, forms)
        while start:
            if start in starts or len(pages) >= _MAX_PAGES:
                raise _several_pages_error(file)
            starts.add(start)
            directory = _read_directory(data, start, forms)
            pages.append(directory.tags)
            start = _read_offset(data, directory.end, forms)
    except (struct.error, OverflowError):  # an offset of 64 bits may be no index of Python's
        raise damaged_image_error(file.where, "a TIFF whose directory is cut off") from None
    if not pages:
        raise damaged_image_error(file.where, "a TIFF without an image")
    return pages


def _read_offset(data: bytes, position: int, forms: _NumberForms) -> int:
    (offset,) = struct.unpack_from(forms.order + forms.offset, data, position)
    return int(offset)


@dataclasses.dataclass(frozen=True)
class _Directory:
    """The tags of a page.

    Attributes:
      tags: those that hold whole numbers.
      end: the byte behind the directory, where the offset of the next one stands.
    """

    tags: _Tags
    end: int


def _read_directory(data: bytes, start: int, forms: _NumberForms) -> _Directory:
    """Reads the tags of a page.

    Raises:
      struct.error: if something lies outside of the data.
    """
    (count,) = struct.unpack_from(forms.order + forms.count, data, start)
    first_tag = start + struct.calcsize(forms.order + forms.count)
    end = first_tag + count * forms.tag_bytes
    if end > len(data):
        raise struct.error("a directory that is cut off")
    tags = {}
    for position in range(first_tag, end, forms.tag_bytes):
        tag, kind, length, offset = struct.unpack_from(forms.order + forms.tag, data, position)
        code = _INTEGERS.get(kind)
        max_values = _MAX_STRIPS if tag in _TAGS_OF_STRIPS else _MAX_VALUES
        if code is None or not 1 <= length <= max_values:
            continue
        form = f"{forms.order}{length}{code}"
        value_bytes = struct.calcsize(form)
        if value_bytes <= forms.offset_bytes:  # the values stand in the place of their offset
            offset = position + forms.tag_bytes - forms.offset_bytes
        if offset + value_bytes <= len(data):  # a tag that is not needed may lie anywhere
            tags[tag] = struct.unpack_from(form, data, offset)
    return _Directory(tags, end)


def _several_pages_error(file: File) -> VocSegError:
    return animated_error(file, ImageError, Kind.TIFF)
