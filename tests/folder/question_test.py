"""A question has only commands that work, and each line says what its command gives."""

import re
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing, made_folders
from support.drawing import write
from support.folders import plan_of, proposed, refused, said_by

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import LayoutError, SplitError, VocSegError, from_json
from voc_seg_tfrecord.folder import looks
from voc_seg_tfrecord.folder.alternatives import check_alternatives
from voc_seg_tfrecord.folder.question import Alternative, ManualStep, QuestionError


def count_of_line(words: str) -> int:
    """Returns how many images a line of a question says that it gives."""
    total = re.search(r"(\d+) images?\b(?! left)", words)
    if total:
        return int(total[1])
    return sum(map(int, re.findall(r"[a-z]\w* (\d+)", words)))


def question_about(root, **options) -> str:
    """Returns why a folder cannot be read; empty if it can."""
    try:
        plan_of(root, **options)
    except VocSegError as error:
        return str(error)
    return ""


def check_lines(text: str, root, **options) -> None:
    """Checks that each line's command is taken, and gives as many images as the line says."""
    for words, command in proposed(text):
        plan = plan_of(root, **{**options, **said_by(command)})
        count = count_of_line(words)
        if count:  # lines of one count do not say it
            assert sum(map(len, plan.splits.values())) == count, command


@pytest.mark.parametrize("seed", range(1, 90, 4))
def test_each_line_about_a_made_folder_gives_what_it_says(tmp_path, seed):
    made = made_folders.make(tmp_path / "made", seed)
    names = {"class_names": made_folders.CLASSES}
    text = question_about(made.root, **names)
    assert " ways to " not in text or len(proposed(text)) > 1
    check_lines(text, made.root, **names)


@pytest.mark.parametrize("form", ["split={split}/{kind}", "{kind}/split={split}"])
def test_each_line_about_folders_with_an_equals_sign_can_be_pasted(tmp_path, form):
    for ids, split in (("abc", "train"), ("de", "val")):
        kinds = ("images", "masks_anna", "masks_ben")
        images, *masks = (form.format(split=split, kind=kind) for kind in kinds)
        patterns = " ".join(f"{folder}/{{}}.png" for folder in masks)
        write(tmp_path, f"{ids} {images}/{{}}.jpg {patterns}")
    text = refused(tmp_path, "images have several masks")
    assert len(proposed(text)) > 1
    check_lines(text, tmp_path)


@pytest.mark.parametrize("names", [("disc,left", "cup"), ("a=disc", "a=cup")])
def test_each_line_about_masks_in_folders_with_separators_can_be_pasted(tmp_path, names):
    write(tmp_path, "abc images/{}.jpg")
    for value, name in enumerate(names, 1):
        for image_id in "abc":
            is_on = drawing.truth(image_id) == value
            drawing.put_mask(tmp_path, f"masks/{name}/{image_id}.png", is_on * np.uint8(255))
    text = question_about(tmp_path, class_names=None)
    assert len(proposed(text)) == 2  # of which none merges the masks under names with separators
    rows = [(0, "background"), (255, "thing")]
    check_lines(text, tmp_path, class_names=None, classes=rows)


