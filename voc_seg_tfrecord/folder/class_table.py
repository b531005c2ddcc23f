"""The table of classes that a user fills in: a row for each value and color that masks use."""

from collections.abc import Sequence
import csv
import dataclasses
import io
from typing import Any, cast

from voc_seg_tfrecord.core.class_rows import UNKNOWN, Key, Rows, color_key
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.candidates import GivenClasses
from voc_seg_tfrecord.folder.classes.choose import choose_class_file
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, Survey, content_of_file
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming, MeaningCandidate
from voc_seg_tfrecord.folder.meaning.choose import (
    MaskMeaning,
    check_number_of_keys,
    weigh_candidates,
)
from voc_seg_tfrecord.folder.meaning.label_meaning import list_namings
from voc_seg_tfrecord.folder.plan import OpenFolder
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


@dataclasses.dataclass(frozen=True)
class WrittenTable:
    """The table of a folder.

    Attributes:
      csv: the table as CSV.
      rows_without_class: how many of its rows the user has to fill in.
    """

    csv: str
    rows_without_class: int = 0


def write_table(opened: OpenFolder) -> WrittenTable:
    """Writes a row for each value and color that the masks of a folder use.

    Args:
      opened: the folder. If it has no class names, a class file may be numbered in two ways, or
        there is none. If its splits are not decided, all masks count.

    Raises:
      LayoutError: if a mask has another size than its image, or the masks use too much for a table.
      MaskError: if no mask can be read, about the first.
    """
    tree = opened.tree
    ids = _ids_that_count(opened)
    table_of_labels = tree.labels.class_table_csv(ids)
    if table_of_labels:
        return WrittenTable(table_of_labels)
    if opened.config.resize_masks is None:
        _check_sizes(tree, ids)
    survey = tree.labels.survey(ids, all_colors=True)
    if ids and not survey.pixels:
        content_of_file(tree.labels.file(ids[0]))  # which raises what is wrong with it
    check_number_of_keys(survey)
    namings = _list_namings(opened)
    if not namings:
        return _fill_table(survey, [], is_decided=False)
    meaning = weigh_candidates(survey, namings)
    if isinstance(meaning, MaskMeaning):
        return _fill_table(survey, [meaning.candidate], is_decided=True)
    return _fill_table(survey, meaning.left, is_decided=False)


def _ids_that_count(opened: OpenFolder) -> list[str]:
    """Returns the ids of the masks that count: those of the splits, if these are decided."""
    tree = opened.tree
    ids = [*(tree.labeled_ids or tree.masks)]
    are_splits_decided = not opened.problems.found
    if are_splits_decided:
        ids_in_use = [image_id for image_id in ids if image_id in opened.chosen_splits.used]
        return ids_in_use or ids
    return ids


def _check_sizes(tree: VocTree, ids: Sequence[str]) -> None:
    """Checks that a few masks have the sizes of their images.

    Raises:
      LayoutError: about the first mask of another size.
    """
    looks = Looks(tree.given)
    ids_of_pairs = [one for one in ids if one in tree.images and one in tree.masks]
    for image_id in few(ids_of_pairs):
        mask = tree.masks[image_id]
        if not looks.sizes_agree(tree.images[image_id], mask):
            raise LayoutError(
                tree.given / mask,
                found=f"another size than that of {tree.image_file(image_id)}",
                expected="masks of the size of their images",
                remedy="export the masks again, or name the folder of their images with --images; "
                "or, if the masks show all of their images at another size, add "
                f"{command(resize_masks='nearest')}",
            )


def _list_namings(opened: OpenFolder) -> list[ClassNaming]:
    """Returns the names that the classes may have.

    | the config has | class files | the names |
    | --- | --- | --- |
    | rows alone, which are the whole table | any | those of the rows |
    | names that the user gave | none | these |
    | default names, or names that stand for values | none | none |
    | names of either kind | one, in one numbering | these, with the file |
    | names of either kind | one, in several numberings | those of each numbering |
    """
    config = opened.config
    if not config.class_names:
        return [ClassNaming(config.table)]
    names = () if opened.has_names_of_values else config.class_names
    rows = cast(Rows, config.classes)
    given = GivenClasses(names, rows, config.background)
    choice = choose_class_file(opened.tree, given, opened.read_table())
    files = choice.numberings
    if len(files) > 1:
        return list_namings(files, rows, config.background)
    if not files and (opened.has_names_of_values or config.default_names):
        return []
    return [ClassNaming(config.table, choice.file)]


def _fill_table(
    survey: Survey, candidates: Sequence[MeaningCandidate], *, is_decided: bool
) -> WrittenTable:
    """Returns a row for each value and color in use: first values, ascending, then colors.

    Several pixels may have one key. A class is `?` if they have different ones.

    | column | holds |
    | --- | --- |
    | value, color | the key |
    | class | the class; `?` if the user has to fill it in |
    | pixels | how many pixels have the key |
    | masks | how many masks have it, at least: a palette may have a value in several colors |
    | palette | the color of a value in a palette; left out if no value has one |
    | the words of a candidate | the class that it gives, if the user has to choose |

    Args:
      survey: what the masks use.
      candidates: in which ways the masks may be read; none if there are no names.
      is_decided: whether the first one is taken.
    """
    palette_pixels = [pixel for pixel in survey.pixels if pixel.kind == "palette"]
    by_color = len({pixel.value for pixel in palette_pixels}) < len(palette_pixels)
    if is_decided:
        by_color = candidates[0].by == "color"
    rows: dict[Key, dict[str, Any]] = {}
    for pixel, occurrence in survey.pixels.items():
        key = pixel.key(by_color=by_color)
        names = [candidate.class_of(pixel) or UNKNOWN for candidate in candidates]
        if is_decided:
            classes = [("class", names[0])]
        else:
            classes = [("class", _find_agreed_name(survey, pixel, names))]
            classes += zip([candidate.words for candidate in candidates], names, strict=True)
        row = rows.setdefault(key, {"pixels": 0, "masks": 0})
        row["value" if isinstance(key, int) else "color"] = key
        for column, name in classes:
            if row.setdefault(column, name) != name:
                row[column] = UNKNOWN
        row["pixels"] += occurrence.pixels
        row["masks"] = max(row["masks"], occurrence.masks)
        if pixel.kind == "palette" and pixel.color and isinstance(key, int):
            row["palette"] = color_key(pixel.color)
    columns = ["value", "color", "class", "pixels", "masks"]
    if any("palette" in row for row in rows.values()):
        columns.append("palette")
    if not is_decided:
        columns += dict.fromkeys(candidate.words for candidate in candidates)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for key in sorted(rows, key=lambda key: (isinstance(key, str), key)):
        writer.writerow(rows[key])
    rows_without_class = sum(row["class"] == UNKNOWN for row in rows.values())
    return WrittenTable(out.getvalue(), rows_without_class)


def _find_agreed_name(survey: Survey, pixel: StoredPixel, names: Sequence[str]) -> str:
    """Returns the class of a pixel if all candidates give it the same one, else `?`.

    Also `?` if the single candidate is doubtful: 255 may be void or a class, and the colors of
    palettes may contradict the values.

    Args:
      survey: what the masks use.
      pixel: the pixel.
      names: the class that each candidate gives it.
    """
    is_255_doubtful = pixel.value == VOID and survey.is_255_doubtful
    is_palette_doubtful = pixel.kind == "palette" and len(names) == 1
    if len({*names}) != 1 or is_255_doubtful or is_palette_doubtful:
        return UNKNOWN
    return names[0]
