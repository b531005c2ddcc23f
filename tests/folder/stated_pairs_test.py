"""Which mask an image gets if a text states the pairs, in whatever form, or two texts disagree."""

import json
import re

import pytest
from support import drawing
from support.building import examples, from_tree
from support.drawing import write
from support.folders import NAMES, pairs_of, plan_of, refused, unused_of

from voc_seg_tfrecord.audit.verify import find_originals, verify
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import VocSegError

MASK_OF = {"a": "c", "b": "a", "c": "d", "d": "b"}
"""The mask that the texts state for each image."""

PAIRS = [(f"images/{i}.png", f"masks/{mask}.png") for i, mask in MASK_OF.items()]


def lines(separator, top="", pairs=PAIRS):
    return "".join(f"{top}{image}{separator}{top}{mask}\n" for image, mask in pairs)


def rows(image, mask):
    return [{image: f"./{i}", mask: f"./{m}"} for i, m in PAIRS]


def each_line(items):
    return "\n".join(map(json.dumps, items))


VERTEX = [
    {
        "imageGcsUri": f"gs://bucket/{image}",
        "segmentationAnnotation": {"categoryMaskGcsUri": f"gs://bucket/{mask}"},
    }
    for image, mask in PAIRS
]
NNUNET = {"labels": {"background": 0, "apple": 1, "tree": 2}, "training": rows("image", "label")}
COLUMNS = {"image": [image for image, _ in PAIRS], "mask": [mask for _, mask in PAIRS]}

FORMS = {
    "blanks": ("train.txt", lines(" ")),
    "tabs": ("train.txt", lines("\t")),
    "commas": ("train.txt", lines(",")),
    "paths of another machine": ("train.txt", lines(" ", "/SegNet/CamVid/")),
    "paths of Windows": ("train.txt", lines("\t", "C:\\data\\").replace("/", "\\")),
    "in VOC's place of lists": ("ImageSets/Segmentation/train.txt", lines(" ")),
    "CSV of a split": ("train.csv", "image,mask\n" + lines(",")),
    "CSV with a column of splits": (
        "metadata.csv",
        "image,mask,split\n" + lines(",").replace("\n", ",train\n"),
    ),
    "CSV without splits": ("pairs.csv", "image,mask\n" + lines(",")),
    "CSV of names without endings, below a comment": (
        "pairs.csv",
        "# made by hand\nimage_id,mask_id\n" + "".join(f"{i},{m}\n" for i, m in MASK_OF.items()),
    ),
    "CSV with semicolons, masks first": (
        "pairs.csv",
        "mask;image\n" + lines(";", pairs=[(mask, image) for image, mask in PAIRS]),
    ),
    "CSV of names without endings": (
        "pairs.csv",
        "image_id,mask_id\n" + "".join(f"{i},{mask}\n" for i, mask in MASK_OF.items()),
    ),
    "CSV with other columns": (
        "pairs.csv",
        "n,image,depth,mask\n"
        + "".join(f"{n},{i},d/{n}.png,{m}\n" for n, (i, m) in enumerate(PAIRS)),
    ),
    "JSON by split": ("splits.json", json.dumps({"train": rows("image", "label")})),
    "JSON by image": ("pairs.json", json.dumps(dict(PAIRS))),
    "JSON by id": ("pairs.json", json.dumps(dict(enumerate(rows("image", "mask"))))),
    "JSON of columns": ("pairs.json", json.dumps(COLUMNS)),
    "JSON of lists": ("train.json", json.dumps(PAIRS)),
    "nnU-Net's dataset.json": ("dataset.json", json.dumps(NNUNET)),
    "JSON Lines": ("train.jsonl", each_line(rows("image", "mask"))),
    "SageMaker's manifest": (
        "output.manifest",
        each_line({"source-ref": f"s3://b/{i}", "seg-ref": f"s3://b/{m}"} for i, m in PAIRS),
    ),
    "JSON over several lines": ("train.jsonl", json.dumps(rows("image", "mask"), indent=2)),
    "JSON Lines of lists": ("train.json", each_line(PAIRS)),
    "Vertex's JSON Lines": ("import.jsonl", each_line(VERTEX)),
    "YAML": ("train.yaml", "".join(f"- image: {i}\n  mask: {m}\n" for i, m in PAIRS)),
}


