"""Says what a user can do about a list of ids that have no image."""

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.splits.by_ratio import ShareOfImages


def advise_on_absent_images(plan: FolderPlan, split: str) -> str:
    """Returns what a user can do about all ids of a split that have no image.

    Empty if all have one, or an image with a similar id.
    """
    images = plan.tree.images
    ids = plan.splits[split]
    absent_count = 0
    for image_id in ids:
        if image_id not in images and not images.find_similar_id(image_id):
            absent_count += 1
    if not absent_count:
        return ""
    folder = plan.tree.layout.images
    if absent_count < len(ids):
        return (
            f"add the images to the folder {folder}, or leave ids without an image out with "
            "--missing_image skip"
        )
    options = command(splits=_splits_without_absent_images(plan))
    return (
        f"none of the {len(ids)} ids of {split} is one of the {counted(len(images), 'image')} in "
        f"{folder}: name the folder of its images with --images, or build without its list: "
        f"{options}"
    )


def _splits_without_absent_images(plan: FolderPlan) -> str:
    """Returns the option `splits` with the splits whose images are all there, or else ratios."""
    images = plan.tree.images
    complete_splits = []
    for source in plan.chosen_splits.sources:
        if isinstance(source, ShareOfImages):
            continue
        if all(image_id in images for image_id in source.ids):
            complete_splits.append(f"{source.split}={source.option}")
    return ",".join(complete_splits) or "train=0.8,validation=0.2"
