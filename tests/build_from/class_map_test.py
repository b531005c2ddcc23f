"""Datasets whose classes are mapped at build, from the command to what is verified."""

import json
import shutil

import numpy as np
import pytest
from support import doctoring, drawing
from support.building import build, examples, from_tree, tfds_build
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VOC_CLASSES, VOID, VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_built

PERSON = [["person", "person"], ["*", "background"]]
PART = {"name": "person", "release": "2012", "strict": False, "classes": PERSON}
TREE = DUMMY_DATA / "VOCdevkit" / "VOC2012"


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    return build(tmp_path_factory.mktemp("person"), VocSegConfig(**PART), DUMMY_DATA)


def test_a_release_is_mapped_under_a_name_of_its_own(person, sample):
    assert person.info.features["segmentation_mask"].names == ["background", "person"]
    assert person.info.features["objects"].feature["label"].names == ["background", "person"]
    for split in sample.info.splits:
        found, originals = examples(person, split), examples(sample, split)
        assert found.keys() == originals.keys()
        for name, original in originals.items():
            mask = original["segmentation_mask"]
            number = VOC_CLASSES.index("person")
            expected = np.where(mask == VOID, VOID, mask == number).astype(np.uint8)
            assert (found[name]["segmentation_mask"] == expected).all()
            assert list(found[name]["labels"]) == [1] * bool((mask == number).any())
            assert (found[name]["instance_mask"] == original["instance_mask"]).all()
            of_persons = original["objects"]["label"] == number
            assert (found[name]["objects"]["label"] == 1).all()
            boxes = original["objects"]["bbox"][of_persons]
            assert np.array_equal(found[name]["objects"]["bbox"], boxes)


def test_what_was_mapped_is_in_the_metadata(person):
    metadata = person.info.metadata
    assert metadata["class_names"] == ["background", "person"]
    assert metadata["class_map"]["background"] == "background"
    assert metadata["class_map"]["to"]["person"] == "person"
    assert set(metadata["class_map"]["to"]) == set(VOC_CLASSES)
    assert metadata["config"]["classes"] == PERSON


@pytest.mark.parametrize(
    ("key", "new_name"), [(15, "void"), ("person", "void"), (15, "human"), ("person", "human")]
)
def test_boxes_become_what_their_class_becomes_by_a_row_of_its_value_or_name(
    tmp_path, sample, key, new_name
):
    rows = [[key, new_name]]
    config = VocSegConfig(name="mine", class_names=VOC_CLASSES, classes=rows, objects=True)
    built = build(tmp_path, config, DUMMY_DATA)
    assert built.info.metadata["class_map"]["to"]["person"] == new_name
    new_names = built.info.features["objects"].feature["label"].names
    for split in built.info.splits:
        found, originals = examples(built, split), examples(sample, split)
        for name, original in originals.items():
            old_names = [VOC_CLASSES[label] for label in original["objects"]["label"]]
            expected = [new_name if old == "person" else old for old in old_names]
            labels = found[name]["objects"]["label"]
            assert [new_names[label] for label in labels] == [n for n in expected if n != "void"]


@pytest.mark.parametrize("name", ["2012", "2012_aug", "sample"])
def test_a_release_keeps_its_name_for_its_own_classes(name):
    with pytest.raises(ConfigError, match="a name of your own"):
        VocSegConfig(name=name, classes=PERSON)


def test_a_dataset_is_not_reused_for_other_classes_under_its_name(person):
    folder = person.data_dir.partition("/voc_seg_tfrecord/")[0]
    build(folder, VocSegConfig(**PART), DUMMY_DATA)  # the same: nothing to do
    for changed in ({"classes": {"car": "car", "*": "background"}}, {"classes": ()}):
        with pytest.raises(ConfigError, match=r"another value of classes: .*person"):
            build(folder, VocSegConfig(**PART | changed), DUMMY_DATA)


def test_a_mapped_dataset_is_verified_against_its_source(person, tmp_path):
    assert verify.verify(person, verify.find_originals(person, TREE)).faults == []
    copy = open_built(shutil.copytree(person.data_dir, tmp_path / "1.0.0"))
    doctoring.rewrite(copy, "train", doctoring.change_pixel)
    faults = [str(fault) for fault in verify.verify(copy, verify.find_originals(copy, TREE)).faults]
    assert any("1 pixel differs from the source" in fault for fault in faults)


def test_verify_says_how_the_classes_were_mapped(person, capsys):
    assert cli.main(["verify", str(person.data_dir)]) == 0
    printed = capsys.readouterr().out
    assert "classes mapped at build: background from background, aeroplane, " in printed
    assert "; person from person\n" in printed


@pytest.mark.slow
def test_the_command_maps_colors_and_prints_a_config_that_builds_the_same(cvat, tmp_path, capsys):
    words = ["--classes", "apple=plant,tree=plant,*=background", "--missing_mask", "background"]
    data = tmp_path / "data"
    assert cli.main(["build", str(cvat), "--name", "m", "--data_dir", str(data), *words]) == 0
    printed = capsys.readouterr().out
    assert ": 0 background from background, *; 1 plant from apple, tree\n" in printed
    builder = open_built("voc_seg_tfrecord/m", data)
    found = examples(builder, "train")
    for name in ("photo.v1.2.jpeg", "000032.JPG"):
        expected = drawing.truth(name.rpartition(".")[0]) > 0
        assert (found[name]["segmentation_mask"][..., 0] == expected).all()
    assert not found["unannotated.jpg"]["segmentation_mask"].any()
    assert verify.verify(builder, verify.find_originals(builder, cvat)).faults == []
    config = printed.partition("--config '")[2].partition("'")[0]
    tfds_build("--config", config, "--manual_dir", cvat, "--data_dir", tmp_path / "tfds")
    shards = [
        {p.name: p.read_bytes() for p in folder.rglob("*.tfrecord-*")}
        for folder in (data, tmp_path / "tfds")
    ]
    assert shards[0]
    assert shards[0] == shards[1]


def test_the_check_counts_the_new_classes(cvat, capsys):
    words = ["--json", "--classes", "apple=void"]
    assert cli.main(["check", str(cvat), *words]) == 0
    classes = json.loads(capsys.readouterr().out)["classes"]
    assert [row["name"] for row in classes] == ["background", "tree", "void"]
    assert classes[2]["pixels"] > 0


def test_an_unknown_class_is_a_wrong_call(cvat, capsys):
    assert cli.main(["check", str(cvat), "--classes", "pear=void"]) == 2
    assert "'pear', which is no class" in capsys.readouterr().err


def test_a_background_of_another_name_stays_background(tmp_path):
    root = tmp_path / "tree"
    drawing.put_pair(root, "a")
    builder = from_tree(
        root,
        class_names=["floor", "apple", "tree"],
        background="floor",
        classes={"tree": "tree", "*": "floor"},
    )
    (example,) = examples(builder, "train").values()
    assert builder.info.features["labels"].feature.names == ["floor", "tree"]
    assert list(example["labels"]) == [1]
    assert verify.verify(builder, verify.find_originals(builder, root)).faults == []
