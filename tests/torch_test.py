"""Batches for PyTorch. Where PyTorch is not installed, nothing of this runs."""

import functools
import pickle

import numpy as np
import pytest
from support import learnable
from support.paths import REPOSITORY
from support.python import run_python

from voc_seg_tfrecord import arrays, data_source
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.reading.epoch_order import example_rng

torch = pytest.importorskip("torch")

import voc_seg_tfrecord.torch as batches_of  # noqa: E402 - after PyTorch was looked for
from voc_seg_tfrecord.torch import Draw, evaluation_loader, loader  # noqa: E402

COUNT = 11
PLAIN = {"size": 32, "batch_size": 4}

# In a process of its own, as PyTorch and TensorFlow bring two copies of LLVM.
BUILD = """
import sys
from support import learnable, no_tensorflow
import numpy as np
from voc_seg_tfrecord import from_arrays

images, masks = [], []
for number in range(int(sys.argv[2])):
    rows, columns = np.mgrid[: 25 + 3 * number, : 50 - 2 * number]
    images.append(np.stack([rows, columns, 0 * rows + number + 1], axis=-1).astype(np.uint8))
    masks.append((rows % 4).astype(np.uint8))
masks[3][0] = 4  # the only image of the rare class
names = ["background", "a", "b", "c", "rare"]
from_arrays(images, masks, name="p", class_names=names, data_dir=sys.argv[1], overwrite=True)
images, masks = learnable.images_and_masks(8)
names = learnable.CLASS_NAMES
from_arrays(images, masks, name="colors", class_names=names, data_dir=sys.argv[1], overwrite=True)
"""


def build(data_dir, count=COUNT):
    run_python("-c", BUILD, data_dir, count, PYTHONPATH=f"{REPOSITORY}:{REPOSITORY / 'tests'}")


def opened(data_dir, **options):
    return data_source("voc_seg_tfrecord/p", "train", data_dir, **options)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """Eleven images whose pixels are row, column and number + 1, and whose class is row % 4."""
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return folder


@pytest.fixture
def source(data_dir):
    return opened(data_dir)


def memory_of(batches):
    return [{tensor.data_ptr() for tensor in batch[:2]} for batch in batches]


def content(batches):
    return [(batch.images.tolist(), batch.masks.tolist(), batch.ids) for batch in batches]


def ids(batches):
    return [image_id for batch in batches for image_id in batch.ids]


def test_each_example_comes_once_in_an_epoch_and_the_order_changes(source):
    train = loader(source, drop_last=False, **PLAIN)
    first, second = ids(train), ids(train)
    assert sorted(first) == sorted(second) == sorted(source.ids)
    assert first != second
    assert len(train) == 3


@pytest.mark.parametrize("options", [{}, {"balance": "classes"}, {"drop_last": False}])
def test_ranks_together_have_the_examples_of_an_epoch_and_as_many_batches(source, options):
    options = {"size": 32, **options}
    together = loader(source, batch_size=4, **options)
    parts = [loader(source, batch_size=2, shard=(rank, 2), **options) for rank in range(2)]
    for _ in range(2):
        divided = [ids(part) for part in parts]
        assert sorted(divided[0] + divided[1]) == sorted(ids(together))
    assert len(parts[0]) == len(parts[1]) == len(together)


@pytest.mark.parametrize("scales", [(1, 1), (0.5, 2)])
def test_image_and_mask_move_together_and_padding_is_void(source, scales):
    for batch in loader(source, scales=scales, **PLAIN):
        images, masks = batch.images.numpy(), batch.masks.numpy()
        is_padding = images[:, 2] == 0
        assert (masks[is_padding] == 255).all()
        assert (masks[~is_padding] < 5).all()
        if scales == (1, 1):
            rare = masks == 4
            inside = ~is_padding & ~rare
            assert (masks[inside] == images[:, 0][inside] % 4).all()


