"""`check --write_lists --exclude`: lists of the splits without some images."""

import json
import shutil

import pytest
from support import planted
from support.command_line import run_command
from support.folders import plan_of


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    planted.write(root, [planted.draw(number) for number in range(10)])
    return root


def put(path, text):
    path.write_text(text)
    return str(path)


def decisions(path, **decision_by_id):
    rows = [
        {"kind": "same picture", "ids": [image_id], "sha256": "x", "decision": decision}
        for image_id, decision in decision_by_id.items()
    ]
    return put(path, json.dumps({"decisions": rows}))


def write_lists(tree, exclude, *words):
    """Returns the ids of each list, by its name, and what the command did."""
    folder = tree / "without"
    run = run_command("check", tree, f"--write_lists={folder}", f"--exclude={exclude}", *words)
    lists = sorted(folder.glob("**/*.txt")) if folder.exists() else []
    return {str(path.relative_to(folder)): path.read_text().split() for path in lists}, run


@pytest.mark.parametrize("kind", ["list", "csv", "decisions", "slice"])
def test_the_lists_lack_exactly_the_images_of_the_file(kind, tree, tmp_path):
    before = plan_of(tree).splits
    files = {
        "list": put(tmp_path / "ids.txt", "003\n004.jpg\n"),
        "csv": put(tmp_path / "ids.csv", "kind,id\nspeck,003\nspeck,004\n"),
        "decisions": decisions(
            tmp_path / "d.json", **{"003": "wrong", "004": "wrong", "5": "right"}
        ),
        "slice": put(tmp_path / "more.txt", "003\n004\n005\n") + "[:2]",
    }
    lists, run = write_lists(tree, files[kind])
    assert run.status == 0
    assert f"left out: 2 images of {files[kind]}" in run.output
    assert set(before["train"]) - set(lists["train.txt"]) == {"003"}
    assert set(before["validation"]) - set(lists["val.txt"]) == {"004"}
    after = plan_of(tree, lists="without").splits
    assert {split: sorted(ids) for split, ids in after.items()} == {
        split: sorted(set(ids) - {"003", "004"}) for split, ids in before.items()
    }


def test_ratios_place_the_other_images_as_without_it(tree, tmp_path):
    ids = put(tmp_path / "ids.txt", "003\n")
    splits = "--splits=train=0.5,val=0.5"
    assert run_command("check", tree, splits, f"--write_lists={tmp_path / 'all'}").status == 0
    lists, _ = write_lists(tree, ids, splits)
    for name, listed in lists.items():
        assert {*(tmp_path / "all" / name).read_text().split()} - {"003"} == {*listed}


def test_a_round_of_folds_lacks_them_too(tree, tmp_path):
    ids = put(tmp_path / "ids.txt", "003\n")
    lists, run = write_lists(tree, ids, "--splits=train=1", "--folds=3")
    assert run.status == 0
    for fold in ("fold_0", "fold_1", "fold_2"):
        listed = lists[f"{fold}/train.txt"] + lists[f"{fold}/val.txt"]
        assert sorted(listed) == [f"{number:03}" for number in range(10) if number != 3]


def test_the_document_counts_them(tree, tmp_path):
    _, run = write_lists(tree, put(tmp_path / "ids.txt", "003\n"), "--json")
    assert json.loads(run.output)["excluded"] == 1


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ("003\n999\n", "1 id that the tree does not have: 999"),
        ("010\n", "1 id in no split: 010"),
        ("000\n004\n008\n", "all 3 images of validation"),
    ],
)
def test_what_it_cannot_do_is_refused_and_nothing_is_written(ids, reason, tree, tmp_path):
    planted.write(tree, [planted.draw(number) for number in range(11)])
    lists = tree / "ImageSets" / "Segmentation"
    (lists / "val.txt").write_text("000\n004\n008\n")
    (lists / "train.txt").write_text("001\n002\n003\n005\n006\n007\n009\n")
    found, run = write_lists(tree, put(tmp_path / "ids.txt", ids))
    assert (run.status, found) == (1, {})
    assert reason in run.errors


def test_without_lists_to_write_it_is_refused(tree, tmp_path):
    ids = put(tmp_path / "ids.txt", "003\n")
    run = run_command("check", tree, f"--exclude={ids}")
    assert run.status == 2
    assert "--exclude: no --write_lists" in run.errors


def test_decisions_name_images_as_the_dataset_does_which_may_not_be_the_ids_of_the_folder(tmp_path):
    tree = tmp_path / "tree"
    planted.write(tree, [planted.draw(number) for number in range(10)])
    for number in range(10):
        split = "val" if number % 5 == 4 else "train"
        for folder, name, new in (
            ("JPEGImages", f"{number:03}.jpg", "images"),
            ("SegmentationClass", f"{number:03}.png", "masks"),
        ):
            (tree / split / new).mkdir(parents=True, exist_ok=True)
            (tree / folder / name).rename(tree / split / new / name)
    shutil.rmtree(tree / "ImageSets")
    chosen = decisions(tmp_path / "d.json", **{"train/images/003": "wrong"})
    taken = tmp_path / "taken"
    assert run_command("check", tree, f"--ids={chosen}", f"--copy_to={taken}").status == 0
    assert [path.name for path in taken.glob("train/images/*")] == ["003.jpg"]
    lists, run = write_lists(tree, chosen)
    assert run.status == 0
    assert "train/images/003" not in lists["train.txt"]
    assert (len(lists["train.txt"]), len(lists["val.txt"])) == (7, 2)
