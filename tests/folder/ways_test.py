"""Who is in which split: each way in which people write it down, and what contradicts another."""

import csv
import io
import json
import pathlib
import re

import numpy as np
from PIL import Image
import pytest
from support import drawing, made_folders, pages
from support.folders import pairs_of, plan_of, proposed, refused, said_by, unused_of

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.folder.splits.folders import FOLDER_RULES, SplitFolders
from voc_seg_tfrecord.folder.splits.rules import RULES

IDS = [f"k{n:02}" for n in range(20)]
SPLITS = {"train": IDS[:12], "validation": IDS[12:16], "test": IDS[16:]}
NAMES = {"train": "train", "validation": "val", "test": "test"}
RNG = np.random.default_rng(1)
IMAGES, MASKS = "images/{}.jpg", "masks/{}.png"


def put(root, image=IMAGES, mask=MASKS, ids=IDS):
    """Writes pairs."""
    for image_id in ids:
        for pattern, pixels in zip((image, mask), made_folders.draw(RNG, (24, 32)), strict=True):
            out = io.BytesIO()
            Image.fromarray(pixels).save(out, "PNG" if pattern.endswith("png") else "JPEG")
            drawing.put(root, pattern.format(image_id), out.getvalue())


def lists(root, pattern="{}.txt", line="{}", names=NAMES, splits=SPLITS):
    """Writes a list for each split; `pattern` has its name, and `line` the id."""
    for split, ids in splits.items():
        text = "".join(line.format(image_id) + "\n" for image_id in ids)
        drawing.put(root, pattern.format(names[split]), text)


def table(root, name, head, rows, delimiter=","):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([head, *rows])
    drawing.put(root, name, out.getvalue())


def rows_of(row=lambda image_id, split: (image_id, split), splits=SPLITS):
    return [row(image_id, NAMES[split]) for split, ids in splits.items() for image_id in ids]


def plain(splits):
    return {NAMES[split]: ids for split, ids in splits.items()}


def put_json(root, name, content):
    drawing.put(root, name, json.dumps(content))


def folders(root, splits=SPLITS):
    """Writes pairs in folders of splits."""
    for split, ids in splits.items():
        put(root, f"images/{NAMES[split]}/{{}}.jpg", f"masks/{NAMES[split]}/{{}}.png", ids)


def found(root, **said):
    """Returns the last part of the ids of each split, sorted, and the plan."""
    plan = plan_of(root, **said)
    last = {s: sorted(i.rpartition("/")[2] for i in ids) for s, ids in plan.splits.items()}
    pairs = (pair for of in pairs_of(plan).values() for pair in of.items())
    assert all(mask.stem.startswith(image.stem[:3]) for image, mask in pairs)
    return last, plan


def asked(root):
    """Returns the splits that each line of the question gives that a folder is."""
    answers = []
    for counts, options in proposed(refused(root, "--splits")):
        splits, _ = found(root, **said_by(options))
        expected = ", ".join(f"{split} {len(ids)}" for split, ids in splits.items())
        assert counts.partition(";")[0] == expected
        answers.append(splits)
    return answers


# The table of the page on splits.


WAYS = {
    "a list for each split": lambda root, of: lists(root, "list/{}.lst", splits=of),
    "lists of pairs": lambda root, of: lists(root, "{}_list.txt", "{0}.jpg {0}.png", splits=of),
    "a table for each split": lambda root, of: lists(root, "{}.csv", "{0}.jpg,{0}.png", splits=of),
    "one table": lambda root, of: table(root, "t.csv", ("name", "split"), rows_of(splits=of)),
    "one JSON or YAML": lambda root, of: put_json(root, "s.json", plain(of)),
    "rows with a split each": lambda root, of: put_json(
        root, "rows.json", rows_of(lambda i, s: {"image": f"{i}.jpg", "split": s}, of)
    ),
    "folders": folders,
    "one fold": lambda root, of: lists(root, "fold0/{}.txt", splits=of),
}


def test_the_page_shows_these_ways():
    page = pathlib.Path(__file__).parents[2] / "docs" / "guides" / "splits.md"
    _, _, rows = page.read_text().partition("| in the folder |")
    assert re.findall(r"^\| ([^|-]*) \|", rows.partition("\n\n")[0], re.M) == [*WAYS]


@pytest.mark.parametrize("other", [way for way in WAYS if way != "folders"])
@pytest.mark.parametrize("way", WAYS)
def test_nobody_is_in_a_wrong_split_without_a_word(tmp_path, way, other):
    if way != "folders":
        put(tmp_path)
    WAYS[way](tmp_path, SPLITS)
    assert found(tmp_path)[0] == SPLITS
    if other != way:
        WAYS[other](tmp_path, SPLITS)
        assert found(tmp_path)[0] == SPLITS
        swapped = {IDS[0]: IDS[19], IDS[19]: IDS[0]}
        moved = {s: sorted(swapped.get(i, i) for i in ids) for s, ids in SPLITS.items()}
        WAYS[other](tmp_path, moved)
        answers = asked(tmp_path)
        assert answers in ([SPLITS, moved], [moved, SPLITS])


# The rules.


def test_the_page_lists_the_rules_in_their_order():
    page = pathlib.Path(__file__).parents[2] / "docs" / "background" / "folder-rules.md"
    _, _, section = page.read_text().partition("## Splits\n")
    verdicts = [rule.find for rule in FOLDER_RULES]
    verdicts += [rule.loses for rule in RULES if rule.loses]
    listed = re.findall(r"^\d\. (.*)$", section, re.M)
    assert listed == [pages.sentence_and_example(verdict)[0] for verdict in verdicts]


