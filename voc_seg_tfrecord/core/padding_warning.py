"""Warns of batches of TFDS, whose padding is a class."""

import warnings

from voc_seg_tfrecord.core.config import VocSegConfig


class PaddedWithBackground(UserWarning):
    """Masks of different sizes are padded with 0 in a batch, and 0 is background."""


def warn_of_padding(config: VocSegConfig, batch_size: int) -> None:
    """Warns of batches of TFDS's, in which masks of different sizes are padded with 0.

    Tiles have one size, and a batch of one example is not padded.
    """
    if batch_size == 1 or config.tiling or config.task != "segmentation":
        return
    warnings.warn(
        f"batch_size={batch_size} pads masks with 0, which is background, where sizes in a batch "
        "differ, and images with black. Read without it, and make batches with "
        "voc_seg_tfrecord.pipeline: padded_batch pads masks with 255, which is void; "
        "training_batches makes crops of one size",
        PaddedWithBackground,
        stacklevel=3,  # the call of `as_dataset`
    )
