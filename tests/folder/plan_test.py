"""What a plan looks at and leaves alone, and what a user is told of it beside errors."""

import collections
import pathlib
import re
import shlex

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports
from support.building import examples, from_tree
from support.drawing import write
from support.folders import NAMES, pairs_of, plan_of, refused

from voc_seg_tfrecord.build_from.run import build_source
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.folder.classes import candidates, choose
from voc_seg_tfrecord.folder.plan import plan_folder
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.formats import png_stream
from voc_seg_tfrecord.sources.open import own_source


def test_a_mask_that_no_list_names_decides_nothing(tmp_path):
    exports.mmsegmentation(tmp_path)
    before = plan_of(tmp_path)
    Image.new("RGB", (16, 12), (1, 2, 3)).save(tmp_path / "gts" / "stray_gt.png")
    assert plan_of(tmp_path).index_by_value == before.index_by_value


def flat(root, masks):
    """Writes an image and a mask for each id, and a list of all ids but those with `x`."""
    for image_id, mask in masks.items():
        drawing.put_pair(root, image_id)
        mask = np.array(mask, np.uint8)
        Image.fromarray(mask).save(root / "SegmentationClass" / f"{image_id}.png")
    ids = [image_id for image_id in masks if "x" not in image_id]
    drawing.put(root, "ImageSets/Segmentation/train.txt", "\n".join(ids))


BINARY = np.repeat([[0, 255]], 12, 0).repeat(8, 1)
GRAY = np.minimum(BINARY, 1)


def test_masks_of_0_and_255_have_two_classes_unless_a_mask_of_the_folder_has_1(tmp_path):
    names = ["background", "crack"]
    flat(tmp_path, {"a": BINARY, "b": BINARY})
    plan = plan_of(tmp_path, class_names=names)
    assert plan.mask_rule.all_values == {-1: 255, 0: 0, 255: 1}
    assert any("255 is crack" in note for note in plan.notes)
    for other in ("x", "c"):  # one that no list names, and a listed one
        flat(tmp_path / other, {"a": BINARY, "b": BINARY, other: GRAY})
        words = "2 of 3 masks hold nothing but 255 and 0"
        refused(tmp_path / other, words, class_names=names)


def test_a_question_about_a_mask_that_no_list_names_proposes_options_too(tmp_path):
    mask = np.resize(np.array([0, 1, 7, 255], np.uint8), BINARY.shape)
    flat(tmp_path, {"a": BINARY, "b": BINARY, "x": mask})
    words = "2 of 3 masks hold nothing but 255 and 0"
    text = refused(tmp_path, words, class_names=["background", "crack"])
    assert "if 255 is a class" in text
    assert "--classes" in text


def test_a_listed_mask_in_another_unicode_form_than_its_image_is_looked_at(tmp_path):
    flat(tmp_path, {"a": GRAY, "cafe\u0301": BINARY})
    masks = tmp_path / "SegmentationClass"
    (masks / "cafe\u0301.png").rename(masks / "caf\u00e9.png")
    for listed in ("caf\u00e9", "cafe\u0301"):
        drawing.put(tmp_path, "ImageSets/Segmentation/train.txt", f"a\n{listed}\n")
        words = "1 of 2 masks hold nothing but 255 and 0"
        refused(tmp_path, words, class_names=["background", "crack"])


@pytest.mark.parametrize(
    ("table", "asked", "value"),
    [
        ("id,name,r,g,b\n0,sky,0,0,0\n1,dry road,224,224,192\n", "void color #e0e0c0", 1),
        ("id,name\n0,sky\n128,edge\n255,dry road\n", "value 255, which is void,", 255),
    ],
)
def test_a_class_with_the_color_or_value_of_void_is_asked_about(tmp_path, table, asked, value):
    flat(tmp_path, {"a": GRAY * min(value, 128), "b": GRAY * value})
    drawing.put(tmp_path, "class_dict.csv", table)
    words = f"{asked} for the class 'dry road'"
    text = refused(tmp_path, words, ConfigError, class_names=None)
    assert "--classes 'dry road=dry road' if it is a class, or --classes 'dry road=void'" in text
    for new in ("dry road", "void"):
        plan = plan_to_build(tmp_path, name="mine", classes={"dry road": new})
        config = plan.config
        names = config.built_class_names
        assert ("dry road" in names) == (new == "dry road")
        assert plan.mask_rule.all_values[value] == (
            255 if new == "void" else names.index("dry road")
        )