FOLDERS_BY_RULE = {
    "first folders": {s: f"images/{name} masks/{name}" for s, name in NAMES.items()},
    "folders at one depth": {s: f"images/x/{name}_8 masks/x/{name}_8" for s, name in NAMES.items()},
    "folders of parts": {
        "train": "train_x/imgs train_x/masks",
        "validation": "test1_x/imgs test1_x/masks",
        "test": "test2_x/imgs test2_x/masks",
    },
}
"""For each rule, the folders of images and masks with the ids of each of `SPLITS`."""


@pytest.mark.parametrize("rule", [rule.name for rule in FOLDER_RULES])
def test_folders_that_a_rule_finds_make_splits(tmp_path, rule):
    for split, folders_of_split in FOLDERS_BY_RULE[rule].items():
        images, masks = folders_of_split.split()
        put(tmp_path, f"{images}/{{}}.jpg", f"{masks}/{{}}.png", SPLITS[split])
    splits, plan = found(tmp_path)
    expected = SPLITS
    if rule == "folders of parts":
        expected = {"train": IDS[:12], "test1_x": IDS[12:16], "test2_x": IDS[16:]}
    assert splits == expected
    (found_by, *_) = [one.name for one in FOLDER_RULES if one.find(SplitFolders(plan.tree))]
    assert found_by == rule


NOT_TAKEN = {
    "lists in VOC's folder": lambda root: lists(root, "ImageSets/Segmentation/{}.txt"),
    "train divided by lists": lambda root: lists(
        root, "a/{}.txt", splits={"train": IDS[:16], "test": IDS[16:]}
    ),
    "lists among results": lambda root: lists(
        root, "results/{}.txt", splits={"train": IDS[1:], "test": IDS[:1]}
    ),
    "lists of train and more": lambda root: drawing.put(
        root, "lists/trainval.txt", "\n".join(IDS[:16])
    ),
    "lists for another task": lambda root: [
        lists(root, "ImageSets/Segmentation/{}.txt"),
        lists(root, "ImageSets/Main/{}.txt", splits={"train": IDS[3:]}),
    ],
    "the same or less": lambda root: lists(
        root, "few/{}.txt", splits={"train": IDS[:3], "test": IDS[17:]}
    ),
}


@pytest.mark.parametrize("write", NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_lists_that_lose_by_a_rule_do_not_divide_the_images(tmp_path, write):
    put(tmp_path)
    put_json(tmp_path, "splits.json", plain(SPLITS))
    write(tmp_path)
    assert found(tmp_path)[0] == SPLITS


def test_folders_and_lists_that_agree_are_read_once(tmp_path):
    folders(tmp_path)
    lists(tmp_path)
    assert found(tmp_path)[0] == SPLITS


# Lists, tables and texts.


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("splits/{}.txt", "{}"),
        ("{}/files.txt", "{}.jpg"),
        ("{}_list.txt", "images/{0}.jpg masks/{0}.png"),
        ("list/{}.lst", "images/{0}.jpg\tmasks/{0}.png"),
        ("{}_ids.txt", "{}"),
        ("{}.csv", "images/{0}.jpg,masks/{0}.png"),
        ("meta/{}_images.txt", "/home/me/data/images/{}.jpg"),
        ("{}-split.txt", "C:\\data\\images\\{}.jpg"),
        ("fold0/{}.txt", "{}.png"),
        ("ImageSets/Main/{}.txt", "{}"),
        ("ImageSets/Segmentation/{}.txt", "{}"),
        ("ImageSets/Segmentation/{}.txt", "images\\{}.jpg\r"),
        ("ImageSets/Segmentation/{}.txt", "images\\{0}.jpg masks\\{0}.png\r"),
        ("ImageSets/Segmentation/{}.txt", "data\\VOC2012\\images\\{}.jpg"),
        ("ImageSets/Segmentation/{}.txt", "VOC2012/images/{}.jpg"),
        ("ImageSets/Segmentation/{}.txt", "C:\\data\\images\\{}.jpg"),
        ("{}", "{}.jpg"),
    ],
)
def test_lists_beside_the_folders_of_images_are_read_wherever_they_lie(tmp_path, pattern, line):
    put(tmp_path, f"data/{IMAGES}", f"data/{MASKS}")
    lists(tmp_path, pattern, line)
    splits, plan = found(tmp_path)
    assert splits == SPLITS
    assert not any("no lists" in note for note in plan.notes)
    path = pattern.format("train")
    usual = path in ("splits/train.txt", "train", "ImageSets/Segmentation/train.txt")
    assert any(f"{path} makes the split train" in note for note in plan.notes) or usual


@pytest.mark.parametrize("column", ["split", "Subset", "set", "partition", "what"])
def test_a_column_of_a_table_says_the_splits_or_which_images_are_valid(tmp_path, column):
    put(tmp_path)
    rows = [(f"{i}.jpg", n, s.upper()) for n, (i, s) in enumerate(rows_of())]
    table(tmp_path, "metadata.csv", ("file_name", "n", column), rows)
    splits, plan = found(tmp_path)
    assert splits == SPLITS
    assert "metadata.csv:TRAIN makes the split train" in " ".join(plan.notes)
    valid = SPLITS["validation"]
    table(tmp_path, "metadata.csv", ("id", "is_valid"), [(i, i in valid) for i in IDS])
    rest = [i for i in IDS if i not in valid]
    assert found(tmp_path)[0] == {"train": rest, "validation": valid}


def of_each(name, text, splits=SPLITS):
    """Returns a text for each split by its file; `text` makes it of the ids."""
    return {name.format(split): text(ids) for split, ids in plain(splits).items()}


def sections(head):
    return "".join(
        f"{head.format(n)}\n" + "\n".join(ids) + "\n" for n, ids in plain(SPLITS).items()
    )


