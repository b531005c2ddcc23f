"""Says if the lists of a folder are those of a release of VOC, which has a config of its own."""

import collections

from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.layout import MASKS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence

_CONFIG_WITHOUT_MASKS = "2012_test"


def official_note(evidence: SplitEvidence) -> str:
    """Returns which `tfds build` builds a tree whose lists are a release's; empty if none are.

    The ids of a list have to be all of the official ones and no others.
    """
    if evidence.tree.layout.masks != MASKS:
        return ""
    lists_by_config: collections.Counter[str] = collections.Counter()
    for split_list in evidence.lists:
        ids = {*split_list.ids}
        rows_of_this_count = [
            row for row in releases.official_splits().values() if len(ids) in row.counts
        ]
        if rows_of_this_count:
            sha256 = id_list_sha256(ids)
            same_ids = [row.config for row in rows_of_this_count if row.ids_sha256 == sha256]
            lists_by_config.update(same_ids)
    lists_by_config.pop(_CONFIG_WITHOUT_MASKS, None)
    if not lists_by_config:
        return ""
    # The release with the most lists wins, and the first one in the table if several have as many.
    configs_in_table = [row.config for row in releases.official_splits().values()]
    config = max(configs_in_table, key=lambda config: lists_by_config[config])
    build = command(
        *("tfds", "build", "voc_seg_tfrecord"),
        imports="voc_seg_tfrecord",
        config=config,
        manual_dir=evidence.tree.root,
    )
    title = releases.title(config)
    return f"The lists are those of {title}, which has a config of its own: {build}"