def folder(root, *texts):
    return write(root, "abcd images/{}.png masks/{}.png", *texts)


def masks_of(plan):
    """Returns the name of the mask of each image, whatever its split."""
    pairs = [pair for of_split in pairs_of(plan).values() for pair in of_split.items()]
    return {image.stem: mask.stem for image, mask in pairs}


@pytest.mark.parametrize("form", FORMS)
def test_stated_pairs_are_the_pairs_in_each_form(tmp_path, form):
    plan = plan_of(folder(tmp_path, FORMS[form]))
    assert masks_of(plan) == MASK_OF
    (note,) = [note for note in plan.notes if "states 4 pairs" in note]
    assert note.startswith(FORMS[form][0])
    assert "images/a.png with masks/c.png" in note
    assert not any(FORMS[form][0] in names for names in plan.unused.values())


@pytest.mark.parametrize(
    "said",
    [
        {"lists": "sets/mine.txt"},
        {"splits": {"train": "sets/mine.txt"}},
        {"splits": {"train": 0.5, "validation": 0.5}, "group_by": "none"},
        {"splits": {"train": 1.0}},
        {"images": "images", "masks": "masks"},
    ],
)
def test_stated_pairs_are_the_pairs_whatever_options_are_given(tmp_path, said):
    plan = plan_of(folder(tmp_path, ("sets/mine.txt", lines(" "))), **said)
    assert masks_of(plan) == MASK_OF


def test_stated_pairs_that_are_those_by_name_need_no_note(tmp_path):
    pairs = [(f"images/{i}.png", f"masks/{i}.png") for i in "abcd"]
    plan = plan_of(folder(tmp_path, ("train.txt", lines(" ", pairs=pairs))))
    assert masks_of(plan) == dict(zip("abcd", "abcd", strict=True))
    assert plan.notes == ()


def with_table(root, mask_of):
    """Writes a table of pairs, and returns its folder."""
    text = "".join(f"images/{i}.png,masks/{mask}.png\n" for i, mask in mask_of.items())
    drawing.put(root, "pairs.csv", f"image,mask\n{text}")
    return root


def test_one_mask_may_be_that_of_several_images(tmp_path):
    write(tmp_path, "ab images/{}.png masks/{}.png", "cd images/{}.png")
    plan = plan_of(with_table(tmp_path, {"a": "a", "b": "b", "c": "a", "d": "a"}))
    assert masks_of(plan) == {"a": "a", "b": "b", "c": "a", "d": "a"}


@pytest.mark.parametrize(
    ("sets", "mask_of"),
    [
        (["abcd images/{}.png masks/{}.png"], dict.fromkeys("abcd", "a")),
        (["abcd images/{}.png masks/{}.png"], {"a": "b", "b": "b", "c": "c", "d": "d"}),
        (["ab images/{}.png masks/{}.png", "cd images/{}.png"], dict.fromkeys("cd", "a")),
    ],
    ids=["filled down", "filled down once", "filled down, without masks by name"],
)
def test_a_mask_of_several_images_of_which_others_have_masks_is_refused(tmp_path, sets, mask_of):
    refused(with_table(write(tmp_path, *sets), mask_of), r"(?s)for \d images, and .*correct the")


def test_a_mask_that_lost_its_image_to_a_stated_pair_is_counted_and_listed(tmp_path):
    write(tmp_path, "abcd images/{}.png masks/{}.png", "x - masks/{}.png")
    mask_of = {"a": "x", "b": "b", "c": "c", "d": "d"}
    plan = plan_of(with_table(tmp_path, mask_of))
    assert masks_of(plan) == mask_of
    assert unused_of(plan) == {("masks", "masks without an image"): ["a.png"]}
    assert "masks:            5 in masks" in describe(plan)


