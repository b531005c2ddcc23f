"""What is said of classes by --class_names, --classes, --background and class files, by pixel."""

import argparse
import dataclasses
import json
import shlex

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.folders import read_as
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, voc_palette
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.run import build_source
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.mask_rule import rule_of_rows
from voc_seg_tfrecord.folder.plan import plan_folder
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.sources.open import own_source

PIXELS = np.array([[0, 0, 1, 1], [0, 2, 2, 1], [3, 3, 2, 1]], np.uint8)
RGB = voc_palette()[PIXELS]
EQUAL = np.repeat(PIXELS[..., None], 3, 2)
BINARY = (PIXELS > 0) * np.uint8(255)
LABELMAP = "background:0,0,0::\na:10,0,0::\nb:20,0,0::\nc:30,0,0::\n"
GRAYS = "a:1,1,1::\nc:3,3,3::\nb:2,2,2::\nbackground:0,0,0::\n"
NAMES = "background\na\nb\nc\n"
CSV = "Pixel Value, Class\n3, c\n2, b\n1, a\n0, background\n"


def mask(kind):
    if kind == "palette":
        return write_png(PIXELS, palette=voc_palette())
    return {"gray": PIXELS, "rgb": RGB, "equal": EQUAL, "binary": BINARY}[kind]


def plan_of(root, words):
    parser = argparse.ArgumentParser()
    arguments.add_tree(parser)
    said = arguments.tree_fields(parser.parse_args([str(root), *shlex.split(words)]))
    plan = plan_to_build(root, name="x", **said)
    return plan.config, plan


def classes(config, plan):
    """Returns the name that pixels of each source value have in the dataset: 0 1 2 3."""
    read = read_as(config, plan)
    names = {255: "void", **dict(enumerate(config.built_class_names))}
    assert config.built_class_names == config.example_spec(plan.mask_rule).class_names
    return " ".join("/".join({names[v] for v in read[n == PIXELS].tolist()}) for n in range(4))


@pytest.fixture
def write(tmp_path):
    def of(kind, **files):
        for name in "ab":  # b has no mask
            Image.fromarray(RGB).save(_made(tmp_path / "JPEGImages") / f"{name}.png")
        content = mask(kind)
        path = _made(tmp_path / "SegmentationClass") / "a.png"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            Image.fromarray(content).save(path)
        for name, text in files.items():
            drawing.put(tmp_path, name, text)
        return tmp_path

    return of


def _made(folder):
    folder.mkdir(exist_ok=True)
    return folder


U = "--class_names unlabelled,background,a,b"
V = "--class_names void,background,a,b"
N = "--class_names background,a,b,c"
B, TAKEN_OUT = "background a b c", "void background a b"


@dataclasses.dataclass(frozen=True)
class Refused:
    """The words of the error by which something is refused."""

    words: str


TYPED = [
    (U, "unlabelled background a b"),
    (f"{U} --classes 0=void", TAKEN_OUT),
    (f"{U} --classes unlabelled=Void", TAKEN_OUT),
    (f"{U} --classes unlabeled=void", Refused("no class.*did you mean 'unlabelled'")),
    (f"{N} --classes c=void,a=void", "background void b void"),
    (f"{N} --classes 7=a", B),
    (V, TAKEN_OUT),
    *((V.replace("void", word), TAKEN_OUT) for word in ("__ignore__", "ignore", "Void", "IGNORED")),
    (f"{V} --classes void=edge", "edge background a b"),
    ("--class_names void,ignore", Refused("a class that is not void")),
    (f"{N} --classes 0=c,1=b,2=a,3=background", "c b a background"),
    (f"{N} --classes 3=void,2=d", "background a d void"),
    (f"{N} --classes a=x,b=x,*=background", "background x x background"),
    (f"{V} --classes a=x,*=background", "void background x background"),
    (f"{N} --classes a=b,b=a", "background b a c"),
    (f"{N} --classes *=void", Refused("leave no class")),
    ("--classes 0=x,1=y,*=rest", "x y rest rest"),
    ("--classes 0=x,1=y,2=void", Refused("value 3|hold only colors")),
    (f"{N} --background b", B),
    (f"{V} --background void", Refused("name does not mean void")),
    (f"{N} --classes 0=void --background background", "void a b c"),
    (f"{N} --classes b=floor --background b", "background a floor c"),
    (f"{N} --missing_mask background", B),
    (f"{N} --missing_mask background --background b", B),
    (f"{N} --missing_mask background --classes background=void", "void a b c"),
    (f"{V} --missing_mask background", TAKEN_OUT),
    (f"{V} --missing_mask background --classes a=x", "void background x b"),
]


