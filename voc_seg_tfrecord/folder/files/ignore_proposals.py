"""Adds ignore masks to the alternatives of a question which masks are meant.

DRIVE has two folders with a mask for each image: the vessels, and the field of view. One answer is
that the latter says where the former count.
"""

from collections.abc import Mapping
import dataclasses
import itertools

from voc_seg_tfrecord.core.class_masks import find_class_masks
from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.question import (
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    QuestionError,
)
from voc_seg_tfrecord.formats.ignore_masks import looks_like_field_of_view


def add_ignore_masks(question: QuestionError, given: GivenLayout) -> QuestionError:
    """Returns a question in which masks that look like fields of view may be ignore masks.

    Args:
      question: which images and masks are meant.
      given: the folder, and the options that the user gave. If these name ignore masks, no others
        are proposed.
    """
    are_added_planned = len(question.alternatives) < MAX_TRIED_ALTERNATIVES
    if given.options.get("ignore_masks") or not are_added_planned:
        return question
    with_masks = [
        other
        for other in question.alternatives
        if "masks" in other.options and not find_class_masks(other.options)
    ]
    fields_of_view = [other for other in with_masks if _are_fields_of_view(other.options, given)]
    added: list[Alternative] = []
    for alternative, field_of_view in itertools.product(with_masks, fields_of_view):
        folders = field_of_view.options["masks"]
        has_same_images = alternative.options.get("images") == field_of_view.options.get("images")
        has_other_masks = alternative.options["masks"] != folders
        if alternative in fields_of_view or not has_same_images or not has_other_masks:
            continue
        options = {**alternative.options, "ignore_masks": folders}
        added.append(Alternative(f"void where the masks in {folders} are 0", options))
    if not added:
        return question
    return QuestionError(
        question.where,
        [*question.alternatives, *added],
        task=question.task,
        expected=question.expected,
        kind=question.kind,
    )


def _are_fields_of_view(options: Mapping[str, str], given: GivenLayout) -> bool:
    """Says whether a few masks of an alternative all look like fields of view."""
    options_of_masks = {name: options[name] for name in ("masks", "mask_name") if name in options}
    layout = dataclasses.replace(given, options=options_of_masks)
    try:
        sets = [files for files in layout.allowed_sets().masks if files.names]
        paths = itertools.chain.from_iterable(map(_few_paths, sets))
        looks = [
            looks_like_field_of_view(File.read(given.listing.root / path, MaskError))
            for path in paths
        ]
    except VocSegError:  # one is no ignore mask, or the alternative has no folder of masks
        return False
    return bool(looks) and all(looks)


def _few_paths(files: FileSet) -> list[str]:
    return [files.path(stem) for stem in few([*files.names])]
