"""Options that speak of classes, void, background, values and colours: each pair, by pixel."""

import argparse
import dataclasses
import json
import shlex

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import exports
from support.own_tree import read_as
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, voc_palette
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.base.errors import ConfigError, VocSegError
from voc_seg_tfrecord.build_from.run import build_source
from voc_seg_tfrecord.build_from.tree import describe, find_config
from voc_seg_tfrecord.commands import tree_arguments
from voc_seg_tfrecord.own_data.plan import make_plan, open_tree
from voc_seg_tfrecord.sources.open import own_source

PIXELS = np.array([[0, 0, 1, 1], [0, 2, 2, 1], [3, 3, 2, 1]], np.uint8)
RGB = voc_palette()[PIXELS]
EQUAL = np.repeat(PIXELS[..., None], 3, 2)
BINARY = (PIXELS > 0) * np.uint8(255)
LABELMAP = "background:0,0,0::\na:10,0,0::\nb:20,0,0::\nc:30,0,0::\n"
GREYS = "a:1,1,1::\nc:3,3,3::\nb:2,2,2::\nbackground:0,0,0::\n"
NAMES = "background\na\nb\nc\n"
CSV = "Pixel Value, Class\n3, c\n2, b\n1, a\n0, background\n"


def mask(kind):
    if kind == "palette":
        return write_png(PIXELS, palette=voc_palette())
    return {"grey": PIXELS, "rgb": RGB, "equal": EQUAL, "binary": BINARY}[kind]


def plan_of(root, words):
    parser = argparse.ArgumentParser()
    tree_arguments.add(parser)
    said = tree_arguments.fields(parser.parse_args([str(root), *shlex.split(words)]))
    return find_config(root, name="x", **said)


def classes(config, plan):
    """Returns the name that pixels of each source value have in the dataset: 0 1 2 3."""
    read = read_as(config, plan)
    names = {255: "void", **dict(enumerate(config.built_class_names))}
    assert config.built_class_names == config.example_spec(plan.rule).class_names
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
            exports.put(tmp_path, name, text)
        return tmp_path

    return of


def _made(folder):
    folder.mkdir(exist_ok=True)
    return folder


U = "--class_names unlabelled,background,a,b"
V = "--class_names void,background,a,b"
N = "--class_names background,a,b,c"
VALUES = "--values 0=0,1=1,2=2,3=3"
MOVED = "--values 0=3,1=2,2=1,3=0"
TAKEN_OUT = "void background a b"


@dataclasses.dataclass(frozen=True)
class Refused:
    """The words of the error by which something is refused."""

    words: str


