import concurrent.futures
import contextlib
import functools
import io
import itertools
import multiprocessing
import pickle
import platform
import shutil

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from PIL import Image
import pytest
from support import tiled, worker_tasks
from support.building import build, from_tree
from support.drawing import write_small_tree
from support.python import run_python
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig, data_source, from_arrays, splits
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.reading import record_index
from voc_seg_tfrecord.reading.dataset import open_built

IN_FILE_ORDER = tfds.ReadConfig(interleave_cycle_length=1)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A dataset of 14 examples in 3 shards, `000` to `013`."""
    tree = write_small_tree(tmp_path_factory.mktemp("tree"), 14)
    config = VocSegConfig(name="small")
    return build(tmp_path_factory.mktemp("data"), config, tree, num_shards=3)


@pytest.fixture
def copy(small, tmp_path):
    """A copy of it that a test may change."""
    return open_built(shutil.copytree(small.data_path, tmp_path / "1.0.0"))


def opened(builder, split="train", **options):
    return data_source(str(builder.data_path), split, **options)


def filenames(examples):
    return [example["image/filename"] for example in examples]


def sums(examples):
    return [example["segmentation_mask"].sum() for example in examples]


def assert_same(found, expected):
    """Compares two examples; JPEGs are decoded by two transforms."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, dict):
            assert_same(found[name], value)
            continue
        assert type(found[name]) is type(value), name
        if name == IMAGE:
            assert found[name].shape == value.shape
            assert abs(found[name].astype(int) - value).max() <= 8
        elif isinstance(value, bytes):
            assert found[name] == value
        else:
            assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape), name
            assert np.array_equal(found[name], value), name


def own(tmp_path, **options):
    return from_tree(tiled.write_tree(tmp_path / "tree"), **tiled.tree_options(**options))


EVERY_FEATURE = {
    "an official config, with objects and their masks": lambda path: build(path, "sample"),
    "own data": lambda path: own(path),
    "tiles": lambda path: own(path, tile=16, tile_overlap=4, instance_mask=True),
    "classes of images": lambda path: from_arrays(
        [tiled.truth(n)[0] for n in range(3)],
        labels=[1, 0, 1],
        name="mine",
        class_names=["a", "b"],
        data_dir=path,
    ),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("make", EVERY_FEATURE.values(), ids=EVERY_FEATURE)
def test_examples_are_those_of_tfds_load_in_the_order_of_the_files(make, tmp_path):
    builder = make(tmp_path)
    for split in builder.info.splits:
        read = builder.as_dataset(split=split, read_config=IN_FILE_ORDER)
        expected = list(read.as_numpy_iterator())
        source = opened(builder, split)
        assert len(source) == len(expected) == len(list(source))
        for example, wanted in zip(source, expected, strict=True):
            assert_same(example, wanted)
            arrays = [v for v in example.values() if isinstance(v, np.ndarray)]
            assert all(array.flags.writeable for array in arrays)


def test_what_pillow_decodes_is_what_the_source_gives(sample):
    raw = opened(sample, decode=False)
    for example, encoded in zip(opened(sample), raw, strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(encoded["image"])).convert("RGB"))
        assert np.array_equal(example["image"], pixels)
        mask = np.asarray(Image.open(io.BytesIO(encoded["segmentation_mask"])))
        assert np.array_equal(example["segmentation_mask"][..., 0], mask)


SLICES = ["train[:10%]", "train[3:]", "train[-4:-1]", "train[50%:]", "train+train[:2]", "all"]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("split", SLICES)
def test_splits_are_cut_as_tfds_cuts_them(small, split):
    read = small.as_dataset(split=split, read_config=IN_FILE_ORDER).as_numpy_iterator()
    expected = filenames(read)
    source = opened(small, split, features=["image/filename"])
    assert filenames(source) == expected
    assert [f"{i}.jpg".encode() for i in source.ids] == expected


