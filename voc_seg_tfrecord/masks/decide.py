"""Do values or colours give the class of a pixel? One decision for all masks of a set.

A palette PNG holds both, and labelling tools differ in which one they mean. A PNG optimiser changes
the indices and keeps the colours; a private palette has the right indices and other colours. The
first rule that applies decides:

1. The user said `index` or `color`.
2. A class file gives a colour to every class, and the masks use these colours: colours.
3. RGB masks use colours of VOC's palette, and there is no class file with colours: colours.
4. Each palette entry in use has VOC's colour or the grey of its index, or masks are greyscale:
   values.
5. All colours in use are VOC's, some at other indices: colours, with a note that shows what each
   index becomes.
6. Otherwise the palette is the tool's own: values, with a note.

Each rule looks for the evidence that would prove it wrong (`evidence`), and where that is found the
set is refused and the user is asked. docs/background/values-or-colours.md says what speaks against
each rule (its first is rule 2 here), and when 255 is void where values decide. `survey` collects
what the rules judge.

The rules gave the right answer for the files of every known tool, and for 12,031 masks of VOC and
SBD.
"""

import dataclasses

from voc_seg_tfrecord.base.names import VOC_NUMBERS, VOID
from voc_seg_tfrecord.masks import advice, evidence
from voc_seg_tfrecord.masks.question import Question, void_colors
from voc_seg_tfrecord.masks.rule import AS_SAID, By, Decision


def decide(question: Question, forced: By | None = None) -> Decision:
    """Applies the rules of this module.

    A decision for colours is the same whether it was found or forced, so that a config that
    says `color` builds the same bytes as the build that found it.

    Raises:
      MaskError: if neither values nor colours are safe.
    """
    if forced == "index":
        return _high_is_1(question, AS_SAID) or AS_SAID
    by_color = _by_color(question)
    if forced == "color":
        if evidence.no_colors(question):
            raise advice.no_colors(question)
        if question.grey_contradicts:
            raise advice.voc_names_or_numbers(question)
        _check_void_values(question)
        return dataclasses.replace(by_color, reason=f"as you said, {by_color.reason}")
    decision = None
    if question.colored:
        decision = _by_class_file(question, by_color)
    elif question.found.rgb.masks:
        decision = _by_rgb(question, by_color)
    decision = decision or _by_palette(question, by_color)
    if decision.by == "color":
        _check_void_values(question)
    return _with_void_checked(question, decision)


def _by_color(question: Question) -> Decision:
    colored = question.colored
    source = f"from {question.source}" if colored else "with VOC's palette"
    return Decision(
        "color",
        source,
        voc_colors=not colored,
        voc_names=not colored and question.by_voc_name,
        grey_is_color=question.grey_is_color,
    )


def _check_void_values(question: Question) -> None:
    """Checks that values which the user called void have colours that are void."""
    found = question.found
    for value in question.void if question.void_said else ():
        if not isinstance(value, int):
            continue
        used = {c: seen.first for (i, c), seen in found.pairs.items() if i == value and c}
        grey = value, value, value
        if question.grey_is_color and value in found.greys:
            used[grey] = "the greyscale masks"
        if grey in found.colors:
            used[grey] = found.colors[grey].first
        for color, first in used.items():
            if question.by_color.get(color, VOID) != VOID:
                raise advice.void_value(question, value, color, first)


def _by_class_file(question: Question, by_color: Decision) -> Decision | None:
    """Rule 2: the colours of a class file, None if no palette uses them."""
    found, meanings = question.found, question.by_color
    own = {entry.color for entry in question.entries} - {(0, 0, 0)}
    own -= void_colors(question.void)
    used = found.palette_colors | found.colors.keys()
    if not used and not by_color.grey_is_color:
        return None
    if used <= meanings.keys() or used & own:
        if evidence.same_reading(found, question.by_value, meanings):
            beyond = not found.colors and any(color is None for _, color in found.pairs)
            # Only values can be read then, and they mean what the colours mean.
            return Decision("index", f"like {by_color.reason}") if beyond else by_color
        if found.shared:
            raise advice.shared_color(question, by_color.reason)
        return _with_other_reading(question, by_color)
    if evidence.greys_of_file(question):
        raise advice.greys_of_file(question)
    # No palette uses the file's colours. RGB masks have nothing else than colours.
    if evidence.grey_values(question):
        return _with_grey_rgb(question, by_color)
    if found.rgb.masks > found.valued:
        return by_color
    if found.palette_colors <= VOC_NUMBERS.keys() and evidence.out_of_place(found):
        raise advice.other_colors(question)
    return None


def _with_other_reading(question: Question, by_color: Decision) -> Decision:
    """Adds a note if all values could be classes too, and would be other ones."""
    found, by_value = question.found, question.by_value
    greys = {*found.greys} if by_color.grey_is_color else set()
    differ = any(by_value.get(g) != question.by_color.get((g, g, g), VOID) for g in greys)
    possible = evidence.known_values(found, by_value) and greys <= by_value.keys()
    if not possible or not (found.pairs or differ):
        return by_color
    return dataclasses.replace(by_color, notes=(advice.color_note(question),))