TYPED = [
    # --class_names with --void
    (U, "unlabelled background a b"),
    (f"{U} --void 0", TAKEN_OUT),
    (f"{U} --void unlabelled", TAKEN_OUT),
    (f"{U} --void '0 Unlabelled'", TAKEN_OUT),
    (f"{U} --void '255 unlabelled'", TAKEN_OUT),
    (f"{U} --void unlabeled", Refused("no such class.*did you mean 'unlabelled'|'unlabeled'")),
    (f"{N} --void 3", "background a b void"),
    (f"{N} --void 'c a'", "background void b void"),
    (f"{N} --void 7", "background a b c"),
    (V, TAKEN_OUT),
    *((V.replace("void", word), TAKEN_OUT) for word in ("__ignore__", "ignore", "Void", "IGNORED")),
    (f"{V} --void 255", "void background a b"),  # then void is the name of a class
    ("--class_names void,ignore", Refused("a class that is not void")),
    (f"{V} --void '0 1 2 3'", Refused("a class that is not void")),
    # with --values
    (f"{N} {MOVED}", "c b a background"),
    (f"{V} {VALUES}", TAKEN_OUT),
    (f"{V} {MOVED}", "b a background void"),
    (f"{U} {VALUES} --void 0", Refused("which the option values gives to 'unlabelled'")),
    (f"{U} {VALUES} --void unlabelled", TAKEN_OUT),
    (f"{U} --values 0=255,1=1,2=2,3=3 --void 0", TAKEN_OUT),
    (f"{N} {MOVED} --void c", "void b a background"),
    (f"{N} --values 0=0,1=1,2=2,3=255", "background a b void"),
    (f"{N} --values 0=0,1=1,2=2 --void 3", "background a b void"),
    # with --background
    (f"{N} --background b", "background a b c"),
    (f"{U} --void unlabelled --background unlabelled", Refused("name does not mean void")),
    (f"{V} --background void", Refused("name does not mean void")),
    (f"{N} --void 0 --background background", Refused("name does not mean void")),
    # with --background_first
    (f"{U} --background_first", "unlabelled background a b"),
    (f"{U} --void 0 --background_first", TAKEN_OUT),
    ("--class_names a,junk,background,b --void 1 --background_first", "a void background b"),
    ("--class_names junk,a,b,background --void junk --background_first", "void a b background"),
    ("--class_names a,void,b,background --background_first", "a void b background"),
    (f"{N} --background c --background_first", "background a b c"),
    (f"{N} --void 0 --background_first", Refused("no class that is known to be background")),
    (f"{N} {MOVED} --background c --background_first", "c b a background"),
    # with --map_classes
    (f"{N} --map_classes 'a,b=x; *=background'", "background x x background"),
    (f"{V} --map_classes 'a=x; *=background'", "void background x background"),
    (f"{V} --map_classes 'a=x; void=void; *=*'", "void background x b"),
    (f"{V} --map_classes 'void=background; *=*'", Refused("for 'void', which means void")),
    (f"{U} --void 0 --map_classes 'a=x; *=background'", "void background x background"),
    (
        f"{U} --void 0 --map_classes 'unlabelled=background; *=*'",
        Refused("'unlabelled', which means void"),
    ),
    (f"{N} --void dontcare --map_classes 'a=dontcare; *=*'", "background void b c"),
    (f"{N} {MOVED} --map_classes 'a=x; *=*'", "c b x background"),
    (f"{N} --background c --map_classes 'a=x; *=*'", "background x b c"),
    (f"{V} {MOVED} --map_classes 'a=x; *=*'", "b x background void"),
    (f"{N} --background_first --background b --map_classes 'a=x; *=*'", "background x b c"),
    # with --masks_by
    (f"{N} --masks_by index", "background a b c"),
    (f"{V} --masks_by index", TAKEN_OUT),
    (f"{U} --void 0 --masks_by index", TAKEN_OUT),
    (f"{N} {VALUES} --masks_by color", Refused("index, or nothing, beside the option values")),
    (f"{N} {MOVED} --masks_by index", "c b a background"),
    # with --missing_mask background
    (f"{N} --missing_mask background", "background a b c"),
    (f"{N} --missing_mask background --background b", "background a b c"),
    (f"{N} --missing_mask background --void 0", Refused("none of the")),
    (f"{V} --missing_mask background", TAKEN_OUT),
    (f"{U} --missing_mask background --void background", Refused("none of the")),
    (f"{V} --missing_mask background --map_classes 'a=x; *=*'", "void background x b"),
    (f"{V} --missing_mask background {VALUES}", TAKEN_OUT),
]


B = "background a b c"
FROM_FILE = [
    ("", B),
    ("--void background", "void a b c"),
    ("--void 'background C'", "void a b void"),
    ("--void d", Refused("'d'")),
    ("--class_names b,c,background,a", B),
    ("--class_names background,a,b,void --void 'void c'", "background a b void"),
    ("--class_names void,background,a,b,c", B),
    ("--class_names background,void,a,b,c", B),
    ("--class_names background,a,void", Refused("option class_names|value 3 on 2 pixels")),
    ("--class_names b,c,background,a --void 0", "void a b c"),
    ("--class_names b,c,background,a --void c", "background a b void"),
    ("--background c", B),
    ("--background d", Refused("'d'")),
    ("--background background --void 0", Refused("'background'")),
    ("--background_first", B),
    ("--background_first --background b", B),
    ("--background_first --void 0", Refused("no class that is known to be background")),
    ("--map_classes 'a,b=x; *=background'", "background x x background"),
    ("--map_classes 'a=x; *=*' --void b", "background x void c"),
    ("--map_classes 'a=x; b=void; *=*' --void b", Refused("'b', which is no class")),
    ("--missing_mask background", B),
    ("--missing_mask background --background b", B),
    ("--missing_mask background --void 0", Refused("none of the")),
]


@pytest.mark.parametrize(("words", "expected"), TYPED)
@pytest.mark.parametrize("kind", ["grey", "palette", "rgb", "equal"])
def test_what_is_said_of_typed_names_wins_or_is_refused(write, kind, words, expected):
    by_number = ("--values", "--masks_by index", "--background_first")
    may_refuse = kind == "rgb" and any(option in words for option in by_number)
    check(write(kind), words, expected, may_refuse=may_refuse)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labelmap.txt", LABELMAP),
        ("labelmap.txt", GREYS),
        ("class_names.txt", NAMES),
        ("_classes.csv", CSV),
    ],
)
@pytest.mark.parametrize(("words", "expected"), FROM_FILE)
def test_what_is_said_of_names_from_a_file_wins_or_is_refused(write, name, text, words, expected):
    if text == GREYS and "--void 0" in words:  # the second line of the file, or the value
        expected = Refused("option background|void")
    check(write("grey", **{name: text}), words, expected)


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
    if "--missing_mask background" in words:
        fill = config.example_spec(plan.rule).fill
        assert config.built_class_names[fill] == (
            "b" if "--background b" in words else "background"
        )
    again = VocSegConfig(**json.loads(config.to_json()))
    assert again.built_class_names == config.built_class_names
    assert classes(again, make_plan(open_tree(epath.Path(root), again), again)) == expected