def entries(ids):
    return [{"image": f"images/{i}.jpg", "label": f"masks/{i}.png"} for i in ids]


IMAGES_OF_COCO = [{"file_name": f"{i}.jpg", "split": s} for i, s in rows_of()]
CONTENTS = [  # of JSON, which is YAML too
    plain(SPLITS),
    {
        "training": entries(SPLITS["train"]),
        "validation": entries(SPLITS["validation"]),
        "test": [f"./images/{i}.jpg" for i in SPLITS["test"]],
    },
    [{"image": image_id, "split": split} for image_id, split in rows_of()],
    dict(rows_of()),
    {"images": [image | {"id": n} for n, image in enumerate(IMAGES_OF_COCO)]},
    [plain(SPLITS)],
    [*rows_of()],
    {n: {"image": f"{i}.jpg", "Split": s} for n, (i, s) in enumerate(rows_of())},
]
FAR = "far/" * 500 + "{0}.jpg /far/{0}.png\n"
ROWS = "".join(f"{i}.jpg,{split}\n" for i, split in rows_of())


@pytest.mark.parametrize(
    "texts",
    [
        *(
            {name: json.dumps(content)}
            for name in ("splits.json", "meta/division.yaml")
            for content in CONTENTS
        ),
        of_each("{}.csv", lambda ids: "image,mask\n" + "".join(f"{i}.jpg,{i}.png\n" for i in ids)),
        of_each("{}.csv", lambda ids: "\n".join(["id", *ids])),
        of_each(
            "{}.csv",
            lambda ids: "age,filename,score\n" + "".join(f"7,images/{i}.jpg,0.5\n" for i in ids),
        ),
        {"t.json": json.dumps({s: {"images": of, "masks": of} for s, of in plain(SPLITS).items()})},
        {"split.txt": "".join(f"{i} {split}\n" for i, split in rows_of())},
        {"split.txt": "".join(f"../images/{i}.jpg {split}\n" for i, split in rows_of())},
        {"t.csv": f"# made by me\nimage,split\n{ROWS}", "docs/t.png": "a plot of the same name"},
        {"t.csv": f"sep=,\nimage,split\n{ROWS}"},
        {"t.csv": f"image,split\n{ROWS}".encode("utf-16")},
        {"t.json": "\n".join(json.dumps({"id": i, "phase": s}) for i, s in rows_of())},
        {"t.json": json.dumps(plain(SPLITS)).encode("utf-16-le")},
        {"t.csv": f"image,orig_split,split\n{ROWS.replace(',', ',train,')}"},
        {"t.csv": f"image,subset,split\n{ROWS.replace(',', ',v2,').replace('v2,te', 'v1,te')}"},
        of_each("{}.csv", lambda ids: "\n".join(["ImageId", *ids])),
        of_each("{}.txt", lambda ids: "image label\n" + "".join(f"{i}.jpg {i}.png\n" for i in ids)),
        pytest.param(  # 1 MiB or more
            of_each("crack_{}.txt", lambda ids: "".join(map(FAR.format, ids)) * 200),
            marks=pytest.mark.slow,
        ),
        of_each("annotations/{}.txt", lambda ids: "\n".join(f"{i} 1 2 3" for i in ids)),
        of_each("{}.txt", ",".join),
        of_each("{}.txt", " ".join),
        of_each("{}.lst", lambda ids: "\n".join(f'"{i}.jpg"' for i in ids)),
    ],
)
def test_texts_of_many_kinds_say_the_splits(tmp_path, texts):
    put(tmp_path)
    for name, text in texts.items():
        drawing.put(tmp_path, name, text)
    assert found(tmp_path)[0] == SPLITS


BY_COLUMN = {"image": IDS, "phase": [split for _, split in rows_of()]}
UNREAD = {
    "sections of INI": {"splits.ini": sections("[{}]")},
    "sections of a text": {"splits.txt": sections("[{}]")},
    "heads of a text": {"meta/splits.txt": sections("{}:")},
    "comments of a text": {"t.txt": sections("# {}")},
    "Python": {"splits.txt": repr(plain(SPLITS))},
    "Python in lists": of_each("{}.txt", repr),
    "TOML": {"splits.toml": "".join(f"{n} = {ids}\n" for n, ids in plain(SPLITS).items())},
    "another ending": of_each("{}.ids", "\n".join),
    "columns of pandas": {"t.json": json.dumps(BY_COLUMN)},
    "columns with an index": {
        "t.json": json.dumps({key: dict(enumerate(of)) for key, of in BY_COLUMN.items()})
    },
    "JSON that is cut off": {"t.json": '{"train": ["k00", "k01"'},
    "a key twice in JSON": {"t.json": '{"train": ["k00"], "train": ["k01"], "val": ["k02"]}'},
    "a key twice in YAML": {"t.yaml": "train: [k00]\ntrain: [k01]\nval: [k02]\n"},
    "YAML with aliases": {"t.yaml": "a: &a [k00]\ntrain: *a\nval: [k01]\n"},
    "YAML without an end": {"t.yaml": f"train: [k00]\nval: [k01]\nx: {'[' * 200_000}\n"},
    "prose": {
        "t.txt": "".join(
            f"{i} is, as we say,{' now' * n} {s}\n" for n, (i, s) in enumerate(rows_of())
        )
    },
}


@pytest.mark.parametrize("form", UNREAD)
def test_a_text_of_images_and_splits_in_another_form_stops_the_build(tmp_path, form):
    put(tmp_path)
    for name, text in UNREAD[form].items():
        drawing.put(tmp_path, name, text)
    told = refused(tmp_path, "what to do: write", ListError)
    assert any(name in told for name in UNREAD[form])
    assert found(tmp_path, splits={"train": 1.0})[0] == {"train": IDS}


