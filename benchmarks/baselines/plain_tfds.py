"""(c) The TFDS builder that a careful person writes. It gives Pillow arrays to the features."""

import pathlib

import numpy as np
from PIL import Image
import tensorflow_datasets as tfds

from baselines.undescribed import Undescribed
from voc_seg_tfrecord import VOC_CLASSES

LISTS = {"train": "train", "validation": "val"}


class PlainVoc(Undescribed, skip_registration=True):
    """Image and mask as arrays."""

    name = "plain_voc"

    def __init__(self, root: pathlib.Path, **kwargs):
        self._root = root
        super().__init__(**kwargs)

    def _info(self) -> tfds.core.DatasetInfo:
        features = {
            "image": tfds.features.Image(shape=(None, None, 3), encoding_format="jpeg"),
            "image/filename": tfds.features.Text(),
            "segmentation_mask": tfds.features.LabeledImage(
                labels=list(VOC_CLASSES), shape=(None, None, 1), encoding_format="png"
            ),
        }
        return self.dataset_info_from_configs(features=tfds.features.FeaturesDict(features))

    def _split_generators(self, dl_manager):
        del dl_manager
        return {split: self._generate_examples(name) for split, name in LISTS.items()}

    def _generate_examples(self, name: str):
        ids = (self._root / "ImageSets/Segmentation" / f"{name}.txt").read_text().split()
        for image_id in ids:
            image = np.array(Image.open(self._root / "JPEGImages" / f"{image_id}.jpg"))
            mask = np.array(Image.open(self._root / "SegmentationClass" / f"{image_id}.png"))
            yield (
                image_id,
                {
                    "image": image,
                    "image/filename": f"{image_id}.jpg",
                    "segmentation_mask": mask[..., np.newaxis],
                },
            )


def build(root: pathlib.Path, out: pathlib.Path) -> None:
    """Builds the tree at `root` below `out`."""
    PlainVoc(root, data_dir=out).download_and_prepare(download_dir=out / "downloads")
