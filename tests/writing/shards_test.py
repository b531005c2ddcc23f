"""Shards written in the order that is known before, compared with those that TFDS shuffles."""

import pathlib
import re
import shutil

import apache_beam
import pytest
from support import handwritten
from support.building import build, files, shuffled, version_folders
from support.drawing import write_small_tree
from support.paths import DUMMY_DATA, REPOSITORY
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, from_arrays
from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.writing import examples as examples_make
from voc_seg_tfrecord.writing import shards, tasks
from voc_seg_tfrecord.writing.tasks import StreamedItems, stream_items

OWN = VocSegConfig(name="own")


def in_memory():
    flags = ["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    return apache_beam.options.pipeline_options.PipelineOptions(flags=flags)


KINDS = {
    "own tree": (OWN, {}),
    "release": ("sample", {}),
    "objects": (VocSegConfig(name="own", instance_mask=True, objects=True), {}),
    "two shards": (VocSegConfig(name="own", splits={"train": "train"}), {"num_shards": 2}),
    "tiles": (VocSegConfig(name="own", tile=24, tile_overlap=3), {}),
    "few": (OWN, {"max_examples_per_split": 2}),
    "few tiles": (VocSegConfig(name="own", tile=24), {"max_examples_per_split": 5}),
    "duplicates ignored": (OWN, {"ignore_duplicates": True}),
}


SHORT = ["own tree", "tiles"]
LONG = [pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind not in SHORT]


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    config, options = KINDS[request.param]
    manual_dir = None if config == "sample" else DUMMY_DATA
    with shuffled():
        expected = files(build(tmp_path / "theirs", config, manual_dir, **options))
    return config, manual_dir, options, expected


@pytest.mark.slow_but_first
def test_every_file_is_that_of_tfds_own_shuffle(kind, tmp_path):
    config, manual_dir, options, expected = kind
    assert files(build(tmp_path / "ours", config, manual_dir, **options)) == expected


@pytest.mark.slow_but_first
@pytest.mark.parametrize("kind", SHORT + LONG, indirect=True)
def test_every_file_is_the_same_under_beam(kind, tmp_path):
    config, manual_dir, options, expected = kind
    beams = build(tmp_path / "beam", config, manual_dir, beam_options=in_memory(), **options)
    assert files(beams) == expected


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_small_tree(tmp_path_factory.mktemp("tree") / "tree", 60)


ALONE = VocSegConfig(name="alone", splits={"train": "train"})


@pytest.fixture
def expected(tree, tmp_path, monkeypatch):
    # TFDS makes shards of 10 kB then.
    monkeypatch.setattr(tfds.core.utils.shard_utils.ShardConfig, "min_shard_size", 10_000)

    with shuffled():
        builder = build(tmp_path / "theirs", ALONE, tree)
    assert len(builder.info.splits["train"].shard_lengths) == 8
    return files(builder)


@pytest.fixture
def made(monkeypatch):
    """The ids of which examples were made."""
    found = []
    make = examples_make.try_examples
    monkeypatch.setattr(
        tasks, "try_examples", lambda spec, item: found.append(item.id) or make(spec, item)
    )
    return found


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("factor", "engine"),
    [(0.1, "here"), (1, "here"), (4, "here"), (0.5, "Beam")]
    + [pytest.param(factor, "Beam", marks=pytest.mark.slow) for factor in (0.1, 1, 4)],
)
def test_shards_are_cut_anew_where_their_number_was_not_the_estimated_one(
    factor, engine, tree, expected, tmp_path, monkeypatch, made
):
    estimate = shards._expected_size
    monkeypatch.setattr(shards, "_expected_size", lambda *args: estimate(*args) * factor)
    options = {"beam_options": in_memory()} if engine == "Beam" else {}
    assert files(build(tmp_path / "ours", ALONE, tree, **options)) == expected
    assert len(made) == 60


@pytest.mark.slow
def test_chunks_of_few_items_become_the_same_shards(tree, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "MAX_CHUNK_ITEMS", 3)
    assert files(build(tmp_path / "ours", ALONE, tree)) == expected


# Images that are trusted need no TensorFlow in the workers.
TRUSTED = {"name": "alone", "splits": {"train": "train"}, "trust_images": True}


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        VocSegConfig(**TRUSTED),
        pytest.param(VocSegConfig(**TRUSTED, tile=9), marks=pytest.mark.slow),
    ],
)
def test_every_file_is_the_same_from_several_processes(config, tree, tmp_path):
    with shuffled():
        expected = files(build(tmp_path / "theirs", config, tree))
    assert files(build(tmp_path / "ours", config, tree, workers=2)) == expected


def error_of(*args, **options):
    with pytest.raises(voc_seg_tfrecord.VocSegError) as caught:
        build(*args, **options)
    return str(caught.value)