def test_an_image_without_a_row_shares_its_mask_with_no_other_image(tmp_path):
    write(tmp_path, "acd images/{}.png masks/{}.png", "b images/{}.png")
    with_table(tmp_path, {"b": "a", "c": "c", "d": "d"})
    error = refused(tmp_path, "the mask masks/a.png for the image images/b.png")
    assert "belongs to images/a.png, for which the text states no mask" in error
    with_table(tmp_path, {"a": "a", "b": "a", "c": "c", "d": "d"})
    assert masks_of(plan_of(tmp_path)) == {"a": "a", "b": "a", "c": "c", "d": "d"}


def test_the_error_about_masks_of_other_images_names_the_first_of_them(tmp_path):
    write(tmp_path, "abcdefgh images/{}.png masks/{}.png", "wxyz images/{}.png")
    with_table(tmp_path, {"w": "h", "x": "g", "y": "b", "z": "e"})
    refused(tmp_path, "masks/b.png for the image images/y.png. By its name it belongs to images/b")


def test_images_whose_names_fit_no_mask_get_those_that_are_stated(tmp_path):
    write(tmp_path, "abc images/{}.png", "xyz - masks/{}.png")
    plan = plan_of(with_table(tmp_path, {"a": "y", "b": "z", "c": "x"}))
    assert masks_of(plan) == {"a": "y", "b": "z", "c": "x"}


def test_names_with_blanks_are_read_as_such(tmp_path):
    for letter in "abc":
        drawing.put_image(tmp_path, f"images/photo ({letter}).png")
        drawing.put_mask(tmp_path, f"masks/photo ({letter}).png", drawing.truth(letter))
    text = "".join(f"images/photo ({i}).png,masks/photo ({m}).png\n" for i, m in ("ab", "bc", "ca"))
    drawing.put(tmp_path, "train.txt", text)
    assert masks_of(plan_of(tmp_path)) == {
        "photo (a)": "photo (b)",
        "photo (b)": "photo (c)",
        "photo (c)": "photo (a)",
    }


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"images/{i}.png depth/{mask}.png\n" for i, mask in MASK_OF.items()),
        "image,prediction\n"
        + "".join(f"images/{i}.png,pred/{m}.png\n" for i, m in MASK_OF.items()),
        "image,next\n" + "".join(f"images/{i}.png,images/{m}.png\n" for i, m in MASK_OF.items()),
        "image,label\n" + "".join(f"images/{i}.png,{m}\n" for i, m in MASK_OF.items()),
        "image,thickness\na,1\nb,2\nc,3\nd,4\n",
    ],
)
def test_other_files_beside_an_image_are_no_masks(tmp_path, text):
    root = folder(tmp_path, "abcd depth/{}.png", "abcd pred/{}.png", ("train.txt", text))
    assert set(masks_of(plan_of(root)).items()) == {(i, i) for i in "abcd"}


