"""Values or colours."""

from collections.abc import Collection
import dataclasses
from typing import Literal

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.class_files import VOID_COLOR, ClassFile, Color, is_void
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.survey import Survey

By = Literal["index", "color"]


@dataclasses.dataclass(frozen=True)
class Decision:
    """Whether values or colours decide, and why.

    Attributes:
      by: `index` or `color`.
      reason: why, in a few words, for showing.
      voc_colors: whether the colours are those of VOC's palette, not of a class file.
      grey_is_color: whether grey masks hold colours as well.
      warning: what the user should look at; empty mostly.
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
    """Applies the rules.

    Args:
      found: the survey.
      class_file: the set's, if it has one.
      forced: the user's own decision.
      where: the mask folder, for errors.

    Returns:
      The decision.

    Raises:
      MaskError: if neither is safe: black or void's colour at a strange index, or only 0 and
        255, which may be a foreground.
    """
    own = {e.color for e in class_file.entries} | {VOID_COLOR} if class_file else set()
    colored = class_file is not None and class_file.colored
    source = f"from {class_file.source}" if class_file else ""
    used = {color for _, color in found.pairs} | found.colors
    grey_is_color = colored and (255, 255, 255) in own and found.greys == {0, VOID}
    if forced == "index":
        return Decision("index", "as you said")
    if forced == "color":
        said = "as you said, " + (source if colored else "with VOC's palette")
        return Decision("color", said, voc_colors=not colored, grey_is_color=grey_is_color)
    if colored and (used or grey_is_color) and used <= own:
        return Decision("color", source, grey_is_color=grey_is_color)
    if found.colors:
        return _decide_rgb(found, colored, source, where)
    if found.binary:
        raise MaskError(
            where,
            found=f"only the values 0 and {VOID} in all {found.examined} masks",
            expected=f"{VOID} to be void and classes beside it; here it may be a foreground",
            remedy=f'if {VOID} is a class, say so with "values": {{"0": 0, "{VOID}": 1}} '
            f"(--values 0=0,{VOID}=1); if it is void, with --masks_by index",
        )
    return _decide_palette(found, where)


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


def _decide_rgb(found: Survey, colored: bool, source: str, where: object) -> Decision:
    palette = set(map(tuple, voc_palette().tolist()))
    if colored:  # unknown colours are in it: the build names each file
        return Decision("color", source)
    if found.colors | {color for _, color in found.pairs} <= palette:
        return Decision("color", "VOC's palette", voc_colors=True)
    raise MaskError(
        where,
        found=f"RGB masks with colours such as {sorted(found.colors - palette)[0]}",
        expected="a class file that says which colour is which class",
        remedy="put a labelmap.txt with lines such as crack:250,50,83:: beside the image folder",
    )


def _decide_palette(found: Survey, where: object) -> Decision:
    palette = [tuple(color) for color in voc_palette().tolist()]
    if not found.pairs or all(c is None or c == palette[i] for i, c in found.pairs):
        return Decision("index", "VOC's palette" if found.pairs or found.voc else "grey values")
    if all(color in palette for _, color in found.pairs):
        return Decision("color", "VOC's palette, entries in another order", voc_colors=True)
    for (index, color), path in sorted(found.pairs.items(), key=lambda item: item[0][0]):
        if (color == (0, 0, 0) and index) or (color == VOID_COLOR and index != VOID):
            meaning = "black" if index and color == (0, 0, 0) else "VOC's colour of void"
            raise MaskError(
                path,
                found=f"{meaning} at palette index {index}, so values cannot be classes",
                expected="a class file with the colours, or a palette in the classes' order",
                remedy=f"put a labelmap.txt beside the image folder ({where}), or say that "
                "values decide: --masks_by index",
            )
    return Decision(
        "index",
        "a private palette",
        warning="the palette's colours are not VOC's, so the values are taken as classes; "
        "look at a preview",
    )
