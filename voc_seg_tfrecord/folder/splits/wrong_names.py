"""Names in a text that are not quite those of images, and paths of files beside the images."""

import dataclasses
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, parse_ids
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.splits.list_text import ListText
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup, propose_rule
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.list_files import ListReader
from voc_seg_tfrecord.formats.list_tables import Vocabulary
from voc_seg_tfrecord.formats.texts import words_of

_MAX_SEARCHED_PATHS = 1000

_MAX_DEPTH = 20
"""Folders above a file, of which a path is searched for; a line may be a path of thousands."""


def describe_wrong_names(text: ListText) -> str:
    """Says which names in a text are not quite those of images; empty if none are."""
    return _describe_lost_zeros(text) or _describe_beginnings(text)


def _describe_lost_zeros(text: ListText) -> str:
    """Says which name has lost its zeros, if most names that are no image have; empty otherwise.

    A spreadsheet makes 7 of 0007.
    """
    id_by_number = text.image_names.id_by_number
    without_zeros = [name for name in text.missing_names if name in id_by_number]
    if not without_zeros or 2 * len(without_zeros) < len(text.missing_names):
        return ""
    name = without_zeros[0]
    return (
        f"{name}, which may be the image {id_by_number[name]}: spreadsheets take the zeros before "
        "a number"
    )


def _describe_beginnings(text: ListText) -> str:
    """Says which name begins those of several images, if all names in a text do; empty otherwise.

    Such are the names of patients: `P01` of `P01-S1` and `P01-S2`.
    """
    if not text.missing_names or text.image_count:
        return ""
    counts = []
    for name in text.missing_names:
        count = text.image_names.count_of_group(name)
        if count == 0:
            return ""
        counts.append(count)
    if max(counts) == 1:
        return ""
    return (
        f"{text.missing_names[0]}, which is no image: the names of {counts[0]} images begin "
        "with it, as those of a patient or a scene do"
    )


def with_error_on_names(text: ListText) -> ListText:
    """Returns a text that is a list by its name, with an error if it names images wrongly.

    Wrong are:

    - numbers without their zeros: 7 in place of 0007
    - the beginning that the names of several images share: `P01` of `P01-S1` and `P01-S2`
    - names in a form that is not read
    """
    if text.error is not None:
        return text
    wrong_names = describe_wrong_names(text)
    if wrong_names:
        error = _wrong_names_error(text, wrong_names)
    elif text.names_images_in_unread_form:
        error = ListError(
            text.file.where,
            found="image names in an unknown form",
            expected="one image per line",
            remedy="write an id, a file name or a path on each line",
        )
    else:
        return text
    return dataclasses.replace(text, listed=(), error=error)


def _wrong_names_error(text: ListText, wrong_names: str) -> ListError:
    return ListError(
        text.file.where,
        found=wrong_names,
        expected="the names of images, as their files have them",
        remedy="write the name of an image on each line" + _advise_groups(text),
    )


def _advise_groups(text: ListText) -> str:
    """Returns how to read the names as those of groups, as a further remedy; empty if they cannot.

    The names are no groups if one of them is an image, or if the user gave groups already.
    """
    if text.image_count or text.ids_by_group:
        return ""
    rule = propose_rule(text.missing_names, list(text.image_names))
    if not rule:
        return ""
    return f"; or, if each name stands for all of its images, say {command(group_by=rule)}"


def read_given_list(
    file: File, path: str, image_names: ImageNames, ids_by_group: IdsByGroup
) -> SplitList:
    """Returns a list that the user gave, whatever its name and ending are: a name on each line.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree; if its names are
        not quite those of images.
    """
    vocabulary = Vocabulary(image_names)
    ids = parse_ids(file.data, file.where, NamesOfImages(image_names), may_repeat=True)
    text = ListText(
        path,
        file,
        ListRank.SEGMENTATION,
        ListReader(image_names),
        image_names,
        ids_by_group,
        listed=[vocabulary.listed("", ids)],
    ).with_groups()
    wrong_names = describe_wrong_names(text)
    if wrong_names:
        raise _wrong_names_error(text, wrong_names)
    return SplitList(path, "", text.ids, text.image_count, ListRank.SEGMENTATION)


def note_on_paths_of_other_files(text: ListText, tree: VocTree) -> list[str]:
    """Returns a note if the paths in a text are those of files beside the images and masks.

    Example: `train.txt` has the lines `thermal/01.png` and `thermal/02.png`, which are files, and
    the images lie in `rgb`. Images are found by the ends of paths, so `rgb/01.png` is in train.
    """
    if not text.image_count:
        return []
    paths = (word for word in words_of(text.beginning) if "/" in word)
    notes = list[str]()
    for path in itertools.islice(paths, _MAX_SEARCHED_PATHS):
        image_id = text.image_names.get(path)
        if image_id is None:
            continue
        file = _find_file(path, posixpath.dirname(text.path), tree)
        if not file:
            continue
        image = tree.paths.image(image_id)
        mask = tree.paths.mask(image_id) if image_id in tree.masks else ""
        if file in (image, mask):
            return []
        if not notes:
            notes.append(
                f"{text.path} names {file}, and the image {image} of the same name is taken. "
                "Images are found by the ends of paths."
            )
    return notes


def _find_file(path: str, folder_of_text: str, tree: VocTree) -> str:
    """Returns the file below the given folder that a path leads to; empty if there is none.

    The path may begin at the text, at the set or at the given folder, or on another machine. The
    longest end of it that is a file with its folder counts.
    """
    assert tree.listing
    parts = [part for part in path.split("/") if part.strip(".")][-_MAX_DEPTH - 1 :]
    for first in range(len(parts) - 1):
        for top in (folder_of_text, tree.root_below_given, ""):
            folder = posixpath.join(top, *parts[first:-1])
            if parts[-1] in tree.listing.files_by_folder.get(folder, ()):
                return f"{folder}/{parts[-1]}"
    return ""
