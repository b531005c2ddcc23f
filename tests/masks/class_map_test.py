from collections import Counter
import io

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
from PIL import Image
import pytest
from support.encoding import decoded, encoded
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.formats.class_files import VOID_NAMES
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.class_map import parse, read_rules
from voc_seg_tfrecord.masks.read import read_mask
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule

NAMES = ("sky", "car", "bus", "background", "tree")


def mapped(text, names=NAMES, **said):
    found = parse(text, names, **said)
    return found.class_names, found.table


@pytest.mark.parametrize(
    ("text", "names", "table"),
    [
        ("*=*", ("background", "sky", "car", "bus", "tree"), (1, 2, 3, 0, 4)),
        ("car,bus=vehicle; tree=void; *=background", ("background", "vehicle"), (0, 1, 1, 0, 255)),
        ("bus = bus ;car=car; *=*;", ("background", "bus", "car", "sky", "tree"), (3, 2, 1, 0, 4)),
        ("tree=tree; *=void", ("tree",), (255, 255, 255, 255, 0)),
        ("bus=car; *=*", ("background", "car", "sky", "tree"), (2, 1, 1, 0, 3)),
        ("car=v; sky,background,tree=Void; bus=v", ("v",), (255, 0, 0, 255, 255)),
        ("sky=IGNORE; *=other", ("other",), (255, 0, 0, 0, 0)),
        ("tree=Tree; *=void", ("Tree",), (255, 255, 255, 255, 0)),
    ],
)
def test_classes_are_merged_dropped_and_put_in_the_order_of_the_rules(text, names, table):
    assert mapped(text, void=(VOID, *VOID_NAMES)) == (names, table)


def test_voc_becomes_person_and_background_in_one_line():
    names, table = mapped("person=person; *=background", VOC_CLASSES)
    assert names == ("background", "person")
    assert [VOC_CLASSES[i] for i, new in enumerate(table) if new == 1] == ["person"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*=void", "leaves no class"),
        ("car=255; *=*", "'255'.*write void"),
        ("car=bus; bus=car; *=*", "'bus' for car.*becomes 'car'"),
        ("car=v; bus=car; *=*", "'car' for bus.*becomes 'v'"),
        ("background=void; *=background", "'background' for sky.*becomes 'void'"),
        ("car=v; bus=V; *=*", "there is 'V'"),
        ("car=v; bus=Car; *=*", "'Car' for bus, while there is 'car', which becomes 'v'"),
        ("car=_Background_; *=*", "there is 'background'"),
    ],
)
def test_new_names_that_would_name_pixels_wrongly_or_not_at_all_are_refused(text, words):
    with pytest.raises(ConfigError, match=f"(?s)map_classes.*{words}"):
        parse(text, NAMES)


def test_void_beside_a_class_that_is_called_void_is_refused():
    with pytest.raises(ConfigError, match="means void, beside a class 'Void'"):
        parse("a=void; *=*", ("a", "Void"))


@pytest.mark.parametrize(
    ("text", "said", "background", "fill"),
    [
        ("*=*", "", "background", 0),
        ("background,sky=stuff; *=*", "", "", 0),
        ("background=void; *=*", "", "", VOID),
        ("sky=floor; *=*", "sky", "floor", 0),
        ("sky=floor; *=*", "floor", "floor", 0),
        ("sky=void; *=*", "sky", "background", VOID),
    ],
)
def test_the_background_moves_with_its_name(text, said, background, fill):
    found = parse(text, NAMES, background=said)
    assert (found.background, found.fill) == (background, fill)


def test_a_new_background_fills_images_without_masks_if_the_masks_know_none():
    assert parse("b=background; *=*", ("a", "b")).fill == 0
    assert parse("*=*", ("a", "b")).fill is None


def test_an_object_has_its_new_class_and_none_if_that_is_void_or_background():
    found = parse("car,bus=vehicle; tree=void; *=background", NAMES)
    names = {name: found.object_class(name) for name in NAMES}
    assert names == {
        "sky": None,
        "car": "vehicle",
        "bus": "vehicle",
        "background": None,
        "tree": None,
    }


