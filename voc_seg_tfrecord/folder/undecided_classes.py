"""What a plan takes for classes while nobody has said them: each value of a mask is a class."""

from collections.abc import Mapping
from typing import Any

from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.class_names import NO_CLASS_NAMES
from voc_seg_tfrecord.folder.classes.choose import CONTRADICT
from voc_seg_tfrecord.folder.meaning.questions import UNDECIDED

NAMES_OF_VALUES = tuple(f"class {value}" for value in range(VOID))
"""A name for each value of a mask."""

ANY_VALUE = index_rule(VOID)
"""The rule of masks whose meaning is not decided: any value is a class."""

ANY_CLASSES: Mapping[str, Any] = {
    "class_names": list(NAMES_OF_VALUES),
    "default_names": False,
    "background": "",
    "classes": (),
    "missing_mask": "skip",
}
"""Options with which a plan asks nothing about classes, if masks are read by `ANY_VALUE`."""

NEXT_QUESTION_BY_KIND: Mapping[str, str] = {
    NO_CLASS_NAMES: "the next question is what the classes are called",
    CONTRADICT: "the next question is what the classes are called",
    UNDECIDED: "the next question is what the values of the masks mean",
}
"""What a build asks the user, by the kinds of errors that ask for classes."""
