"""`--exclude`: a build without some images, by their ids, a file of them, or a config."""

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


def dry_run(tree, exclude, *words):
    """Returns the document of a dry run of a build."""
    command = ["build", tree, "--name=x", f"--exclude={exclude}", "--dry_run", "--json", *words]
    run = run_command(*command)
    assert run.status == 0, run.errors
    return json.loads(run.output)


@pytest.mark.parametrize("kind", ["ids", "list", "csv", "decisions", "slice"])
def test_exactly_the_named_images_are_left_out(kind, tree, tmp_path):
    choices = {
        "ids": "003,004",
        "list": put(tmp_path / "ids.txt", "003\n004.jpg\n"),
        "csv": put(tmp_path / "ids.csv", "kind,id\nspeck,003\nspeck,004\n"),
        "decisions": decisions(
            tmp_path / "d.json", **{"003": "wrong", "004": "wrong", "5": "right"}
        ),
        "slice": put(tmp_path / "more.txt", "003\n004\n005\n") + "[:2]",
    }
    before = plan_of(tree).splits
    document = dry_run(tree, choices[kind])
    assert document["splits"] == {"train": len(before["train"]) - 1, "validation": 1}
    assert any("2 images are left out by --exclude: 003, 004." in row for row in document["found"])
    after = plan_of(tree, exclude=document["config"]["exclude"]).splits
    assert {split: sorted(ids) for split, ids in after.items()} == {
        split: sorted(set(ids) - {"003", "004"}) for split, ids in before.items()
    }


@pytest.mark.parametrize(
    "options",
    [
        {"splits": {"train": 0.5, "val": 0.5}},
        {"splits": {"train": 1.0}, "folds": 3, "split_by": "hash"},
    ],
)
def test_a_hash_places_the_other_images_as_without_it(options, tree):
    before = plan_of(tree, **options).splits
    after = plan_of(tree, exclude=["003"], **options).splits
    assert {split: sorted(ids) for split, ids in after.items()} == {
        split: sorted(set(ids) - {"003"}) for split, ids in before.items()
    }


@pytest.mark.parametrize(
    ("exclude", "reason"),
    [
        ("003,999", "1 id that the folder does not have: 999"),
        ("010", "1 id in no split: 010"),
        ("000,004,008", "all 3 images of validation"),
        ("ids.csv", "ids.csv: this file cannot be read"),
    ],
)
def test_what_it_cannot_leave_out_is_refused(exclude, reason, tree):
    planted.write(tree, [planted.draw(number) for number in range(11)])
    lists = tree / "ImageSets" / "Segmentation"
    (lists / "val.txt").write_text("000\n004\n008\n")
    (lists / "train.txt").write_text("001\n002\n003\n005\n006\n007\n009\n")
    run = run_command("build", tree, "--name=x", f"--exclude={exclude}", "--dry_run")
    assert run.status == 1
    assert reason in run.errors


def test_a_name_of_two_images_is_refused(tmp_path):
    root = tmp_path / "tree"
    for split in ("train", "val"):
        planted.write(root / split, [planted.draw(number) for number in range(3)])
        shutil.rmtree(root / split / "ImageSets")
    (root / "class_names.txt").write_text("\n".join(planted.NAMES))
    run = run_command("build", root, "--name=x", "--exclude=001", "--dry_run")
    assert run.status == 1
    assert "1 name of several images: 001" in run.errors


def damage(path):
    path.write_bytes(path.read_bytes()[:-200])


@pytest.mark.slow
def test_the_error_about_damaged_files_proposes_what_leaves_their_images_out(tree, tmp_path):
    damage(tree / "JPEGImages" / "003.jpg")
    damage(tree / "SegmentationClass" / "006.png")
    build = ["build", tree, "--name=x", f"--data_dir={tmp_path}"]
    refused = run_command(*build)
    assert refused.status == 1
    proposed = 'leave these images out with --exclude 003,006 (in a config: "exclude": '
    assert proposed in refused.errors
    built = run_command(*build, "--exclude", "003,006")
    assert built.status == 0
    assert "2 images are left out by --exclude: 003, 006." in built.output
    verified = run_command("verify", "x", f"--data_dir={tmp_path}", f"--source={tree}")
    assert verified.status == 0
    again = ["build", tree, "--like=x", "--version=1.1.0", f"--data_dir={tmp_path}"]
    assert "2 images are left out by --exclude" in run_command(*again).output
    assert run_command(*again[:-2], "--version=1.2.0", again[-1], "--exclude=none").status == 1


@pytest.mark.slow
def test_check_proposes_it_too_and_then_finds_nothing_that_stops_a_build(tree):
    damage(tree / "JPEGImages" / "003.jpg")
    checked = run_command("check", tree)
    assert checked.status == 1
    assert "leave this image out with --exclude 003 " in checked.output
    checked_without = run_command("check", tree, "--exclude=003")
    assert checked_without.status == 0
    assert "in no split" not in checked_without.output


@pytest.mark.slow
def test_if_most_files_are_wrong_nothing_is_proposed(tree):
    for number in range(5):
        damage(tree / "JPEGImages" / f"{number:03}.jpg")
    assert "--exclude" not in run_command("check", tree).output


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
    assert dry_run(tree, chosen)["splits"] == {"train": 7, "validation": 2}