def test_each_line_about_splits_says_the_images_of_each_split(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png")
    write(tmp_path, ("fold0/train.txt", "b\nc\nd\n"), ("fold0/val.txt", "a\n"))
    write(tmp_path, ("fold1/train.txt", "a\nc\n"), ("fold1/val.txt", "b\n"))
    text = refused(tmp_path, "2 ways to divide the images into splits")
    assert [words for words, _ in proposed(text)] == [
        "train 3, validation 1; 2 images left out",
        "train 2, validation 1; 3 images left out",
    ]
    check_lines(text, tmp_path)


def test_an_image_in_two_files_of_one_mask_is_said_plainly(tmp_path):
    write(tmp_path, "abc images/{}.jpg masks/{}.png")
    for name in "abc":
        pixels = np.asarray(Image.open(tmp_path / f"images/{name}.jpg"))
        Image.fromarray(255 - pixels).save(tmp_path / f"images/{name}.png")
    text = refused(tmp_path, "2 files for one id: images/a.jpg and images/a.png", SplitError)
    assert not proposed(text)


def test_copied_scenes_with_other_masks_are_never_read_together(tmp_path):
    write(tmp_path, "abc one/{}.jpg one/{}_label.png", "def two/{}.jpg two/{}_label.png")
    write(tmp_path, "abc three/{}.jpg three/{}_label.png")
    for name, other in zip("abc", "def", strict=True):
        mask = tmp_path / f"two/{other}_label.png"
        shutil.copyfile(mask, tmp_path / f"three/{name}_label.png")
    refused(tmp_path, "such as one/a.jpg and three/a.jpg")
    pattern = {"images": ".", "masks": ".", "mask_name": "{id}_label.png"}
    lines = proposed(refused(tmp_path, "3 images with other labels", **pattern))
    plans = [plan_of(tmp_path, **said_by(command)) for _, command in lines]
    assert [plan.splits for plan in plans] == [{"train": ["a", "b", "c"]}] * 2


def test_a_copy_of_train_as_validation_with_other_masks_is_a_split_of_its_own(tmp_path):
    for split in ("train", "val"):
        write(tmp_path, f"abcd images/{split}/{{}}.jpg masks/{split}/{{}}.png")
    for name, other in zip("abcd", "bcda", strict=True):
        mask = tmp_path / f"masks/train/{other}.png"
        shutil.copyfile(mask, tmp_path / f"masks/val/{name}.png")
    plan = plan_of(tmp_path)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"train": 4, "validation": 4}


def test_no_line_names_a_folder_that_is_not_there(tmp_path):
    for split, ids in (("train", "abcd"), ("val", "ef")):
        write(tmp_path, f"{ids} {split}/images/{{}}.jpg {split}/masks/{{}}.png")
    write(tmp_path, "abcdef - more/masks/{}.png test/masks/{}.png")
    shutil.rmtree(tmp_path / "more")  # so that the masks of test are no copies
    text = question_about(tmp_path)
    assert "test/images" not in "".join(command for _, command in proposed(text))
    check_lines(text, tmp_path)


