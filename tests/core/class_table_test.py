"""The rows of a table of classes, and what they make of the names of the masks."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
import pytest
from support.encoding import decoded, encoded
from support.png_writer import write_png

from voc_seg_tfrecord import VOID, voc_palette
from voc_seg_tfrecord.core.class_rows import check_rows, format_pairs, parse_pairs
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.formats.bands import as_file
from voc_seg_tfrecord.formats.index_masks import read_mask
from voc_seg_tfrecord.tools.class_texts import has_unknown_class, parse_table

NAMES = ("sky", "car", "bus", "background", "tree")


@pytest.mark.parametrize("name", ["*", "?", "255"])
def test_a_class_has_no_name_that_no_row_can_give(name):
    with pytest.raises(ConfigError, match=rf"the class '[{name}]"):
        ClassTable(("background", name))


def table(text, names=NAMES, **said):
    return ClassTable(tuple(names), parse_pairs(text), **said)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0=background,255=crack", ((0, "background"), (255, "crack"))),
        (" 65535 = far , #FF0000=weed", ((65535, "far"), ("#ff0000", "weed"))),
        ("car=v,bus=v,*=background", (("car", "v"), ("bus", "v"), ("*", "background"))),
        ('"wall, brick"="a=b","12"=x', (("wall, brick", "a=b"), ("12", "x"))),
        ("person=person,*=IGNORE", (("person", "person"), ("*", "void"))),
        ('0="1"', ((0, "1"),)),
        ('"5"" pipe"="a ""b"""', (('5" pipe', 'a "b"'),)),
    ],
)
def test_pairs_have_values_colors_names_and_a_star(text, rows):
    assert parse_pairs(text) == rows
    assert parse_pairs(format_pairs(rows)) == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((t, "no pair") for t in ("", "car", "car=", "=car", "car=v,", "car=v=w", "car,bus=v")),
        ('car="v', "no pair"),
        ("0=0,255=1", "the class 0 for '0'.*double quotes"),
        ("255=255", "the class 255"),
        ("car=v,car=w", "'car' in two places"),
        ("#FF0000=a,#ff0000=b", "'#ff0000' in two places"),
        ("65536=a", "the key 65536.*-2147483648 to 65535"),
        ("-2147483649=a", "the key -2147483649"),
        ("car=*", "without control characters, or void"),
        ("car=a\tb", "without control characters"),
        ("0=?,1=a", r"no class for 0.*in place of each \?"),
        ('"*"=a', "which is no name"),
    ],
)
def test_text_that_is_no_pairs_is_refused(text, words):
    with pytest.raises(ConfigError, match=f"(?s)classes.*{words}"):
        parse_pairs(text)


def test_a_config_gives_rows_as_pairs_or_as_an_object():
    rows = (("12", "x"), (3, "void"), ("#0a0b0c", "a"))
    assert check_rows([["12", "x"], [3, "Void"], [(10, 11, 12), "a"]]) == rows
    assert check_rows({"12": "x", 3: "ignored", "#0A0B0C": "a"}) == rows
    assert check_rows({"x": "a", -9999: "void"}) == (("x", "a"), (-9999, "void"))
    assert check_rows([[[128.0, 0, 0], "crack"]]) == (("#800000", "crack"),)
    for color in ([128.5, 0, 0], [True, 0, 0], [1, 2], [float("nan"), 0, 0], ["1", "2", "3"]):
        with pytest.raises(ConfigError, match="the key"):
            check_rows([[color, "a"]])
    for wrong in (["ab"], [[1]], [[1, 2]], [[True, "a"]], [[1.5, "a"]], [["", "a"]]):
        with pytest.raises(ConfigError, match="classes"):
            check_rows(wrong)


FILE = """value,color,class,pixels
0,,background,9
,#FF0000,weed,3
,"1, 2, 3",weed,4
7,#000007,crop,1
"""


