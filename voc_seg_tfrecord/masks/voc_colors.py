"""Decides for palettes that have VOC's colours at other indices than VOC's.

A PNG optimiser moves palette entries, and colours keep the meaning. A tool may also use VOC's
colours for classes of its own. The evidence:

1. Colours are disproved if a palette holds a used colour twice, because classes would merge.
2. Colours are disproved if black lies above index 0. But they are not if void's colour was moved
   as well, or an index has two colours, because these show that entries were moved.
3. Colours are disproved if 255 does not have the colour of void, if a value has no colour, or if
   a colour is that of no class.
4. Values are disproved if an index has two colours, or is neither a class nor void.
5. A program that moves entries leaves no gap between the values in use, and none at 255. Where
   there is a gap, nobody moved them.
6. A class file that has VOC's names in another order may mean VOC's class by each colour, or the
   class of VOC's number, so the user is asked.
7. If values and colours are both possible and differ, the class names are VOC's, and black is in
   use, colours decide, with a note. Otherwise the user is asked.
"""

import dataclasses

from voc_seg_tfrecord.masks import evidence, notes, refusals
from voc_seg_tfrecord.masks.decision import Decision
from voc_seg_tfrecord.masks.question import Question


def by_voc_colors(question: Question, by_color: Decision) -> Decision:
    """Decides for palettes that have VOC's colours at other indices than VOC's.

    Args:
      question: what the masks use, and what is known of the classes.
      by_color: the decision for colours.

    Returns:
      The decision.

    Raises:
      MaskError: if both readings are possible, or none is.
    """
    found = question.found
    if found.shared:
        raise refusals.shared_color(question, by_color.reason)
    moved = evidence.two_colors(found)
    if evidence.black_above_0(found) and not (
        moved is not None or evidence.void_color_elsewhere(found)
    ):
        raise refusals.out_of_place(question)
    no_values = moved is not None or not evidence.known_values(found, question.by_value)
    no_colors = evidence.void_value_has_class_color(found) or not (
        found.palette_colors <= question.by_color.keys()
    )
    by_value = Decision("index", "a private palette", notes=(notes.PRIVATE,))
    if no_colors:
        wrong = evidence.black_above_0(found) or evidence.void_color_elsewhere(found)
        if no_values or wrong:
            raise refusals.ask(question)
        return by_value
    black = any(color == evidence.BLACK for _, color in found.pairs)
    likely = question.all_voc and black
    by_name = evidence.same_class_by_number(question)
    if evidence.packed(found) and by_name and (no_values or likely):
        return noted(question, by_color)
    if evidence.same_reading(found, question.by_value, question.by_color):
        return Decision("index", f"like {by_color.reason}")
    raise refusals.ask(question)


def noted(question: Question, decision: Decision, *, always: bool = True) -> Decision:
    """Returns a decision for colours with a note of what each colour becomes.

    Args:
      question: what the masks use, and what is known of the classes.
      decision: the decision.
      always: whether the note is needed even if nothing is out of place.
    """
    reordered = evidence.out_of_place(question.found)
    if not (always or reordered or not question.all_voc):
        return decision
    reason = f"{decision.reason}, indices in another order" if reordered else decision.reason
    return dataclasses.replace(decision, reason=reason, notes=(notes.color_note(question),))