def test_several_splits_are_asked_for_as_tfds_is(sample):
    folder = str(sample.data_path)
    sizes = {name: len(source) for name, source in data_source(folder).items()}
    assert sizes == {"train": 3, "validation": 2, "test": 1}
    assert [len(s) for s in data_source(folder, ["train", "validation"])] == [3, 2]
    by_name = data_source("voc_seg_tfrecord/sample", "train", sample.data_path.parents[2])
    assert len(by_name) == 3
    assert by_name.class_names[15] == "person"
    assert set(by_name.features) == set(sample.info.features)


def test_numbers_lists_slices_and_what_is_none_of_them(small):
    source = opened(small, features=["image/filename"])
    names = filenames(source)
    assert source[np.int64(2)]["image/filename"] == names[2]
    assert source[-1]["image/filename"] == names[-1]
    for several in ([3, 1], np.array([3, 1])):
        assert filenames(source[several]) == [names[3], names[1]]
    assert filenames(source[2:9:3]) == names[2:9:3]
    for number in (14, -15):
        with pytest.raises(IndexError):
            source[number]
    for wrong in (True, [True, False], 1.0, "0"):
        with pytest.raises(TypeError):
            source[wrong]


def test_features_are_chosen_and_left_encoded(sample):
    (example, *_) = opened(sample, features=["image", "labels"], decode=False)
    assert sorted(example) == ["image", "labels"]
    assert example["image"].startswith(b"\xff\xd8")
    with pytest.raises(ConfigError, match=r"no feature imag.*image"):
        opened(sample, features=["imag"])


def test_lists_of_papers_and_own_ids_select_examples_and_tiles_by_their_image(small, tmp_path):
    source = opened(small, ids=["012", "003"])
    assert sorted(source.ids) == ["003", "012"]
    with pytest.raises(ConfigError, match=r"2 of 3 ids missing: x, y"):
        opened(small, ids=["012", "x", "y"])
    assert len(opened(small, ids=["012", "x", "y"], partial=True)) == 1
    with pytest.raises(ConfigError, match="92 of 92 ids missing"):
        opened(small, ids="semi_92")
    tiles = own(tmp_path, tile=16)
    names = opened(tiles).ids
    assert opened(tiles, ids=["0"]).ids == tuple(n for n in names if n.startswith("0_"))
    assert opened(tiles, ids=[names[0]]).ids == names[:1]


def test_the_functions_of_splits_take_a_source(small):
    source = opened(small)
    assert sorted(filenames(splits.only(source, ["001", "002"]))) == [b"001.jpg", b"002.jpg"]
    labeled, unlabeled = splits.labeled_unlabeled(source, ["001", "002"])
    assert (len(labeled), len(unlabeled)) == (2, 12)
    assert "segmentation_mask" in labeled[0]
    assert not {*splits.LABELS} & unlabeled[0].keys()


@pytest.mark.slow
@settings(max_examples=16)
@given(count=st.integers(1, 20), data=st.data())
def test_the_parts_of_all_ranks_have_each_example_once(small, count, data):
    source = opened(small, "train[:13]")
    parts = [source.shard(rank, count) for rank in range(count)]
    assert sorted(i for part in parts for i in part.ids) == sorted(source.ids)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    again = data.draw(st.integers(1, 3))
    inner = [parts[0].shard(rank, again) for rank in range(again)]
    assert sorted(i for part in inner for i in part.ids) == sorted(parts[0].ids)


@pytest.mark.parametrize(("rank", "count"), [(2, 2), (-1, 2), (0, 0)])
def test_ranks_that_there_are_not_are_refused(small, rank, count):
    with pytest.raises(ConfigError, match="rank, count"):
        opened(small).shard(rank, count)


def test_a_pickle_is_small_and_reads_the_same(small):
    source = opened(small, features=["image/filename", "segmentation_mask"])
    for part in (source, source.shard(1, 3), source.only(["002", "005"])):
        stored = pickle.dumps(part)
        assert len(stored) < 2000
        again = pickle.loads(stored)
        assert pickle.dumps(again) == stored  # before it is used, and so not opened
        assert again.ids == part.ids
        assert again.class_names == part.class_names
        for example, same in zip(again, part, strict=True):
            assert np.array_equal(example["segmentation_mask"], same["segmentation_mask"])


