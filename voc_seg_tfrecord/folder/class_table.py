"""The table of classes that a user fills in: a row for each value and colour that masks use."""

from collections.abc import Sequence
import contextlib
import csv
import io
import itertools
from typing import cast

from etils import epath

from voc_seg_tfrecord.base.errors import LayoutError, VocSegError
from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.folder.class_file import ClassFiles
from voc_seg_tfrecord.folder.classes import numberings_with
from voc_seg_tfrecord.folder.files.pixels import sizes_agree
from voc_seg_tfrecord.folder.files.readings import few
from voc_seg_tfrecord.folder.plan import ANY_VALUE, make_plan
from voc_seg_tfrecord.masks import meaning
from voc_seg_tfrecord.masks.readings import Naming, Reading
from voc_seg_tfrecord.masks.survey import Pixel, Survey, look
from voc_seg_tfrecord.masks.table import UNKNOWN, Key, Rows, color_key
from voc_seg_tfrecord.trees.tree import VocTree


def write_table(tree: VocTree, config: VocSegConfig, *, named: bool = True) -> tuple[str, int]:
    """Writes a row for each value and colour that the masks of a tree use.

    Args:
      tree: the tree.
      config: says the names and the splits.
      named: whether it has names; otherwise a class file may be numbered in two ways, or there is
        none.

    Returns:
      The table as CSV, and how many of its rows lack a class.

    Raises:
      LayoutError: if a mask has another size than its image, or the masks use too much for a table.
      MaskError: if no mask can be read, about the first.
    """
    ids = [i for i in tree.images if i in tree.masks] or [*tree.masks]
    with contextlib.suppress(VocSegError):  # where splits are not decided, all masks count
        plan = make_plan(tree, config, rule=ANY_VALUE)
        tree, used = plan.tree, plan.division.used
        ids = [image_id for image_id in ids if image_id in used] or ids
    if table := tree.labels.table(ids):
        return table, 0
    for pair in (tree.pair(i) for i in few(ids) if i in tree.images and i in tree.masks):
        image, mask = epath.Path(pair.image), epath.Path(str(pair.mask))
        if not sizes_agree(image, mask):
            raise LayoutError(
                mask,
                found=f"another size than that of {image}",
                expected="masks of the size of their images, without which no class helps",
                remedy="export the masks again, or name the folder of their images with --images",
            )
    survey = tree.labels.survey(ids, all_colors=True)
    if ids and not survey.pixels:
        look(tree.labels.file(ids[0]))  # raises
    meaning.check_few(survey)
    files = ClassFiles(tree, config).find(named=named).taken if config.class_names else []
    if not named and not files:
        return _text(survey, None, [])
    namings = [Naming(config.table, next(iter(files), None))]
    if len(files) > 1:
        namings = numberings_with(files, cast(Rows, config.classes), config.background)
    return _text(survey, *meaning.weigh(survey, namings))


def _text(survey: Survey, taken: Reading | None, ways: Sequence[Reading]) -> tuple[str, int]:
    """Returns the table; where the user is asked, each reading has a column for people."""
    rows: dict[Key, dict[str, object]] = {}
    by_color = _by_color(survey, taken)
    ways = [taken] if taken else list({meaning.how(reading): reading for reading in ways}.values())
    keys = {pixel: pixel.key(by_color=by_color) for pixel in survey.pixels}
    for pixel, key in sorted(keys.items(), key=lambda pair: (isinstance(pair[1], str), pair[1])):
        seen = survey.pixels[pixel]
        names = {meaning.how(reading): reading.name_of(pixel) or UNKNOWN for reading in ways}
        row = rows.setdefault(key, {"pixels": 0, "masks": 0})
        name = names.popitem()[1] if taken else _agreed(survey, pixel, names)
        row |= {
            "value" if isinstance(key, int) else "color": key,
            "class": name if row.get("class", name) == name else UNKNOWN,
            "pixels": int(str(row["pixels"])) + seen.pixels,
            "masks": max(int(str(row["masks"])), seen.masks),
            **names,
        }
        if pixel.kind == "palette" and pixel.color and isinstance(key, int):
            row["palette"] = color_key(pixel.color)
    columns = dict.fromkeys(itertools.chain(*rows.values()))
    head = [*_HEAD, *(column for column in columns if column not in _HEAD)]
    out = io.StringIO()
    lines = csv.DictWriter(out, head, restval="", lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows.values())
    return out.getvalue(), sum(row["class"] == UNKNOWN for row in rows.values())


_HEAD = ("value", "color", "class", "pixels", "masks")


def _agreed(survey: Survey, pixel: Pixel, names: dict[str, str]) -> str:
    """Returns the class of a pixel that all of several readings give it, else `?`."""
    asked = pixel.value == VOID and survey.binary.masks > survey.void.masks
    alone = len(names) == 1 and pixel.kind == "palette"  # and its palette contradicts it
    return names.popitem()[1] if len({*names.values()}) == 1 and not (asked or alone) else UNKNOWN


def _by_color(survey: Survey, taken: Reading | None) -> bool:
    """Says whether rows of masks with values and colours have colours as their keys."""
    if taken is not None:
        return taken.by == "color"
    palettes = [pixel for pixel in survey.pixels if pixel.kind == "palette"]
    return len({pixel.value for pixel in palettes}) < len(palettes)


_SHOWN = 12
_MANY = 64  # values of grey masks; classes rarely are so many, and smoothed edges are


def seen_in(survey: Survey) -> str:
    """Returns what masks hold, most masks first: `value 0 in 5 masks, 814 pixels`."""
    order = sorted(survey.pixels.items(), key=lambda of: (-of[1].masks, -of[1].pixels, of[0]))
    lines = [f"{meaning.what(p)} in {of.masks} masks, {of.pixels} pixels" for p, of in order]
    more = [f"and {len(order) - _SHOWN} more"] if len(order) > _SHOWN else []
    return "\n    ".join([*lines[:_SHOWN], *more])


def smoothed(survey: Survey) -> str:
    """Returns what to do with greys between 0 and 255 at the edges of masks; empty if none are."""
    greys = {p.value: seen.pixels for p, seen in survey.pixels.items() if p.kind == "grey"}
    ends = greys.get(0, 0) + greys.get(VOID, 0)
    if len(greys) < _MANY or ends < 0.8 * sum(greys.values()):
        return ""
    return (
        f"Export the masks again: they hold {len(greys)} values, and four of five pixels are 0 or "
        "255, so the masks were smoothed, or saved with loss. If each value is a class, give the "
        "names with --class_names"
    )
