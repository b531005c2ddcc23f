"""The splits that the user gave: a list, a part of one, a folder, or what no other split has."""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, ListError, did_you_mean, several
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.folder.splits.candidates import (
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
)
from voc_seg_tfrecord.folder.splits.choose import not_understood
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.find_candidates import source_of_labels
from voc_seg_tfrecord.folder.splits.list_text import read_given_list
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText
from voc_seg_tfrecord.folder.splits.split_lists import (
    RANK_BY_USUAL_FOLDER,
    ListRank,
    SplitList,
    ids_in_split,
)

_MAX_SHOWN_SOURCES = 8


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
    sources = dict[str, SplitSource]()
    for split, option in options.items():
        source = _find_sources(evidence, split, option)
        if source is None and option != REST:
            unclear = _find_unclear(evidence, option)
            if unclear is not None:
                raise not_understood(evidence, unclear)
            raise _no_source(evidence, split, option)
        sources[split] = source or SplitSource(split, REST, REST)
    used = {image_id for source in sources.values() for image_id in source.ids}
    for split, source in sources.items():
        if source.option == REST and not source.files:
            rest = _labeled_beside(evidence, used)
            sources[split] = dataclasses.replace(source, ids=rest)
    return SplitCandidate(tuple(sources.values()))


def _find_unclear(evidence: SplitEvidence, option: str) -> UnclearText | None:
    """Returns the text that an option names, or a part of which it names, if it is not understood.

    Such is `ids.csv:val` with 7 in place of 0007.
    """
    for unclear in evidence.unclear:
        names = _names_of_text(evidence, unclear.file, unclear.rank)
        for name in (*names, *_without_ending(names)):
            if option == name or option.startswith(f"{name}:"):
                return unclear
    return None


def _labeled_beside(evidence: SplitEvidence, used: Collection[str]) -> list[str]:
    """Returns the labeled images that no split has."""
    tree = evidence.tree
    labeled = [image_id for image_id in tree.images if image_id in tree.masks]
    return [image_id for image_id in labeled if image_id not in used]


def _find_sources(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns the source that an option gives, which may be several with `+` between them."""
    source = _find_source(evidence, split, option)
    if source is not None or "+" not in option:
        return source
    joined: SplitSource | None = None
    for part in option.split("+"):
        source = _find_source(evidence, split, part)
        if source is None:
            return None
        joined = source if joined is None else joined.joined(source)
    return joined


def _find_source(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns one source; None if it is not there."""
    if option.endswith("/"):
        return _find_folder(evidence, split, option)
    split_list = _find_list(evidence, split, option)
    if split_list is not None:
        return _source_of_list(evidence, split, option, split_list)
    source = _find_labels(evidence, split, option)
    if source is not None:
        return source
    unclear = _find_unclear(evidence, option)
    if unclear is not None and unclear.has_wrong_names:
        raise not_understood(evidence, unclear)
    split_list = _read_text_that_is_no_list(evidence, option)
    if split_list is not None:
        return _source_of_list(evidence, split, option, split_list)
    return None


def _find_folder(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    ids = evidence.split_folders.images(option)
    return SplitSource(split, option, option, (), ids) if ids else None


def _source_of_list(
    evidence: SplitEvidence, split: str, option: str, split_list: SplitList
) -> SplitSource:
    if split_list.error is not None:
        raise split_list.error
    ids = ids_in_split(split_list, split, evidence.image_names, evidence.tree.given)
    words = evidence.words_for(split_list)
    return SplitSource(split, option, words, (split_list.file,), ids)


def _find_labels(evidence: SplitEvidence, split: str, option: str) -> SplitSource | None:
    """Returns a file of shapes, or a subset in one: by its path, or by the split in its name."""
    label_splits = evidence.tree.labels.splits
    called = [one for one in label_splits if option == one.source]
    if not called:
        called = [one for one in label_splits if option in (one.file, one.subset)]
    if not called:
        called = [one for one in label_splits if (only_split_in(option) or option) == one.split]
    if not called:
        return None
    sources = [source_of_labels(label_split, split) for label_split in called]
    joined = functools.reduce(SplitSource.joined, sources)
    return dataclasses.replace(joined, option=option)


def _find_list(evidence: SplitEvidence, split: str, option: str) -> SplitList | None:
    """Returns the list that the user means: by its path, or by its name where lists usually lie.

    A name with its ending wins over one without it, then the most usual folder wins, then `.txt`. A
    text of several splits may be given without the part of it, if that is called as the split is.
    """
    called_with_ending = list[SplitList]()
    called_without_ending = list[SplitList]()
    for split_list in evidence.lists:
        names = _names_of_text(evidence, split_list.file, split_list.rank)
        short_names = _without_ending(names)
        part = f":{split_list.key}" if split_list.key else ""
        options_without_ending = [name + part for name in short_names]
        if split_list.split == split:
            options_without_ending += [*names, *short_names]
        if option in [name + part for name in names]:
            called_with_ending.append(split_list)
        elif option in options_without_ending:
            called_without_ending.append(split_list)
    called = called_with_ending or called_without_ending
    if not called:
        return None
    return min(called, key=lambda one: (one.rank, not one.file.endswith(".txt")))


def _names_of_text(evidence: SplitEvidence, file: str, rank: ListRank) -> list[str]:
    """Returns the names by which a user may give a text: paths, and its name in a usual folder."""
    names = [file, file.removeprefix(f"{evidence.tree.root_below_given}/")]
    if rank < ListRank.ELSEWHERE:
        names.append(posixpath.basename(file))
    return names


def _without_ending(names: Sequence[str]) -> list[str]:
    """Returns the names of a text without its ending."""
    return [posixpath.splitext(name)[0] for name in names]


def _read_text_that_is_no_list(evidence: SplitEvidence, option: str) -> SplitList | None:
    """Returns a text that the user gave, and that names no image or has an unknown ending."""
    tree = evidence.tree
    assert tree.listing
    usual_folders = (tree.layout.lists, *RANK_BY_USUAL_FOLDER)
    folders = [*(posixpath.join(tree.root_below_given, folder) for folder in usual_folders), ""]
    for folder, name in itertools.product(folders, (f"{option}.txt", option)):
        path = posixpath.normpath(posixpath.join(folder, name))
        files = tree.listing.files_by_folder.get(posixpath.dirname(path), ())
        if posixpath.basename(path) in files:
            text = tree.texts.read(tree.given / path, ListError)
            return read_given_list(text, path, evidence.image_names)
    return None


def _no_source(evidence: SplitEvidence, split: str, option: str) -> ConfigError:
    if option.endswith("/"):
        kind = "folder"
        choices = [f"{name}/" for name in evidence.split_folders.first_folders]
    else:
        kind = "list"
        choices = [evidence.option_for(split_list) for split_list in evidence.lists]
    expected = f"one of the {kind}s {several(choices, _MAX_SHOWN_SOURCES)}"
    if not choices:
        expected = "ratios"
    return ConfigError(
        "option splits",
        found=f"{split}={option}, but there is no such {kind} in {evidence.tree.root}"
        + did_you_mean(option, choices),
        expected=expected,
        remedy="name a list, a part of one such as data.csv:val, a folder that ends with /, or "
        f"give ratios such as {EXAMPLE_RATIOS}",
    )
