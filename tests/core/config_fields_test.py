import copy
import dataclasses
import json
import pickle

import pytest

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config_fields import list_fields
from voc_seg_tfrecord.core.errors import ConfigError

DEVICES = ["CON", "aux.x", "lpt1"]
OUTSIDE = ["-x", "../x", "..", ".", "a/b", "/x", "", "a\0b", "x" * 300, "é" * 101, "a:b", "a\n"]
TFDS_OWN = [".config", "incomplete.ABC123_1.0.0", "1.0.0"]


@pytest.mark.parametrize("name", [*DEVICES, *OUTSIDE, *TFDS_OWN, None, 5, ["a"]])
def test_a_name_that_is_no_folder_of_its_own_is_refused(name):
    with pytest.raises(ConfigError, match="option name"):
        VocSegConfig(name=name)


@pytest.mark.parametrize("name", ["cracks", "2012_part", "v1.0.0", "a-b", "Straße", "x" * 200])
def test_other_names_are_taken(name):
    assert VocSegConfig(name=name).name == name


def test_every_field_has_a_row_with_words_and_help_shows_them():
    fields = list_fields(VocSegConfig)
    assert {field.name for field in fields} == {f.name for f in dataclasses.fields(VocSegConfig)}
    for field in fields:
        assert field.expected, field.name
        assert f"  {field.name}: {field.meaning}" in VocSegConfig.__doc__


WRONG = {
    "overlap": ["no", 1, None],
    "instance_mask": ["false", 0],
    "objects": ["true"],
    "strict": ["yes"],
    "splits": [{}, [], "train", {"train": None}, {"train": [1]}, {"train": True}, {"train": ""}],
    "class_names": ["abc", None, [1, 2], {"a": 1}, 5],
    "classes": ["0=a", 1, [1], [["a"]], [[1, 2]], [[1.5, "a"]], {"a": 1}, None],
    "release": [2012, None, ["2012"], {}],
    "seed": ["0", 1.5, None, True],
    "layout": ["x", [], {"masks": 1}, {"masks": None}, {"annotations": "xml"}, {"parts": "a"}],
    "missing_mask": [None, [], {}],
    "missing_image": [None, [], {}],
    "exif": [False, []],
    "task": [[], None],
    "background": [0, None, []],
    "citation": [1, []],
    "homepage": [1, {}, "javascript:alert(1)", "example.org", "https://a b", "https://"],
    "split_by": [None, 1],
    "folds": [0, 1, 101, 2.0, "5", True],
    "group_by": [None, ["folder"]],
    "license": [False, ["MIT"]],
    "version": ["../x", 1, "1", [], "1.0.0/.."],
    "supported_versions": ["1.0.0", [1], None],
    "release_notes": ["x", {"1.0.0": 1}],
    "description": [1, []],
    "tags": ["x", [1]],
    "packaged_tree": ["../..", 1, "voc_seg_tfrecord"],
    "no_such_field": [1],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG.items() for value in values]
)
def test_a_field_of_another_type_is_refused_by_name(field, value):
    fields = json.loads(json.dumps({"name": "x", field: value}))
    with pytest.raises(ConfigError, match=f"option {field}"):
        VocSegConfig(**fields)


@pytest.mark.parametrize("name", ["..", "../esc", "/tmp/esc", "1.0.0"])
def test_overwrite_with_a_name_that_leaves_the_folder_deletes_nothing(devkit, tmp_path, name):
    foreign = tmp_path / "data" / "1.0.0"
    foreign.mkdir(parents=True)
    (foreign / "keep").touch()
    words = ["build", str(devkit), f"--name={name}", f"--data_dir={tmp_path / 'data'}"]
    assert cli.main([*words, "--class_names=voc", "--overwrite"]) == 2
    assert [path.name for path in (tmp_path / "data").rglob("*")] == ["1.0.0", "keep"]


def test_a_config_is_copied_and_pickled():
    config = VocSegConfig(name="x", splits={"train": 0.5, "test": 0.5})
    for again in (copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert dataclasses.asdict(again) == dataclasses.asdict(config)