def test_without_scaling_pixels_are_those_of_arrays(source):
    (batch, *_) = loader(source, scales=(1, 1), seed=7, first_epoch=2, **PLAIN)
    by_id = dict(zip(source.ids, source, strict=True))
    for image, mask, image_id in zip(*batch, strict=True):
        example = by_id[image_id]
        rng = example_rng(example["image/filename"], seed=7, epoch=2)
        crop = arrays.random_scaled_crop(example, 32, rng, scales=(1, 1))
        np.testing.assert_array_equal(image.numpy(), crop["image"].transpose(2, 0, 1))
        np.testing.assert_array_equal(mask.numpy(), crop["segmentation_mask"][..., 0])


def test_with_scaling_pixels_differ_from_those_of_arrays_by_1_at_most(source):
    for batch in loader(source, seed=7, **PLAIN):
        by_id = dict(zip(source.ids, source, strict=True))
        for image, mask, image_id in zip(*batch, strict=True):
            example = by_id[image_id]
            rng = example_rng(example["image/filename"], seed=7)
            crop = arrays.random_scaled_crop(example, 32, rng)
            difference = image.numpy().astype(int) - crop["image"].transpose(2, 0, 1)
            assert abs(difference).max() <= 1
            np.testing.assert_array_equal(mask.numpy(), crop["segmentation_mask"][..., 0])


@pytest.mark.parametrize("options", [{}, {"balance": "classes"}, {"shuffle": False}])
def test_a_run_that_is_resumed_goes_on_as_if_it_had_not_stopped(source, options):
    options = {**PLAIN, **options}
    complete = loader(source, **options)
    steps = [step for _ in range(3) for step in content(complete)]
    for steps_done in range(len(steps)):
        first_epoch, start_step = divmod(steps_done, len(complete))
        resumed = loader(source, first_epoch=first_epoch, start_step=start_step, **options)
        rest = [step for _ in range(3 - first_epoch) for step in content(resumed)]
        assert rest == steps[steps_done:]


def test_channels_are_first_in_the_memory_format_channels_last_or_last(source):
    (first, *_) = loader(source, **PLAIN)
    (last, *_) = loader(source, channels="last", **PLAIN)
    assert first.images.is_contiguous(memory_format=torch.channels_last)
    assert last.images.is_contiguous()
    assert torch.equal(first.images, last.images.permute(0, 3, 1, 2))


def test_a_rare_class_comes_more_often_and_each_copy_is_cropped_in_its_own_way(source):
    train = loader(source, size=20, batch_size=1, balance="classes")
    rare_id = source.ids[[4 in example["labels"] for example in source].index(True)]
    rare = [batch.images for batch in train if batch.ids == [rare_id]]
    assert len(rare) > 1
    assert not torch.equal(rare[0], rare[1])


def add_noise(image, mask, rng):
    return image + rng.integers(0, 9, image.shape, np.uint8), mask


def test_the_numbers_of_a_transform_depend_on_seed_epoch_and_example(source):
    train = functools.partial(loader, source, transform=add_noise, shuffle=False, **PLAIN)
    assert content(train()) == content(train())
    assert content(train(seed=1)) != content(train())
    (first, *_) = train()
    (alone, *_) = loader(source[1:], transform=add_noise, shuffle=False, **PLAIN)
    assert torch.equal(first.images[1], alone.images[0])