@pytest.mark.slow
def test_problems_are_told_in_the_order_of_the_list_wherever_they_are_found(tree, tmp_path):
    bad = pathlib.Path(shutil.copytree(tree, tmp_path / "bad"))
    for number in (7, 50, 11):
        (bad / "JPEGImages" / f"{number:03}.jpg").write_bytes(b"")
    config = VocSegConfig(**TRUSTED)
    expected = error_of(tmp_path / "data", config, bad)
    assert "3 of 60 examples" in expected
    assert re.findall(r"(\d{3})\.jpg", expected) == ["007", "011", "050"]
    for options in ({"num_shards": 4}, {"workers": 2}, {"beam_options": in_memory()}):
        assert error_of(tmp_path / "data", config, bad, **options) == expected
        assert version_folders(tmp_path / "data") == []


@pytest.mark.slow
def test_workers_import_tensorflow_only_to_decode(tree, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY))
    monkeypatch.syspath_prepend(str(REPOSITORY / "tests"))
    code = processes._WORKER_CODE.replace("; from", "; from support import no_tensorflow; from", 1)
    monkeypatch.setattr(processes, "_WORKER_CODE", code)
    builder = build(tmp_path / "data", VocSegConfig(**TRUSTED), tree, workers=2)
    assert builder.info.splits["train"].num_examples == 60


@pytest.mark.parametrize(
    ("examples", "workers"), [(60, 1), (2 * shards.MIN_EXAMPLES_PER_PROCESS, 2)]
)
def test_several_processes_are_used_where_they_are_worth_their_start(
    examples, workers, monkeypatch
):
    monkeypatch.setattr(shards, "ALL_CORES", 3)
    assert shards.fastest_worker_count(Source({"train": range(examples)}, spec=None)) == workers


def test_a_split_without_items_can_be_sent_to_processes_that_build_others():
    source = stream_items(Source({"train": [], "val": iter([])}, spec=None))
    assert source.splits["train"] == []
    assert isinstance(source.splits["val"], StreamedItems)


def test_a_dead_worker_is_an_error_and_no_hole(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_WORKER_CODE", "import sys; sys.exit(7)")
    assert "ended with status 7" in error_of(tmp_path / "data", ALONE, tree, workers=2)
    assert version_folders(tmp_path / "data") == []
    assert not list(tmp_path.rglob("incomplete*"))


def test_a_backslash_that_tfds_takes_for_a_slash_is_refused(tmp_path):
    tree = write_small_tree(tmp_path / "tree", 1)
    for folder, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        (tree / folder / "a").mkdir()
        for name in ("a/b", "a\\b"):
            shutil.copy(tree / folder / f"000.{ending}", tree / folder / f"{name}.{ending}")
    (tree / "ImageSets/Segmentation/train.txt").write_text("000\na/b\na\\b\n")
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="a backslash"):
        build(tmp_path / "data", ALONE, tree)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_wrong_number_of_workers_is_a_wrong_call(workers, tmp_path):
    with pytest.raises(ConfigError, match="1 or more"):
        build(tmp_path, "sample", workers=workers)


def test_workers_beside_beam_are_a_wrong_call(tmp_path):
    with pytest.raises(ConfigError, match="given together with Apache Beam"):
        build(tmp_path, "sample", workers=2, beam_options=in_memory())


def test_more_shards_than_examples_are_refused_before_any_file_is_read(tree, tmp_path, made):
    with pytest.raises(ConfigError, match="num_shards 61"):
        build(tmp_path, ALONE, tree, num_shards=61)
    assert not made


@pytest.mark.slow
def test_records_that_are_imported_are_those_that_tfds_shuffles(tmp_path):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs()]
    path = handwritten.write(tmp_path / "train.tfrecords", records)
    options = {"name": "old", "class_names": ["voc"]}
    with shuffled():
        expected = files(import_records([path], data_dir=tmp_path / "theirs", **options))
    for workers in (1, 2):
        builder = import_records(
            [path], data_dir=tmp_path / "o", workers=workers, overwrite=True, **options
        )
        assert files(builder) == expected


@pytest.mark.parametrize("splits", [None, {"train": 0.7, "test": 0.3}])
def test_arrays_in_memory_become_the_files_of_tfds_own_shuffle(splits, tmp_path):
    images, masks = zip(*handwritten.pairs(20), strict=True)
    said = {"name": "own", "class_names": [str(n) for n in range(21)], "splits": splits}
    with shuffled():
        expected = files(from_arrays(images, masks, data_dir=tmp_path / "theirs", **said))
    found = from_arrays(iter(images), iter(masks), data_dir=tmp_path / "ours", **said)
    assert files(found) == expected