@pytest.mark.parametrize(("words", "expected"), TYPED)
@pytest.mark.parametrize("kind", ["gray", "palette", "rgb", "equal"])
def test_what_is_said_of_typed_names_wins_or_is_refused(write, kind, words, expected):
    # Rows with values say nothing of RGB masks.
    of_values = any(f"{digit}=" in words for digit in "01237") or "*=rest" in words
    check(write(kind), words, expected, may_refuse=kind == "rgb" and of_values)


FROM_FILE = [
    ("", B),
    ("--classes background=void", "void a b c"),
    ("--classes d=void", Refused("'d', which is no class")),
    ("--class_names b,c,background,a", B),
    ("--class_names b,c,background,a --classes c=void", "background a b void"),
    ("--class_names void,background,a,b,c", B),
    ("--class_names background,a,x", Refused("option class_names|value 3|no class for")),
    ("--background c", B),
    ("--background d", Refused("'d'")),
    ("--classes a=x,b=x,*=background", "background x x background"),
    ("--classes c=c", B),
    ("--missing_mask background --background b", B),
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labelmap.txt", LABELMAP),
        ("labelmap.txt", GRAYS),
        ("class_names.txt", NAMES),
        ("_classes.csv", CSV),
    ],
)
@pytest.mark.parametrize(("words", "expected"), FROM_FILE)
def test_what_is_said_of_names_from_a_file_wins_or_is_refused(write, name, text, words, expected):
    check(write("gray", **{name: text}), words, expected)


@pytest.mark.parametrize(
    ("name", "text"),
    [("labelmap.txt", LABELMAP), ("class_names.txt", NAMES), ("_classes.csv", CSV)],
)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("0=void,3=void", "void a b void"),
        ("1=b,9=c", "background b b c"),
        ("2=x", "background a x c"),
    ],
)
@pytest.mark.parametrize("kind", ["gray", "palette"])
def test_rows_with_values_replace_those_of_a_class_file(write, kind, name, text, words, expected):
    of_voc = "background:0,0,0::\na:128,0,0::\nb:0,128,0::\nc:128,128,0::\n"
    text = of_voc if (kind, name) == ("palette", "labelmap.txt") else text
    check(write(kind, **{name: text}), f"--classes {words}", expected)


GAPS = '{"background": 0, "a": 1, "d": 7, "b": 2, "c": 3, "e": 5}'


@pytest.mark.parametrize(
    ("words", "expected", "names"),
    [
        ("0=background", B, "background a d b c e"),
        ("7=x", B, "background a x b c e"),
        ("2=a,9=y", "background a a c", "background a d c e y"),
        ("1=void,*=background", "background void background background", "background"),
        ("b=b,a=x,0=floor,5=void", "floor x b c", "b x floor d c"),
    ],
)
def test_rows_with_values_go_over_a_class_file_with_any_values(write, words, expected, names):
    root = write("gray", **{"classes.json": GAPS})
    check(root, f"--classes {words}", expected)
    assert " ".join(plan_of(root, f"--classes {words}")[0].built_class_names) == names


def test_a_list_of_numbers_and_names_is_a_class_file_and_no_table(write):
    text = "class,name\n3,c\n2,b\n1,a\n0,background\n"
    check(write("gray", **{"classes.csv": text}), "--classes 3=x", "background a b x")


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0)])
def test_rows_with_values_are_refused_where_colors_give_the_classes(write, order):
    root = write("palette", **{"colors.txt": "background 0 0 0\na 128 0 0\nb 0 128 0\nc 128 128 0"})
    data = write_png(np.argsort(order)[PIXELS].astype(np.uint8), palette=voc_palette()[[*order]])
    Image.fromarray(RGB).save(root / "JPEGImages/c.png")
    (root / "SegmentationClass/c.png").write_bytes(data)
    refused = Refused("pixels of #.* are y and x")
    check(root, "", B)
    check(root, "--classes 0=x,*=y", "x y y y" if order[0] == 0 else refused)


