"""`build --like` builds a folder by the options of an earlier build, and says what differs."""

import json
import pathlib
import shutil

import pytest
from support import drawing
from support.building import from_tree

from voc_seg_tfrecord.commands import cli

NAMES = "background,apple,tree"


@pytest.fixture
def root(tmp_path):
    """Returns a folder of six pairs, two more masks by another person, and a list of four."""
    root = tmp_path / "set"
    for image_id in "abcdef":
        drawing.put_image(root, f"images/{image_id}.jpg")
        drawing.put_mask(root, f"masks/{image_id}.png", drawing.truth(image_id))
        drawing.put_mask(root, f"other/{image_id}.png", drawing.truth(image_id) // 2 * 2)
    drawing.put(root, "chosen.txt", "a\nb\nc\nd\n")
    return root


def build(root: pathlib.Path, *words: str) -> int:
    return cli.main(["build", str(root), "--data_dir", str(root.parent), *words])


def shards_of(root: pathlib.Path, name: str, version: str) -> list[bytes]:
    """Returns the bytes of the shards of a version."""
    folder = root.parent / "voc_seg_tfrecord" / name / version
    return [path.read_bytes() for path in sorted(folder.glob("*.tfrecord*"))]


MASKS = ["--masks", "masks"]
OPTIONS = {
    "names": ["--class_names", NAMES, *MASKS],
    "rows": ["--classes", "0=background,1=apple,2=void", *MASKS],
    "rows over names": ["--class_names", NAMES, "--classes", "tree=apple", *MASKS],
    "two classes": ["--masks", "apple=masks,tree=other", "--missing_mask", "skip"],
    "ratios": ["--class_names", NAMES, *MASKS, "--splits", "train=0.5,val=0.5", "--seed", "5"],
    "lists": ["--class_names", NAMES, *MASKS, "--splits", "train=chosen,val=rest"],
    "folds": ["--class_names", NAMES, *MASKS, "--folds", "2", "--seed", "1"],
    "tiles": ["--class_names", NAMES, *MASKS, "--tile", "8", "--tile_overlap", "2"],
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("case", OPTIONS)
def test_the_same_folder_is_built_to_the_same_bytes(root, case, capsys):
    if case == "two classes":
        for folder in ("masks", "other"):
            for image_id in "abcdef":
                mask = drawing.truth(image_id) == (1 if folder == "masks" else 2)
                drawing.put_mask(root, f"{folder}/{image_id}.png", mask.astype("uint8") * 255)
    assert build(root, "--name", "mine", *OPTIONS[case]) == 0
    capsys.readouterr()
    assert build(root, "--like", "mine", "--version", "1.1.0") == 0
    assert "mine:1.0.0, with the same options" in capsys.readouterr().out
    assert shards_of(root, "mine", "1.1.0") == shards_of(root, "mine", "1.0.0")


def test_a_new_class_in_the_class_file_is_asked_about_with_names_that_build(tmp_path, capsys):
    root = tmp_path / "walls"
    assert cli.main(["example", "cracks", "--out", str(root)]) == 0
    assert build(root, "--name", "walls") == 0
    labelmap = root / "labelmap.txt"
    text = labelmap.read_text()
    labelmap.write_text(text.replace("crack:", "hole:50,183,250::\ncrack:"))
    again = ["--like", "walls", "--version", "1.1.0"]
    capsys.readouterr()
    assert build(root, *again) == 2
    names = "background,crack,hole"
    error = capsys.readouterr().err
    assert "to keep the numbers of your names, with new classes after them" in error
    assert f"give --class_names {names};" in error
    assert build(root, *again, "--class_names", names) == 0
    assert "0 background, 1 crack, 2 hole" in capsys.readouterr().out


def test_a_stop_with_options_of_an_earlier_build_names_no_check_without_them(root, capsys):
    assert build(root, "--name", "mine", *OPTIONS["lists"]) == 0
    drawing.put(root, "chosen.txt", "a\nb\nnowhere\n")
    capsys.readouterr()
    assert build(root, "--like", "mine", "--version", "1.1.0") == 1
    error = capsys.readouterr().err
    assert "nowhere" in error
    assert "see all problems" not in error


def test_an_option_that_is_given_too_replaces_the_old_one_and_is_named(root, capsys):
    assert build(root, "--name", "mine", *OPTIONS["ratios"]) == 0
    words = ["--like", "mine:1.0.0", "--name", "next", "--seed", "0", "--classes", "0=bg,*=fruit"]
    capsys.readouterr()
    assert build(root, *words, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["dataset"] == "voc_seg_tfrecord/next"
    assert "seed: 5 -> not given" in document["differences"]
    assert [d.partition(":")[0] for d in document["differences"]] == [
        "class_names",
        "classes",
        "seed",
    ]
    assert document["config"]["splits"] == {"train": 0.5, "validation": 0.5}


OVERLAP = ["--class_names", NAMES, *MASKS, "--splits", "train=chosen,val=others"]


def test_a_flag_of_last_time_is_switched_off(root, capsys):
    drawing.put(root, "others.txt", "d\ne\nf\n")
    for image_id in "abcdef":
        drawing.put_mask(root, f"SegmentationObject/{image_id}.png", drawing.truth(image_id))
    flags = ["--allow_overlap", "--instance_masks"]
    assert build(root, "--name", "mine", *OVERLAP, *flags) == 0
    like = ["--like", "mine", "--version", "1.1.0", "--json"]
    assert build(root, *like, "--noallow_overlap", "--dry_run") == 1
    capsys.readouterr()
    assert build(root, *like, "--noinstance_masks") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["differences"] == ["instance_mask: true -> not given"]
    assert document["config"]["overlap"] is True
    assert "instance_mask" not in document["config"]


def test_a_flag_that_is_switched_off_without_like_is_off_as_ever(root, capsys):
    words = ["--name", "mine", *OPTIONS["names"], "--dry_run", "--json"]
    documents = []
    for more in ([], ["--noobjects", "--noinstance_masks", "--noallow_overlap"]):
        assert build(root, *words, *more) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    "words", [["--objects", "--noobjects"], ["--noallow_overlap", "--allow_overlap"]]
)
def test_a_flag_that_is_switched_on_and_off_is_refused(root, words, capsys):
    with pytest.raises(SystemExit) as exited:
        build(root, "--name", "mine", *words)
    assert exited.value.code == 2
    assert f"argument {words[1]}: not allowed with argument {words[0]}" in capsys.readouterr().err


def test_the_newest_version_is_proposed_if_nothing_is_said(root, capsys):
    assert build(root, "--name", "mine", *OPTIONS["names"]) == 0
    proposal = "To build with the options of mine:1.0.0, give --like mine:1.0.0."
    capsys.readouterr()
    assert build(root, "--name", "mine", "--version", "1.1.0") == 1
    assert proposal in capsys.readouterr().out
    assert build(root, "--name", "other", "--dry_run") == 1
    assert proposal not in capsys.readouterr().out
    assert build(root, "--name", "mine", "--version", "1.1.0", *OPTIONS["names"]) == 0
    assert proposal not in capsys.readouterr().out


def test_it_is_proposed_too_if_the_folder_is_read_in_another_way(root, capsys):
    drawing.put(root, "class_names.txt", NAMES.replace(",", "\n"))
    shutil.rmtree(root / "other")
    assert build(root, "--name", "mine", "--splits", "train=chosen,val=rest") == 0
    capsys.readouterr()
    assert build(root, "--name", "mine", "--version", "1.1.0", "--splits", "train=chosen") == 0
    assert "--like" not in capsys.readouterr().out
    (root / "chosen.txt").unlink()
    assert build(root, "--name", "mine", "--version", "1.2.0") == 0
    assert "give --like mine:1.1.0" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--like", "nowhere"], ["--like", "x", "--release", "sample"]])
def test_what_cannot_be_taken_is_refused(root, words):
    assert build(root, *words) == 2


def test_a_dataset_that_is_no_build_of_a_folder_is_refused(root, capsys):
    words = ["build", "--release", "sample", "--data_dir", str(root.parent)]
    assert cli.main(words) == 0
    assert build(root, "--like", "sample", "--name", "mine") == 2
    assert "a dataset without the options of a folder of your own" in capsys.readouterr().err
    from_tree(root, name="mine", class_names=NAMES.split(","), masks="masks", data_dir=root.parent)
    assert build(root, "--like", "mine", "--name", "next", "--dry_run") == 0