def _by_rgb(question: Question, by_color: Decision) -> Decision | None:
    """Rule 3: RGB masks with VOC's colours, None if they are only a few among others."""
    found = question.found
    if evidence.grey_values(question):
        return _with_grey_rgb(question, by_color)
    all_grey = all(red == green == blue for red, green, blue in found.colors)
    odd = found.rgb if all_grey else found.strange
    others = found.rgb.masks + found.valued - odd.masks
    if odd.masks and odd.masks >= others:
        raise advice.grey_rgb(question) if all_grey else advice.strange_rgb(question)
    fitting = found.rgb.masks - odd.masks
    if not fitting:
        return None
    if not found.palette_colors <= VOC_NUMBERS.keys():
        if fitting < found.valued:
            return None
        raise advice.strange_rgb(question)
    if found.shared:
        raise advice.shared_color(question, by_color.reason)
    same = evidence.same_class_by_number(question)
    if evidence.void_value_has_class_color(found) or not same:
        raise advice.ask(question)
    if question.grey_contradicts or (question.voc_reading == "both" and not question.all_voc):
        raise advice.voc_names_or_numbers(question)
    return _noted(question, by_color, always=False)


def _with_grey_rgb(question: Question, by_color: Decision) -> Decision:
    """RGB masks that hold values: the other masks decide, if there are any."""
    decision = Decision("index", "red, green and blue equal")
    if question.found.valued:
        decision = _by_palette(question, by_color)
    if decision.by == "color":
        raise advice.grey_rgb(question)
    return dataclasses.replace(decision, rgb_values=True, notes=(*decision.notes, advice.GREY_RGB))


def _by_palette(question: Question, by_color: Decision) -> Decision:
    """Rules 4 to 6: masks with one number per pixel."""
    found = question.found
    if not evidence.out_of_place(found):
        reason = "VOC's palette" if found.pairs or found.voc else "grey values"
        if found.pairs and all(color == (i,) * 3 for i, color in found.pairs if i):
            reason = "grey values" if not found.voc else reason
        if question.voc_reading == "both" or question.grey_contradicts:
            raise advice.voc_names_or_numbers(question)
        if question.voc_reading == "name":
            return _noted(question, by_color)
        return Decision("index", reason)
    if not question.colored and found.palette_colors <= VOC_NUMBERS.keys():
        return _by_voc_colors(question, by_color)
    if evidence.black_above_0(found) or evidence.void_color_below_255(found):
        raise advice.out_of_place(question)
    if any(shared.both_used for shared in found.shared):
        raise advice.shared_color(question, "by their values")
    if several := evidence.own_palettes(found):
        raise advice.two_colors(question, several)
    return Decision("index", "a private palette", notes=(advice.PRIVATE,))


def _with_void_checked(question: Question, decision: Decision) -> Decision:
    """Checks that 255 is void in masks where it is read as void."""
    found, binary = question.found, []
    if question.high_said or question.by_value.get(VOID) != VOID:
        return decision
    if decision.by == "index" and (high := _high_is_1(question, decision)):
        return high
    if not decision.grey_is_color:
        binary.append(found.binary_greys)
    if decision.by == "index":
        binary.append(found.binary_palettes)
        if (255, 255, 255) in found.colors and found.colors.keys() <= {(0,) * 3, (255,) * 3}:
            binary.append(found.rgb)
    masks = sum(seen.masks for seen in binary)
    if not masks:
        return decision
    first = min(seen.first for seen in binary if seen.masks)
    if masks > found.void.masks:
        raise advice.binary(question, masks, first)
    note = advice.binary_note(question, masks, first)
    return dataclasses.replace(decision, notes=(*decision.notes, note))


def _high_is_1(question: Question, decision: Decision) -> Decision | None:
    """Returns the decision that 255 is the class of 1, None if it may be void."""
    if question.high_said or not (question.two_classes and evidence.only_0_and_255(question.found)):
        return None
    noted = (*decision.notes, advice.high_note(question))
    return dataclasses.replace(decision, high_is_1=True, notes=noted)


def _by_voc_colors(question: Question, by_color: Decision) -> Decision:
    """Rule 5: palettes that have VOC's colours at other indices than VOC's."""
    found = question.found
    if found.shared:
        raise advice.shared_color(question, by_color.reason)
    moved = evidence.two_colors(found)
    if evidence.black_above_0(found) and not (
        moved is not None or evidence.void_color_below_255(found)
    ):
        raise advice.out_of_place(question)
    beyond = not evidence.known_values(found, question.by_value)
    no_values = moved is not None or beyond
    no_colors = evidence.void_value_has_class_color(found) or not (
        found.palette_colors <= question.by_color.keys()
    )
    by_value = Decision("index", "a private palette", notes=(advice.PRIVATE,))
    if no_colors:
        wrong = evidence.black_above_0(found) or evidence.void_color_below_255(found)
        if no_values or wrong:
            raise advice.ask(question)
        return by_value
    black = any(color == evidence.BLACK for _, color in found.pairs)
    likely = question.all_voc and black
    by_name = evidence.same_class_by_number(question)
    left = no_values if evidence.packed(found) else beyond and moved is None
    if by_name and (left or (likely and evidence.packed(found))):
        return _noted(question, by_color)
    if evidence.same_reading(found, question.by_value, question.by_color):
        return Decision("index", f"like {by_color.reason}")
    raise advice.ask(question)


def _noted(question: Question, decision: Decision, *, always: bool = True) -> Decision:
    """Adds a note of what each colour becomes; if not `always`, only if some are out of place."""
    reordered = evidence.out_of_place(question.found)
    if not (always or reordered or not question.all_voc):
        return decision
    reason = f"{decision.reason}, indices in another order" if reordered else decision.reason
    return dataclasses.replace(decision, reason=reason, notes=(advice.color_note(question),))