def test_the_questions_about_masks_and_splits_come_in_one_go(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png labels/{}.png")
    write(tmp_path, ("fold0/train.txt", "b\nc\nd\n"), ("fold0/val.txt", "a\n"))
    write(tmp_path, ("fold1/train.txt", "a\nc\n"), ("fold1/val.txt", "b\n"))
    text = refused(tmp_path, "(?s)images have several masks, .*4 ways to read images and masks")
    chosen = [said_by(command) for _, command in proposed(text)]
    assert [(options["masks"], options["splits"]["train"]) for options in chosen] == [
        ("masks", "fold0/train.txt"),
        ("masks", "fold1/train.txt"),
        ("labels", "fold0/train.txt"),
        ("labels", "fold1/train.txt"),
    ]
    check_lines(text, tmp_path)


@pytest.mark.parametrize("names", [{}, {"class_names": None}])
def test_without_class_names_a_line_counts_too(tmp_path, names):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png labels/{}.png")
    text = refused(tmp_path, "images have several masks", **names)
    assert [words for words, _ in proposed(text)] == ["masks in masks", "masks in labels"]
    assert "the next question" not in text


def test_check_build_and_tfds_ask_the_same_question(tmp_path, capsys):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png labels/{}.png")
    text = refused(tmp_path, "images have several masks")
    assert cli.main(["check", str(tmp_path), "--class_names", "background,apple,tree"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    for words, command in proposed(text):
        assert f"{words}: {command}" in said


@pytest.mark.parametrize(
    ("val", "advice", "count"),
    [("x\ny\n", "--splits train=0.8,validation=0.2", 6), ("a\nb\n", "--splits validation=val", 2)],
)
def test_lists_of_other_images_are_in_no_advice(tmp_path, capsys, val, advice, count):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png", ("train.txt", "v\nw\n"), ("val.txt", val))
    assert cli.main(["check", str(tmp_path), "--class_names", "background,apple,tree"]) == 1
    assert f"build without its list: {advice}" in capsys.readouterr().out
    assert sum(map(len, plan_of(tmp_path, **said_by(advice)).splits.values())) == count


def test_another_process_gets_the_text_of_a_question():
    alternatives = [Alternative("first", {"masks": "a"}), Alternative("second", {"masks": "b"})]
    question = QuestionError("x", alternatives, task="read masks", expected="one way", kind="ways")
    again = from_json(question.to_json())
    assert type(again) is LayoutError
    assert (str(again), again.kind) == (str(question), "ways")


def test_no_line_is_shown_that_was_not_planned():
    alternatives = [Alternative("", {"masks": f"m{number:02}"}) for number in range(20)]
    question = QuestionError(
        "here", alternatives, task="read images", expected="one way", kind="several ways"
    )
    planned = []
    by_hand_alone = QuestionError(
        "here", [], task="name classes", expected="names", kind="names", by_hand="write a table"
    )

    def plan_with(options):
        """Fails for every second alternative; the others ask what is done by hand."""
        planned.append(options["masks"])
        if int(options["masks"][1:]) % 2:
            raise by_hand_alone
        raise LayoutError("here", found="x", expected="y", remedy="z", kind="no masks")

    text = str(check_alternatives(question, plan_with))
    assert text.count("write a table") == 8
    assert planned == [f"m{number:02}" for number in range(16)]
    assert "12 ways to read images" in text
    assert "and 4 more" in text


def test_the_plans_of_a_question_look_at_each_file_once(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for scene in range(4):
        mask = np.zeros((64, 64), np.uint8)
        mask[8 : 20 + scene, 8:30] = 1
        photo = rng.integers(0, 256, (64, 64, 3), np.uint8)
        for folder, array in (("src", photo), ("label", mask), ("visualize", mask * 255)):
            path = tmp_path / f"scene{scene}" / folder / "0.png"
            path.parent.mkdir(parents=True)
            Image.fromarray(array).save(path)
    looked_at = []
    looks_like_mask = looks.looks_like_mask
    monkeypatch.setattr(
        looks, "looks_like_mask", lambda path: looked_at.append(str(path)) or looks_like_mask(path)
    )
    assert "ways to read images" in question_about(tmp_path)
    assert looked_at
    assert len(looked_at) == len({*looked_at})


def test_ways_that_nobody_tried_are_not_said_to_fail():
    alternatives = [Alternative("", {"masks": f"m{number:02}"}) for number in range(30)]
    question = QuestionError(
        "here", alternatives, task="read images", expected="one way", kind="several ways"
    )

    def plan_with(options):
        raise LayoutError(options["masks"], found="x", expected="y", remedy="z")

    error = check_alternatives(question, plan_with)
    assert "30 ways to read images. None of the first 24 works, and 6 more were" in error.found
    assert error.remedy.startswith("name the folders with --images and --masks")


@pytest.mark.parametrize(
    ("alternative", "remedy"),
    [
        (Alternative("", {"masks": "good"}), "add its options to your command"),
        (ManualStep("x", "rename the other files"), "follow the line"),
    ],
)
def test_the_remedy_of_the_one_way_left_can_be_followed(tmp_path, alternative, remedy):
    plan = plan_of(write(tmp_path, "ab images/{}.jpg masks/{}.png"))
    question = QuestionError(
        "here",
        [alternative, Alternative("", {"masks": "bad"})],
        task="read images",
        expected="one way",
        kind="several ways",
    )

    def plan_with(options):
        if options["masks"] == "bad":
            raise LayoutError("here", found="x", expected="y", remedy="z", kind="no masks")
        return plan

    error = check_alternatives(question, plan_with)
    assert error.remedy.startswith(f"if it is right, {remedy}")
    assert alternative.line in error.found


def question_of(root, **options) -> str:
    """Returns the question about a folder, after its lines are planned and found to build."""
    with pytest.raises(LayoutError) as caught:
        plan_of(root, **options)
    text = str(caught.value)
    assert proposed(text)
    for _, command in proposed(text):
        plan_of(root, **{**options, **said_by(command)})
    return text


def put_grays(root, folder, *values, names="abcdef"):
    """Writes masks that hold these values in stripes."""
    for name in names:
        mask = np.resize(np.array(values, np.uint8).repeat(4), drawing.truth(name).shape)
        drawing.put_mask(root, f"{folder}/{name}.png", mask)


def test_the_question_about_folds_and_grays_comes_in_one_go(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg")
    put_grays(tmp_path, "masks", 0, 128, 255)
    for fold in range(3):
        write(tmp_path, (f"fold_{fold}.txt", "\n".join("abcdef"[2 * fold : 2 * fold + 2])))
    text = question_of(tmp_path, class_names=None)
    assert "the masks use 0, 128 and 255, without names" in text
    _, first = proposed(text)[0]
    assert {*said_by(first)} == {"splits", "classes"}
    assert "--write_classes" not in first


def test_three_questions_come_in_one_go(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg")
    put_grays(tmp_path, "masks", 0, 128, 255)
    put_grays(tmp_path, "labels", 3, 7)
    write(tmp_path, ("fold0/train.txt", "b\nc\nd\n"), ("fold0/val.txt", "a\n"))
    write(tmp_path, ("fold1/train.txt", "a\nc\n"), ("fold1/val.txt", "b\n"))
    text = question_of(tmp_path, class_names=None)
    chosen = [said_by(command) for _, command in proposed(text)]
    assert len(chosen) == 8
    for options in chosen:
        assert {"masks", "splits"} < {*options}
        assert {"classes", "class_names"} & {*options}
    assert {options["masks"] for options in chosen} == {"masks", "labels"}


def test_bands_and_names_are_asked_in_one_go(tmp_path):
    put_grays(tmp_path, "masks", 3, 7, names="abc")
    for name in "abc":
        deep = np.arange(drawing.truth(name).size, dtype=np.uint16) * 37
        image = Image.fromarray(deep.reshape(drawing.truth(name).shape))
        (tmp_path / "images").mkdir(exist_ok=True)
        image.save(tmp_path / f"images/{name}.png")
    text = question_of(tmp_path, class_names=None)
    assert "1 band of uint16" in text
    _, first = proposed(text)[0]
    assert said_by(first)["bands"] == "all"
    assert "classes" in said_by(first)


def test_files_and_sizes_are_asked_in_one_go(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg masks/{}.png")
    for name in "abcdef":
        drawing.put_mask(tmp_path, f"labels/{name}.png", drawing.truth(name)[::2, ::2])
    text = question_of(tmp_path)
    chosen = {said_by(c)["masks"]: said_by(c).get("resize_masks") for _, c in proposed(text)}
    assert chosen == {"masks": None, "labels": "nearest"}


def test_small_masks_alone_are_asked_about(tmp_path):
    write(tmp_path, "abc images/{}.jpg")
    for name in "abc":
        drawing.put_mask(tmp_path, f"masks/{name}.png", drawing.truth(name)[::2, ::2])
    text = question_of(tmp_path)
    assert "one way to read masks of another size than their images" in text
    assert "or find the masks that belong to the images" in text


def test_check_shows_the_joined_question_once(tmp_path, capsys):
    write(tmp_path, "abcdef images/{}.jpg")
    put_grays(tmp_path, "masks", 0, 128, 255)
    write(tmp_path, ("fold0/train.txt", "b\nc\nd\n"), ("fold0/val.txt", "a\n"))
    write(tmp_path, ("fold1/train.txt", "a\nc\n"), ("fold1/val.txt", "b\n"))
    text = question_of(tmp_path, class_names=None)
    assert cli.main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert said.count(" ways to divide the images into splits:") == 1
    assert "not ready to build: 1 problem" in said
    for _, command in proposed(text):
        assert said.count(f": {command}\n") == 1


def test_a_line_keeps_the_rows_that_the_user_gave(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg")
    put_grays(tmp_path, "masks", 0, 3, 255)
    text = question_of(tmp_path, class_names=None, classes=[(255, "void")])
    rows = [said_by(command).get("classes") for _, command in proposed(text)]
    assert rows[0] == ((0, "background"), (3, "NAME"), (255, "void"))
    assert "if 255 is a class" not in text