def test_a_file_has_rows_of_values_and_colors_and_columns_for_people():
    assert dict(parse_table(FILE, "classes.csv")) == {
        0: "background",
        7: "crop",
        "#000007": "crop",
        "#ff0000": "weed",
        "#010203": "weed",
    }
    by_name = parse_table("name,class\ncar,vehicle\n*,void\n", "c")
    assert by_name == (("car", "vehicle"), ("*", "void"))
    assert parse_table("value,class\r0,a\r", "c") == ((0, "a"),)
    assert parse_table('"value", "class"\n0, "a"\n', "c") == ((0, "a"),)
    for column, key in (("value", "7"), ("color", "#808000")):
        rows = dict(parse_table(f"{column},class\n{key},car\n*,void\n", "c"))
        assert [*rows.values()] == ["car", "void"]
        assert "*" in rows
    with pytest.raises(ConfigError, match=r"the value 'seven' in line 2"):
        parse_table("value,class\nseven,a\n", "c")
    assert not has_unknown_class(FILE)
    assert has_unknown_class(FILE.replace("crop", "?"))
    assert has_unknown_class(FILE.replace("crop", ""))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,name\n0,a\n", "the first line 'id,name'"),
        ("", "the first line ''"),
        ("name,class\na,0\nb,1\n", "the first line 'name,class'.*a class name in each row"),
        ("value,class\n0," + "a" * 200_000, "the first line 'value,class'"),
        ("value,class\n0,?\n1,a\n", "no class for 0"),
        ("value,class\nx,a\n", "in line 2"),
        ("value,class\n,a\n", "no key in line 2"),
        ("value,class\n0,a\n0,b\n", "0 for 'b', after 'a' in line 3"),
        ('value,name,class\n0,"a\nb",a\n1,,b\n1,,c\n', "1 for 'c', after 'b' in line 5"),
        ("color,class\n1 2 300,a\n", "the color '1 2 300'"),
        ("color,class\nred,a\n", "the color 'red'"),
        ("value,class,pixels\n0,sky, blue,7\n", "more cells than columns.*in line 2"),
        ("value,class,class\n0,a,b\n", "the column class twice"),
        ("value,class\n0,k\ufffdfer\n", "characters that are not UTF-8"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_line(text, words):
    with pytest.raises(ConfigError, match=f"(?s)classes.csv: .*{words}"):
        parse_table(text, "classes.csv")


@pytest.mark.parametrize(
    ("text", "names", "became"),
    [
        ("car=vehicle,bus=vehicle,tree=void,*=background", ("background", "vehicle"), "bvvb."),
        ("bus=bus,car=car", ("background", "bus", "car", "sky", "tree"), "scbbt"),
        ("tree=tree,*=void", ("tree",), "....t"),
        ("bus=car", ("background", "car", "sky", "tree"), "sccbt"),
        ("car=bus,bus=car", ("background", "bus", "car", "sky", "tree"), "sbcbt"),
        ("1=void", ("sky", "bus", "background", "tree"), None),
        ("255=car", NAMES, None),
        ("7=road", (*NAMES, "road"), None),
        ("#ff0000=road", (*NAMES, "road"), None),
        ("background=background", ("background", "sky", "car", "bus", "tree"), "scbbt"),
    ],
)
def test_rows_stand_over_the_names_and_keep_the_places_of_others(text, names, became):
    found = table(text)
    assert found.class_names == names
    if became:
        new = [found.class_of_name(name) for name in NAMES]
        assert "".join("." if name == "void" else name[0] for name in new) == became


def test_without_names_the_rows_are_the_table_and_background_is_first():
    found = table("255=crack,7=crack,0=background,9=void,1=BG", names=())
    assert found.class_names == ("background", "crack", "BG")
    assert found.index_values() == {-1: 255, 255: 1, 7: 1, 0: 0, 9: 255, 1: 2}
    assert table("3=road,5=floor", names=(), background="floor").class_names == ("floor", "road")


def test_names_that_mean_void_are_no_classes_and_a_row_may_say_otherwise():
    names = ("void", "background", "a")
    assert ClassTable(names).class_names == ("background", "a")
    assert ClassTable(names).index_values() == {-1: 255, 255: 255, 0: 255, 1: 0, 2: 1}
    assert table("void=border", names).class_names == ("background", "border", "a")
    assert table("*=x", names).class_of_name("void") == "void"


def test_values_win_over_places():
    found = table("1=tree,300=sky")
    assert found.class_names == ("sky", "tree", "bus", "background")
    assert found.index_values() == {-1: 255, 255: 255, 0: 0, 1: 1, 2: 2, 3: 3, 4: 1, 300: 0}


def test_rows_of_values_do_not_go_with_values_of_known_places():
    places = {0: 0, 10: 1, 20: 2}
    assert ClassTable(NAMES[:3]).index_values(places) == {-1: 255, 255: 255, 0: 0, 10: 1, 20: 2}
    with pytest.raises(ConfigError, match="rows of the values 1"):
        table("1=x", NAMES[:3]).index_values(places)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*=void", "leave no class"),
        ('sky="?"', r"no class for sky"),
        ("cat=v", "'cat', which is no class"),
        ("Car=v", "'Car', which is no class, but 'car' is one"),
        ("car=v,bus=V", "'v' and 'V'.*one spelling"),
        ("car=_Background_", "one spelling"),
    ],
)
def test_rows_that_name_no_class_or_leave_none_are_refused(text, words):
    with pytest.raises(ConfigError, match=f"(?s)classes.*{words}"):
        table(text)


