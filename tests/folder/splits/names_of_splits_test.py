"""No image lands in a split that its folder or text does not say: names in any case, alone, mixed.

In doubt the build asks.
"""

import json

import pytest
from support import drawing
from support.drawing import write
from support.folders import images_of, plan_of, refused, said_by
import yaml

from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.folder.question import QuestionError

ASKED = "asked"


def put_flat(root, ids_by_name):
    drawing.put_pairs(root, "".join(ids_by_name.values()), "images/{}.jpg", "masks/{}.png")


def put_folders(root, ids_by_name):
    for name, ids in ids_by_name.items():
        drawing.put_pairs(root, ids, f"images/{name}/{{}}.jpg", f"masks/{name}/{{}}.png")


def put_folders_of_pairs(root, ids_by_name):
    for name, ids in ids_by_name.items():
        drawing.put_pairs(root, ids, f"{name}/images/{{}}.jpg", f"{name}/masks/{{}}.png")


def put_texts(root, ids_by_name):
    put_flat(root, ids_by_name)
    for name, ids in ids_by_name.items():
        drawing.put(root, f"{name}.txt", "\n".join(ids))


def put_voc_lists(root, ids_by_name):
    drawing.put_pairs(
        root, "".join(ids_by_name.values()), "JPEGImages/{}.jpg", "SegmentationClass/{}.png"
    )
    for name, ids in ids_by_name.items():
        drawing.put(root, f"ImageSets/Segmentation/{name}.txt", "\n".join(ids))


def put_json(root, ids_by_name):
    put_flat(root, ids_by_name)
    lists = {name: [*ids] for name, ids in ids_by_name.items()}
    drawing.put(root, "splits.json", json.dumps(lists))


def put_table(root, ids_by_name):
    put_flat(root, ids_by_name)
    rows = [f"{one}.jpg,{name}" for name, ids in ids_by_name.items() for one in ids]
    drawing.put(root, "data.csv", "\n".join(["image,split", *rows]))


def put_columns(root, ids_by_name):
    """Writes a table with a column of images for each split."""
    put_flat(root, ids_by_name)
    rows = [",".join(row) for row in zip(*ids_by_name.values(), strict=True)]
    drawing.put(root, "splits.csv", "\n".join([",".join(ids_by_name), *rows]))


def put_lines(root, ids_by_name):
    """Writes a table with a line of images for each split."""
    put_flat(root, ids_by_name)
    lines = [",".join([name, *ids]) for name, ids in ids_by_name.items()]
    drawing.put(root, "splits.csv", "\n".join(lines))


def put_flags(root, ids_by_name):
    """Writes a table with a column of 0 and 1 for each split."""
    put_flat(root, ids_by_name)
    rows = []
    for name, ids in ids_by_name.items():
        flags = ",".join("1" if other == name else "0" for other in ids_by_name)
        rows += [f"{one},{flags}" for one in ids]
    drawing.put(root, "splits.csv", "\n".join([",".join(["image", *ids_by_name]), *rows]))


READ = {
    "folders": put_folders,
    "folders of pairs": put_folders_of_pairs,
    "texts": put_texts,
    "VOC's lists": put_voc_lists,
    "JSON": put_json,
    "a table": put_table,
}
READ_OR_ASKED = {"columns": put_columns, "lines": put_lines, "flags": put_flags}
FORMS = READ | READ_OR_ASKED


