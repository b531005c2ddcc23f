"""The table of classes that a user fills in: a row for each value and color that masks use."""

from collections.abc import Sequence
import csv
import io
import itertools
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_rows import UNKNOWN, Key, Rows, color_key
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.classes.choose import choose_class_file, choose_class_file_of_names
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.pixels import sizes_agree
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.choose import check_number_of_keys, weigh_candidates
from voc_seg_tfrecord.folder.meaning.naming import ClassNaming
from voc_seg_tfrecord.folder.meaning.of_labels import list_namings
from voc_seg_tfrecord.folder.meaning.words import describe_candidate
from voc_seg_tfrecord.folder.plan import OpenFolder
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.mask_survey import Occurrence, StoredPixel, Survey, content_of_file


def write_table(opened: OpenFolder) -> tuple[str, int]:
    """Writes a row for each value and color that the masks of a folder use.

    Args:
      opened: the folder. If it has no class names, a class file may be numbered in two ways, or
        there is none. If its splits are not decided, all masks count.

    Returns:
      The table as CSV, and how many of its rows lack a class.

    Raises:
      LayoutError: if a mask has another size than its image, or the masks use too much for a table.
      MaskError: if no mask can be read, about the first.
    """
    tree = opened.tree
    config = opened.config
    ids = _ids_that_count(opened)
    table_of_labels = tree.labels.table(ids)
    if table_of_labels:
        return table_of_labels, 0
    _check_sizes(tree, ids)
    survey = tree.labels.survey(ids, all_colors=True)
    if ids and not survey.pixels:
        content_of_file(tree.labels.file(ids[0]))  # raises
    check_number_of_keys(survey)
    has_names = opened.fault is None
    files: Sequence[ClassFile] = ()
    if config.class_names:
        choose = choose_class_file_of_names if has_names else choose_class_file
        files = choose(tree, config).numberings
    if not has_names and not files:
        return _text(survey, None, [])
    if len(files) > 1:
        namings = list_namings(files, cast(Rows, config.classes), config.background)
    else:
        namings = [ClassNaming(config.table, files[0] if files else None)]
    return _text(survey, *weigh_candidates(survey, namings))


def _ids_that_count(opened: OpenFolder) -> list[str]:
    """Returns the ids of the masks that count: those of the splits, if these are decided."""
    tree = opened.tree
    ids = [image_id for image_id in tree.images if image_id in tree.masks] or [*tree.masks]
    if opened.problems.found:
        return ids
    used_ids = opened.division.used
    return [image_id for image_id in ids if image_id in used_ids] or ids


def _check_sizes(tree: VocTree, ids: Sequence[str]) -> None:
    """Checks that a few masks have the sizes of their images.

    Raises:
      LayoutError: naming the first that has not.
    """
    items = tree.items()
    for image_id in few(ids):
        if image_id not in items:
            continue
        pair = items[image_id]
        image, mask = epath.Path(pair.image), epath.Path(str(pair.mask))
        if not sizes_agree(image, mask):
            raise LayoutError(
                mask,
                found=f"another size than that of {image}",
                expected="masks of the size of their images, without which no class helps",
                remedy="export the masks again, or name the folder of their images with --images",
            )


def _text(
    survey: Survey, taken: MeaningCandidate | None, left: Sequence[MeaningCandidate]
) -> tuple[str, int]:
    """Returns the table as CSV, and how many of its rows lack a class.

    Args:
      survey: what the masks use.
      taken: the candidate that gives the classes; None if the user is asked.
      left: the candidates between which the user is asked; each has a column for people.
    """
    candidates = [taken] if taken else list({describe_candidate(c): c for c in left}.values())
    by_color = _has_color_keys(survey, taken)
    rows: dict[Key, dict[str, object]] = {}
    for pixel, key in _keys_in_order(survey, by_color=by_color):
        classes = {describe_candidate(c): c.class_of(pixel) or UNKNOWN for c in candidates}
        row = rows.setdefault(key, {})
        if taken:
            name = classes[describe_candidate(taken)]
            _add_to_row(row, pixel, key, name, survey.pixels[pixel])
        else:
            name = _agreed_class(survey, pixel, classes)
            _add_to_row(row, pixel, key, name, survey.pixels[pixel])
            row |= classes
    unknown = sum(row["class"] == UNKNOWN for row in rows.values())
    return _csv_of_rows(list(rows.values())), unknown


def _keys_in_order(survey: Survey, *, by_color: bool) -> list[tuple[StoredPixel, Key]]:
    """Returns each pixel with its key: first values, ascending, then colors."""
    keys = [(pixel, pixel.key(by_color=by_color)) for pixel in survey.pixels]
    return sorted(keys, key=lambda item: (isinstance(item[1], str), item[1]))


def _add_to_row(
    row: dict[str, object], pixel: StoredPixel, key: Key, name: str, occurrence: Occurrence
) -> None:
    """Adds one pixel to the row of its key, which several may have: `?` if their classes differ."""
    row["value" if isinstance(key, int) else "color"] = key
    row["class"] = name if row.get("class", name) == name else UNKNOWN
    row["pixels"] = cast(int, row.get("pixels", 0)) + occurrence.pixels
    row["masks"] = max(cast(int, row.get("masks", 0)), occurrence.masks)
    if pixel.kind == "palette" and pixel.color and isinstance(key, int):
        row["palette"] = color_key(pixel.color)


_FIRST_COLUMNS = ("value", "color", "class", "pixels", "masks")


def _csv_of_rows(rows: Sequence[dict[str, object]]) -> str:
    """Returns rows as CSV, with the columns that any row has."""
    columns = dict.fromkeys([*_FIRST_COLUMNS, *itertools.chain(*rows)])
    out = io.StringIO()
    lines = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows)
    return out.getvalue()


def _agreed_class(survey: Survey, pixel: StoredPixel, classes: dict[str, str]) -> str:
    """Returns the class of a pixel that all candidates give it, else `?`.

    It is `?`, too, where the masks contradict it: for 255 that may be void, and for a palette that
    contradicts the one candidate.
    """
    may_be_void = pixel.value == VOID and survey.binary.masks > survey.void.masks
    is_contradicted = len(classes) == 1 and pixel.kind == "palette"
    names = set(classes.values())
    if len(names) != 1 or may_be_void or is_contradicted:
        return UNKNOWN
    return names.pop()


def _has_color_keys(survey: Survey, taken: MeaningCandidate | None) -> bool:
    """Says whether rows of masks with values and colors have colors as their keys."""
    if taken is not None:
        return taken.by == "color"
    palettes = [pixel for pixel in survey.pixels if pixel.kind == "palette"]
    values = {pixel.value for pixel in palettes}
    return len(values) < len(palettes)