@pytest.mark.parametrize("form", ["TOML", "columns of pandas", "JSON that is cut off"])
def test_such_a_text_beside_lists_stops_the_build_or_is_noted(tmp_path, form):
    put(tmp_path)
    lists(tmp_path)
    for name, text in UNREAD[form].items():
        drawing.put(tmp_path, name, text)
    if form == "JSON that is cut off":  # it names two images
        splits, plan = found(tmp_path)
        assert splits == SPLITS
        assert any(note.startswith("t.json is not read: it has no JSON") for note in plan.notes)
    else:
        refused(tmp_path, r"names of images and splits \(train, val, test\)", ListError)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "id,split\n7,train\n8,val\n9,val\n"),
        ("t.json", '{"train": [7], "val": [8, 9]}'),
        ("t.jsonl", '{"id": 7, "split": "train"}\n{"id": 8, "split": "val"}\n'),
        ("train.csv", "id\n7\n8\n"),
    ],
)
def test_names_that_lost_their_zeros_stop_the_build(tmp_path, name, text):
    put(tmp_path, ids=["0007", "0008", "0009"])
    drawing.put(tmp_path, name, text)
    refused(tmp_path, "7, which may be the image 0007", ListError)


MIXED = [str(n * 7 % 20) for n in range(20)]


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("t.csv", ",picture,split\n", lambda n, i, s: f"{n},{i},{s}\n"),
        ("t.csv", "id,img_name,split\n", lambda n, i, s: f"{n},images/{i}.jpg,{s}\n"),
        ("t.txt", "", lambda n, i, s: f"{n + 1} {i}.jpg {s}\n"),
        (
            "t.jsonl",
            "",
            lambda n, i, s: json.dumps({"id": n, "file": f"{i}.jpg", "split": s}) + "\n",
        ),
    ],
)
def test_the_number_of_a_row_is_not_the_image_of_that_name(tmp_path, name, head, row):
    put(tmp_path, ids=MIXED)
    said = ["train" if n < 12 else "val" for n in range(20)]
    rows = [row(n, i, s) for n, (i, s) in enumerate(zip(MIXED, said, strict=True))]
    drawing.put(tmp_path, name, head + "".join(rows))
    assert found(tmp_path)[0] == {"train": sorted(MIXED[:12]), "validation": sorted(MIXED[12:])}


@pytest.mark.parametrize(
    ("train", "val", "test"),
    [("training", "validation", "testing"), ("trn", "dev", "ts"), ("tr", "valid", "Test")],
)
@pytest.mark.parametrize("place", ["ImageSets/Segmentation/{}.txt", "lists/{}_set.csv"])
def test_splits_get_the_names_that_tfds_uses(tmp_path, train, val, test, place):
    put(tmp_path)
    lists(tmp_path, place, names={"train": train, "validation": val, "test": test})
    assert found(tmp_path)[0] == SPLITS


def test_what_the_option_says_is_kept_to_the_letter(tmp_path):
    put(tmp_path)
    lists(tmp_path, "list/{}.lst")
    said = {"training": "list/train.lst", "dev": "list/val.lst"}
    splits = {"training": SPLITS["train"], "dev": SPLITS["validation"]}
    assert found(tmp_path, splits=said)[0] == splits
    words = "a=list/tain.lst, .*did you mean 'list/train.lst'"
    refused(tmp_path, words, ConfigError, splits={"a": "list/tain.lst"})


# Not everything that names images is a split.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all.txt", "\n".join(IDS)),
        ("metadata.csv", "id,age\n" + "".join(f"{i},7\n" for i in IDS[:9])),
        ("notes/eval.csv", "id,iou\n" + "".join(f"{i},0.5\n" for i in IDS[:4])),
        ("results/val.csv", "id,iou\n" + "".join(f"{i},0.5\n" for i in IDS[:4])),
        ("weights.json", json.dumps(dict.fromkeys(IDS[:5], 0.5))),
        ("texts/subset.txt", "\n".join(IDS[:3])),
    ],
)
def test_a_text_that_names_images_and_no_split_stands_in_the_account(tmp_path, name, text):
    put(tmp_path)
    drawing.put(tmp_path, name, text)
    splits, plan = found(tmp_path)
    assert splits == {"train": IDS}
    assert describe(plan).endswith(f"not used:         1 list, table or other text: {name}")
    assert "No file assigns images to splits, so all images are in train." in plan.notes
    lists(tmp_path)
    splits, plan = found(tmp_path)
    assert splits == SPLITS
    folder, _, file = name.rpartition("/")
    assert unused_of(plan)[folder, "texts"] == [file]


def test_lists_in_a_folder_of_results_or_copies_are_read_if_they_alone_divide(tmp_path):
    put(tmp_path)
    ways = [SPLITS, {**SPLITS, "train": IDS[1:12], "validation": [IDS[0], *IDS[12:16]]}]
    for n, way in enumerate(ways):
        lists(tmp_path, f"splits/run_{n}/{{}}.txt", splits=way)
    assert asked(tmp_path) == ways
    lists(tmp_path, "{}_list.txt", splits=ways[1])
    assert found(tmp_path)[0] == ways[1]


def test_lists_of_a_set_in_a_folder_called_as_copies_are_its_own(tmp_path):
    put(tmp_path, f"old/{IMAGES}", f"old/{MASKS}")
    lists(tmp_path, "old/ImageSets/Segmentation/{}.txt")
    assert found(tmp_path)[0] == SPLITS