def test_threads_read_what_one_thread_reads(small):
    source = opened(small)
    expected = [example["segmentation_mask"].tobytes() for example in source]
    numbers = np.random.default_rng(0).integers(0, len(source), 400).tolist()
    fresh = pickle.loads(pickle.dumps(source))  # all threads open it at once
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda number: fresh[number]["segmentation_mask"].tobytes(), numbers)
        assert list(found) == [expected[number] for number in numbers]


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", ["fork", "forkserver", pytest.param("spawn", marks=pytest.mark.slow)]
)
def test_epochs_with_a_validation_between_them_in_worker_processes(start, sample):
    training, validation = opened(sample, "train"), opened(sample, "validation")
    sources = {"train": training, "validation": validation}
    expected = {name: worker_tasks.read_all(source) for name, source in sources.items()}
    context = multiprocessing.get_context(start)
    pool = functools.partial(concurrent.futures.ProcessPoolExecutor, 2, mp_context=context)
    with pool() as persistent:
        for _, (name, source) in itertools.product(range(2), sources.items()):
            # A new pool for each, unless it takes seconds to start.
            new = pool() if start == "fork" else contextlib.nullcontext(persistent)
            with new as workers:
                halves = [source.shard(rank, 2) for rank in range(2)]
                parts = workers.map(worker_tasks.read_all, halves)
                assert sorted(itertools.chain(*parts)) == sorted(expected[name])
            assert worker_tasks.read_all(source) == expected[name]


def rewritten(path, change):
    path.write_bytes(change(path.read_bytes()))


def flip(path, place, bits=1):
    rewritten(path, lambda data: data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :])


def shard_of(builder, number=0):
    return sorted(builder.info.splits["train"].filepaths)[number]


def test_a_shard_that_is_replaced_beside_a_running_loop_is_named(copy, small, tmp_path):
    source = opened(copy)
    stored = pickle.dumps(source)
    other = shard_of(copy, 2)
    length = other.stat().length
    fresh = tmp_path / "fresh"
    fresh.write_bytes(shard_of(copy, 0).read_bytes())
    fresh.replace(other)
    with pytest.raises(RecordError, match=r"00002-of-00003: damaged at byte"):
        list(source)
    shutil.copy(shard_of(small, 2), other)
    assert other.stat().length == length
    assert len(list(pickle.loads(stored))) == 14  # the same records again
    flip(other, -2)
    with pytest.raises(RecordError, match=r"00002-of-00003: damaged at byte"):
        list(pickle.loads(stored))


def test_a_source_that_is_unpickled_refuses_a_dataset_with_other_sums(copy):
    stored = pickle.dumps(opened(copy))
    sums_file = copy.data_path / "SHA256SUMS"
    sums_file.write_text(sums_file.read_text().replace("0", "1", 1))
    again = pickle.loads(stored)
    for _ in range(2):  # it stays closed after the error
        with pytest.raises(RecordError):
            again[0]


def test_a_file_that_is_open_is_read_to_its_end_after_it_is_replaced(copy, tmp_path):
    source = opened(copy)
    expected = sums(source)
    for path in copy.info.splits["train"].filepaths:
        new = tmp_path / "new"
        new.write_bytes(b"something else")
        new.replace(path)
    assert sums(source) == expected


DAMAGES = {
    "cut within a record": (lambda data: data[:-20], "truncated or damaged"),
    "cut at a record's end": (
        lambda data: data[: int.from_bytes(data[:8], "little") + 16],
        "1 record\n.*a complete shard of",
    ),
    "a wrong length": (
        lambda data: data[:3] + b"\7" + data[4:],
        "at byte 0: the checksum of the record",
    ),
    "empty": (lambda _: b"", "0 records"),
}