REFUSED = {
    "two texts that disagree": (
        {"train.txt": lines(" "), "pairs.csv": "image,mask\nimages/a.png,masks/d.png\n"},
        "the mask masks/c.png for the image images/a.png, and pairs.csv has masks/d.png",
    ),
    "two rows that disagree": (
        {"train.txt": "images/a.png masks/b.png\nimages/a.png masks/c.png\n"},
        "the masks masks/b.png and masks/c.png for the image images/a.png",
    ),
    "an object with two masks": (
        {
            "pairs.manifest": """
            {"image": "images/a.png", "mask": "masks/b.png", "mask": "masks/c.png"}
            {"image": "images/b.png", "mask": "masks/d.png"}
            """
        },
        "the key 'mask' twice",
    ),
    "an object with two masks of one key": (
        {"pairs.ndjson": '{"images/a.png": "masks/b.png", "images/a.png": "masks/c.png"}'},
        "the key 'images/a.png' twice",
    ),
    "a mask that is not there": (
        {"train.txt": "images/a.png masks/x.png\nimages/b.png masks/y.png\n"},
        "the mask masks/x.png for the image images/a.png, but no such file",
    ),
    "a mask that another image has by its name": (
        {"pairs.csv": "image,mask\nimages/a.png,masks/b.png\n"},
        "By its name it belongs to images/b.png, for which the text states no mask",
    ),
    "names that may be those of images and of masks": (
        {"train.txt": "a.png b.png\nb.png a.png\n"},
        "the names a.png and b.png in one row",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_build_stops_where_stated_pairs_contradict(tmp_path, case):
    texts, words = REFUSED[case]
    refused(folder(tmp_path, *texts.items()), re.escape(words))


def test_a_mask_that_is_not_there_but_has_the_name_of_its_image_is_told(tmp_path):
    text = "".join(f"images/{i}.png masks_v1/{i}_ids.png\n" for i in "abcd")
    plan = plan_of(folder(tmp_path, ("train.txt", text)))
    assert masks_of(plan) == dict(zip("abcd", "abcd", strict=True))
    assert "train.txt names masks in masks_v1, and they are read from masks." in plan.notes


def test_check_build_and_verify_read_the_stated_pairs(tmp_path, capsys):
    root = folder(tmp_path / "tree", ("train.txt", lines(" ")))
    builder = from_tree(root, class_names=NAMES)
    built = examples(builder, "train")
    for image_id, mask in MASK_OF.items():
        pixels = built[f"{image_id}.png"]["segmentation_mask"][..., 0]
        assert (pixels == drawing.truth(mask)).all()
    assert not verify(builder, find_originals(builder, root)).faults
    assert cli.main(["check", str(root), "--class_names", ",".join(NAMES)]) == 0
    assert "train.txt states 4 pairs" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["blanks", "CSV with a column of splits", "JSON Lines"])
def test_copied_images_keep_the_stated_pairs(tmp_path, form):
    root = folder(tmp_path / "tree", FORMS[form])
    drawing.put(tmp_path, "ids.txt", "a\nb\n")
    words = ["check", str(root), "--ids", str(tmp_path / "ids.txt"), "--copy_to"]
    assert cli.main([*words, str(tmp_path / "copy"), "--class_names", ",".join(NAMES)]) == 0
    assert masks_of(plan_of(tmp_path / "copy")) == {"a": "c", "b": "a"}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("train.txt", "{image} {mask}"),
        ("pairs.csv", "{image},{mask}"),
        ("table.csv", "{mask},{image}"),
    ],
)
def test_pairs_are_read_as_stated_in_folders_of_any_names(tmp_path, text, content):
    files = []
    for image_id, mask in MASK_OF.items():
        drawing.put_image(tmp_path, f"north/x{image_id}1.png")
        drawing.put_mask(tmp_path, f"south/{ord(mask)}.png", drawing.truth(mask))
        files.append((f"north/x{image_id}1.png", f"south/{ord(mask)}.png"))
    lines_of_text = [content.format(image=image, mask=mask) for image, mask in files]
    if text == "table.csv":
        lines_of_text.insert(0, "mask,picture")
    drawing.put(tmp_path, text, "\n".join(lines_of_text))
    refused(tmp_path, "no masks")
    found = pairs_of(plan_of(tmp_path, images="north", masks="south"))["train"]
    assert {
        (image.relative_to(tmp_path).as_posix(), mask.relative_to(tmp_path).as_posix())
        for image, mask in found.items()
    } == set(files)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("image,y", "{image},{mask}"),
        ("y,image", "{mask},{image}"),
        ("mask,file", "{mask},{image}"),
        ("file,input", "{mask},{image}"),
        ("label,photo", "{mask},{image}"),
    ],
)
def test_columns_of_pairs_may_stand_in_any_order(tmp_path, columns, row):
    write(tmp_path, "abc north/{}.png", "xyz - south/{}.png")
    rows_of_text = [
        row.format(image=f"north/{image}.png", mask=f"south/{mask}.png")
        for image, mask in zip("abc", "xyz", strict=True)
    ]
    drawing.put(tmp_path, "pairs.csv", "\n".join([columns, *rows_of_text]))
    plan = plan_of(tmp_path, images="north", masks="south")
    assert masks_of(plan) == {"a": "x", "b": "y", "c": "z"}