@pytest.mark.parametrize("word", ["255", "c", "3"])
@pytest.mark.parametrize("name", ["labelmap.txt", "class_names.txt"])
def test_255_and_its_colour_are_void_whatever_is_said_of_void(write, name, word):
    border = np.where(PIXELS == 0, 255, PIXELS).astype(np.uint8)
    voc = "".join(f"{n}:{','.join(map(str, voc_palette()[i]))}::\n" for i, n in enumerate("xabc"))
    root = write("grey", **{name: voc if name == "labelmap.txt" else "x\na\nb\nc\n"})
    (root / "SegmentationClass/a.png").write_bytes(write_png(border, palette=voc_palette()))
    check(root, f"--void {word}", "void a b " + ("c" if word == "255" else "void"))


def test_255_is_a_class_if_the_class_file_or_values_say_so(write):
    root = write("binary", **{"_classes.csv": "Pixel Value, Class\n0, bg\n255, a\n7, junk\n"})
    check(root, "--void junk", "bg a a a")
    check(root, "--void junk --class_names bg,a,junk --values 0=0,255=1", "bg a a a")


def test_a_class_of_vocs_colour_of_void_is_a_class_if_void_is_said(write):
    labelmap = "background:0,0,0::\na:224,224,192::\nb:20,0,0::\njunk:30,0,0::\n"
    root = write("rgb", **{"labelmap.txt": labelmap})
    colors = np.array([[0, 0, 0], [224, 224, 192], [20, 0, 0], [30, 0, 0]], np.uint8)
    Image.fromarray(colors[PIXELS]).save(root / "SegmentationClass/a.png")
    check(root, "--void junk", "background a b void")


def test_what_is_void_is_void_in_what_is_built(write, tmp_path):
    config, plan = plan_of(write("grey"), f"{U} --void 0")
    assert "unlabelled means void" in describe(plan, config)
    builder = build_source(own_source(plan, config), config, data_dir=tmp_path / "data")
    info = builder.info
    assert info.features["segmentation_mask"].names == ["background", "a", "b"]
    assert info.metadata["class_names"] == ["background", "a", "b"]
    assert info.metadata["class_map"]["to"]["unlabelled"] == "void"
    assert verify.verify(builder, tmp_path).faults == []
    (example,) = builder.as_dataset("train")
    assert (example["segmentation_mask"].numpy()[..., 0] == np.array([255, 0, 1, 2])[PIXELS]).all()
    assert example["labels"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("labelmap.txt", LABELMAP, "void a b void"),
        ("class_names.txt", NAMES, "void a b void"),
        ("_classes.csv", CSV, "void a b void"),
        ("labelmap.txt", GREYS, Refused("value [03], which you said is void")),
    ],
)
def test_a_value_that_is_void_is_that_of_the_class_file(write, name, text, expected):
    check(write("grey", **{name: text}), "--void '0 3'", expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--class_names background,a,b,void", "background a b void"),
        ("--class_names x,void,y,z", "x void y z"),
        ("--class_names x,y,z,w --void 0", "void y z w"),
        ("--class_names x,y,z,w --void background", "void y z w"),
        ("--class_names x,y,z --void background", "void x y z"),
        ("--class_names background,x,b,c --void 1", Refused("option class_names")),
        ("--class_names x,void,y,z,w", Refused("option class_names")),
    ],
)
def test_other_names_take_the_places_of_a_class_file(write, words, expected):
    check(write("grey", **{"labelmap.txt": LABELMAP}), words, expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--values 0=3,1=2,2=1,3=0", "c b a background"),
        ("--values 0=0,1=1,2=2,3=3 --void 0", Refused("gives to 'background'")),
        ("--values 7=0,0=1,1=2,2=3,3=0 --void 9", "a b c background"),
        ("--values 0=255,1=2,2=1,3=0 --void c", "void b a background"),
        ("--values 0=0,1=1,2=2,3=3 --masks_by color", Refused("masks_by")),
        ("--values 0=3,1=2,2=1,3=0 --map_classes 'a=x; *=*'", "c b x background"),
        ("--values 0=3,1=2,2=1,3=0 --background_first --background c", Refused("--values")),
    ],
)
def test_values_count_the_names_of_a_class_file(write, words, expected):
    check(write("grey", **{"labelmap.txt": LABELMAP}), words, expected)