def test_a_transform_may_make_images_floats_and_bring_complete_ones_to_one_size(source):
    def middle(image, mask, _):
        return image[:20, :20].astype(np.float32) / 255, mask[:20, :20]

    (batch, *_) = loader(source, size=None, batch_size=4, transform=middle)
    assert batch.images.dtype == torch.float32
    assert batch.images.shape == (4, 3, 20, 20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transform": lambda image, mask, _: (image[1:], mask[1:])}, r"size of the batch.*size="),
        ({"transform": lambda image, mask, _: (image[1:], mask)}, "of the same height and width"),
        ({"transform": lambda image, mask, _: (image, mask.astype(int))}, "uint8"),
        ({"transform": lambda image, mask, _: (torch.from_numpy(image), mask)}, "a Tensor"),
        ({"transform": lambda *_: None}, "transform: a NoneType"),
        ({"transform": lambda image, mask, _: (image, mask, 1)}, "transform: 3 values"),
        ({"size": None}, "size of the batch.*one size"),
        ({"size": None, "flip": True}, "flip to the transform"),
        ({"size": 0}, "size"),
        ({"batch_size": 12}, "smaller batches or drop_last=False"),
        ({"batch_size": 5, "shard": (0, 2), "drop_last": False}, "1 example in the last batch"),
        ({"batch_size": 0}, "batch_size"),
        ({"seed": -1}, "seed"),
        ({"scales": (2, 1)}, "scales"),
        ({"shard": (2, 2)}, "shard"),
        ({"shuffle": 7}, "True or False"),
        ({"balance": "images"}, "balance"),
        ({"balance_threshold": 0.5}, "balance_threshold"),
        ({"start_step": 2}, "a step of 0 to 1"),
        ({"first_epoch": -1}, "first_epoch"),
        ({"channels": "middle"}, "channels"),
        ({"workers": -1}, "workers"),
        ({"num_workers": 2}, "num_workers: 2.*give workers"),
        ({"collate_fn": list}, "collate_fn.*give transform"),
        ({"scale": (1, 1)}, "scale: no argument.*did you mean 'scales'"),
        ({"drop_last": "False"}, "drop_last: 'False'.*True or False"),
        ({"flip": "no"}, "flip: 'no'.*True or False"),
        ({"scales": (float("nan"), 1.0)}, "scales"),
        ({"scales": (0.5, float("inf"))}, "scales"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(source, options, message):
    with pytest.raises(ConfigError, match=f"(?s){message}"):
        list(loader(source, **{**PLAIN, **options}))


def test_sources_that_cannot_be_batched_are_refused_with_what_to_do(data_dir, source):
    with pytest.raises(ConfigError, match="without features="):
        loader(opened(data_dir, features=["image"]), **PLAIN)
    with pytest.raises(ConfigError, match="without decode=False"):
        list(loader(opened(data_dir, decode=False), **PLAIN))
    with pytest.raises(ConfigError, match="no examples"):
        loader(source[:0], drop_last=False, **PLAIN)
    for other in ("sample", [source], torch.utils.data.Subset(source, [0])):
        with pytest.raises(ConfigError, match=r"what voc_seg_tfrecord\.data_source returns"):
            loader(other, **PLAIN)
    with pytest.raises(ConfigError, match="leave it out: evaluation_loader gives complete images"):
        evaluation_loader(source, size=8)
    with pytest.raises(ConfigError, match="EpochBatches"):
        batches_of.SegmentationDataset(source, size=8)[3]


def test_a_dataset_is_pickled_and_a_loader_of_ones_own_takes_it(source):
    dataset = pickle.loads(pickle.dumps(batches_of.SegmentationDataset(source, size=8)))
    assert torch.equal(dataset[Draw(2, epoch=1)].images, dataset[Draw(2, epoch=1)].images)
    epochs = batches_of.EpochBatches(len(dataset), batch_size=4)
    own = torch.utils.data.DataLoader(dataset, batch_sampler=epochs, collate_fn=lambda batch: batch)
    assert content(own) == content(loader(source, size=8, batch_size=4))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_evaluation_has_each_complete_image_once_with_its_size(source, ranks):
    found = {}
    for rank in range(ranks):
        part = evaluation_loader(source, batch_size=3, multiple=16, shard=(rank, ranks))
        for batch in part:
            assert batch.images.shape[2] % 16 == batch.images.shape[3] % 16 == 0
            for image, mask, image_id, (height, width) in zip(*batch, strict=True):
                assert image_id not in found
                found[image_id] = image[:, :height, :width].numpy().transpose(1, 2, 0)
                assert (mask[height:] == 255).all()
                assert (image[:, :, width:] == 0).all()
    assert found.keys() == {*source.ids}
    for image_id, example in zip(source.ids, source, strict=True):
        np.testing.assert_array_equal(found[image_id], example["image"])


@pytest.mark.parametrize("workers", [0, 1])
def test_images_without_masks_can_be_evaluated(workers, data_dir):
    source = opened(data_dir, features=["image", "image/filename"])
    for batch in evaluation_loader(source, workers=workers):
        assert batch.masks is None


def test_complete_images_of_all_sizes_lie_in_the_same_buffers(source):
    batches = evaluation_loader(source, batch_size=2, workers=1)
    assert len({batch.images.shape for batch in batches}) > 1
    assert len({batch.images.untyped_storage().nbytes() for batch in batches}) == 1


def test_after_another_build_a_run_keeps_its_records_and_a_new_worker_ends_with_an_error(tmp_path):
    build(tmp_path)
    dataset = batches_of.SegmentationDataset(opened(tmp_path), size=32)
    before = content([dataset[Draw(2)]])
    sent_to_worker = pickle.dumps(dataset)
    build(tmp_path, COUNT - 1)
    assert content([dataset[Draw(2)]]) == before
    with pytest.raises(RecordError, match="a build has replaced it"):
        pickle.loads(sent_to_worker)[Draw(2)]


def test_the_loss_of_a_training_falls(data_dir):
    source = data_source("voc_seg_tfrecord/colors", "train", data_dir)
    train = loader(source, size=32, batch_size=4)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding="same"),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, len(learnable.CLASS_NAMES), 1),
    )
    loss_of = torch.nn.CrossEntropyLoss(ignore_index=255)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    losses = []
    for _ in range(20):
        for batch in train:
            loss = loss_of(network(batch.images.float() / 255), batch.masks.long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-4:]) < np.mean(losses[:4]) / 4


