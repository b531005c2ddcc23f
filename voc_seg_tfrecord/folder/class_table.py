"""The table of classes that a user fills in: a row for each value and color that masks use."""

from collections.abc import Iterator, Sequence
import csv
import dataclasses
import io
from typing import cast

from voc_seg_tfrecord.core.class_rows import UNKNOWN, Key, Rows, color_key
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.classes.choose import choose_class_file
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming, MeaningCandidate
from voc_seg_tfrecord.folder.meaning.choose import check_number_of_keys, weigh_candidates
from voc_seg_tfrecord.folder.meaning.label_meaning import list_namings
from voc_seg_tfrecord.folder.plan import OpenFolder
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey, content_of_file


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
        _raise_fault_of_mask(tree, ids[0])
    check_number_of_keys(survey)
    namings = _list_namings(opened)
    if not namings:
        return _table_to_fill_in(survey, [])
    choice = weigh_candidates(survey, namings)
    if choice.meaning is not None:
        return _table_of_candidate(survey, choice.meaning.candidate)
    return _table_to_fill_in(survey, choice.left)


def _raise_fault_of_mask(tree: VocTree, image_id: str) -> None:
    """Reads a mask that the survey could not read, which raises what is wrong with it."""
    content_of_file(tree.labels.file(image_id))


def _ids_that_count(opened: OpenFolder) -> list[str]:
    """Returns the ids of the masks that count: those of the splits, if these are decided."""
    tree = opened.tree
    ids = [*(tree.labeled_ids or tree.masks)]
    are_splits_decided = not opened.problems.found
    if not are_splits_decided:
        return ids
    used_ids = opened.division.used
    return [image_id for image_id in ids if image_id in used_ids] or ids


