"""Leaves out the images that the user excludes, and says how to exclude those that stop a build."""

from collections.abc import Iterable, Sequence
import csv
import dataclasses
import io
import json

from voc_seg_tfrecord.core.errors import ListError, SplitError, counted, did_you_mean, several
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.splits.divide import Splits

_MAX_PROPOSED_IDS = 20
"""How many ids a command to paste may exclude; more belong into a file."""

_MAX_PROPOSED_SHARE = 1 / 3
"""If a larger share of the images stops a build, single files are not the cause."""

_OPTION = "--exclude"


def leave_out_excluded(splits: Splits, excluded: Sequence[str]) -> Splits:
    """Returns splits without the images that the user excludes, and a note that counts them.

    Args:
      splits: the splits.
      excluded: names of images: ids of the dataset or of the folder, or paths.

    Raises:
      ListError: if a name is of no image or of several, if an image is in no split, or if nothing
        is left of a split.
    """
    if not excluded:
        return splits
    excluded_ids = _find_ids(splits, excluded)
    sources = []
    for source in splits.sources:
        remaining_ids = [image_id for image_id in source.ids if image_id not in excluded_ids]
        if not remaining_ids:
            raise ListError(
                _OPTION,
                found=f"all {counted(len(source.ids), 'image')} of {source.split}",
                expected="at least one image left in each split",
                remedy=f"leave an image of {source.split} in, or name the other splits with "
                "--splits",
            )
        sources.append(dataclasses.replace(source, ids=remaining_ids))
    record_ids = [splits.evidence.tree.record_id(image_id) for image_id in excluded_ids]
    verb = "is" if len(record_ids) == 1 else "are"
    images = counted(len(record_ids), "image")
    note = f"{images} {verb} left out by {_OPTION}: {several(record_ids)}."
    return dataclasses.replace(
        splits,
        sources=sources,
        notes=[*splits.notes, note],
        excluded=excluded_ids,
    )


def _find_ids(splits: Splits, names: Iterable[str]) -> dict[str, None]:
    """Returns the ids of the images that names mean, in the order of the names.

    The ids are the keys of a dict, as a set has no order.

    Raises:
      ListError: if a name is of no image or of several, or if an image is in no split.
    """
    tree = splits.evidence.tree
    used_ids = splits.used
    id_by_record_id = {tree.record_id(image_id): image_id for image_id in tree.images}
    excluded_ids: dict[str, None] = {}
    unknown: list[str] = []
    ambiguous: list[str] = []
    in_no_split: list[str] = []
    for name in names:
        ids = {*splits.evidence.image_names.meanings_of(name)}
        if name in id_by_record_id:
            ids.add(id_by_record_id[name])
        if name in used_ids:  # it may be listed and have no image
            ids.add(name)
        if not ids:
            unknown.append(name)
        elif len(ids) > 1:
            ambiguous.append(name)
        elif not ids <= used_ids:
            in_no_split.append(name)
        excluded_ids.update(dict.fromkeys(ids))
    if unknown:
        found = f"{counted(len(unknown), 'id')} that the folder does not have: {several(unknown)}"
        found += did_you_mean(unknown[0], tree.images)
    elif ambiguous:
        found = f"{counted(len(ambiguous), 'name')} of several images: {several(ambiguous)}"
    elif in_no_split:
        found = f"{counted(len(in_no_split), 'id')} in no split: {several(in_no_split)}"
    else:
        return excluded_ids
    raise ListError(
        _OPTION,
        found=found,
        expected="a file of ids, or ids separated by commas, of images that are in a split",
        remedy=f"correct the ids, or remove them; {_OPTION} none leaves nothing out",
    )


def add_way_out(error: SplitError, excluded: Sequence[str]) -> SplitError:
    """Returns the error about files of a folder, with the option that leaves their images out.

    Args:
      error: the error. One that names no ids, or a large share of the images, stays as it is.
      excluded: what the user excluded before.
    """
    advice = advise_exclude(error.ids, error.examined, excluded)
    if not advice:
        return error
    remedy = f"{error.remedy}; or {advice}" if error.remedy else advice
    return SplitError(error.split, error.problems, error.examined, remedy, error.ids)


def advise_exclude(ids: Iterable[str], examined: int, excluded: Sequence[str]) -> str:
    """Returns how to leave out images whose files stop a build; empty if that is no way out.

    Args:
      ids: the ids of the images.
      examined: how many images were read.
      excluded: what the user excluded before. The advice repeats it, as the option replaces it.
    """
    ids = [*dict.fromkeys(ids)]
    if not ids or len(ids) > examined * _MAX_PROPOSED_SHARE:
        return ""
    all_ids = [*dict.fromkeys([*excluded, *ids])]
    if len(all_ids) > _MAX_PROPOSED_IDS:
        return (
            f"leave these images out with {_OPTION} FILE, a file with their ids, one in each line"
        )
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(all_ids)  # quotes an id that has a comma
    in_braces = json.dumps({"exclude": all_ids}, ensure_ascii=False)
    in_config = in_braces[1:-1]
    option = command(exclude=text.getvalue())
    which = "this image" if len(ids) == 1 else "these images"
    return f"leave {which} out with {option} (in a config: {in_config})"
