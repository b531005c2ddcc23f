"""The splits that the user gave: a list, a part of one, a folder, or what no other split has.

Examples of the option for the split validation, and the list that it gives:

    option             list
    meta/all.csv:val   the part `val` of the text
    meta/all.csv       the text; of a text with several splits, its one part that makes validation
    meta/all:val       the same as `meta/all.csv:val`
    all                the same as `all.csv`
    val                `val.txt` in a folder where lists usually lie

If several lists fit, those that are spelled in full win, then those in the most usual folder, then
those that end with `.txt`.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, ListError, did_you_mean, several
from voc_seg_tfrecord.core.words import only_split_in
from voc_seg_tfrecord.folder.splits.candidates import (
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
)
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.find_candidates import source_of_labels, source_of_list
from voc_seg_tfrecord.folder.splits.list_text import read_given_list
from voc_seg_tfrecord.folder.splits.rules import not_understood_error
from voc_seg_tfrecord.folder.splits.split_lists import RANK_BY_USUAL_FOLDER, ListRank, SplitList

_MAX_SHOWN_CHOICES = 8


def candidate_as_given(evidence: SplitEvidence, options: Mapping[str, str]) -> SplitCandidate:
    """Returns the candidate of the option `splits`.

    Args:
      evidence: what is there.
      options: by split, the source: a list, a part of one (`all.csv:val`), a folder that ends with
        a slash, several of these with `+` between them, or `rest`.

    Raises:
      ConfigError: if there is no list or folder of a name.
      ListError: if a list is wrong, or names images and is not understood.
    """
    sources = [_find_source(evidence, split, option) for split, option in options.items()]
    unused_ids = evidence.labeled_ids_outside([SplitCandidate(tuple(sources))])
    for number, source in enumerate(sources):
        is_list_called_rest = bool(source.files)
        if source.option == REST and not is_list_called_rest:  # it has no ids yet
            sources[number] = dataclasses.replace(source, ids=unused_ids)
    return SplitCandidate(tuple(sources))


def _find_source(evidence: SplitEvidence, split: str, option: str) -> SplitSource:
    """Returns the source that an option gives: one, or several joined that have `+` between them.

    `rest` has no ids yet, because they depend on the other splits.

    Raises:
      ConfigError: if there is none.
      ListError: see `candidate_as_given`.
    """
    source = _find_single_source(evidence, split, option)
    if source is not None:
        return source
    if option == REST:
        return SplitSource(split, REST, REST)
    sources = []
    for part in option.split("+"):
        source = _find_single_source(evidence, split, part)
        if source is None:
            raise _no_source_error(evidence, split, option, part)
        sources.append(source)
    return functools.reduce(SplitSource.joined, sources)


def _find_single_source(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns the source of an option without `+`; None if it is not there.

    Raises:
      ListError: see `candidate_as_given`.
    """
    if option.endswith("/"):
        return _find_folder(evidence, split, option)
    for find_source in (_find_list, _find_labels, _find_unlisted_text):
        source = find_source(evidence, split, option)
        if source is not None:
            return source
    return None


