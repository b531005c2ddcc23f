"""Do values or colours give the class of a pixel? One decision for all masks of a set.

A palette PNG holds both, and labelling tools differ in which one they mean. A PNG optimiser
changes the indices and keeps the colours; a private palette has the right indices and other
colours. The first rule that applies decides:

1. The user said `index` or `color`.
2. A class file gives a colour to every class, and the masks use no other colours: colours.
3. Some masks are RGB: colours. They are those of the class file, or else of VOC's palette; if
   there is no class file with colours and a colour is not VOC's, the set is refused.
4. Masks with only the values 0 and 255 are more than masks with 255 beside a class: refused.
   255 may be void or a foreground class.
5. The masks are greyscale, or each palette entry in use has VOC's colour or is the grey of its
   index: values.
6. All colours in use are in VOC's palette, some at another index: colours, with a note that
   shows the table.
7. Black lies at another index than 0, or VOC's colour of void at another than 255: refused.
8. Otherwise the palette is the tool's own: values, with a warning to look at a preview.

Where colours would decide (rules 2, 3 and 6), and under rule 8, no mask may use a colour that
stands at a lower index of its palette too: two indices would become one class, void background
among them. Such a set is refused.

The rules gave the right answer for the files of every known tool, and for 12,031 masks of VOC
and SBD. `survey` collects what they judge.
"""

from collections.abc import Collection
import dataclasses
from typing import Literal

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.class_files import VOID_COLOR, ClassFile, Color, is_void
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.survey import Survey

By = Literal["index", "color"]
"""What gives a pixel's class: its value, or its colour."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """Whether values or colours give the class, and why.

    Attributes:
      by: `index` or `color`.
      reason: why, in a few words that are shown to the user.
      voc_colors: whether the colours are those of VOC's palette, not of a class file.
      grey_is_color: whether a grey value v stands for the colour (v, v, v) too.
      warning: what the user should look at; mostly empty.
    """

    by: By
    reason: str
    voc_colors: bool = False
    grey_is_color: bool = False
    warning: str = ""


def decide(
    found: Survey,
    class_file: ClassFile | None,
    forced: By | None = None,
    where: object = "masks",
) -> Decision:
    """Applies the rules of this module.

    A decision for colours is the same whether it was found or forced, so that a config that
    says `color` builds the same bytes as the build that found it.

    Args:
      found: what the masks use.
      class_file: the class file of the set, if it has one.
      forced: what the user said.
      where: the mask folder, for errors.

    Returns:
      The decision.

    Raises:
      MaskError: if neither values nor colours are safe.
    """
    own = {e.color for e in class_file.entries} | {VOID_COLOR} if class_file else set()
    colored = class_file is not None and class_file.colored
    source = f"from {class_file.source}" if colored else "with VOC's palette"
    used = {color for _, color in found.pairs} | found.colors
    grey_is_color = colored and (255, 255, 255) in own and found.greys == {0, VOID}
    by_color = Decision("color", source, voc_colors=not colored, grey_is_color=grey_is_color)
    if forced == "index":
        return Decision("index", "as you said")
    if forced == "color":
        return dataclasses.replace(by_color, reason=f"as you said, {source}")
    if colored and (used or grey_is_color) and used <= own:
        _check_one_to_one(found)
        return by_color
    palette = [tuple(color) for color in voc_palette().tolist()]
    if found.colors:
        # Colours that the class file does not know are named by the build, file by file.
        if not colored:
            _check_rgb(found, set(palette), where)
        _check_one_to_one(found)
        return by_color
    if found.looks_binary:
        raise _binary_error(found, where)
    if all(c is None or c in (palette[i], (i, i, i)) for i, c in found.pairs):
        return Decision("index", "VOC's palette" if found.pairs or found.voc else "grey values")
    _check_one_to_one(found)
    if used <= set(palette):
        return dataclasses.replace(
            by_color,
            reason=f"{source}, indices in another order",
            warning=_table(found, palette),
        )
    _check_places(found, where)
    return Decision(
        "index",
        "a private palette",
        warning="The palette's colours are not VOC's, so the values are taken as classes. Look "
        "at a preview.",
    )


def colors_of(
    decision: Decision, class_file: ClassFile | None, void: Collection[int | str | Color]
) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour that decides.

    VOC's own colours give class numbers instead of names.
    """
    if decision.voc_colors or class_file is None:
        palette = {tuple(c): n for n, c in enumerate(voc_palette().tolist())}
        return {color: VOID if color in void else n for color, n in palette.items()}
    colors: dict[Color, int | str] = {color: VOID for color in void if isinstance(color, tuple)}
    for entry in class_file.entries:
        colors[entry.color] = VOID if is_void(entry, void) else entry.name
    return colors


def _check_rgb(found: Survey, palette: set[Color], where: object) -> None:
    """Checks that RGB masks, and palette masks beside them, use colours of VOC alone."""
    unknown = sorted(found.colors - palette)
    if not unknown:
        unknown = sorted({c for _, c in found.pairs if c is not None} - palette)
    if unknown:
        raise MaskError(
            where,
            found=f"RGB masks with colours such as {unknown[0]}",
            expected="a class file that says which colour is which class",
            remedy="put a labelmap.txt with lines such as crack:250,50,83:: beside the image "
            "folder",
        )


def _binary_error(found: Survey, where: object) -> MaskError:
    return MaskError(
        where,
        found=f"only the values 0 and {VOID} in {found.binary} of {found.examined} masks",
        expected=f"other values besides 0 and {VOID}; with only these two, {VOID} may be void or "
        "a foreground class",
        remedy=f'if {VOID} is a class, say "values": {{"0": 0, "{VOID}": 1}} '
        f"(--values 0=0,{VOID}=1); if it is void, say --masks_by index",
    )


def _check_one_to_one(found: Survey) -> None:
    """Checks that no mask uses one colour for two indices of its palette."""
    if found.repeated:
        path, what = found.repeated
        raise MaskError(
            path,
            found=what,
            expected="each colour once, so that colours tell the classes apart",
            remedy="if the values are the classes, say --masks_by index; otherwise export the "
            "masks with one colour per class",
        )


def _table(found: Survey, palette: list[Color]) -> str:
    """Says which index becomes which class of VOC, for the user to look at."""
    rows = sorted((index, palette.index(color)) for index, color in found.pairs if color)
    moved = ", ".join(f"{index} -> {number}" for index, number in rows)
    return (
        "The masks hold VOC's colours at other indices, so colours give the classes. The palette "
        f"indices become these classes: {moved}. If the values are the classes, say "
        "--masks_by index."
    )


def _check_places(found: Survey, where: object) -> None:
    """Checks that black and void's colour are at their places, if they are in use."""
    for (index, color), path in sorted(found.pairs.items(), key=lambda item: item[0][0]):
        if (color == (0, 0, 0) and index) or (color == VOID_COLOR and index != VOID):
            meaning = "black" if index and color == (0, 0, 0) else "VOC's colour of void"
            raise MaskError(
                path,
                found=f"{meaning} at palette index {index}, so values cannot be classes",
                expected="a class file with the colours, or a palette in the order of the classes",
                remedy=f"put a labelmap.txt beside the image folder ({where}), or say that "
                "values are the classes: --masks_by index",
            )
