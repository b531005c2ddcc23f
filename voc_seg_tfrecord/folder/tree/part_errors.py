"""The errors about a part of an id, such as its mask, that has no file or several."""

import dataclasses
import unicodedata

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.tree.pairs import PartFiles


@dataclasses.dataclass(frozen=True)
class WordsOfPart:
    """How errors name a part of examples.

    Attributes:
      noun: the part, such as `mask`.
      noun_with_article: the same with its article.
      plural: the same for several.
      without: how to build without the part, for one that not all examples need.
    """

    noun: str
    noun_with_article: str
    plural: str
    without: str = ""


WORDS_BY_PART = {
    "image": WordsOfPart("image", "an image", "images"),
    "mask": WordsOfPart("mask", "a mask", "masks"),
    "instances": WordsOfPart(
        "instance mask",
        "an instance mask",
        "instance masks",
        'leave instance masks out: no --instance_masks, or "instance_mask": false in the config',
    ),
    "ignored": WordsOfPart(
        "ignore mask",
        "an ignore mask",
        "ignore masks",
        "leave all ignore masks out: no --ignore_masks",
    ),
    "annotation": WordsOfPart(
        "XML file",
        "an XML file",
        "XML files",
        'leave boxes out: no --objects, or "objects": false in the config',
    ),
}
"""The words of each part, by its name in `Pair`."""


def missing_file_error(part: str, files: PartFiles, image_id: str) -> LayoutError:
    """Returns the error that a part of an id, such as `mask`, has no file in a tree."""
    words = WORDS_BY_PART[part]
    similar_id = files.names.find_similar_id(image_id)
    if similar_id:
        found = f"no such file, but {_difference(image_id, similar_id)}"
        remedy = "write the ids exactly as the files are named, or rename the files"
    else:
        found = "no such file"
        remedy = "put the file there, or remove the id from the list"
        if words.without:
            remedy = f"{remedy}, or {words.without}"
    return LayoutError(
        files.folder / image_id,
        found=found,
        expected=f"{words.noun_with_article} for each id",
        remedy=remedy,
        kind=f"missing {words.noun}",
    )


def several_files_error(part: str, files: PartFiles, image_id: str) -> LayoutError:
    """Returns the error that a part of an id has more than one file."""
    names = files.ambiguous_names(image_id)
    return LayoutError(
        files.folder / names[0],
        found=f"{len(names)} files for one id: {' and '.join(names)}",
        expected=f"{WORDS_BY_PART[part].noun_with_article} for each id, and no second one",
        remedy="keep one of the files, and rename or remove the others",
        kind="several files for one id",
    )


def _difference(image_id: str, similar_id: str) -> str:
    """Describes how two ids differ that look alike."""
    if as_nfc(image_id) != as_nfc(similar_id):
        return f"{similar_id!r} is there, which differs in upper and lower case"
    form_of_id = _name_unicode_form(image_id)
    form_of_file = _name_unicode_form(similar_id)
    return (
        "one whose name looks the same is there. The id has the Unicode form "
        f"{form_of_id}, and the name of the file has {form_of_file}"
    )


def _name_unicode_form(text: str) -> str:
    """Returns `NFC` or `NFD`; `mixed` for a text that is in neither form."""
    for form in ("NFC", "NFD"):
        if unicodedata.is_normalized(form, text):
            return form
    return "mixed"
