"""The images and pixels of each class that a build counts while it writes."""

import apache_beam
import numpy as np
import pytest
from support.building import build
from support.drawing import write_small_tree

from voc_seg_tfrecord import VocSegConfig, from_arrays, stats
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.class_counts import ClassCounts, missing_classes
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading import records


def in_memory():
    flags = ["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    return apache_beam.options.pipeline_options.PipelineOptions(flags=flags)


OWN = VocSegConfig(name="own")
TILES = VocSegConfig(name="own", tile=9, tile_overlap=2)
ENGINES = {
    "in this process": (OWN, {}),
    "in two processes": (OWN, {"workers": 2}),
    "in several shards": (OWN, {"num_shards": 3}),
    "tiles": (TILES, {}),
    "tiles in two processes": (TILES, {"workers": 2}),
    "few images": (OWN, {"max_examples_per_split": 2}),
    "on Beam": (OWN, {"beam_options": in_memory}),
    "tiles on Beam": (TILES, {"beam_options": in_memory}),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_small_tree(tmp_path_factory.mktemp("tree") / "tree", 12)


def assert_counts_are_those_of_records(builder):
    read = stats.compute(builder)
    assert set(builder.class_counts) == set(read)
    for split, counts in builder.class_counts.items():
        classes = len(read[split].class_names)
        assert counts.pixels[:classes].tolist() == read[split].pixels.tolist()
        assert counts.images[:classes].tolist() == read[split].images.tolist()
        assert counts.pixels[VOID] == read[split].void
        assert counts.pixels.sum() > 0


# What these two do is also done by another engine of the table.
SLOW = ("in two processes", "tiles in two processes", "tiles on Beam")


@pytest.mark.parametrize(
    "engine",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else []) for name in ENGINES],
)
def test_what_a_build_counts_is_what_its_records_hold(engine, tree, tmp_path):
    config, options = ENGINES[engine]
    options = {name: v() if callable(v) else v for name, v in options.items()}
    assert_counts_are_those_of_records(build(tmp_path, config, tree, **options))


def test_what_a_build_of_arrays_counts_is_what_its_records_hold(tmp_path):
    masks = [np.full((4, 5), value, np.uint8) for value in (0, 1, 255, 1)]
    masks[0][0] = 1
    images = [np.zeros((4, 5, 3), np.uint8)] * 4
    names = ["background", "a"]
    builder = from_arrays(images, masks, name="own", class_names=names, data_dir=tmp_path)
    assert_counts_are_those_of_records(builder)


def test_tiles_that_are_made_and_not_kept_are_not_counted(tree, tmp_path):
    assert build(tmp_path, TILES, tree, max_examples_per_split=5).class_counts == {}


def test_the_command_build_reads_no_record_again(tree, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "scan", None)
    words = ["build", str(tree), "--name", "own", "--class_names", "voc"]
    assert cli.main([*words, "--data_dir", str(tmp_path)]) == 0
    assert "background" in capsys.readouterr().out


def counts_of(*values):
    counts = ClassCounts()
    counts.add(np.bincount(values, minlength=256))
    return counts


@pytest.mark.parametrize(
    ("values", "asked"), [((0, 255), True), ((255,), True), ((0,), False), ((0, 1, 255), False)]
)
def test_where_255_is_all_that_is_beside_one_class_its_meaning_is_asked(values, asked):
    names = ("background", "apple", "tree")
    first = next(missing_classes(names, {"train": counts_of(*values)}))
    assert ("if it is a class, say --classes 255=NAME" in str(first)) == asked