@pytest.mark.parametrize("name", ["train.txt", "pairs.csv", "notes.json", "extra.yaml"])
def test_a_text_that_is_a_link_to_nowhere_is_no_traceback(tmp_path, name):
    write(tmp_path, "ab images/{}.png masks/{}.png")
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    refused(tmp_path, f"{name}: this file cannot be read", VocSegError)


@pytest.mark.parametrize("ending", ["jpg", "png"])
@pytest.mark.parametrize(("mask_of", "is_refused"), [("2143", True), ("1234", False)])
def test_a_mask_that_several_folders_have_is_refused_if_it_is_not_that_by_name(
    tmp_path, mask_of, is_refused, ending
):
    for folder, contents in (("a", "abcd"), ("b", "efgh")):
        for image_id, content in zip("1234", contents, strict=True):
            image = tmp_path / f"images/{folder}/{image_id}.{ending}"
            image.parent.mkdir(parents=True, exist_ok=True)
            drawing.picture(content).save(image)
            drawing.put_mask(tmp_path, f"masks/{folder}/{image_id}.png", drawing.truth(content))
    rows = ["image,mask"]
    for folder in "ab":
        for image_id, mask_id in zip("1234", mask_of, strict=True):
            rows.append(f"images/{folder}/{image_id}.{ending},{mask_id}.png")
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    if is_refused:
        with pytest.raises(VocSegError, match=r"pairs\.csv"):
            plan_of(tmp_path)
    else:
        (pairs,) = pairs_of(plan_of(tmp_path)).values()
        assert len(pairs) == 8


@pytest.mark.slow_but_first
@pytest.mark.parametrize("ending", ["txt", "json"])
def test_a_text_of_pairs_among_many_other_texts_is_read(tmp_path, ending):
    folder(tmp_path)
    for number in range(501):
        drawing.put(tmp_path, f"notes/{number:04}.{ending}", "{}" if ending == "json" else "clear")
    content = json.dumps(dict(PAIRS)) if ending == "json" else lines(" ")
    drawing.put(tmp_path, f"notes/z_pairs.{ending}", content)
    assert masks_of(plan_of(tmp_path)) == MASK_OF


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("images/a.csv", "image,mask\n" + lines(",")),
        ("images/a.csv", ("image,mask\n" + lines(",")).encode("utf-16")),
        ("a.txt", lines(" ")),
        ("b.json", json.dumps(dict(PAIRS))),
        (
            "c.csv",
            "image_id,mask_id\n" + "".join(f"{i},{mask}\n" for i, mask in MASK_OF.items()),
        ),
    ],
)
def test_a_text_of_pairs_may_have_the_name_of_an_image(tmp_path, text, content):
    folder(tmp_path, (text, content))
    assert masks_of(plan_of(tmp_path)) == MASK_OF


def test_a_text_with_the_name_of_an_image_that_states_no_pairs_changes_nothing(tmp_path):
    folder(tmp_path)
    for image_id, mask in MASK_OF.items():
        drawing.put(tmp_path, f"images/{image_id}.txt", f"0 0.5 0.5 0.1 0.{ord(mask)}\n")
        drawing.put(tmp_path, f"images/{image_id}.json", json.dumps({"file": f"{mask}.png"}))
    assert masks_of(plan_of(tmp_path)) == dict(zip("abcd", "abcd", strict=True))
