import json
import os
import tempfile

import pytest
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig
from voc_seg_tfrecord.build_from.run import build_source, check_name, expand_class_names
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.core.mask_rule import index_rule

TREE = DUMMY_DATA / "VOCdevkit" / "VOC2012"


@pytest.mark.parametrize(
    "name",
    ["2012", "sample", "a/b", "a b", "", ".", "..", ".config", "../x", "/x", "1.0.0", "x" * 300],
)
def test_a_name_that_is_taken_or_impossible_is_refused(name):
    with pytest.raises(ConfigError, match="choose another name"):
        check_name(name)


def test_voc_stands_for_vocs_names():
    assert expand_class_names(["voc"]) == list(VOC_CLASSES)
    assert expand_class_names(["a", "voc"]) == ["a", "voc"]


def test_a_dataset_that_exists_is_not_replaced_without_a_word(tmp_path):
    config = VocSegConfig(name="mine")
    (tmp_path / "voc_seg_tfrecord" / "mine" / "1.0.0").mkdir(parents=True)
    source = Source({}, config.example_spec(index_rule(21)))
    with pytest.raises(ConfigError, match="exists already"):
        build_source(source, config, data_dir=tmp_path)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/none"])
def test_a_data_dir_that_cannot_be_made_is_a_wrong_call(tmp_path, capsys, place):
    (tmp_path / "file").touch()
    words = ["build", str(TREE), "--name", "x", "--class_names", "voc", "--data_dir"]
    assert cli.main([*words, str(tmp_path / place)]) == 2
    assert f"error: --data_dir {tmp_path / place}" in capsys.readouterr().err


def test_a_data_dir_that_is_read_only_is_a_wrong_call(tmp_path, monkeypatch):
    def mkdir(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "mkdir", mkdir)
    config = VocSegConfig(name="mine")
    source = Source({}, config.example_spec(index_rule(21)))
    with pytest.raises(ConfigError, match="cannot be written: Permission denied"):
        build_source(source, config, data_dir=tmp_path)


@pytest.mark.filterwarnings("ignore:Classes have other numbers")
def test_a_dataset_that_replaces_another_keeps_nothing_of_its_metadata(tmp_path):
    options = {"name": "x", "class_names": VOC_CLASSES, "data_dir": tmp_path / "old"}
    builder_from_tree(TREE, **options, license="old")
    options["class_names"] = [*VOC_CLASSES[:-1], "other"]
    new = builder_from_tree(TREE, **options, overwrite=True).data_path
    fresh = builder_from_tree(TREE, **{**options, "data_dir": tmp_path / "new"}).data_path
    assert json.loads((new / "metadata.json").read_text())["class_names"][-1] == "other"
    assert (new / "SHA256SUMS").read_text() == (fresh / "SHA256SUMS").read_text()


def test_a_planted_link_in_the_data_dir_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("old")
    folder = tmp_path / "voc_seg_tfrecord" / "x"
    folder.mkdir(parents=True)
    (folder / "incomplete.probe").symlink_to(tmp_path / "precious")
    builder_from_tree(TREE, name="x", class_names=VOC_CLASSES, data_dir=tmp_path)
    assert (tmp_path / "precious").read_text() == "old"


def test_a_build_leaves_no_temporary_folders(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    builder_from_tree(TREE, name="x", class_names=VOC_CLASSES, data_dir=tmp_path)
    assert not list((tmp_path / "tmp").iterdir())


def test_a_build_that_fails_leaves_no_folder_of_its_config(tmp_path):
    with pytest.raises(VocSegError):
        builder_from_tree(TREE, name="x", class_names=["one"], data_dir=tmp_path / "new")
    assert not (tmp_path / "new" / "voc_seg_tfrecord" / "x").exists()