def test_a_wildcard_takes_no_color_that_has_a_class_by_its_value_in_a_gray_mask(write):
    colors = "background 0 0 0\na 128 0 0\nb 0 128 0\nc 128 128 0"
    root = write("palette", **{"colors.txt": colors})
    palette = np.concatenate([np.full((4, 3), 9), voc_palette()[:4]])
    (root / "SegmentationClass/a.png").write_bytes(write_png(PIXELS + 4, palette=palette))
    Image.fromarray(RGB).save(root / "JPEGImages/c.png")
    Image.fromarray(np.full_like(PIXELS, 5)).save(root / "SegmentationClass/c.png")
    check(root, "--classes background=background,a=a,b=b,c=c,9=z,*=y", B)


def test_vocs_color_of_void_is_none_of_the_others(write):
    root = write("gray")
    Image.fromarray(RGB).save(root / "JPEGImages/c.png")
    void = np.where(PIXELS[..., None] == 0, voc_palette()[[255]], RGB).astype(np.uint8)
    Image.fromarray(void).save(root / "SegmentationClass/a.png")
    Image.fromarray(PIXELS).save(root / "SegmentationClass/c.png")
    check(root, "--classes 0=x,1=x,2=x,3=x,*=y", "void y y y")


def test_an_rgb_mask_of_black_alone_gives_values_no_meaning(write):
    root = write("rgb")
    Image.fromarray(RGB).save(root / "JPEGImages/c.png")
    Image.fromarray(np.zeros_like(RGB)).save(root / "SegmentationClass/c.png")
    refused = Refused("pixels of #000000 are x and y")
    check(root, "--classes 0=x,*=y", refused)
    check(root, "--classes '#000000=x,*=y'", "x y y y")


def check(root, words, expected, *, may_refuse=False):
    """Expects the classes of the values 0 1 2 3, the same with the config's JSON, or an error."""
    if isinstance(expected, Refused):
        with pytest.raises(VocSegError, match=expected.words):
            classes(*plan_of(root, words))
        return
    try:
        config, plan = plan_of(root, words)
        found = classes(config, plan)
    except VocSegError:
        if not may_refuse:
            raise
        return
    assert found == expected
    rule = rule_of_rows(plan.meaning.rows, config.built_class_names)  # as verify does it
    assert classes(config, dataclasses.replace(plan, mask_rule=rule)) == expected
    if "--missing_mask background" in words and "=void" not in words:
        fill = config.example_spec(plan.mask_rule).fill
        assert config.built_class_names[fill] == (
            "b" if "--background b" in words else "background"
        )
    again = VocSegConfig(**json.loads(config.to_json()))
    assert again.built_class_names == config.built_class_names
    assert classes(again, plan_folder(FolderReader(root), again)) == expected


def test_the_order_is_that_of_rows_with_names_then_of_the_names_and_background_is_0(write):
    root = write(
        "gray", **{"labelmap.txt": "c:0,0,0::\na:1,1,1::\nbackground:2,2,2::\nb:3,3,3::\n"}
    )
    for words, names in {
        "": "c a background b",
        "--classes background=background": "background c a b",
        "--classes b=b,c=x": "background b x a",
        "--classes 7=d": "c a background b d",
        "--classes 1=e": "c e background b",
        "--class_names b,a,c,background": "b a c background",
    }.items():
        assert " ".join(plan_of(root, words)[0].built_class_names) == names


def test_a_table_of_classes_in_the_folder_is_used_and_one_with_question_marks_is_named(write):
    root = write("gray", **{"classes.csv": "value,class\n0,floor\n1,a\n2,a\n3,void\n"})
    check(root, "", "floor a a void")
    check(root, "--classes 3=wall", "floor a a wall")
    check(root, "--classes 1=b,*=floor", "floor b floor void")
    check(root, "--classes 3=b,*=floor", "floor floor floor b")
    check(root, f"--classes {root}/classes.csv", "floor a a void")
    drawing.put(root, "classes.csv", "value,class\n0,floor\n1,?\n")
    check(root, N, B)
    assert any("rows without a class" in note for note in plan_of(root, N)[1].notes)
    with pytest.raises(ConfigError, match="no class for 1"):
        plan_of(root, f"--classes {root}/classes.csv")