CALLED = " is named after a split, but none of its "
SAYS = " assigns other images to splits, so it makes no split."
BY_NUMBERS = "".join(f"{n} 000{n}.jpg\n" for n in (7, 8, 9)), "7 0\n8 1\n9 0\n"


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        ({"config.json": '{"train": {"lr": 0.1}, "val": [0.5]}', "log.csv": "n,loss\n1,0.5\n"}, ""),
        ({"meta/train.csv": "id\nother1\nother2\n"}, CALLED),
        ({"meta/val.csv": "id\nother1\n", "test.csv": "id\nother2\n"}, CALLED),
        ({"t.csv": "id,split\nx7,test\nx8,val\n"}, SAYS),
    ],
)
def test_texts_that_say_no_train_of_other_images_are_noted_and_no_lists(tmp_path, texts, note):
    put(tmp_path, ids=["0007", "0008", "0009"])
    for name, text in texts.items():
        drawing.put(tmp_path, name, text)
    splits, plan = found(tmp_path)
    assert splits == {"train": ["0007", "0008", "0009"]}
    assert not note or any(n.startswith([*texts][-1] + note) for n in plan.notes)
    assert ("There are no lists, so all images are in train." in plan.notes) == (not note)


OTHER_NAMES = {
    "a table of numbers": dict(
        zip(("images.txt", "train_test_split.txt"), BY_NUMBERS, strict=True),
    ),
    "a table": {"t.csv": "id,split\nx7,train\nx8,val\n"},
    "a table without endings": {"t.csv": "id,split\n7.jpg,train\n8.jpg,train\n9.jpg,val\n"},
    "a table with more zeros": {"t.csv": "id,split\n000007,train\n000009,test\n"},
    "a table for each split": {"train.csv": "id\n7.jpg\n8.jpg\n", "val.csv": "id\n9.jpg\n"},
    "JSON by split": {"t.json": '{"train": ["x7"], "val": ["x8"]}'},
    "JSON of rows": {"t.json": '[{"id": "x", "split": "train"}, {"id": "y", "split": "val"}]'},
    "JSON by name": {"t.json": '{"7": "train", "8": "train", "9": "val"}'},
    "JSON of objects": {"t.json": '{"7": {"set": "train"}, "9": {"set": "test", "n": 1}}'},
    "JSON for each split": {"train.json": "[7.5, 8.5]", "test.json": '["9.jpg"]'},
    "YAML by name": {"t.yaml": "7: train\n8: train\n9: val\n"},
    "YAML that repeats a rounded name": {"t.yaml": "train: [1.0, 1.0]\nval: [1.0]\n"},
    "JSON that repeats a rounded name": {"t.json": '{"1": "train", "1": "val", "2": "val"}'},
}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_splits_of_names_that_no_image_has_stop_the_build_if_nothing_else_divides(tmp_path, name):
    put(tmp_path, ids=["0007", "0008", "0009"])
    for file, text in OTHER_NAMES[name].items():
        drawing.put(tmp_path, file, text)
    with pytest.raises(ListError, match="splits of images that are not in the folder") as caught:
        found(tmp_path)
    assert "correct the names" in caught.value.remedy
    assert found(tmp_path, splits={"train": 1.0})[0] == {"train": ["0007", "0008", "0009"]}
    drawing.put(tmp_path, "splits/train.txt", "0007\n0008\n")
    drawing.put(tmp_path, "splits/val.txt", "0009\n")
    assert found(tmp_path)[0] == {"train": ["0007", "0008"], "validation": ["0009"]}


TRAIN_ALONE = {
    "the title of a column": {"t.csv": "train,calib\n0007,0009\n0008,\n"},
    "titles of 0 and 1": {"t.csv": "id,train,calib\n0007,1,0\n0008,1,0\n0009,0,1\n"},
    "values": {"t.json": '{"0007": "train", "0008": "train", "0009": "calib"}'},
    "words beside names": {"t.txt": "0007 train\n0008 train\n0009 calib x\n"},
    "sections": {"t.txt": "[train]\n0007\n0008\n[calib]\n0009\n"},
    "test among titles": {"t.csv": "train_v1,hold-out\n0007,0009\n0008,\n"},
}


@pytest.mark.parametrize("name", TRAIN_ALONE)
def test_train_beside_an_unknown_word_stops_the_build_in_each_form(tmp_path, name):
    put(tmp_path, ids=["0007", "0008", "0009"])
    for file, text in TRAIN_ALONE[name].items():
        drawing.put(tmp_path, file, text)
    with pytest.raises(ListError, match="in an unknown form"):
        found(tmp_path)
    drawing.put(tmp_path, "splits/train.txt", "0007\n0008\n")
    drawing.put(tmp_path, "splits/val.txt", "0009\n")
    assert found(tmp_path)[0] == {"train": ["0007", "0008"], "validation": ["0009"]}


def labels(head, row):
    return f"{head}\n" + "".join(f"{i},{row(n)}\n" for n, i in enumerate(IDS))


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (
            {"t.csv": labels("image,person,train", lambda n: f"{n % 2},{int(n < 9)}")},
            "No file assigns",
        ),
        ({"t.csv": labels("image,valid", lambda n: int(n != 3))}, "No file assigns"),
        (
            {"t.json": json.dumps({"bus": IDS[:9], "train": IDS[5:11]})},
            "train shares images with t.js",
        ),
        (
            {f"t/{c}.txt": "\n".join(IDS[n : n + 9]) for n, c in ((0, "bus"), (5, "train"))},
            "shares",
        ),
        (
            {"t.txt": "see the image k00\nand k01\n"},
            "t.txt names images in an unknown form",
        ),
    ],
)
def test_classes_and_what_is_not_understood_make_no_split(tmp_path, texts, note):
    put(tmp_path)
    for name, text in texts.items():
        drawing.put(tmp_path, name, text)
    splits, plan = found(tmp_path)
    assert splits == {"train": IDS}
    assert note in " ".join(plan.notes)