@pytest.mark.parametrize(
    ("text", "said", "background", "fill"),
    [
        ("sky=sky", "", "background", 0),
        ("background=stuff,sky=stuff", "", "", 0),
        ("background=void", "", "", VOID),
        ("sky=floor", "sky", "floor", 0),
        ("sky=floor", "floor", "floor", 0),
        ("sky=void", "sky", "background", VOID),
        ("3=floor", "", "", 3),
        ("3=void", "", "", VOID),
        ("0=floor", "sky", "floor", 0),
    ],
)
def test_the_background_moves_with_its_name_and_value(text, said, background, fill):
    found = table(text, background=said)
    assert (found.background_name, found.fill) == (background, fill)


def test_a_new_background_fills_images_without_masks_if_the_masks_know_none():
    assert table("b=background", ("a", "b")).fill == 0
    assert table("b=b", ("a", "b")).fill is None


def test_the_table_in_words_shows_what_became_what():
    assert table("car=v,bus=v,tree=void,*=background,9=v").describe() == (
        "0 background from sky, background, *; 1 v from car, bus, 9; void from tree"
    )


def test_the_table_in_words_follows_rows_of_values_as_masks_do():
    found = table("1=hole,2=crack", names=("background", "crack", "hole"))
    assert found.index_values() == {-1: 255, 255: 255, 0: 0, 1: 1, 2: 2}
    assert found.describe() == "0 background; 1 hole from crack, 1; 2 crack from hole, 2"


SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=24)


@given(
    hnp.arrays(np.uint8, SHAPES, elements=st.sampled_from([*range(21), 255])),
    st.lists(st.sampled_from(["void", "background", "x", "y", "z"]), min_size=21, max_size=21),
    st.sampled_from(["palette", "gray", "gray16", "color", "npy"]),
)
@settings(max_examples=40)
def test_a_mapped_mask_is_the_mask_put_through_one_table(values, targets, kind):
    names = tuple(f"class {n}" for n in range(21))
    targets = targets if set(targets) != {"void"} else ["x"] * 21
    found = ClassTable(names, check_rows(zip(names, targets, strict=True)))
    palette = voc_palette()
    rule = MaskRule(found.index_values())
    if kind == "color":
        of_color = {tuple(palette[v].tolist()): n for v, n in rule.values.items() if v >= 0}
        rule = MaskRule({}, of_color)
    if kind == "npy":
        data = as_file(values, "m").data
    elif kind == "color":
        data = encoded(palette[values])
    elif kind == "palette":
        data = write_png(values, palette=palette)
    else:
        data = write_png(values, depth=16 if kind == "gray16" else 8, color=0)
    expected = np.vectorize(found.index_values().get, otypes=[np.uint8])(values)
    assert (decoded(read_mask(File(data, "m"), rule).png) == expected).all()