@pytest.mark.parametrize(("change", "message"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_shard_is_named_when_it_is_opened(copy, change, message):
    rewritten(shard_of(copy), change)
    with pytest.raises(RecordError, match=rf"(?s)00000-of-00003: .*{message}"):
        opened(copy)


def test_a_missing_shard_and_one_with_a_wrong_bit_are_named(copy):
    flip(shard_of(copy), 100, 4)
    source = opened(copy)
    with pytest.raises(RecordError, match=r"00000-of-00003: damaged at byte 0: the checksum"):
        source[0]
    assert source[1]["image"].any()
    shard_of(copy).unlink()
    with pytest.raises(RecordError, match=r"00000-of-00003"):
        opened(copy)


@pytest.fixture(scope="module")
def sums_of_small(small):
    return sums(opened(small))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_no_changed_byte_of_a_shard_goes_unnoticed(small, sums_of_small, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("copy") / "1.0.0"
    copy = open_built(shutil.copytree(small.data_path, folder))
    before = data.draw(st.booleans())
    source = None if before else opened(copy)
    place = data.draw(st.integers(0, shard_of(copy).stat().length - 1))
    flip(shard_of(copy), place, data.draw(st.integers(1, 255)))
    found, error = None, ""
    try:
        found = sums(source or opened(copy))
    except RecordError as caught:
        error = str(caught)
    # Of the frames, a source that was open before looks at the data alone.
    assert "00000-of-00003" in error or (found == sums_of_small and source is not None)
    shutil.rmtree(folder)


def test_what_cannot_be_read_by_number_is_refused_by_name(small, tmp_path):
    for other, error in (("riegeli", RecordError), ("array_record", ConfigError)):
        folder = shutil.copytree(small.data_path, tmp_path / other / "1.0.0")
        (folder / "SHA256SUMS").unlink()
        info = folder / "dataset_info.json"
        info.write_text(info.read_text().replace('"tfrecord"', f'"{other}"'))
        with pytest.raises(error, match=f"format '?{other}"):
            data_source(str(folder), "train")
    for wrong in ("trian", "train[", "semi_92"):
        with pytest.raises(ConfigError, match=r"no such split.*\n?.*one of train"):
            opened(small, wrong)
    with pytest.raises(ConfigError, match="no such dataset"):
        data_source(str(tmp_path / "nothing"), "train")


def test_more_shards_than_open_files(small, monkeypatch):
    monkeypatch.setattr(record_index, "_MAX_OPEN_FILES", 2)
    source = opened(small)
    expected = filenames(opened(small))
    for number in np.random.default_rng(0).integers(0, 14, 60).tolist():
        assert source[number]["image/filename"] == expected[number]
    assert len(source._split.index._open_files) <= 2


def test_shards_of_a_bucket_are_fetched_once_into_a_folder(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(record_index, "is_bucket", lambda path: "cache" not in str(path))
    with pytest.raises(ConfigError, match=r"(?s)a dataset in a bucket.*cache_dir="):
        opened(copy)
    cache = tmp_path / "cache"
    source = opened(copy, cache_dir=cache)
    assert len(list(source)) == 14
    files = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert len(files) == 3
    for path in copy.info.splits["train"].filepaths:  # nothing else is read any more
        flip(path, 100, 4)
    assert len(list(opened(copy, cache_dir=cache))) == 14
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == files
    shutil.rmtree(cache)
    with pytest.raises(RecordError, match="sha256"):
        opened(copy, cache_dir=cache)
    assert not list(cache.iterdir())


COUNT_PAGE_FAULTS = """
import resource, sys
from voc_seg_tfrecord import data_source

def count_page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

source = data_source(sys.argv[1], "train")
numbers = range(len(source))
source[numbers]
before = count_page_faults()
source[numbers]
print((count_page_faults() - before) // len(source))
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it alone gives memory back")
def test_examples_are_read_into_the_memory_that_others_have_left(tmp_path):
    """In a process of its own, as this one has seen larger arrays."""
    images = np.random.default_rng(0).integers(0, 256, (8, 300, 400, 3), np.uint8)
    masks = np.tile(np.arange(2, dtype=np.uint8), (8, 300, 200))
    names = ["background", "a"]
    builder = from_arrays(images, masks, name="m", class_names=names, data_dir=tmp_path)
    assert int(run_python("-c", COUNT_PAGE_FAULTS, builder.data_path)) < 10