def splits_of(root):
    """Returns the split of each image, by its last name; `asked` if the folder is not read."""
    try:
        plan = plan_of(root)
    except VocSegError:
        return ASKED
    return {one.rpartition("/")[2]: split for split, ids in plan.splits.items() for one in ids}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("names", "splits"),
    [
        ("Train VAL", "train validation"),
        ("tRAIN vAL", "train validation"),
        ("train_val TEST", "trainval test"),
        ("TrainVal Test", "trainval test"),
        ("train-VAL HoldOut", "trainval test"),
        ("VOCtrain VOCval", "train validation"),
        ("VOCtrainval VOCtest", "trainval test"),
        ("COCOtrain COCOval", "train validation"),
        ("DRIVEtraining DRIVEtest", "train test"),
    ],
)
def test_the_case_of_a_name_does_not_matter(tmp_path, names, splits, form):
    FORMS[form](tmp_path, dict(zip(names.split(), ("abc", "def"), strict=True)))
    found = splits_of(tmp_path)
    if found == ASKED:
        assert form in READ_OR_ASKED
        return
    one, other = splits.split()
    if form == "folders of pairs" and one == "trainval":
        one = "train"
    assert found == {**dict.fromkeys("abc", one), **dict.fromkeys("def", other)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", ["TrainVal Test1", "train test1", "TRAIN Test_2"])
def test_a_number_behind_test_does_not_make_it_train(tmp_path, names, form):
    FORMS[form](tmp_path, dict(zip(names.split(), ("abc", "def"), strict=True)))
    found = splits_of(tmp_path)
    if found == ASKED:
        assert form in READ_OR_ASKED
        return
    assert {found[one] for one in "def"} <= {"test", "test1", "Test1", "Test_2", "test_2"}
    assert {found[one] for one in "abc"} <= {"train", "trainval"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", ["train_test val", "TrainTest Val", "traintest val"])
def test_images_of_train_and_test_never_become_train(tmp_path, names, form):
    FORMS[form](tmp_path, dict(zip(names.split(), ("abc", "def"), strict=True)))
    if form in ("folders", "a table", "VOC's lists"):  # each name makes a split
        assert {*splits_of(tmp_path).values()} == {names.split()[0], "validation"}
        return
    told = refused(tmp_path, "split", VocSegError)
    assert "train=rest" not in told


ALONE = {
    "dev": "validation",
    "eval": "validation",
    "Evaluation": "validation",
    "holdout": "test",
    "test1": "test",
    "tst": "test",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALONE)
def test_a_split_that_stands_alone_is_no_train(tmp_path, name, form):
    FORMS[form](tmp_path, {name: "abcd"})
    found = splits_of(tmp_path)
    assert found == ASKED or {*found.values()} <= {ALONE[name], name}


@pytest.mark.parametrize("form", ["folders", "folders of pairs", "texts", "JSON"])
@pytest.mark.parametrize("name", ALONE)
def test_images_beside_the_only_split_are_asked_about(tmp_path, name, form):
    FORMS[form](tmp_path, {name: "ab"})
    drawing.put_pairs(tmp_path, "cd", "images/{}.jpg", "masks/{}.png")
    found = splits_of(tmp_path)
    if form == "folders of pairs":  # a whole set for the split, and a set beside it
        split = ALONE[name]
        assert found == {"a": split, "b": split, "c": "train", "d": "train"}
    else:
        assert found == ASKED


def test_an_id_that_a_list_in_yaml_repeats_is_in_its_split_once(tmp_path):
    text = "train: [a, b, a, c]\nval: [d]\n"
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("splits.yaml", text))
    plan = plan_of(tmp_path)
    assert images_of(plan) == {"train": ["a", "b", "c"], "validation": ["d"]}
    assert not any("several splits" in note for note in plan.notes)


def test_yaml_with_some_images_in_two_lists_stops_the_build(tmp_path):
    text = "train: [a, b, c]\nval: [d, a]\n"
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("splits.yaml", text))
    with pytest.raises(VocSegError, match=r"splits\.yaml: some images in two of its lists"):
        plan_of(tmp_path)


def test_a_list_of_all_images_beside_those_of_splits_in_yaml_changes_no_split(tmp_path):
    text = "all: [a, b, c, d]\ntrain: [a, b, c]\nval: [d]\n"
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("splits.yaml", text))
    assert images_of(plan_of(tmp_path)) == {"train": ["a", "b", "c"], "validation": ["d"]}


FOLDS = """
fold0: {train: [a, b, c], val: [d]}
fold1: {train: [b, c, d], val: [a]}
"""


@pytest.mark.parametrize("name", ["folds.yaml", "folds.json"])
def test_folds_in_one_text_are_asked_about_in_yaml_as_in_json(tmp_path, name):
    text = FOLDS if name.endswith("yaml") else json.dumps(yaml.safe_load(FOLDS))
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", (name, text))
    told = refused(tmp_path, "2 ways to divide", QuestionError)
    assert f"train={name}:fold1/train,validation={name}:fold1/val" in told


def test_a_fold_of_yaml_that_has_images_twice_stops_the_build(tmp_path):
    text = "fold0:\n  train: [a, b, c]\n  val: [d, a]\n"
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("folds.yaml", text))
    with pytest.raises(VocSegError, match=r"folds\.yaml: some images in two of its lists"):
        plan_of(tmp_path)