def test_values_may_not_count_names_among_which_void_is_before_others(write):
    root = write("grey", **{"class_names.txt": "void\nbackground\na\nb\n"})
    check(root, "", TAKEN_OUT)
    check(root, "--values 0=0", Refused("give the names with --class_names"))
    check(root, "--class_names background,a,b --values 0=255,1=0,2=1,3=2", TAKEN_OUT)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--class_names background,crack", "background crack crack crack"),
        ("--class_names background,crack --masks_by index", "background crack crack crack"),
        ("--class_names background,crack --void 255", "background void void void"),
        ("--class_names background,crack --void crack", Refused("only the values 0 and 255")),
        ("--class_names crack,background --background_first", "crack" + 3 * " background"),
        ("--class_names background,crack --map_classes 'crack=x; *=*'", "background x x x"),
        ("--class_names background,crack --values 0=0,255=1", "background crack crack crack"),
        ("--class_names background,crack --values 0=1,255=0", "crack" + 3 * " background"),
        (
            "--class_names background,crack --missing_mask background",
            "background crack crack crack",
        ),
        ("--class_names background,crack,wall", Refused("only the values 0 and 255")),
        ("--class_names background,crack,void", Refused("only the values 0 and 255")),
        ("--class_names background,crack,wall --void 255", "background void void void"),
    ],
)
def test_masks_of_0_and_255_with_two_classes(write, words, expected):
    check(write("binary"), words, expected)


def test_a_colour_that_is_said_to_be_void_is_void(write):
    root = write("rgb")
    check(root, f"{N} --void 128,0,0", Refused("128,0,0, which is the class 'a'"))
    check(root, f"{N} --void '128,0,0 a'", "background void b c")
    check(root, "--class_names background,x,a,b --void '128,0,0 x'", "background void a b")
    check(root, "--class_names background,a --void '0,128,0 128,128,0'", "background a void void")
    file = "labelmap.txt"
    exports.put(root, file, "bg:0,0,0::\na:128,0,0::\nb:0,128,0::\nc:128,128,0::\n")
    check(root, "--void 128,0,0", "bg void b c")
    check(root, "--void 128,0,0 --map_classes 'b=x; *=*'", "bg void x c")
    (root / file).unlink()
    exports.put(root, "class_names.txt", NAMES)
    check(root, "--void 128,0,0", Refused("128,0,0, which is the class 'a'"))
    check(root, "--void 1", "background void b c")


@pytest.mark.parametrize("kind", ["grey", "equal"])
def test_greys_of_a_labelmap_are_the_values_of_the_masks(write, kind):
    check(write(kind, **{"labelmap.txt": GREYS}), "", B)


def test_a_palette_whose_values_are_the_greys_of_a_labelmap_is_asked_about(write):
    root = write("palette", **{"labelmap.txt": GREYS})
    check(root, "", Refused("values that are the greys of labelmap.txt"))
    check(root, "--masks_by index", "a c b background")


@pytest.mark.parametrize("kind", ["grey", "palette", "equal"])
def test_a_colour_that_is_said_to_be_void_is_refused_where_values_decide(write, kind):
    check(write(kind), f"{N} --void '255 9,9,9'", Refused("colour 9,9,9, although the masks are"))
    check(write(kind), f"{N} --void '255 224,224,192'", B)


@pytest.mark.parametrize(
    "fields",
    [
        {"void": [0]},
        {"masks_by": "color"},
        {"values": {0: 1}},
        {"missing_mask": "background"},
        {"class_names": VOC_CLASSES[::-1]},
        {"class_names": ["background", "a"]},
    ],
)
def test_a_release_says_itself_what_its_masks_mean(fields):
    with pytest.raises(ConfigError, match="2012"):
        VocSegConfig(name="mine", release="2012", strict=False, **fields)


def test_a_config_says_the_name_of_a_class_that_is_void(write):
    config = VocSegConfig(name="mine", class_names=["unlabelled", "background", "a", "b"], void=[0])
    with pytest.raises(ConfigError, match="0, which is the class 'unlabelled'"):
        make_plan(open_tree(epath.Path(write("grey")), config), config)


def test_colours_are_not_asked_of_greyscale_masks(write):
    check(write("grey"), f"{N} --masks_by color", Refused("only greyscale masks"))
    root = write("grey", **{"labelmap.txt": GREYS})
    check(root, "--masks_by color", B)


def test_a_value_of_rgb_masks_is_not_taken_for_a_line_of_the_class_file(write):
    root = write("equal", **{"labelmap.txt": GREYS})
    check(root, "--void '1 255'", Refused("say --void a"))
    check(root, "--void a", "background void b c")