def test_rows_that_are_proposed_for_a_name_with_a_comma_can_be_pasted(tmp_path, capsys):
    flat(tmp_path, {"a": np.maximum(GRAY * 128, BINARY // 2), "b": BINARY})
    drawing.put(tmp_path, "labelmap.csv", 'id,name\n0,background\n128,edge\n255,"dry, road"\n')
    asked = refused(tmp_path, "--classes", ConfigError, class_names=None)
    as_class, as_void = re.findall(r"--classes '[^']*'", asked)
    for options, line in ((as_class, "3 from labelmap.csv"), (as_void, "2 from labelmap.csv")):
        words = ["build", str(tmp_path), "--name", "mine", "--dry_run", *shlex.split(options)]
        assert cli.main(words) == 0
        assert f"classes:          {line}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "noted"),
    [
        *(
            (f"id,name\n0,background\n1,road\n2,wall\n{void}\n", False)
            for void in ("255,void", "255,Unlabeled", "-1,dry road", "-1,a\n-1,b")
        ),
        ("id,name,r,g,b\n0,background,0,0,0\n1,road,9,9,9\n2,Unlabeled,224,224,192\n", False),
        ("id,name,r,g,b\n0,background,0,0,0\n1,road,9,9,9\n255,border,224,224,192\n", True),
    ],
)
def test_what_is_void_beyond_doubt_or_has_no_pixel_is_not_asked_about(tmp_path, table, noted):
    flat(tmp_path, {"a": GRAY, "b": GRAY * (1 + ("wall" in table))})
    drawing.put(tmp_path, "class_dict.csv" if "r,g,b" in table else "labelmap.csv", table)
    plan = plan_to_build(tmp_path, name="mine")
    config = plan.config
    assert [*config.class_names] == ["background", "road", "wall"][: 2 + ("wall" in table)]
    assert any("border means void" in note for note in plan.notes) == noted


def noted(monkeypatch, module, name):
    """Returns a list that grows by the path of each file with which a function is called."""
    call, paths = getattr(module, name), []
    monkeypatch.setattr(
        module,
        name,
        lambda file, *rest: paths.append(str(getattr(file, "where", file))) or call(file, *rest),
    )
    return paths


HALVES = {"splits": {"train": 0.5, "test": 0.5}, "split_by": "stratified"}


@pytest.mark.parametrize("said", [{}, HALVES], ids=["by list", "stratified"])
def test_a_build_decodes_each_own_mask_once(tmp_path, monkeypatch, said):
    flat(tmp_path, {"a": GRAY, "b": GRAY})
    drawing.put(tmp_path, "classes.txt", "crop\nweed\n")  # which has two readings
    read = noted(monkeypatch, storage, "read_bytes")
    inflated = noted(monkeypatch, png_stream, "inflate")
    from_tree(tmp_path, **said)
    masks = [str(tmp_path / "SegmentationClass" / f"{name}.png") for name in "ab"]
    assert sorted(inflated) == masks
    # Sizes are read before a build. Stratified splits read the bytes too, to see that they are
    # those that were decoded.
    assert sorted(path for path in read if path in masks) == sorted(masks * (4 if said else 3))


def test_a_mask_that_changed_since_the_survey_is_decoded_again(tmp_path):
    flat(tmp_path, {"a": GRAY, "b": GRAY})
    plan = plan_to_build(tmp_path, name="mine", class_names=["background", "crack"])
    config = plan.config
    mask = tmp_path / "SegmentationClass" / "a.png"
    Image.fromarray((1 - GRAY).astype(np.uint8)).save(mask)
    builder = build_source(own_source(plan), config, data_dir=tmp_path / "data")
    built = examples(builder, "train")
    assert (built["a.jpg"]["segmentation_mask"][..., 0] == 1 - GRAY).all()
    assert (built["b.jpg"]["segmentation_mask"][..., 0] == GRAY).all()
    Image.fromarray((GRAY * 7).astype(np.uint8)).save(mask)
    with pytest.raises(VocSegError, match=r"a\.png: value 7 on 96 pixels"):
        build_source(own_source(plan), config, data_dir=tmp_path / "data", overwrite=True)


def test_a_build_names_the_folders_of_the_system_that_it_leaves_out(tmp_path):
    flat(tmp_path, {"a": GRAY})
    drawing.put_image(tmp_path, "JPEGImages/@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg")
    (note,) = plan_of(tmp_path, class_names=["background", "crack"]).notes[-1:]
    assert note == "The folder JPEGImages/@eaDir belongs to the system, so it is left out."


@pytest.mark.parametrize("before", ["L", "P", "RGB"])
@pytest.mark.parametrize("after", ["L", "P", "RGB"])
def test_a_mask_that_is_stored_otherwise_than_in_the_survey_is_refused(tmp_path, before, after):
    colors = [0, 0, 0, 128, 0, 0]

    def put_mask(mode):
        image = Image.fromarray(GRAY.astype(np.uint8))
        if mode != "L":
            image.putpalette(colors)
        if mode == "RGB":
            image = image.convert("RGB")
        image.save(tmp_path / "SegmentationClass" / "a.png")

    flat(tmp_path, {"a": GRAY})
    put_mask(before)
    plan = plan_to_build(tmp_path, name="mine", class_names=["background", "crack"])
    config = plan.config
    put_mask(after)

    def build():
        return build_source(own_source(plan), config, data_dir=tmp_path / "data")

    if before == after:
        built = examples(build(), "train")
        assert (built["a.jpg"]["segmentation_mask"][..., 0] == GRAY).all()
    else:
        with pytest.raises(VocSegError, match=r"a mask that changed during the build|color|value"):
            build()


def test_unused_files_of_many_folders_are_one_line(tmp_path, capsys):
    drawing.put_pair(tmp_path, "a")
    drawing.put(tmp_path, "class_names.txt", "a\nb\nc\n")
    for number in range(15):
        for name in ("x.txt", "y.txt"):
            drawing.put(tmp_path, f"notes{number:02}/{name}", "text")
    words = ["build", str(tmp_path), "--name", "mine", "--dry_run"]
    assert cli.main(words) == 0
    line = "30 lists, tables or other texts, in 15 folders, such as notes00/x.txt"
    assert line in capsys.readouterr().out


BUILD = "build", "--name", "m"


def dry_run(root, capsys, *words):
    status = cli.main(["build", str(root), "--name", "mine", "--dry_run", *words])
    return status, capsys.readouterr()


def test_background_that_is_not_class_0_gets_a_hint(cvat, capsys):
    _, printed = dry_run(cvat, capsys)
    hint = "With --classes background=background"
    assert f"Class 1 is background, and class 0 is apple. {hint}" in printed.out
    assert hint not in dry_run(cvat, capsys, "--classes", "background=background")[1].out


def test_without_class_names_the_error_lists_what_the_masks_hold(cvat, capsys):
    (cvat / "labelmap.txt").unlink()
    status, printed = dry_run(cvat, capsys)
    assert status == 1
    told = "without names", "color #000000 in 3 masks, 432 pixels"
    for words in (*told, f"check {cvat} --write_classes classes.csv"):
        assert words in printed.err


GRAYS = np.repeat(np.array([[0, 255]], np.uint8), 500, axis=0)
GRAYS[:100, 0] = np.arange(100)


@pytest.mark.parametrize(
    ("values", "told"),
    [(GRAYS, "they hold 101 values.*the masks were smoothed"), ([[0, 1]], "value 1 in 3 masks")],
)
def test_before_names_are_asked_for_the_values_of_masks_with_an_image_are_told(
    cvat, capsys, values, told
):
    (cvat / "labelmap.txt").unlink()
    for path in (cvat / "SegmentationClass").rglob("*.png"):
        Image.fromarray(np.array(values, np.uint8)).save(path)
    drawing.put_mask(cvat, "SegmentationClass/old/x.png", np.array([[77]]))
    _, printed = dry_run(cvat, capsys)
    assert re.search(told, printed.err, re.S)
    assert "smoothed" in told or "77" not in printed.err.replace(str(cvat), "")  # pytest's numbers


def test_a_dry_run_fails_where_the_build_would(cvat, tmp_path, capsys):
    data = ["--data_dir", str(tmp_path / "data")]
    assert cli.main(["build", str(cvat), "--name", "mine", *data]) == 0
    status, printed = dry_run(cvat, capsys, *data)
    assert status == 2
    assert "the dataset exists already" in printed.err
    assert dry_run(cvat, capsys, *data, "--overwrite")[0] == 0
    image = cvat / "JPEGImages" / "000032.JPG"
    image.write_bytes(image.read_bytes()[:-40])
    status, printed = dry_run(cvat, capsys)
    assert status == 1
    assert "000032.JPG" in printed.out
    assert cli.main(["build", str(cvat), "--name", "m", "--data_dir", str(tmp_path / "d")]) == 1


def test_listed_ids_without_an_image_are_left_out_if_asked_and_counted(cvat, capsys):
    (cvat / "JPEGImages" / "000032.JPG").unlink()
    assert dry_run(cvat, capsys)[0] == 1
    status, printed = dry_run(cvat, capsys, "--missing_image", "skip")
    assert status == 0
    line = "2 of 4 ids, default.txt; 1 left out, without a mask; 1 left out, without an image"
    assert line in printed.out
    assert cli.main(["check", str(cvat), "--missing_image", "skip"]) == 0
    assert "000032: listed in split 'train', but it has no image" in capsys.readouterr().out
    drawing.put(cvat, "ImageSets/Segmentation/default.txt", "elsewhere\n")
    status, printed = dry_run(cvat, capsys, "--missing_image", "skip")
    assert status == 1  # all images are missing
    assert "elsewhere" in printed.err


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        (
            "000032\ngone\n",
            "add the images to the folder JPEGImages, or leave",
        ),
        ('{"a": [1, 2]}\n', "build without its list: --splits train=0.8,validation=0.2"),
    ],
)
def test_check_dry_run_and_build_say_what_to_do_about_absent_images(
    cvat, tmp_path, capsys, lines, advice
):
    (cvat / "ImageSets" / "Segmentation" / "default.txt").write_text(lines)
    data = ["--data_dir", str(tmp_path / "data")]
    for command, *words in (["check"], [*BUILD, *data], [*BUILD, "--dry_run"]):
        assert cli.main([command, str(cvat), *words]) == 1
        printed = capsys.readouterr()
        assert (printed.out + printed.err).count(advice) == 1


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("images/a{}.jpg", "masks/a{}_{}.png"),
        ("images/{}.jpg", "masks/{}_mask_{}.png"),
        ("images/a{}.jpg", "masks/a{}/{}.png"),
        ("images/{}.jpg", "masks/{}/{}.png"),
    ],
)
def test_a_mask_for_each_object_is_named_for_what_it_is(tmp_path, image, mask):
    for number in range(4):
        drawing.put_image(tmp_path, image.format(number))
        for place in range(2):
            drawing.put_mask(tmp_path, mask.format(number, place), drawing.truth(str(number)))
    refused(tmp_path, "several masks for one image, such as")