def test_a_text_of_several_folds_does_not_say_which_one_is_meant(tmp_path):
    text = json.dumps(yaml.safe_load(FOLDS))
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("folds.json", text))
    options = "--splits train=folds.json,validation=folds.json"
    told = refused(tmp_path, "train=folds.json, which may be", ConfigError, **said_by(options))
    part = told.partition("name the part, such as train=")[2].splitlines()[0]
    assert part == "folds.json:fold0/train"
    options = "--splits train=folds.json:fold1/train,validation=folds.json:fold1/val"
    splits = images_of(plan_of(tmp_path, **said_by(options)))
    assert splits == {"train": ["b", "c", "d"], "validation": ["a"]}


def test_a_text_with_one_part_for_each_split_is_enough(tmp_path):
    text = '{"train": ["a", "b"], "val": ["c", "d"]}'
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("all.json", text))
    splits = images_of(plan_of(tmp_path, **said_by("--splits validation=all.json,train=all.json")))
    assert splits == {"validation": ["c", "d"], "train": ["a", "b"]}


def test_a_folder_of_a_split_that_lists_in_vocs_folder_leave_out_is_named(tmp_path):
    put_folders(tmp_path, {"train": "ab", "val": "cd", "test": "ef"})
    for name, ids in {"train": "ab", "val": "cd"}.items():
        lines = "".join(f"{name}/{one}\n" for one in ids)
        drawing.put(tmp_path, f"ImageSets/Segmentation/{name}.txt", lines)
    plan = plan_of(tmp_path)
    assert images_of(plan) == {"train": ["a", "b"], "validation": ["c", "d"]}
    (note,) = [note for note in plan.notes if "takes the folders" in note]
    folders = said_by(note.partition("hold other images. ")[2].partition(" takes")[0])
    assert images_of(plan_of(tmp_path, **folders))["test"] == ["e", "f"]


def test_yaml_with_all_images_in_two_lists_makes_no_split_and_is_named(tmp_path):
    text = "train: [a, b, c, d]\nval: [d, c, b, a]\n"
    write(tmp_path, "abcd images/{}.jpg masks/{}.png", ("splits.yaml", text))
    plan = plan_of(tmp_path)
    assert images_of(plan) == {"train": ["a", "b", "c", "d"]}
    assert any("splits.yaml names the same images for several" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("folders", "splits"),
    [
        ("training val eval", "train validation eval"),
        ("Training test holdout", "train test holdout"),
        ("train val testing tst", "train validation testing tst"),
    ],
)
def test_only_folders_of_the_same_split_keep_their_own_names(tmp_path, folders, splits):
    ids_by_folder = dict(zip(folders.split(), ("ab", "cd", "ef", "gh"), strict=False))
    put_folders(tmp_path, ids_by_folder)
    expected = dict(zip(splits.split(), map(list, ids_by_folder.values()), strict=True))
    assert images_of(plan_of(tmp_path)) == expected


def test_the_option_for_two_folders_of_one_name_takes_a_folder(tmp_path):
    put_folders(tmp_path, {"train": "ab", "val": "cd", "valid": "ef"})
    told = refused(tmp_path, "'val' and 'valid', which are both the split 'validation'")
    option = told.partition("choose one: ")[2].replace("...", "train=train/")
    splits = images_of(plan_of(tmp_path, **said_by(option)))
    assert splits == {"train": ["a", "b"], "validation": ["e", "f"]}


@pytest.mark.parametrize("put", [put_folders, put_folders_of_pairs])
def test_folders_make_splits_with_names_that_tfds_takes(tmp_path, put):
    put(tmp_path, {"train": "ab", "Test 1": "cd", "test[:2]": "ef"})
    images = images_of(plan_of(tmp_path))
    assert images == {"train": ["a", "b"], "Test_1": ["c", "d"], "test_2": ["e", "f"]}


def test_parts_in_folders_of_tests_make_splits_with_names_that_tfds_takes(tmp_path):
    for name, ids in {"train": "ab", "Test 1": "cd", "Test 2": "ef"}.items():
        drawing.put_pairs(tmp_path, ids, f"{name}/imgs/{{}}.jpg", f"{name}/gt/{{}}.png")
    images = images_of(plan_of(tmp_path))
    assert images == {"train": ["a", "b"], "Test_1": ["c", "d"], "Test_2": ["e", "f"]}


def test_two_folders_whose_names_tfds_would_take_as_one_split_are_asked_about(tmp_path):
    put_folders(tmp_path, {"train": "ab", "Test 1": "cd", "Test-1": "ef"})
    refused(tmp_path, "'Test 1' and 'Test-1', which are both the split 'Test_1'")


