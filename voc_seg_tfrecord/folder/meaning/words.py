"""Words for candidates and pixels, in questions, notes and the table of classes."""

from collections.abc import Sequence

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.names import BLACK
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey

MAX_LISTED_PIXELS = 8
"""How many values and colors a message lists."""


def name_candidate(candidate: MeaningCandidate) -> str:
    """Returns what gives the classes, such as `value` or `the colors of labelmap.txt`."""
    file = candidate.naming.file
    name_of_file = "" if file is None else file.source
    match candidate.kind:
        case "grays of file":
            return f"the grays from {name_of_file}"
        case "colors of file":
            return f"the colors of {name_of_file}"
        case "VOC order":
            return "the colors of VOC's palette"
        case "VOC names":
            return "the colors of VOC's palette, by name"
        case "rows":
            return "the colors that you gave" if candidate.by == "color" else "value"
        case "values":
            return _name_values(candidate)


def _name_values(candidate: MeaningCandidate) -> str:
    words = "value"
    if candidate.reads_255_as_class:
        words += ", 255 being the second class"
    if candidate.numbering:
        words += f" ({candidate.numbering.rstrip('.')})"
    return words


def describe_candidate(candidate: MeaningCandidate) -> str:
    """Returns how a candidate reads masks: `by value`, `by the colors of labelmap.txt`."""
    return f"by {name_candidate(candidate)}"


def describe_pixel(pixel: StoredPixel) -> str:
    """Returns what a pixel has: `value 1`, `value 1 with color #800000`, `color #800000`."""
    if pixel.value is None:
        return f"color {color_key(pixel.color or BLACK)}"
    if pixel.kind == "palette" and pixel.color:
        return f"value {pixel.value} with color {color_key(pixel.color)}"
    return f"value {pixel.value}"


def compare_candidates(survey: Survey, candidates: Sequence[MeaningCandidate]) -> str:
    """Returns what pixels mean by each candidate, first those about which the candidates differ.

    For example `value 1 is cat by value and dog by the colors of VOC's palette.`
    """
    differing = []
    agreed = []
    for pixel, _ in sorted(survey.pixels.items(), key=lambda item: -item[1].pixels):
        readers: dict[str | None, MeaningCandidate] = {}
        for candidate in candidates:
            readers.setdefault(candidate.class_of(pixel), candidate)
        meanings = [
            f"{name or 'no class'} {describe_candidate(reader)}" for name, reader in readers.items()
        ]
        line = f"{describe_pixel(pixel)} is {' and '.join(meanings)}"
        is_agreed = len(readers) == 1 and None not in readers
        if is_agreed:
            agreed.append(line)
        else:
            differing.append(line)
    return list_first([*differing, *agreed]) + "."


def list_first(texts: Sequence[str]) -> str:
    """Returns the first texts, and how many more there are."""
    more = len(texts) - MAX_LISTED_PIXELS
    if more <= 0:
        return "; ".join(texts)
    return "; ".join([*texts[:MAX_LISTED_PIXELS], f"and {more} more"])