def _check_sizes(tree: VocTree, ids: Sequence[str]) -> None:
    """Checks that a few masks have the sizes of their images.

    Raises:
      LayoutError: about the first mask of another size.
    """
    looks = Looks(tree.given)
    for image_id in few([one for one in ids if one in tree.images and one in tree.masks]):
        mask = tree.paths.mask(image_id)
        if not looks.sizes_agree(tree.paths.image(image_id), mask):
            raise LayoutError(
                tree.given / mask,
                found=f"another size than that of {tree.image_file(image_id)}",
                expected="masks of the size of their images",
                remedy="export the masks again, or name the folder of their images with --images",
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
    named = not opened.has_names_of_values
    choice = choose_class_file(opened.tree, config, opened.read_table(), named=named)
    files = choice.numberings
    if not files and (opened.has_names_of_values or config.default_names):
        return []
    if not files:
        return [ClassNaming(config.table)]
    if len(files) == 1:
        return [ClassNaming(config.table, files[0])]
    return list_namings(files, cast(Rows, config.classes), config.background)


@dataclasses.dataclass
class _Row:
    """A row: a key and its class, and columns for people.

    Attributes:
      key: a value or a color.
      name: the class; `?` if the user has to fill it in.
      pixels: how many pixels have the key.
      masks: how many masks have it, at least: a palette may have a value in several colors.
      palette_color: the color of a value in a palette; empty if it has none.
      names_by_candidate: for each candidate, the class that it gives, if the user has to choose.
    """

    key: Key
    name: str
    pixels: int = 0
    masks: int = 0
    palette_color: str = ""
    names_by_candidate: dict[str, str] = dataclasses.field(default_factory=dict)

    def add_name(self, candidate: str, name: str) -> None:
        """Adds the class that a candidate gives a pixel of the row.

        It is `?` if the candidate gives another pixel of the row another class.

        Args:
          candidate: the candidate, in words.
          name: the class.
        """
        if self.names_by_candidate.setdefault(candidate, name) != name:
            self.names_by_candidate[candidate] = UNKNOWN


def _table_of_candidate(survey: Survey, candidate: MeaningCandidate) -> WrittenTable:
    """Returns the table with the classes that a candidate gives."""
    rows: dict[Key, _Row] = {}
    for pixel, key in _keys_in_order(survey, by_color=candidate.by == "color"):
        _add_to_row(rows, key, pixel, candidate.class_of(pixel) or UNKNOWN, survey)
    return _write_csv(list(rows.values()))


def _table_to_fill_in(survey: Survey, candidates: Sequence[MeaningCandidate]) -> WrittenTable:
    """Returns the table with a column of classes for each candidate that the user may choose.

    Candidates whose words are the same have one column, with `?` where their classes differ.
    """
    rows: dict[Key, _Row] = {}
    for pixel, key in _keys_in_order(survey, by_color=_has_value_of_several_colors(survey)):
        names = [candidate.class_of(pixel) or UNKNOWN for candidate in candidates]
        row = _add_to_row(rows, key, pixel, _find_agreed_name(survey, pixel, names), survey)
        for candidate, name in zip(candidates, names, strict=True):
            row.add_name(candidate.words, name)
    return _write_csv(list(rows.values()))


def _has_value_of_several_colors(survey: Survey) -> bool:
    """Says whether a value has another color in another palette, so that rows are by color."""
    palette_pixels = [pixel for pixel in survey.pixels if pixel.kind == "palette"]
    values = {pixel.value for pixel in palette_pixels}
    return len(values) < len(palette_pixels)


def _keys_in_order(survey: Survey, *, by_color: bool) -> Iterator[tuple[StoredPixel, Key]]:
    """Yields each pixel with its key: first values, ascending, then colors."""
    keys = [(pixel, pixel.key(by_color=by_color)) for pixel in survey.pixels]
    yield from sorted(keys, key=lambda item: (isinstance(item[1], str), item[1]))


def _add_to_row(
    rows: dict[Key, _Row], key: Key, pixel: StoredPixel, name: str, survey: Survey
) -> _Row:
    """Adds a pixel to the row of its key.

    Several pixels may have one key. The class of their row is `?` if their classes differ.
    """
    row = rows.setdefault(key, _Row(key, name))
    occurrence = survey.pixels[pixel]
    if row.name != name:
        row.name = UNKNOWN
    row.pixels += occurrence.pixels
    row.masks = max(row.masks, occurrence.masks)
    if pixel.kind == "palette" and pixel.color and isinstance(key, int):
        row.palette_color = color_key(pixel.color)
    return row


def _find_agreed_name(survey: Survey, pixel: StoredPixel, names: Sequence[str]) -> str:
    """Returns the class of a pixel if all candidates give it the same one, else `?`.

    Also `?` if the single candidate is doubtful: 255 may be void or a class, and the colors of
    palettes may contradict the values.

    Args:
      survey: what the masks use.
      pixel: the pixel.
      names: the class that each candidate gives it.
    """
    if pixel.value == VOID and survey.is_255_doubtful:
        return UNKNOWN
    has_one_candidate = len(names) == 1
    if pixel.kind == "palette" and has_one_candidate:
        return UNKNOWN
    different_names = set(names)
    return different_names.pop() if len(different_names) == 1 else UNKNOWN


def _write_csv(rows: Sequence[_Row]) -> WrittenTable:
    """Returns rows as CSV. The columns of palettes and candidates are there if a row has them."""
    columns = ["value", "color", "class", "pixels", "masks"]
    if any(row.palette_color for row in rows):
        columns.append("palette")
    columns += dict.fromkeys(words for row in rows for words in row.names_by_candidate)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = {
            "value" if isinstance(row.key, int) else "color": row.key,
            "class": row.name,
            "pixels": row.pixels,
            "masks": row.masks,
        }
        if row.palette_color:
            cells["palette"] = row.palette_color
        writer.writerow({**cells, **row.names_by_candidate})
    rows_without_class = sum(row.name == UNKNOWN for row in rows)
    return WrittenTable(out.getvalue(), rows_without_class)