WORKERS = """
import functools
import itertools
import sys
import numpy as np
from voc_seg_tfrecord import data_source
from voc_seg_tfrecord.torch import batch, evaluation_loader, loader

def flipped(image, mask, rng):
    if rng.random() < 0.5:
        return image[::-1], mask[::-1]
    return image, mask

def run(transform, **options):
    train = loader(source, size=32, batch_size=3, transform=transform, **options)
    batches = [b for _ in range(3) for b in train]
    return [(b.images.tolist(), b.masks.tolist(), b.ids) for b in batches]

def check_that_held_batches_stay():
    random = np.random.default_rng(0)
    cropped = functools.partial(loader, source, size=64, batch_size=2)
    complete = functools.partial(evaluation_loader, source, batch_size=2)
    for make, options in itertools.product((cropped, complete), OPTIONS):
        batches = make(**options)
        held = []
        for epoch in range(12):
            for batch in batches:
                view = random.choice(["images", "image", "array", "mask", "both"])
                tensors = {
                    "images": [batch.images],
                    "image": [batch.images[-1, 0]],
                    "array": [batch.images.numpy()[:, :, 3:]],
                    "mask": [batch.masks[0].numpy()],
                    "both": [batch.images, batch.masks],
                }[view]
                held.append((tensors, [np.array(tensor) for tensor in tensors]))
                while held and random.random() < 0.6:
                    held.pop(random.integers(len(held)))
                if random.random() < 0.1:
                    break
            for tensors, copies in held:
                assert all(map(np.array_equal, tensors, copies))

OPTIONS = [{"workers": 2}, {"workers": 1, "prefetch_factor": 1}, {"workers": 0}]
source = data_source("voc_seg_tfrecord/p", "train", sys.argv[1])
if __name__ == "__main__":
    for transform in (None, flipped):
        expected = run(transform, workers=0)
        for workers in (1, 2, 4):
            assert run(transform, workers=workers) == expected
        assert run(None, workers=2, multiprocessing_context="spawn") == run(None, workers=0)
    evaluated = [[b.ids for b in evaluation_loader(source, workers=w)] for w in (0, 2)]
    assert evaluated[0] == evaluated[1]
    train = loader(source, size=None, batch_size=3, workers=2)
    for _ in range(2):
        try:
            list(train)
        except Exception as error:
            print(type(error).__name__)
    check_that_held_batches_stay()
    batch._MAX_SAMPLED_IMAGES = 1  # so that most batches are larger than their buffers
    check_that_held_batches_stay()
    half = loader(source, size=8, batch_size=2, workers=2)
    next(iter(half))
    print(len(list(half)))
"""


