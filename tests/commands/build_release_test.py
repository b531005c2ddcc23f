import hashlib
import json

import pytest
from support.paths import DUMMY_DATA

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.config import BUILDER_CONFIGS
from voc_seg_tfrecord.sources.fetcher import Transfer, TransferError

# As `tfds build` writes them; the README's build has the same.
SHA256S = {"test": "ab5f0a530adf", "train": "6389cbfd43c3", "validation": "19f9eface2b9"}


def build(data_dir, *words):
    return cli.main(["build", "--data_dir", str(data_dir), *map(str, words)])


def test_a_release_is_built_to_the_bytes_of_tfds_build(tmp_path, capsys):
    assert build(tmp_path, "--release", "sample", "--json") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["splits"] == {"test": 1, "train": 3, "validation": 2}
    folder = tmp_path / "voc_seg_tfrecord" / "sample" / "1.0.0"
    assert document["folder"] == str(folder)
    for split, sha256 in SHA256S.items():
        (shard,) = folder.glob(f"*-{split}.tfrecord*")
        assert hashlib.sha256(shard.read_bytes()).hexdigest().startswith(sha256)


def test_a_release_that_is_there_is_replaced_only_if_asked(tmp_path, capsys):
    assert build(tmp_path, "--release", "sample") == 0
    lines = capsys.readouterr().out.splitlines()
    (built,) = [number for number, line in enumerate(lines) if line.startswith("built ")]
    assert lines[built + 1].startswith("load it with tfds.load('voc_seg_tfrecord/sample'")
    assert build(tmp_path, "--release", "sample") == 2
    assert "the dataset exists already" in capsys.readouterr().err
    assert build(tmp_path, "--release", "sample", "--overwrite") == 0


def test_every_official_config_can_be_named():
    parser = cli.make_parser()
    for config in BUILDER_CONFIGS:
        assert parser.parse_args(["build", "--release", config.name]).release == config.name


MIXES = {
    "ROOT --release 2012": "--release 2012: ROOT with a release",
    "--release 2012 --name mine": "--name with a release",
    "--release 2012 --tile 64 --class_names a,b": "--class_names, --tile with a release",
    "--release 2012 --license x --dry_run": "--dry_run, --license with a release",
    "--release 2012 --seed 3 --trust_images": "--trust_images, --seed with a release",
    "--release sample --manual_dir somewhere": "the sample comes with the package",
    "ROOT --name mine --manual_dir somewhere": "--manual_dir: no --release with it",
    "ROOT --name mine --download_dir somewhere": "--download_dir: no --release with it",
    "ROOT": "build: no --name NAME",
    "--name mine": "build: no ROOT",
    "": "build: no ROOT and no --name NAME",
    "--release 2012 --num_shards 0": "1 or more",
    "--release 2012 --tile 0": "--tile",
}


@pytest.mark.parametrize("words", MIXES)
def test_a_call_that_mixes_trees_and_releases_is_a_wrong_call(tmp_path, capsys, words):
    assert build(tmp_path, *words.split()) == 2
    captured = capsys.readouterr()
    assert MIXES[words] in captured.err
    assert captured.out == ""


def test_a_build_without_a_name_shows_the_call_with_all_options_given(capsys):
    options = ["--splits", "train=0.5,validation=0.5", "--noobjects", "--tile", "64"]
    assert cli.main(["build", "my data", *options, "--dry_run"]) == 2
    call = (
        "voc-seg-tfrecord build 'my data' --splits train=0.5,validation=0.5 --noobjects --tile 64"
    )
    assert f"what to do: {call} --name NAME --dry_run\n" in capsys.readouterr().err


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_):
        raise TransferError("no answer: ConnectionError")

    monkeypatch.setattr(Transfer, "run", refuse)


WRONG = {
    "no such folder": (2, "--manual_dir", "nowhere"),
    "no answer: ConnectionError": (1,),
    "VOC2012": (1, "--manual_dir", DUMMY_DATA),
    "1000 bytes, sha256 541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53": (
        *(1, "--manual_dir", "wrong"),
    ),
}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("found", WRONG)
def test_a_release_that_cannot_be_had_is_one_error(tmp_path, capsys, monkeypatch, found):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "VOCtrainval_11-May-2012.tar").write_bytes(bytes(1000))
    status, *words = WRONG[found]
    assert build(tmp_path / "data", "--release", "2012", *words) == status
    error = capsys.readouterr().err
    assert error.count("error: ") == 1
    assert found in error
    assert "expected: " in error
    assert "Traceback" not in error
    assert not list((tmp_path / "data").rglob("dataset_info.json"))


def test_json_of_an_own_tree_holds_splits_classes_and_the_command(tmp_path, capsys):
    words = (DUMMY_DATA, "--class_names", "voc", "--name", "own", "--json")
    assert build(tmp_path, *words, "--dry_run") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["folder"] is None
    assert planned["problems"] == []
    assert build(tmp_path, *words) == 0
    built = json.loads(capsys.readouterr().out)
    assert built["splits"] == planned["splits"] == {"test": 1, "train": 3, "validation": 2}
    assert built["classes"]["sheep"] == {"images": 1, "pixels": 964}
    assert built["command"] == planned["command"]
    assert built["config"]["name"] == "own"


def test_without_tensorflow_no_line_is_printed_that_needs_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(requirements, "is_installed", lambda module: module != "tensorflow")
    assert cli.main(["build", "--release", "sample", "--data_dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "load it with voc_seg_tfrecord.data_source('voc_seg_tfrecord/sample'" in said
    assert "tfds build" not in said
    assert "tfds.load" not in said
