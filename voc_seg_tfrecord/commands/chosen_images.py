"""Finds the images of a folder that a file names, as `check --ids` and `check --exclude` do."""

from voc_seg_tfrecord.core.chosen_ids import read_ids_option
from voc_seg_tfrecord.core.errors import ListError, counted, did_you_mean, several
from voc_seg_tfrecord.core.id_lists import NamesOfImages
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence


def read_ids_of_tree(choice: str, evidence: SplitEvidence) -> list[str]:
    """Returns the ids that a file chooses, each once, as the tree writes it.

    Args:
      choice: the value of the option that names the file; see `chosen_ids.read_ids_option`.
      evidence: what is known about the images of the tree.

    Raises:
      ConfigError or ListError: if the file cannot be read, or names what the tree does not have.
    """
    tree = evidence.tree
    id_by_record_id = {tree.record_id(tree_id): tree_id for tree_id in tree.images}
    ids = read_ids_option(choice, NamesOfImages(evidence.image_names), id_by_record_id)
    unknown = [
        image_id for image_id in ids if image_id not in tree.images and image_id not in tree.masks
    ]
    if unknown:
        raise ListError(
            choice,
            found=f"{counted(len(unknown), 'id')} that the tree does not have: {several(unknown)}"
            + did_you_mean(unknown[0], tree.images),
            expected=f"ids of images in {tree.root / tree.layout.images}",
            remedy="correct them, or take them out of the file",
        )
    return list(dict.fromkeys(ids))