def test_a_list_with_a_path_of_no_file_is_one_and_a_file_elsewhere_is_refused(tmp_path):
    put(root := tmp_path / "set")
    lists(root, "crack_{}.txt", "../far/{}.jpg", splits={**SPLITS, "train": [*IDS[:12], "gone"]})
    assert found(root, missing_image="skip")[0] == SPLITS
    drawing.put(tmp_path, "far/gone.jpg", "")
    with pytest.raises(ListError, match=r"gone\.jpg', which leaves the folder"):
        found(root)


@pytest.mark.parametrize("others", [300, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_table_of_a_larger_set_divides_the_images_that_are_here(tmp_path, others):
    put(tmp_path)
    more = [(f"other{n:020}", NAMES["train"]) for n in range(others)]
    table(tmp_path, "t.csv", ("id", "split"), [*more, *rows_of(), *more])
    assert found(tmp_path, missing_image="skip")[0] == SPLITS


def test_a_list_of_which_some_images_are_not_there_is_one(tmp_path):
    put(tmp_path)
    drawing.put(tmp_path, "meta/train.csv", "id\n" + "\n".join([*IDS[:12], "gone"]))
    with pytest.raises(VocSegError, match="no such file"):
        found(tmp_path)
    assert found(tmp_path, missing_image="skip")[0] == {"train": IDS[:12]}


# Choosing.


def test_lists_in_vocs_place_win_with_a_note_over_others_that_agree(tmp_path):
    put(tmp_path)
    lists(tmp_path, "ImageSets/Segmentation/{}.txt", splits={**SPLITS, "train": IDS[:9]})
    lists(tmp_path, "ImageSets/Main/{}.txt", splits={"train": IDS[10:14]})
    table(tmp_path, "all.csv", ("id", "split"), rows_of())
    splits, plan = found(tmp_path)
    assert splits == {**SPLITS, "train": IDS[:9]}
    assert any("win over all.csv, which agree with them" in note for note in plan.notes)
    assert unused_of(plan)["ImageSets/Main", "texts"] == ["train.txt"]


@pytest.mark.slow
def test_folds_seeds_and_texts_that_contradict_are_questions_with_a_line_for_each(tmp_path):
    put(tmp_path)
    ways = [{"train": IDS[:n] + IDS[n + 4 :], "validation": IDS[n : n + 4]} for n in range(5)]
    for n, way in enumerate(ways):
        lists(tmp_path / "folds", f"{{}}_fold{n}.txt", splits=way)
    assert asked(tmp_path) == ways
    put_json(tmp_path, "folds.json", [{"train": IDS[9:], "val": IDS[:2]}])
    assert len(asked(tmp_path)) == 5  # it is a part of another


FIRST, LAST = ({"train": IDS[4:], "val": IDS[:4]}, {"train": IDS[:16], "val": IDS[16:]})
NUMBERS = [str(n) for n in range(8)]


@pytest.mark.parametrize(
    ("content", "ids", "folds"),
    [
        ([FIRST, LAST], IDS, [IDS[:4], IDS[16:]]),
        ({"a": FIRST, "b": LAST}, IDS, [IDS[:4], IDS[16:]]),
        # The number of a fold is not the image of that name.
        (
            {i: {"train": [*{*NUMBERS} - {i}], "val": [i]} for i in NUMBERS[:3]},
            NUMBERS,
            [[i] for i in NUMBERS[:3]],
        ),
    ],
)
def test_folds_of_one_text_are_a_question_if_there_are_several(tmp_path, content, ids, folds):
    put(tmp_path, ids=ids)
    put_json(tmp_path, "splits_final.json", content)
    assert [answer["validation"] for answer in asked(tmp_path)] == folds
    if ids == IDS:
        put_json(tmp_path, "splits_final.json", [FIRST])
        assert found(tmp_path)[0] == {"train": IDS[4:], "validation": IDS[:4]}


def test_a_column_of_folds_is_a_question(tmp_path):
    put(tmp_path)
    table(tmp_path, "folds.csv", ("id", "fold"), [(i, n % 5) for n, i in enumerate(IDS)])
    answers = asked(tmp_path)
    assert [answer["validation"] for answer in answers] == [IDS[n::5] for n in range(5)]


@pytest.mark.parametrize(
    ("head", "row", "count"),
    [
        ("image,split_a,split_b", lambda n, s: (s, "train" if n else "val"), 2),
        ("image,fold_0,fold_1", lambda n, _: ["val" if n % 2 == k else "train" for k in (0, 1)], 2),
        ("image,is_valid,split", lambda n, s: (n % 4 == 0, s), 2),
        ("image,kfold_id", lambda n, _: (n % 5,), 5),
    ],
)
def test_columns_that_contradict_are_a_question(tmp_path, head, row, count):
    put(tmp_path)
    rows = [(i, *row(n, s)) for n, (i, s) in enumerate(rows_of())]
    table(tmp_path, "t.csv", head.split(","), rows)
    assert len({*map(str, asked(tmp_path))}) == count


def test_lists_against_folders_and_a_table_against_json_are_questions(tmp_path):
    folders(tmp_path / "a")
    moved = {"train": IDS[1:12], "validation": IDS[12:16], "test": [IDS[0], *IDS[16:]]}
    lists(tmp_path / "a", "splits/{}.txt", splits=moved)
    assert asked(tmp_path / "a") == [moved, SPLITS]
    put(tmp_path / "b")
    table(tmp_path / "b", "meta.csv", ("id", "split"), rows_of())
    put_json(tmp_path / "b", "meta.json", plain(moved))
    assert sorted(map(str, asked(tmp_path / "b"))) == sorted(map(str, [moved, SPLITS]))


def test_lists_that_agree_with_folders_win_and_a_part_of_a_folder_does_not(tmp_path):
    folders(tmp_path)
    drawing.put(tmp_path, "subset_train.txt", "\n".join(IDS[:5]))
    splits, plan = found(tmp_path)
    assert splits == SPLITS
    assert unused_of(plan)["", "texts"] == ["subset_train.txt"]
    lists(tmp_path, splits={**SPLITS, "train": IDS[:11]})
    splits, plan = found(tmp_path)
    assert splits == {**SPLITS, "train": IDS[:11]}
    assert any("the folders test, train, val hold other images" in note for note in plan.notes)


def test_lists_of_other_splits_belong_together(tmp_path):
    put(tmp_path)
    lists(tmp_path, "a/{}.txt", splits={"train": IDS[:12]})
    lists(tmp_path, "b/{}.csv", splits={"validation": IDS[12:16], "test": IDS[16:]})
    assert found(tmp_path)[0] == SPLITS


@pytest.mark.parametrize("place", ["ImageSets/Segmentation/", "splits/"])
def test_lists_of_other_splits_belong_together_whatever_their_places(tmp_path, place):
    put(tmp_path)
    lists(tmp_path, f"{place}{{}}.txt", splits={"validation": IDS[12:16]})
    lists(tmp_path, "{}.csv", splits={"train": IDS[:12], "test": IDS[16:]})
    assert found(tmp_path)[0] == SPLITS


def test_divisions_of_other_images_are_one_and_may_be_said_so(tmp_path):
    put(tmp_path)
    for city, part in (("rome", slice(0, None, 2)), ("bonn", slice(1, None, 2))):
        lists(tmp_path, f"{city}/{{}}.txt", splits={s: ids[part] for s, ids in SPLITS.items()})
    said = {"train": "rome/train.txt+bonn/train.txt", "test": "bonn/test.txt", "validation": "rest"}
    rest = IDS[12:16] + IDS[16::2]
    assert found(tmp_path)[0] == SPLITS
    assert found(tmp_path, splits=said)[0] == {**SPLITS, "test": IDS[17::2], "validation": rest}


def test_what_contradicts_no_fold_belongs_to_each(tmp_path):
    put(tmp_path)
    lists(tmp_path, splits={"test": IDS[16:]})
    for n in range(2):
        fold = {"train": IDS[4 * n : 4 * n + 12], "validation": IDS[12:16] if n == 0 else IDS[:4]}
        lists(tmp_path, f"fold{n}/{{}}.txt", splits=fold)
    assert [answer["test"] for answer in asked(tmp_path)] == [IDS[16:]] * 2


def test_lists_that_say_more_are_no_splits_without_a_question(tmp_path):
    folders(tmp_path / "a")
    small = {split: ids[:2] for split, ids in SPLITS.items()}
    lists(tmp_path / "a", "{}_small.txt", splits=small)
    assert found(tmp_path / "a")[0] == SPLITS
    put(tmp_path / "b")
    drawing.put(tmp_path / "b", "train.txt", "\n".join(IDS[:12]))
    drawing.put(tmp_path / "b", "train_all.txt", "\n".join(IDS))
    assert asked(tmp_path / "b") == [{"train": IDS[:12]}, {"train": IDS}]


@pytest.mark.parametrize(
    "names", ["train2017 val2017", "1_train 2_val", "rome/train bonn/val", "road_train road_val"]
)
def test_folders_whose_names_say_a_word_more_than_a_split_make_it(tmp_path, names):
    for folder, split in zip(names.split(), ("train", "validation"), strict=True):
        put(tmp_path, f"images/{folder}/{{}}.jpg", f"masks/{folder}/{{}}.png", SPLITS[split])
    assert found(tmp_path)[0] == {split: SPLITS[split] for split in ("train", "validation")}


OF_TWO = ["train_val", "train-val", "TrainVal", "train_valid", "train_and_val", "train+val"]
OF_TWO += ["training_validation", "trainval"]
PATTERNS = ["{0}/images/{{}}.jpg {0}/masks/{{}}.png", "images_{0}/{{}}.jpg masks_{0}/{{}}.png"]
PATTERNS += ["images/{0}/{{}}.jpg masks/{0}/{{}}.png", "{0}_images/{{}}.jpg {0}_masks/{{}}.png"]


def put_folders(root, pattern, names):
    for number, name in enumerate(names):
        put(root, *pattern.format(name).split(), IDS[4 * number : 4 * number + 4])


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", OF_TWO)
def test_a_folder_of_train_and_validation_is_one_to_train_on(tmp_path, name, pattern):
    put_folders(tmp_path, pattern, [name, "test"])
    splits, _ = found(tmp_path)
    assert splits.pop("test") == IDS[4:8]
    ((split, ids),) = splits.items()
    assert split in ("train", "trainval", name)
    assert ids == IDS[:4]


@pytest.mark.parametrize("name", OF_TWO)
def test_a_list_of_train_and_validation_is_a_union(tmp_path, name):
    put(tmp_path, ids=IDS[:8])
    drawing.put(tmp_path, f"{name}.txt", "\n".join(IDS[:4]))
    drawing.put(tmp_path, "test.txt", "\n".join(IDS[4:8]))
    assert found(tmp_path)[0] == {"trainval": IDS[:4], "test": IDS[4:8]}
    drawing.put(tmp_path, "train.txt", "\n".join(IDS[:3]))
    refused(tmp_path, "1 image in no other list, such as k03", ListError)
    drawing.put(tmp_path, "val.txt", IDS[3])
    expected = {"train": IDS[:3], "validation": [IDS[3]], "test": IDS[4:8]}
    assert found(tmp_path)[0] == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_folder_of_train_and_test_is_neither_silently(tmp_path, pattern):
    put_folders(tmp_path, pattern, ["train_test", "val"])
    if pattern.startswith("images/"):  # then its own name says so
        assert found(tmp_path)[0] == {"train_test": IDS[:4], "validation": IDS[4:8]}
    else:
        refused(tmp_path, "train_test.*: a name with several splits: train, test")


NUMBERED = [["train", "test1", "test2"], ["train", "val1", "val2"], ["train", "val", "testA"]]


@pytest.mark.parametrize("names", NUMBERED)
@pytest.mark.parametrize("deeper", [False, True])
def test_numbered_folders_of_a_split_are_never_train(tmp_path, names, deeper):
    for number, name in enumerate(names):
        inner = f"/set{name[-1]}" if deeper and name != "train" else ""
        put(
            tmp_path,
            f"{name}/imgs{inner}/{{}}.jpg",
            f"{name}/masks{inner}/{{}}.png",
            IDS[4 * number : 4 * number + 4],
        )
    try:
        answers = [found(tmp_path)[0]]
    except VocSegError as asked_of_user:
        options = [options for _, options in proposed(str(asked_of_user))]
        assert options
        answers = [found(tmp_path, **said_by(of))[0] for of in options]
    for answer in answers:
        is_one_folder = sum(map(len, answer.values())) == 4
        assert is_one_folder or answer["train"] == IDS[:4]


def test_lists_that_the_user_named_and_that_say_no_split_are_an_error(tmp_path):
    put(tmp_path)
    drawing.put(tmp_path, "lists/ages.csv", "age\n3\n")
    with pytest.raises(ListError, match="no list of a split"):
        found(tmp_path, lists="lists")


def test_an_option_says_names_with_commas_and_equal_signs(tmp_path):
    put(tmp_path)
    for n in range(2):
        splits = {"train": IDS[n : 12 + n], "validation": [*IDS[:n], *IDS[12 + n : 16]]}
        lists(tmp_path, f"{{}}_lr=0,{n}.txt", splits=splits)
    assert len(asked(tmp_path)) == 2


def test_a_list_of_validation_images_alone_is_a_question(tmp_path):
    put(tmp_path)
    drawing.put(tmp_path, "val.txt", "\n".join(IDS[12:16]))
    rest = {"train": IDS[:12] + IDS[16:], "validation": IDS[12:16]}
    assert asked(tmp_path) == [{"validation": IDS[12:16]}, rest, {"train": IDS}]


def test_a_name_of_two_images_means_the_one_in_the_folder_of_the_lists_split(tmp_path):
    folders(tmp_path, {"train": IDS[:4], "validation": IDS[:4]})
    lists(tmp_path, splits={"train": IDS[:4], "validation": IDS[:4]})
    splits, plan = found(tmp_path)
    assert splits == {"train": IDS[:4], "validation": IDS[:4]}
    assert plan.splits["validation"] == [f"val/{image_id}" for image_id in IDS[:4]]
    lists(tmp_path, splits={"test": IDS[:4]})
    refused(tmp_path, "'k00', which may be train/k00 or val/k00", ListError)
    for place in ("train/a", "train/b", "val/a"):
        put(tmp_path / "b", f"images/{place}/{{}}.jpg", f"masks/{place}/{{}}.png", IDS[:3])
    lists(tmp_path / "b", splits={"train": IDS[:3]})
    refused(tmp_path / "b", "which may be train/a/k00 or train/b/k00", ListError)


def test_a_path_whose_folder_is_another_means_no_image(tmp_path):
    folders(tmp_path, {"train": IDS[:4], "validation": IDS[:4]})
    text = "/data/images/test/k00.jpg\n/data/images/test/k01.jpg\n"
    drawing.put(tmp_path, "meta/train.txt", text)
    assert found(tmp_path)[0] == {"train": IDS[:4], "validation": IDS[:4]}


@pytest.mark.parametrize("folds", [1, 3])
def test_nnunets_folds_divide_its_folder_of_train(tmp_path, folds):
    put(tmp_path, "imagesTr/{}_0000.png", "labelsTr/{}.png", IDS[:16])
    put(tmp_path, "imagesTs/{}_0000.png", "labelsTs/{}.png", IDS[16:])
    ways = [{"train": IDS[:n] + IDS[n + 4 : 16], "val": IDS[n : n + 4]} for n in range(folds)]
    put_json(tmp_path, "splits_final.json", ways)
    answers = asked(tmp_path) if folds > 1 else [found(tmp_path)[0]]
    names = [f"{image_id}_0000" for image_id in IDS]
    assert [sorted(of) for of in answers] == [["test", "train", "validation"]] * folds
    assert [of["validation"] for of in answers] == [way["val"] for way in ways], names
    assert {tuple(of["test"]) for of in answers} == {tuple(IDS[16:])}


def test_lists_that_divide_the_images_of_patients_are_noted(tmp_path):
    ids = [f"patient_{patient:02}_{image}" for patient in range(6) for image in "ab"]
    drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    drawing.put(tmp_path, "train.txt", "\n".join(ids[:7]))
    drawing.put(tmp_path, "val.txt", "\n".join(ids[7:]))
    words = "divide 1 of 6 groups of ids with one number, such as patient_03_a in train and"
    assert words in describe(plan_of(tmp_path))
    drawing.put(tmp_path, "train.txt", "\n".join(ids[:6]))
    drawing.put(tmp_path, "val.txt", "\n".join(ids[6:]))
    assert "of ids with one number" not in describe(plan_of(tmp_path))
