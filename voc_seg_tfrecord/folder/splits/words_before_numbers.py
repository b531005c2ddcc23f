"""What stands before a number in an id, and says what the number is that of.

before the number    the number is that of
patient_             a whole, of which there are several images
vid3_frame           a part of a whole
scene2_x             an axis: a row or column
2007_                an image of VOC's, of that year
2024-03-             a day
"""

import re

_ALWAYS_WHOLES = (
    "patient|pat|subject|subj|sub|case|scan|study|sequence|seq|video|vid|clip|scene|volume|vol"
)
WHOLES = (
    f"{_ALWAYS_WHOLES}|session|ses|visit|series|exam|lesion|specimen|donor|flight|route|track"
    "|trip|drive|shot|episode|recording"
)
"""Words for wholes. Some may be parts of what stands before them: `rome_session1`."""

PARTS = "frame|slice|tile|patch|crop"
_AXES = "x|y|r|c|h|w|i|j|row|col|column"

_WHOLE_AT_END = re.compile(rf"(?i)(?:^|[^a-z])(?:{_ALWAYS_WHOLES}|camera|cam)[_ -]?$")
_PART_AT_END = re.compile(rf"(?i)(?:^|[^a-z])(?:{PARTS})[_ -]?$")
_AXIS_AT_END = re.compile(rf"(?i)(?:^|[^a-z])(?:{_AXES})[_-]?$")
_YEAR_OF_VOC_AT_END = re.compile(r"(?:^|/)(?:19|20)\d\d_$")
_YEAR_AND_MONTH_AT_END = re.compile(r"(?<!\d)(?:19|20)\d\d(?P<dash>[_-])[01]\d(?P=dash)$")


def ends_with_whole(front: str) -> bool:
    """Says whether a word that is always for a whole stands before a number: `patient_`."""
    return _WHOLE_AT_END.search(front) is not None


def ends_with_part(front: str) -> bool:
    """Says whether a word for a part, such as `frame`, stands before a number."""
    return _PART_AT_END.search(front) is not None


def ends_with_axis(front: str) -> bool:
    """Says whether a word for an axis, such as `_x` or `row`, stands before a number."""
    return _AXIS_AT_END.search(front) is not None


def ends_with_date(front: str) -> bool:
    """Says whether a year of VOC's, as in `2007_`, or a year and month stand before a number."""
    is_behind_year = _YEAR_OF_VOC_AT_END.search(front) is not None
    return is_behind_year or _YEAR_AND_MONTH_AT_END.search(front) is not None
