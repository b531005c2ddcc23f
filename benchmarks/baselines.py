"""What people do instead of this package to make TFRecords of a VOC tree, and what TFDS takes."""

from collections.abc import Callable, Iterator
import pathlib
from typing import Any

from make_tree import ids_of
import numpy as np
from PIL import Image
import tensorflow_datasets as tfds
from tensorflow_datasets.core import dataset_metadata

from voc_seg_tfrecord import VOC_CLASSES, Builder, VocSegConfig
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.writing.examples import make_example

LISTS = {"train": "train", "validation": "val"}


def tutorial(root: pathlib.Path, out: pathlib.Path) -> None:
    """The tutorials' script: Pillow decodes both, and raw pixels go into a TFRecord per list."""
    import tensorflow as tf

    for name in LISTS.values():
        with tf.io.TFRecordWriter(str(out / f"{name}.tfrecord")) as writer:
            for _, image, mask in _decoded(root, name):
                example = tf.train.Example()
                feature = example.features.feature
                feature["image_raw"].bytes_list.value.append(image.tobytes())
                feature["mask_raw"].bytes_list.value.append(mask.tobytes())
                feature["height"].int64_list.value.append(image.shape[0])
                feature["width"].int64_list.value.append(image.shape[1])
                writer.write(example.SerializeToString())


def plain_tfds(root: pathlib.Path, out: pathlib.Path) -> None:
    """The TFDS builder that a careful person writes. It gives Pillow's arrays to the features."""
    features = {
        "image": tfds.features.Image(shape=(None, None, 3), encoding_format="jpeg"),
        "image/filename": tfds.features.Text(),
        "segmentation_mask": tfds.features.LabeledImage(
            labels=list(VOC_CLASSES), shape=(None, None, 1), encoding_format="png"
        ),
    }

    def examples(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for image_id, image, mask in _decoded(root, name):
            example = {"image": image, "segmentation_mask": mask[..., np.newaxis]}
            yield image_id, {**example, "image/filename": f"{image_id}.jpg"}

    builder = _Plain(features, examples, data_dir=out)
    builder.download_and_prepare(download_dir=out / "downloads")


def floor(root: pathlib.Path, out: pathlib.Path) -> Callable[[], None]:
    """Reads all of a tree into memory; returns what builds it from there.

    The features are this package's, and the bytes are ready. What remains is what TFDS takes to
    encode, hash, shuffle and write. Ids whose files are links share the bytes of one.
    """
    tree, config = VocTree(root), VocSegConfig(name="bench")
    features = Builder(config=config).info.features
    spec = config.example_spec(index_rule(len(config.class_names)))
    ready: dict[str, dict[str, Any]] = {}
    examples: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name in LISTS.values():
        examples[name] = []
        for pair in tree.pairs(name, tree.read_ids(name)):
            original = "_".join(pair.id.split("_")[:2])
            if original not in ready:
                ready[original] = make_example(pair.read(), spec)
            example = {**ready[original], "image/filename": pair.filename}
            examples[name].append((pair.id, example))
    builder = _Plain({name: features[name] for name in features}, examples.get, data_dir=out)
    return lambda: builder.download_and_prepare(download_dir=out / "downloads")


def _decoded(root: pathlib.Path, name: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for image_id in ids_of(root, name):
        image = np.array(Image.open(root / "JPEGImages" / f"{image_id}.jpg"))
        mask = np.array(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
        yield image_id, image, mask


class _Plain(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """A TFDS builder of features, and of a function from the name of a list to its examples."""

    VERSION = tfds.core.Version("1.0.0")
    name = "plain"

    def __init__(self, features: dict[str, Any], examples: Callable, **kwargs: Any):
        self._features, self._examples = features, examples
        super().__init__(**kwargs)

    @classmethod
    def get_metadata(cls) -> dataset_metadata.DatasetMetadata:
        return dataset_metadata.DatasetMetadata("", "", [])  # no files are beside this builder

    def _info(self) -> tfds.core.DatasetInfo:
        features = tfds.features.FeaturesDict(self._features)
        return self.dataset_info_from_configs(features=features)

    def _split_generators(self, dl_manager):
        del dl_manager
        return {split: self._generate_examples(name) for split, name in LISTS.items()}

    def _generate_examples(self, name: str):
        yield from self._examples(name)
