"""How a mask file stores a sample, and files that programs read to different values."""

from collections.abc import Mapping
import dataclasses
import re
from typing import Any

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.formats import pillow, stills
from voc_seg_tfrecord.formats.tiff import (
    BLACK_IS_ZERO,
    PALETTE,
    RGB,
    UPRIGHT,
    WHITE_IS_ZERO,
    Tag,
)

_SIGNED = 2  # a sample format of a TIFF


@dataclasses.dataclass(frozen=True)
class _TagRule:
    """A tag of a TIFF by which programs may read other values than were written.

    Attributes:
      name: what it is called.
      tag: its number.
      default: its value where it is missing.
      safe_values: those with which all programs read what was written.
      expected: what these are, for people.
    """

    name: str
    tag: int
    default: int
    safe_values: tuple[int, ...]
    expected: str


_LOSSLESS_COMPRESSIONS = (1, 2, 3, 4, 5, 8, 32773, 32946, 34925, 50000)
"""The compressions of a TIFF that lose nothing, as the format numbers them."""

_TAG_RULES = (
    _TagRule("compression", Tag.COMPRESSION, 1, _LOSSLESS_COMPRESSIONS, "without loss"),
    _TagRule(
        "photometric interpretation",
        Tag.PHOTOMETRIC,
        WHITE_IS_ZERO,
        (BLACK_IS_ZERO, RGB, PALETTE),
        "1 (0 is black), 2 (RGB) or 3 (palette)",
    ),
    _TagRule("orientation", Tag.ORIENTATION, UPRIGHT, (UPRIGHT,), "1 (upright)"),
)


@dataclasses.dataclass(frozen=True)
class SampleFormat:
    """How a file stores a sample.

    Attributes:
      bits: how many bits it has.
      is_signed: whether it is an integer with a sign.
    """

    bits: int
    is_signed: bool


def read_sample_format(file: File, error: type[VocSegError]) -> SampleFormat:
    """Returns how a TIFF stores its samples; other kinds have 8 bits without a sign.

    Raises:
      VocSegError: of the class `error`, if programs may read other values than were written: if
        the file is compressed with loss, or if some programs invert, convert or turn it.
    """
    with stills.translated(file.where, error):
        image: Any = pillow.open_header(file, error)
        if file.kind is Kind.TIFF:
            return _sample_format_of_tiff(image.tag_v2, file, error)
        is_lossy = file.kind is Kind.WEBP and re.findall(b"VP8[ L]", file.data)[:1] == [b"VP8 "]
        if is_lossy:
            raise _ambiguous_values_error(file, error, "compression", "VP8", "without loss")
        return SampleFormat(bits=8, is_signed=False)


def _sample_format_of_tiff(
    tags: Mapping[int, Any], file: File, error: type[VocSegError]
) -> SampleFormat:
    for rule in _TAG_RULES:
        value = tags.get(rule.tag, rule.default)
        if value not in rule.safe_values:
            raise _ambiguous_values_error(file, error, rule.name, value, rule.expected)
    bits = tags.get(Tag.BITS_PER_SAMPLE, (1,))[0]
    sample_format = tags.get(Tag.SAMPLE_FORMAT, (1,))[0]
    return SampleFormat(bits, is_signed=sample_format == _SIGNED)


def _ambiguous_values_error(
    file: File, error: type[VocSegError], name: str, value: object, expected: str
) -> VocSegError:
    return error(
        file.where,
        found=f"{file.kind.value} with the {name} {value}, from which programs may read values "
        "that nobody drew",
        expected=f"{name} {expected}",
        remedy="export the masks as PNG, and compare the values with those drawn",
    )