def table_of(found):
    return np.array([found.index(i) if i < len(found.table) else i for i in range(256)], np.uint8)


@given(
    hnp.arrays(
        np.uint8,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=24),
        elements=st.one_of(st.integers(0, 20), st.just(255)),
    ),
    st.lists(st.sampled_from(["void", "background", "x", "y", "z"]), min_size=21, max_size=21),
    st.sampled_from(["palette", "grey", "grey16", "color", "npy"]),
)
@settings(max_examples=150, deadline=None)
def test_a_mapped_mask_is_the_mask_put_through_one_table(values, targets, kind):
    names = tuple(f"class {n}" for n in range(21))
    text = ";".join(f"{name}={new}" for name, new in zip(names, targets, strict=True))
    found = parse(f"{text}", names) if set(targets) != {"void"} else parse("*=*", names)
    palette = voc_palette()
    colors = {tuple(color): n for n, color in enumerate(palette.tolist()) if n < 21 or n == 255}
    rule = MaskRule(index_rule(21).values, colors if kind == "color" else None)
    if kind == "npy":
        np.save(buffer := io.BytesIO(), values)
        data = buffer.getvalue()
    elif kind == "color":
        data = encoded(palette[values])
    elif kind == "palette":
        data = write_png(values, palette=palette)
    else:
        data = write_png(values, depth=16 if kind == "grey16" else 8, color=0)
    file = File(data, "m")
    plain, new = read_mask(file, rule), read_mask(file, rule.mapped(found))
    expected = table_of(found)[values]
    assert (decoded(plain.png) == values).all()
    assert (decoded(new.png) == expected).all()
    assert new.counts == Counter(expected.ravel().tolist())


def test_real_masks_are_mapped_pixel_by_pixel(real_data):
    found = parse("person=person; car,bus=vehicle; sofa=void; *=background", VOC_CLASSES)
    rule = index_rule(21)
    count = 0
    for path in sorted(real_data.glob("voc20*/VOCdevkit/VOC20*/SegmentationClass/*.png")):
        file = File(path.read_bytes(), path)
        new = decoded(read_mask(file, rule.mapped(found), official=True).png)
        assert (new == table_of(found)[np.asarray(Image.open(path))]).all(), path
        count += 1
    assert count >= 106


def test_a_star_is_every_class_that_no_rule_names_and_keeps_each_on_both_sides():
    others = ["sky", "background", "tree"]
    assert read_rules("car,bus=v; *=w", NAMES) == [(["car", "bus"], "v"), (others, "w")]
    assert read_rules("*=*; car,bus=v;", NAMES) == [(others, None), (["car", "bus"], "v")]


def test_names_with_signs_stand_in_double_quotes():
    names = ("wall, brick", "a=b", "*", "x;y")
    text = '"wall, brick","*"="a, b"; "a=b"=void; "x;y"="x;y"'
    assert read_rules(text, names) == [
        (["wall, brick", "*"], "a, b"),
        (["a=b"], "void"),
        (["x;y"], "x;y"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rule"),
        (" ; ", "no rule"),
        ("car", "'car', which is no rule"),
        ("car=", "which is no rule"),
        ("=car", "which is no rule"),
        ("car,=v; *=*", "which is no rule"),
        ("car=v=w; *=*", "which is no rule"),
        ("car=v,w; *=*", "which is no rule"),
        ('car="v; *=*', "close the double quotes"),
        ("car=*; *=*", r"\*=\* alone"),
        ("cat=v; *=*", "'cat', which is no class"),
        ("Car=v; *=*", "'Car', which is no class, but 'car' is one"),
        ("car=v; car=w; *=*", "'car' in two places"),
        ("car,car=v; *=*", "'car' in two places"),
        ("*=v; *=w", r"\* in two places"),
        ("car=v; bus=v", r"no rule for sky, background, tree.*add '; \*=\*'"),
        ("car=a\tb; *=*", "control characters"),
    ],
)
def test_text_that_is_no_rules_or_does_not_name_each_class_once_is_refused(text, words):
    with pytest.raises(ConfigError, match=f"(?s)map_classes.*{words}"):
        read_rules(text, NAMES)