@pytest.mark.parametrize(
    "pattern", ["{split}_{id}", "{id}_{split}", "{split}set-{id}", "a_{split}_images {id}"]
)
@pytest.mark.parametrize(
    "names", ["train val test", "val test", "Training Valid", "train_test val"]
)
def test_names_of_images_that_say_several_splits_are_asked_about(tmp_path, names, pattern):
    for number, name in enumerate(names.split()):
        ids = [pattern.format(split=name, id=one) for one in "abc"[number:]]
        drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    told = refused(tmp_path, "images of one folder with names of different splits", VocSegError)
    assert "train.txt" in told
    plan = plan_of(tmp_path, **said_by("--splits train=1"))
    assert [*plan.splits] == ["train"]


@pytest.mark.parametrize("name", ["train_{}", "{}_val", "test-{}", "2_dev{}", "trainset {}"])
@pytest.mark.parametrize("others", ["bonus_{}", "{}"])
def test_names_of_images_of_which_some_say_a_split_are_asked_about(tmp_path, name, others):
    ids = [name.format(7), *(others.format(one) for one in "abc")]
    drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    told = refused(tmp_path, "of which only some are named after a split", VocSegError)
    assert f"{ids[0]}.jpg, {ids[1]}.jpg" in told
    assert [*plan_of(tmp_path, **said_by("--splits train=1")).splits] == ["train"]
    drawing.put(tmp_path, "train.txt", "\n".join(ids[:2]))
    drawing.put(tmp_path, "val.txt", "\n".join(ids[2:]))
    assert images_of(plan_of(tmp_path)) == {"train": sorted(ids[:2]), "validation": ids[2:]}


@pytest.mark.parametrize(
    "ids", [["test_a", "test_b"], ["a_train_b", "bus_a"], ["a_train_b", "a_val_b", *"cdefg"]]
)
def test_names_that_say_one_split_or_have_such_words_within_are_all_train(tmp_path, ids):
    drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    assert images_of(plan_of(tmp_path)) == {"train": sorted(ids)}


@pytest.mark.parametrize("names", ["train_v1 val_unseen", "road_train sky_val", "tr_b my_test"])
def test_folders_of_several_splits_with_other_words_are_asked_about(tmp_path, names):
    put_folders(tmp_path, dict(zip(names.split(), ("abc", "def"), strict=True)))
    told = refused(tmp_path, "in folders that are called as splits", VocSegError)
    option = told.partition("use the folders as splits, add ")[2].partition("; to put")[0]
    splits = images_of(plan_of(tmp_path, **said_by(option)))
    assert sorted(map("".join, splits.values())) == ["abc", "def"]


@pytest.mark.parametrize("name", ["calib", "unseen", "site_b"])
def test_a_folder_where_folders_of_splits_lie_is_not_silently_train(tmp_path, name):
    for scene, ids in {"rome": "abc", "bonn": "def"}.items():
        for folder, one in zip(["train", "val", name], ids, strict=True):
            images = f"{scene}/{folder}/images/{{}}.jpg"
            drawing.put_pairs(tmp_path, one, images, f"{scene}/{folder}/masks/{{}}.png")
    refused(
        tmp_path,
        f"images in the folder {name}, next to folders that are named after splits",
        VocSegError,
    )


def test_the_word_of_a_split_is_found_behind_letters_that_are_longer_in_lower_case(tmp_path):
    assert len("İ".lower()) == 2
    put_folders_of_pairs(tmp_path, {"İstanbul_train": "ab", "İstanbul_val": "cd"})
    splits = plan_of(tmp_path).splits
    assert splits == {"train": ["train/a", "train/b"], "validation": ["val/c", "val/d"]}


@pytest.mark.parametrize("folder", ["{}/", "images/{}/", "set/images/{}/"])
def test_the_folder_of_a_split_is_given_by_its_path_too(tmp_path, folder):
    put_folders(tmp_path / "set", {"first": "ab", "second": "cd"})
    splits = {"train": folder.format("first"), "test": folder.format("second")}
    assert images_of(plan_of(tmp_path, splits=splits)) == {"train": ["a", "b"], "test": ["c", "d"]}


def test_a_folder_that_may_be_one_of_two_is_asked_about(tmp_path):
    drawing.put_pairs(tmp_path, ["a", "images/b"], "images/{}.jpg", "masks/{}.png")
    told = refused(tmp_path, "which may be the folder", ConfigError, splits={"train": "images/"})
    assert "images/ or images/images/" in told
    plan = plan_of(tmp_path, splits={"train": "images/images/"})
    assert images_of(plan) == {"train": ["b"]}
