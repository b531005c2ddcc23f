"""The file of a config: `check` writes it, and `build`, `check` and `tfds build` take it."""

import hashlib
import json

import numpy as np
import pytest
from support import drawing
from support.command_line import run_command

from voc_seg_tfrecord.core.config import VocSegConfig

OPTIONS = ("--class_names", "ground,road", "--splits", "train=0.5,validation=0.5", "--seed", "3")


@pytest.fixture
def tree(tmp_path):
    """Eight images of ground and road, without splits and names."""
    root = tmp_path / "roads"
    for number in range(8):
        drawing.put_mask(root, f"masks/a{number}.png", np.eye(8, dtype=np.uint8))
        (root / "images").mkdir(exist_ok=True)
        drawing.picture(f"a{number}").resize((8, 8)).save(root / f"images/a{number}.jpg")
    return root


def shards(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.tfrecord*"))
    }


def test_a_build_with_the_written_config_gives_the_same_shards(tree, tmp_path):
    file = tmp_path / "roads.json"
    checked = run_command("check", tree, *OPTIONS, "--write_config", file)
    assert checked.status == 0, checked.text
    fields = json.loads(file.read_text())
    assert fields["name"] == "roads"
    assert VocSegConfig(**fields).class_names == ("ground", "road")
    built = run_command("build", tree, "--config", file, "--data_dir", tmp_path / "by_file")
    assert built.status == 0, built.text
    run_command("build", tree, *OPTIONS, "--name", "roads", "--data_dir", tmp_path / "by_options")
    assert shards(tmp_path / "by_file") == shards(tmp_path / "by_options")
    assert run_command("check", tree, "--config", file).status == 0


def test_an_option_replaces_that_of_the_config(tree, tmp_path):
    file = tmp_path / "roads.json"
    run_command("check", tree, *OPTIONS, "--write_config", file)
    words = ["build", tree, "--config", file, "--class_names", "field,street", "--seed", "4"]
    planned = run_command(*words, "--dry_run", "--json")
    document = json.loads(planned.output)
    assert document["config"]["class_names"] == ["field", "street"]
    assert document["config"]["seed"] == 4
    assert sum(document["splits"].values()) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "no JSON object"),
        ("{", "no JSON object"),
        ('{"name": 3}', "no JSON object"),
        ('{"clas_names": ["a"]}', "the field 'clas_names'; did you mean 'class_names'?"),
        ('{"release": "2012"}', "the release 2012"),
    ],
)
@pytest.mark.parametrize("command", ["build", "check"])
def test_what_is_no_config_of_a_folder_is_refused(tree, tmp_path, command, text, message):
    (tmp_path / "config.json").write_text(text)
    refused = run_command(command, tree, "--config", tmp_path / "config.json")
    assert (refused.status, message in refused.errors) == (2, True), refused.text


def test_a_config_beside_an_earlier_build_is_refused(tree, tmp_path):
    refused = run_command("build", tree, "--config", tmp_path / "a.json", "--like", "roads")
    assert refused.status == 2
    assert "--like --config: both" in refused.errors


def test_no_config_is_written_while_a_question_is_open(tree, tmp_path):
    drawing.put_mask(tree, "masks2/a0.png", np.zeros((8, 8), np.uint8))
    for number in range(8):
        drawing.put_mask(tree, f"masks2/a{number}.png", 1 - np.eye(8, dtype=np.uint8))
    refused = run_command("check", tree, "--write_config", tmp_path / "roads.json")
    assert refused.status == 2
    assert "a folder about which a build asks" in refused.errors
    assert not (tmp_path / "roads.json").exists()


def test_check_prints_each_note_once(tree):
    said = run_command("check", tree, "--class_names", "ground,road").output
    assert said.count("There are no lists, so all images are in train.") == 1
    assert "note (" not in said
