"""Writes the page of `leaks`: pairs of images that two datasets share, to be decided about."""

from collections.abc import Iterable, Sequence
import dataclasses

from voc_seg_tfrecord.audit.leaks import Overlap, Side
from voc_seg_tfrecord.core.decisions import PageDecision, collect_called_right
from voc_seg_tfrecord.report.leak_cards import LeakCard, make_cards
from voc_seg_tfrecord.report.leak_pairs import KINDS, LeakPair, drop_called_right, list_pairs
from voc_seg_tfrecord.report.overlay import class_colors
from voc_seg_tfrecord.report.templating import fill_template
from voc_seg_tfrecord.report.thumbnails import folders_to_filter

MAX_PAIRS = 2000
"""Pairs that a page shows. It says how many more there are."""


@dataclasses.dataclass(frozen=True)
class KindOfPairs:
    """What the page shows of the pairs of one kind.

    Attributes:
      kind: the kind.
      count: how many pairs there are.
      meeting_evaluation: how many of them are one image to train on and one for evaluation.
      cards: those that are shown.
    """

    kind: str
    count: int
    meeting_evaluation: int
    cards: Sequence[LeakCard]


def render(
    first_name: str,
    second_name: str,
    overlaps: Sequence[Overlap],
    *,
    has_parts: bool,
    decisions: Iterable[PageDecision] = (),
) -> str:
    """Returns the page as HTML: one file that needs no network.

    Args:
      first_name: the dataset or index whose images may be removed, as the user named it.
      second_name: the other one.
      overlaps: what `leaks.compare` found, and `leak_parts.add_shared_parts` if parts are sought.
      has_parts: whether parts were sought.
      decisions: of earlier pages; see `decisions.parse_decisions`. Pairs that they call right are
        left out, as long as both files are the same.

    Raises:
      RecordError: if a shard cannot be read.
    """
    found_pairs = list_pairs(overlaps)
    pairs = drop_called_right(found_pairs, collect_called_right(decisions))
    cards = make_cards(pairs[:MAX_PAIRS])
    sides = _distinct_sides(overlaps)
    return fill_template(
        "leaks",
        class_colors(None),
        (),
        title=f"{first_name} and {second_name}",
        first_name=first_name,
        second_name=second_name,
        work=f"leaks {first_name} {second_name}",
        choices={"right": "Keep both", "wrong": "Remove left"},
        is_leak=any(overlap.is_leak for overlap in overlaps),
        sides=sides,
        left_out=sum(side.left_out_count for side in sides),
        has_parts=has_parts,
        unlisted_parts=sum(overlap.unlisted_part_pairs for overlap in overlaps),
        kinds=_group_by_kind(pairs, cards),
        called_right=len(found_pairs) - len(pairs),
        not_shown=len(pairs) - len(cards),
        cards_without_images=sum(card.has_no_room for card in cards),
        folders=folders_to_filter(card.folder for card in cards),
    )


def _distinct_sides(overlaps: Iterable[Overlap]) -> list[Side]:
    """Returns the splits that were compared, each once, those of the first dataset first."""
    firsts = [overlap.first for overlap in overlaps]
    seconds = [overlap.second for overlap in overlaps]
    side_by_identity = {side.identity: side for side in [*firsts, *seconds]}
    return list(side_by_identity.values())


def _group_by_kind(pairs: Sequence[LeakPair], cards: Sequence[LeakCard]) -> list[KindOfPairs]:
    groups = []
    for kind in KINDS:
        pairs_of_kind = [pair for pair in pairs if pair.kind == kind]
        if pairs_of_kind:
            group = KindOfPairs(
                kind=kind,
                count=len(pairs_of_kind),
                meeting_evaluation=sum(pair.meets_evaluation for pair in pairs_of_kind),
                cards=[card for card in cards if card.pair.kind == kind],
            )
            groups.append(group)
    return groups
