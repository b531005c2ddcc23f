"""(e) The floor: a TFDS builder that yields ready bytes from memory.

The features are ours and the bytes too, read and made ready before `build` is called; what
remains is what TFDS takes to encode, hash, shuffle and write. Of a tree with copies, which
would not fit into memory, only the originals are kept ready, and each copy yields theirs.
"""

import pathlib
from typing import Any

import tensorflow_datasets as tfds

from baselines.undescribed import Undescribed
from voc_seg_tfrecord import Builder, VocSegConfig
from voc_seg_tfrecord.examples.make import make_example
from voc_seg_tfrecord.masks.rule import index_rule
from voc_seg_tfrecord.trees.tree import VocTree

Examples = dict[str, list[tuple[str, dict[str, Any]]]]


class FromMemory(Undescribed, skip_registration=True):
    """Yields what it was given."""

    name = "from_memory"

    def __init__(self, examples: Examples, **kwargs):
        self._examples = examples
        super().__init__(**kwargs)

    def _info(self) -> tfds.core.DatasetInfo:
        features = Builder(config=VocSegConfig(name="bench")).info.features
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({name: features[name] for name in features})
        )

    def _split_generators(self, dl_manager):
        del dl_manager
        return {split: self._generate_examples(split) for split in self._examples}

    def _generate_examples(self, split: str):
        yield from self._examples[split]


def prepare(root: pathlib.Path) -> Examples:
    """Reads all of the tree into memory, ready to be yielded."""
    tree = VocTree(root)
    config = VocSegConfig(name="bench")
    spec = config.example_spec(index_rule(len(config.class_names)))
    ready: dict[str, dict[str, Any]] = {}

    def example(pair):
        original = "_".join(pair.id.split("_")[:2])
        if original not in ready:
            ready[original] = make_example(pair.read(), spec)
        return {**ready[original], "image/filename": pair.filename}

    return {
        split: [(pair.id, example(pair)) for pair in tree.pairs(split, tree.read_ids(name))]
        for split, name in (("train", "train"), ("validation", "val"))
    }


def build(examples: Examples, out: pathlib.Path) -> None:
    """Builds from memory below `out`."""
    FromMemory(examples, data_dir=out).download_and_prepare(download_dir=out / "downloads")