def test_any_number_of_workers_by_fork_or_spawn_gives_the_same_batches(data_dir, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(WORKERS)
    printed = run_python(script, data_dir, PYTHONPATH=str(REPOSITORY))
    assert printed.splitlines() == ["ConfigError", "ConfigError", "5"]


TWO_ITERATIONS = """
import sys
from voc_seg_tfrecord import data_source
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.torch import loader

source = data_source("voc_seg_tfrecord/p", "train", sys.argv[1])
train = loader(source, size=8, batch_size=2, workers=2)
try:
    list(zip(train, train))
except ConfigError as error:
    print("a second loader" in str(error))
kept = iter(train)
next(kept)
print(len(list(train)) == len(train))
try:
    next(kept)
except ConfigError as error:
    print("a second loader" in str(error))
for _ in train:
    break
print(len(list(train)) == len(train))
"""


def test_workers_never_deal_one_epoch_to_two_iterations(data_dir):
    printed = run_python("-c", TWO_ITERATIONS, data_dir, PYTHONPATH=str(REPOSITORY))
    assert printed.split() == ["True"] * 4


def test_without_workers_each_iteration_has_its_own_epoch(source):
    train = loader(source, **PLAIN)
    pairs = list(zip(train, train, strict=True))
    assert len(pairs) == len(train)
    assert ids(first for first, _ in pairs) != ids(second for _, second in pairs)


KILLED = """
import os, signal, sys
from voc_seg_tfrecord import data_source
from voc_seg_tfrecord.torch import loader

source = data_source("voc_seg_tfrecord/p", "train", sys.argv[1])
train = loader(source, size=64, batch_size=2, workers=2)
batches = iter(train)
held = next(batches)
before = held.images.clone()
os.kill(train._iterator._workers[0].pid, signal.SIGKILL)
try:
    list(batches)
except RuntimeError as error:
    print("killed" in str(error) or "exited" in str(error))
print(before.equal(held.images))
"""


def test_a_killed_worker_ends_with_an_error_and_leaves_batches_that_are_held(data_dir):
    printed = run_python("-c", KILLED, data_dir, PYTHONPATH=str(REPOSITORY))
    assert printed.split() == ["True", "True"]


def test_batches_that_nobody_holds_leave_their_memory_to_later_ones(source):
    train = loader(source, shuffle=False, workers=1, **PLAIN)
    places = [place for _ in range(9) for place in memory_of(train)]
    assert len(set().union(*places)) < len(places)
    held = [batch for _ in range(9) for batch in train]
    places = memory_of(held)
    assert len(set().union(*places)) == 2 * len(held)


LIBRARIES = {
    "torchvision": """
from torchvision import tv_tensors
from torchvision.transforms import v2
fill = {tv_tensors.Image: 0, tv_tensors.Mask: 255}
moves = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomAffine(20, scale=(0.5, 1.5), fill=fill)])
transform = torchvision_transform(moves)
""",
    "albumentations": """
import albumentations
affine = albumentations.Affine(rotate=(-20, 20), scale=(0.5, 1.5), fill_mask=255, p=1)
transform = albumentations_transform(albumentations.Compose([affine]))
""",
}

CHECK = """
import numpy as np
import torch
from support import marked
from voc_seg_tfrecord.torch import albumentations_transform, torchvision_transform
{library}
torch.manual_seed(5)
state = torch.get_rng_state()
image, mask = marked.image_and_mask()
moved = [transform(image, mask[..., 0], np.random.default_rng(seed)) for seed in (0, 1, 2, 3, 0)]
assert sum(marked.outside(*pair) for pair in moved) > 0
masks = [mask.tobytes() for _, mask in moved]
assert len(set(masks)) == 4 and masks[0] == masks[4]
assert torch.equal(torch.get_rng_state(), state)
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_transforms_of_libraries_are_seeded_and_keep_the_generator_of_the_process(library):
    """A process of its own, as torchvision cannot be imported after TensorFlow."""
    pytest.importorskip(library)
    code = CHECK.format(library=LIBRARIES[library])
    run_python("-c", code, PYTHONPATH=f"{REPOSITORY}:{REPOSITORY / 'tests'}")


def test_every_public_name_is_documented_and_every_field_of_a_batch_too():
    for name in batches_of.__all__:
        assert getattr(batches_of, name) is not None
    for named_tuple in (batches_of.Batch, batches_of.EvaluationBatch, Draw):
        for field in named_tuple._fields:
            assert f"{field}: " in named_tuple.__doc__