def test_a_folder_is_listed_and_its_texts_read_once_for_a_build(tmp_path, monkeypatch, capsys):
    root = write(tmp_path / "tree", "abc images/{}.png masks/{}.png")
    drawing.put(root, "class_names.txt", "\n".join(NAMES))
    drawing.put(root, "train.txt", "a\nb\nc\n")
    drawing.put(root, "classes.csv", "value,class\n3,void\n")
    VocSegConfig(name="other").to_json()  # makes the config that has all defaults
    calls = collections.Counter()

    def counted(owner, name):
        inner = getattr(owner, name)

        def call(*args, **kwargs):
            calls[name] += 1
            return inner(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    counted(Listing, "of")
    counted(SplitEvidence, "find")
    counted(choose, "find_class_files")
    counted(candidates, "parse_table")
    counted(VocSegConfig, "__post_init__")
    words = ["build", str(root), "--name", "mine", "--data_dir", str(tmp_path / "data")]
    assert cli.main([*words, "--dry_run"]) == 0
    capsys.readouterr()
    assert {*calls} == {"of", "find", "find_class_files", "parse_table", "__post_init__"}
    assert calls.pop("__post_init__") == 2  # the name and version alone are checked first
    assert {*calls.values()} == {1}


def test_the_items_of_a_plan_are_the_pairs_of_its_splits(tmp_path):
    root = write(tmp_path, "abcd images/{}.png masks/{}.png", "e images/{}.png")
    drawing.put(root, "train.txt", "images/a.png masks/b.png\nimages/b.png masks/a.png\n")
    plan = plan_of(root)
    for split, ids in plan.splits.items():
        pairs = plan.items.of_split(split, ids)
        assert [pair.id for pair in pairs] == ids
        assert [plan.items[image_id] for image_id in ids] == [*pairs]
    assert [*plan.items] == list("abcd")
    assert pathlib.Path(plan.items["a"].mask).stem == "b"


def test_the_options_of_a_plan_give_the_same_plan_again(tmp_path):
    root = write(tmp_path, "abcd images/{}.png masks/{}_m.png")
    drawing.put(root, "labels.txt", "\n".join(NAMES))
    drawing.put(root, "pairs.csv", "image,mask\nimages/a.png,masks/b_m.png\nb.png,masks/a_m.png\n")
    plan = plan_to_build(root, name="mine", splits={"train": 0.5, "validation": 0.5}, seed=3)
    again = plan_folder(FolderReader(root), VocSegConfig(**plan.options))
    assert again.splits == plan.splits
    assert again.mask_rule == plan.mask_rule
    assert again.config.built_class_names == plan.config.built_class_names
    assert pairs_of(again) == pairs_of(plan)