def test_rows_with_colors_read_rgb_and_palette_masks(write):
    rows = "'#000000=floor,#800000=a,#008000=a,#808000=void'"
    for kind in ("rgb", "palette"):
        check(write(kind), f"--classes {rows}", "floor a a void")
    check(write("gray"), f"--classes {rows}", Refused("the masks hold only values"))
    root = write("rgb", **{"labelmap.txt": "bg:0,0,0::\na:128,0,0::\nb:0,128,0::\n"})
    check(root, "--classes '#808000=c'", "bg a b c")
    check(root, "--classes 3=c", Refused("the masks hold only colors"))


def test_255_and_vocs_color_of_void_are_void_unless_a_row_names_them(write):
    border = np.where(PIXELS == 0, 255, PIXELS).astype(np.uint8)
    root = write("gray")
    for data in (write_png(border, color=0), write_png(border, palette=voc_palette())):
        (root / "SegmentationClass/a.png").write_bytes(data)
        check(root, "--class_names x,a,b,c", "void a b c")
        check(root, "--class_names x,a,b,c --classes 255=edge", "edge a b c")
    check(root, "--class_names x,a,b,c --classes '#e0e0c0=edge'", "edge a b c")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--class_names background,crack", "background crack crack crack"),
        ("--class_names crack,background", "crack" + 3 * " background"),
        ("--class_names background,crack --classes 255=void", "background void void void"),
        ("--class_names background,crack --classes crack=x", "background x x x"),
        ("--classes 0=background,255=crack", "background crack crack crack"),
        ("--class_names background,crack,wall", Refused("nothing but 255 and 0")),
        ("--class_names background,crack,void", Refused("nothing but 255 and 0")),
        ("--class_names background,crack,wall --classes 255=wall", "background wall wall wall"),
    ],
)
def test_masks_of_0_and_255(write, words, expected):
    check(write("binary"), words, expected)


@pytest.mark.parametrize(
    ("kind", "text", "words", "expected"),
    [
        ("binary", "crack\nroad\n", "255=void", "crack void void void"),
        ("binary", "crack\nroad\n", "255=void,0=bg", "bg void void void"),
        ("gray", "__ignore__\n_background_\na\nb\nc\n", "2=void", "_background_ a void c"),
    ],
)
def test_rows_that_make_all_void_leave_the_names_of_a_list(write, kind, text, words, expected):
    root = write(kind, **{"labels.txt": text})
    check(root, f"--classes {words}", expected)
    assert not any("say --classes" in n for n in plan_of(root, f"--classes {words}")[1].notes)


def test_what_is_void_is_void_in_what_is_built(write, tmp_path):
    config, plan = plan_of(write("gray"), V)
    assert "void means void" in describe(plan)
    builder = build_source(own_source(plan), config, data_dir=tmp_path / "data")
    info = builder.info
    assert info.features["segmentation_mask"].names == ["background", "a", "b"]
    assert info.metadata["class_names"] == ["background", "a", "b"]
    assert info.metadata["class_map"]["to"]["void"] == "void"
    assert verify.verify(builder, verify.find_originals(builder, tmp_path)).faults == []
    (example,) = builder.as_dataset("train")
    assert (example["segmentation_mask"].numpy()[..., 0] == np.array([255, 0, 1, 2])[PIXELS]).all()
    assert example["labels"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["gray", "equal"])
def test_grays_of_a_labelmap_are_the_values_of_the_masks(write, kind):
    check(write(kind, **{"labelmap.txt": GRAYS}), "", B)


def test_a_palette_whose_values_are_the_grays_of_a_labelmap_is_asked_about(write):
    root = write("palette", **{"labelmap.txt": GRAYS})
    check(root, "", Refused("by the grays from labelmap.txt"))
    check(root, "--classes 0=a,1=c,2=b,3=background", "a c b background")


@pytest.mark.parametrize(
    "fields",
    [
        {"classes": {0: "void"}},
        {"classes": {"#000000": "void"}},
        {"missing_mask": "background"},
        {"class_names": VOC_CLASSES[::-1]},
        {"class_names": ["background", "a"]},
    ],
)
def test_a_release_says_itself_what_its_masks_mean(fields):
    with pytest.raises(ConfigError, match="2012"):
        VocSegConfig(name="mine", release="2012", strict=False, **fields)
