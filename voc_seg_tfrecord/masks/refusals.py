"""What a user is told where values and colours of masks contradict, or leave a choice."""

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks import evidence
from voc_seg_tfrecord.masks.notes import SHOWN, labelmap, rgb, table
from voc_seg_tfrecord.masks.question import Question
from voc_seg_tfrecord.masks.used import VOC_NUMBERS

_ASK = (
    "Say --masks_by index if the values are the classes, or --masks_by color if the colours are. "
    "Look at a preview afterwards"
)


def shared_color(question: Question, reading: str) -> MaskError:
    """Two palette entries have one colour, so colours cannot tell two classes apart."""
    found = question.found
    shared, seen = min(
        found.shared.items(), key=lambda item: (not item[0].both_used, item[1].first, item[0].index)
    )
    how = "Both are in use" if shared.both_used else f"Index {shared.index} is in use"
    return MaskError(
        seen.first,
        found=f"the palette indices {shared.lower} and {shared.index} have the same colour "
        f"{rgb(shared.color)}. {how}. {_count(seen.masks, found.examined)}",
        expected=f"a colour of its own for each value, because the masks would be read {reading}",
        remedy="Say --masks_by index if the values are the classes. If the colours are, export "
        "the masks again with a palette that holds each colour once",
    )


def out_of_place(question: Question) -> MaskError:
    """Black or void's colour stands where a class should be."""
    found = question.found
    black = evidence.black_above_0(found)
    pair = (black or evidence.void_color_elsewhere(found))[0]
    meaning = "black" if black else "VOC's colour of void"
    remedy = "Say --masks_by index if the values are the classes. If the colours are, "
    if question.colored:
        remedy += f"correct {question.class_file.source}: not all colours in use are in it"
    else:
        remedy += "say --masks_by color if they are VOC's, or else write a labelmap.txt with them"
    return MaskError(
        found.pairs[pair].first,
        found=f"{meaning} at palette index {pair[0]}, so values and colours contradict. "
        f"{_count(found.pairs[pair].masks, found.examined)}",
        expected="black at index 0 and VOC's colour of void at 255, or a class file with the "
        "colours",
        remedy=remedy,
    )


def two_colors(question: Question) -> MaskError:
    """One index has two colours, so each mask has a palette of its own."""
    found = question.found
    index, one, other = evidence.two_colors(found)
    here = found.pairs[index, other]
    # Masks with VOC's own palette are not decoded, so which of them use the index is not known.
    there = found.pairs.get((index, one))
    where = f"in {there.masks}, such as {there.first}" if there else "in VOC's palette"
    return MaskError(
        here.first,
        found=f"palette index {index} has the colour {rgb(other)} here, in the first of "
        f"{here.masks} such masks of {found.examined} in all, and {rgb(one)} {where}. So the "
        "masks do not share one palette",
        expected="one palette for all masks, or a class file that says which colour is which class",
        remedy="If the colours are the classes, write a labelmap.txt with a line for each, such "
        "as crack:250,50,83::. If the values are the classes, say --masks_by index",
    )


def ask(question: Question) -> MaskError:
    """VOC's colours are in use at other indices, and values and colours are both possible."""
    found = question.found
    moved = evidence.out_of_place(found) or list(found.pairs)[:1]
    seen = found.pairs[moved[0]] if moved else found.rgb
    return MaskError(
        seen.first,
        found="VOC's colours, but not as in VOC's palette, or with names in another order. "
        f"{_count(seen.masks, found.examined)}. So it is not clear what they mean:\n"
        f"    {table(question)}",
        expected="masks in which values and colours agree, or a class file with the colours",
        remedy=_ASK,
    )


def other_colors(question: Question) -> MaskError:
    """A class file has colours that no mask uses; the masks use VOC's."""
    found, source = question.found, question.class_file.source
    seen = found.pairs[evidence.out_of_place(found)[0]]
    return MaskError(
        seen.first,
        found=f"colours of VOC's palette in another order, and none of the colours of {source}. "
        f"{_count(seen.masks, found.examined)}",
        expected=f"the colours of {source}, or VOC's palette with each colour at its own index",
        remedy=f"Correct the colours in {source}, or say --masks_by index if the values are the "
        "classes",
    )


def grey_rgb(question: Question) -> MaskError:
    """RGB masks in which red, green and blue are equal: values or colours."""
    seen, examined = question.found.rgb, question.found.examined
    return MaskError(
        seen.first,
        found=f"an RGB mask in which red, green and blue are equal. {_count(seen.masks, examined)}",
        expected="class indices in a greyscale or palette mask, or a class file with the colours",
        remedy="Say --masks_by index if red is the class. If these are colours: "
        + labelmap(question.found.colors),
    )


def strange_rgb(question: Question) -> MaskError:
    """RGB masks with colours of which nobody knows the class."""
    found = question.found
    strange = found.strange if found.strange.masks else found.rgb
    unknown = sum(color not in VOC_NUMBERS for color in found.colors)
    return MaskError(
        strange.first,
        found="an RGB mask with colours whose class nobody said. "
        f"{_count(strange.masks, found.examined)}. RGB masks have {len(found.colors)} colours, and "
        f"{unknown} of them are not VOC's"
        + (f": {_colors(question)}" if len(found.colors) > VOID else ""),
        expected="a class file that says which colour is which class, or VOC's colours",
        remedy=labelmap(found.colors),
    )


def binary(question: Question, masks: int, first: str) -> MaskError:
    """255 may be void or a class."""
    return MaskError(
        first,
        found=f"only the values 0 and {VOID} in {masks} of {question.found.examined} masks, of "
        f"which this is the first. {question.found.void.masks} masks show {VOID} to be void",
        expected=f"other values besides 0 and {VOID}; with only these two, {VOID} may be void or "
        "a foreground class",
        remedy=f'If {VOID} is a class, say "values": {{"0": 0, "{VOID}": 1}} '
        f"(--values 0=0,{VOID}=1). If it is void, say --masks_by index",
    )


def _colors(question: Question) -> str:
    colors = question.found.colors
    most = sorted(colors, key=lambda color: (-colors[color].pixels, color))
    listed = ", ".join(f"{rgb(c)} on {colors[c].pixels} pixels" for c in most[:SHOWN])
    more = f" and {len(colors) - SHOWN} more" if len(colors) > SHOWN else ""
    return listed + more


def _count(masks: int, of: int) -> str:
    return f"This is the first of {masks} such masks, of {of} in all"
