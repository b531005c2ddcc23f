"""Finds groups in image ids: frames of a film, slices of a patient, tiles of a scene.

These rules are tried, and the coarsest groups that hold are proposed:

1. A word for a whole with a number: `patient_003_slice_05` is of `patient_003`.
2. A word for a part with a number: `vid3_frame0007` is of what stands before `frame`.
3. Two numbers that are the row and column of a tile: `scene2_512_1024` is of `scene2`. If all tiles
   are of one scene and are named by coordinates of a map, each column of a map is a group:
   `tile_512000_4321000` is of `tile_512000`.
4. A counter: `vid3_0007` is of `vid3`, if at least half of the numbers from the first to the last
   are there, in equal steps.
5. A hash that Roboflow appends: `cat_jpg.rf.0a1b` and `cat_jpg.rf.77fe` are copies of `cat_jpg`.

Numbers that are neither dense nor of a grid, as in VOC's `2007_000032`, make no groups; nor do
plain numbers, or one name for all.
"""

from collections.abc import Collection

from voc_seg_tfrecord.folder.splits.group_proposals import (
    GroupKind,
    GroupProposal,
    group_by_pattern,
    propose,
)
from voc_seg_tfrecord.folder.splits.groups_by_numbers import propose_by_numbers
from voc_seg_tfrecord.folder.splits.groups_by_words import propose_parts, propose_wholes
from voc_seg_tfrecord.folder.splits.roboflow_names import HASH_OF_ROBOFLOW, has_roboflow_hash


def propose_by_ids(ids: Collection[str]) -> GroupProposal | None:
    """Returns the coarsest groups that ids say; None if they say none."""
    proposals = []
    for propose_groups in (propose_wholes, propose_parts, propose_by_numbers, _propose_copies):
        proposal = propose_groups(ids)
        if proposal is not None:
            proposals.append(proposal)
    return min(proposals, key=_count_groups, default=None)


def _propose_copies(ids: Collection[str]) -> GroupProposal | None:
    """Proposes the copies that Roboflow made of each photo as a group, if one has several.

    Example: `cat_jpg.rf.0a1b` and `cat_jpg.rf.77fe` are in the group `cat_jpg`.
    """
    if not any(has_roboflow_hash(image_id) for image_id in ids):
        return None
    groups = group_by_pattern(f"^(.+){HASH_OF_ROBOFLOW}$", ids)
    if groups is None or groups.grouped_id_count == 0:
        return None
    return propose(groups, groups.list_groups_of_several(), GroupKind.NAMED)


def _count_groups(proposal: GroupProposal) -> int:
    return len({*proposal.groups.values()})