def _find_folder(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns a folder of images: by the beginning of their ids, or by its path.

    Examples: `val/`, and `images/val/` for the same folder. Only the former may have a `*`.

    Raises:
      ConfigError: if the two are folders of other images.
    """
    ids = evidence.split_folders.images(option)
    ids_by_path = [] if "*" in option else evidence.split_folders.images_at(option)
    if ids and ids_by_path and set(ids) != set(ids_by_path):
        inner = posixpath.join(evidence.tree.folder_below_given("images"), option)
        raise ConfigError(
            "option splits",
            found=f"{split}={option}, which may be the folder {option} or {inner}",
            expected="one folder",
            remedy=f"for the latter, give {split}={inner}; for all images of the former, name each "
            "folder in it, with + between them",
        )
    ids = ids or ids_by_path
    return SplitSource(split, option, option, (), ids) if ids else None


def _find_list(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns a list, by its path, or by its name where lists usually lie; see the module.

    In full it is spelled `meta/all.csv:val`; in short `meta/all:val`, or `meta/all.csv` and
    `meta/all` if it makes the split.

    Raises:
      ConfigError: if the option does not say which of several parts of a text is meant.
      ListError: see `candidate_as_given`.
    """
    spelled_in_full: list[SplitList] = []
    spelled_in_short: list[SplitList] = []
    for split_list in evidence.lists:
        names, short_names = _names_of_text(evidence, split_list.file, split_list.rank)
        short_spellings = [split_list.with_key(name) for name in short_names]
        if split_list.split == split:
            short_spellings += [*names, *short_names]
        if option in [split_list.with_key(name) for name in names]:
            spelled_in_full.append(split_list)
        elif option in short_spellings:
            spelled_in_short.append(split_list)
    matching = spelled_in_full or spelled_in_short
    if not matching:
        return None
    taken = min(matching, key=lambda one: (one.rank, not one.file.endswith(".txt")))
    parts = [one for one in matching if one.file == taken.file]
    if len({frozenset(part.ids) for part in parts}) > 1:
        choices = [evidence.option_for(part) for part in parts]
        raise ConfigError(
            "option splits",
            found=f"{split}={option}, which may be {several(choices, _MAX_SHOWN_CHOICES)}",
            expected=f"one part of the text for {split}",
            remedy=f"name the part, such as {split}={choices[0]}",
        )
    return source_of_list(evidence, taken, split, option)


def _find_labels(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns a file of shapes, or a subset in one: by its path, or by the split in its name.

    Examples: `annotations.xml:Train`, `annotations.xml`, `train`. If the option fits by several of
    these spellings, the first of them counts.
    """
    split_of_option = only_split_in(option) or option
    label_splits = evidence.tree.labels.splits
    matching = [each for each in label_splits if option == each.source]
    if not matching:
        matching = [each for each in label_splits if option in (each.file, each.subset)]
    if not matching:
        matching = [each for each in label_splits if split_of_option == each.split]
    if not matching:
        return None
    sources = [source_of_labels(label_split, split) for label_split in matching]
    joined = functools.reduce(SplitSource.joined, sources)
    return dataclasses.replace(joined, option=option)


def _find_unlisted_text(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns a text that is a list only because the user says so.

    By itself it is none: it names no image, or has an unknown ending.

    Example: `ids.lst`. The option may name a part of a text that is not understood, such as
    `ids.csv:val` with 7 in place of 0007.

    Raises:
      ListError: if the text names images and splits, and is not understood. A text with wrong names
        is never read as a list; another one is, if it has a name on each line.
    """
    unclear_texts = []
    for unclear in evidence.unclear:
        names, short_names = _names_of_text(evidence, unclear.file, unclear.rank)
        if any(option == name or option.startswith(f"{name}:") for name in (*names, *short_names)):
            unclear_texts.append(unclear)
    split_list = None
    if not unclear_texts or not unclear_texts[0].has_wrong_names:
        split_list = _read_unlisted_text(evidence, option)
    if split_list is not None:
        return source_of_list(evidence, split_list, split, option)
    if unclear_texts:
        raise not_understood_error(evidence, unclear_texts[0])
    return None


def _read_unlisted_text(evidence: SplitEvidence, option: str) -> SplitList | None:
    """Returns the names in a text, one on each line; None if there is no such text."""
    tree = evidence.tree
    assert tree.listing
    usual_folders = (tree.layout.lists, *RANK_BY_USUAL_FOLDER)
    folders = [*(posixpath.join(tree.root_below_given, folder) for folder in usual_folders), ""]
    for folder, name in itertools.product(folders, (f"{option}.txt", option)):
        path = posixpath.normpath(posixpath.join(folder, name))
        files = tree.listing.files_by_folder.get(posixpath.dirname(path), ())
        if posixpath.basename(path) in files:
            text = tree.texts.read(tree.given / path, ListError)
            return read_given_list(text, path, evidence.image_names, evidence.ids_by_group)
    return None


def _names_of_text(
    evidence: SplitEvidence, file: str, rank: ListRank
) -> tuple[Sequence[str], Sequence[str]]:
    """Returns the names by which a user may give a text, and the same without their endings.

    They are paths, and the name of the text if it lies in a usual folder.
    """
    names = [file, file.removeprefix(f"{evidence.tree.root_below_given}/")]
    if rank < ListRank.ELSEWHERE:
        names.append(posixpath.basename(file))
    return names, [posixpath.splitext(name)[0] for name in names]


def _no_source_error(evidence: SplitEvidence, split: str, option: str, part: str) -> ConfigError:
    """Returns the error that a part of an option, or all of it, is not there."""
    if part.endswith("/"):
        kind = "folder"
        choices = [f"{name}/" for name in evidence.split_folders.dividing_first_folders]
    else:
        kind = "list"
        choices = [evidence.option_for(split_list) for split_list in evidence.lists]
    if choices:
        expected = f"one of the {kind}s {several(choices, _MAX_SHOWN_CHOICES)}"
        remedy = (
            "name a list, a part of one such as data.csv:val, a folder that ends with /, or give "
            f"ratios such as {EXAMPLE_RATIOS}"
        )
    else:
        expected = f"ratios, because there are no {kind}s of splits"
        remedy = f"give ratios such as {EXAMPLE_RATIOS}"
    missing = f"no such {kind}" if part == option else f"no {kind} {part}"
    return ConfigError(
        "option splits",
        found=f"{split}={option}, but there is {missing} in {evidence.tree.root}"
        + did_you_mean(part, choices),
        expected=expected,
        remedy=remedy,
    )
