"""Reading without TensorFlow: `tfds.data_source` on array_record, with Grain and PyTorch."""

import numpy as np
import pytest
from support.building import build, examples

from voc_seg_tfrecord import arrays


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return build(folder, "sample", file_format="array_record")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_numpy_decodes_the_same_masks_as_tensorflow_to_the_bit(builder, split, tmp_path):
    decoded = examples(build(tmp_path, "sample"), split)
    source = builder.as_data_source(split=split)
    assert len(source) == len(decoded)
    for example in source:
        expected = decoded[example["image/filename"].decode()]
        for name in ("segmentation_mask", "instance_mask"):
            assert example[name].dtype == np.uint8
            assert np.array_equal(example[name], expected[name])
        # Two JPEG decoders may differ by the rounding of their transforms.
        assert example["image"].shape == expected["image"].shape
        assert abs(example["image"].astype(int) - expected["image"]).max() <= 8


def test_grain_gives_the_same_batches_whatever_the_number_of_threads(builder):
    grain = pytest.importorskip("grain")
    source = builder.as_data_source(split="train")

    def batches(threads):
        dataset = (
            grain.MapDataset.source(source)
            .seed(1)
            .shuffle()
            .random_map(lambda example, rng: arrays.random_crop_or_pad(example, 32, rng))
            .random_map(lambda example, rng: arrays.random_flip(example, rng))
            .map(lambda example: (example["image"], example["segmentation_mask"]))
            .batch(3)
        )
        return list(dataset.to_iter_dataset(grain.ReadOptions(num_threads=threads)))

    ((image, mask),) = batches(1)
    assert image.shape == (3, 32, 32, 3)
    assert mask.shape == (3, 32, 32, 1)
    ((image_again, mask_again),) = batches(4)
    assert np.array_equal(image, image_again)
    assert np.array_equal(mask, mask_again)


@pytest.mark.parametrize("workers", [0, 1])
def test_pytorchs_loader_gives_the_pixels_of_the_source(builder, workers):
    torch = pytest.importorskip("torch")
    source = builder.as_data_source(split="train")
    loader = torch.utils.data.DataLoader(
        Crops(source),
        batch_size=3,
        num_workers=workers,
        multiprocessing_context="spawn" if workers else None,
    )
    ((image, mask),) = loader
    for n in range(3):
        expected = arrays.center_crop_or_pad(source[n], 64)
        assert np.array_equal(image[n].numpy(), expected["image"])
        assert np.array_equal(mask[n].numpy(), expected["segmentation_mask"])


class Crops:
    """A PyTorch map-style dataset; workers get a copy of it."""

    def __init__(self, source):
        self._source = source

    def __len__(self):
        return len(self._source)

    def __getitem__(self, index):
        example = arrays.center_crop_or_pad(self._source[index], 64)
        return example["image"], example["segmentation_mask"]
