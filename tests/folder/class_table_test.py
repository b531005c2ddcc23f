"""`check --write_classes`: what masks use and what it is, to be filled in and built with."""

import csv
import io

import numpy as np
import pytest
from support import drawing, exports
from support.building import examples, from_tree
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, voc_palette
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.tools.class_texts import parse_table

TRUTH = drawing.truth("a")


def put(root, *masks):
    for number, mask in enumerate(masks):
        drawing.put_image(root, f"JPEGImages/{number}.jpg")
        data = mask if isinstance(mask, bytes) else write_png(np.array(mask), color=0)
        drawing.put(root, f"SegmentationClass/{number}.png", data)


@pytest.fixture
def written(tmp_path, capsys):
    """Writes the table of the folder `t` in quotes; returns its rows."""

    def of(*words):
        out = tmp_path / "classes 1.csv"
        out.unlink(missing_ok=True)
        assert cli.main(["check", str(tmp_path / "t"), "--write_classes", str(out), *words]) == 0
        line = f"build {tmp_path}/t --name NAME --classes '{out}'"
        assert f"build with it: voc-seg-tfrecord {line}" in capsys.readouterr().out
        return list(csv.DictReader(io.StringIO(out.read_text())))

    return of


def columns(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


def of_values(values):
    return lambda truth: np.array(values)[truth]


def in_colors(*colors):
    palette = np.array(colors)
    return lambda truth: write_png(truth, palette=palette)


@pytest.mark.parametrize(
    ("masks", "names"),
    [
        (of_values([0, 64, 255]), {"0": "floor", "64": "crack", "255": "edge"}),
        (
            lambda t: write_png(np.array([1, 9, 65535])[t], depth=16, color=0),
            {"1": "a", "9": "b", "65535": "c"},
        ),
        (in_colors((9, 9, 9), (255,) * 3, (255,) * 3), {"0": "a", "1": "b", "2": "c"}),
        (in_colors((0, 0, 0), (255, 0, 0), (0, 255, 0)), {"0": "a", "1": "b", "2": "b"}),
        (of_values([0, 3, 4]), {"0": "background", "3": "x", "4": "void"}),
    ],
)
def test_what_no_message_could_name_builds_by_the_table_that_is_filled_in(
    tmp_path, written, masks, names
):
    put(tmp_path / "t", *([masks(TRUTH)] * 2))
    rows = written()
    assert columns(rows, "value", "class", "masks") == [(value, "?", "2") for value in names]
    assert sum(int(row["pixels"]) for row in rows) == 2 * TRUTH.size
    out = tmp_path / "classes 1.csv"
    words = ["build", str(tmp_path / "t"), "--name", "m", "--classes", str(out)]
    assert cli.main(words) == 2
    text = out.read_text()
    for value, name in names.items():
        text = text.replace(f"{value},,?", f"{value},,{name}")
    out.write_text(text)
    assert cli.main([*words, "--data_dir", str(tmp_path / "data")]) == 0
    builder = open_built("voc_seg_tfrecord/m", tmp_path / "data")
    of_index = {255: "void", **dict(enumerate(builder.info.metadata["class_names"]))}
    expected = np.array([*names.values()])[TRUTH]
    for example in examples(builder, "train").values():
        mask = example["segmentation_mask"][..., 0]
        assert (np.vectorize(of_index.get)(mask) == expected).all()
    assert verify.verify(builder, verify.find_originals(builder, tmp_path / "t")).faults == []


def test_the_table_has_the_class_where_it_is_known(tmp_path, written):
    exports.cvat(tmp_path / "t")
    rows = written()
    assert columns(rows, "color", "class") == [
        ("#000000", "background"),
        ("#33ddff", "tree"),
        ("#fa3253", "apple"),
    ]
    plan = plan_to_build(tmp_path / "t", name="x")
    text = (tmp_path / "classes 1.csv").read_text()
    again = plan_to_build(tmp_path / "t", name="x", classes=parse_table(text, ""))
    assert {**plan.mask_rule.all_colors} == {**again.mask_rule.all_colors}


def test_all_that_a_value_may_mean_stands_side_by_side_in_its_row(tmp_path, written):
    names = ",".join(VOC_CLASSES[n] for n in (0, 1, 3, 8))
    put(tmp_path / "t", write_png(np.array([0, 1, 3])[TRUTH], palette=voc_palette()))
    rows = written("--class_names", names)
    assert columns(rows, "value", "class", "palette") == [
        ("0", "background", "#000000"),
        ("1", "aeroplane", "#800000"),
        ("3", "?", "#808000"),
    ]
    assert "cat" in rows[2].values()
    put(tmp_path / "t", np.minimum(TRUTH, 1) * 255)  # 255 may be void
    rows = written("--class_names", "background,a,b")
    assert columns(rows, "value", "class") == [("0", "background"), ("255", "?")]
    put(tmp_path / "t", np.minimum(TRUTH, 1) + 1)  # there are two ways to number the names
    drawing.put(tmp_path / "t", "classes.txt", "sky\ncrack\nroad\n")
    rows = written()
    assert columns(rows, "value", "class") == [("1", "?"), ("2", "?")]
    assert {"sky", "crack"} <= {*rows[0].values()}


@pytest.mark.parametrize("is_gray_first", [True, False])
def test_a_candidate_that_gives_pixels_of_one_row_two_classes_has_none_in_it(
    tmp_path, written, is_gray_first
):
    palette = voc_palette()
    masks = [TRUTH, write_png(TRUTH, palette=palette[[0, 2, 1]])]
    put(tmp_path / "t", *(masks if is_gray_first else masks[::-1]))
    rows = written("--class_names", "voc")
    rows_by_column = columns(rows, "value", "by value", "by the colors of VOC's palette")
    assert rows_by_column[1:] == [("1", "aeroplane", "?"), ("2", "bicycle", "?")]


def test_a_palette_of_its_own_for_each_mask_has_rows_of_colors(tmp_path, written):
    exports.supervisely(tmp_path / "t")
    assert columns(written(), "color", "class") == [
        ("#000000", "background"),
        ("#51c6aa", "lemon"),
        ("#e0e0c0", "void"),
        ("#ff0000", "kiwi fruit"),
    ]


def test_an_existing_file_is_not_overwritten(tmp_path, capsys):
    put(tmp_path / "t", TRUTH)
    out = tmp_path / "c.csv"
    out.write_text("mine")
    assert cli.main(["check", str(tmp_path / "t"), "--write_classes", str(out)]) == 2
    assert "a file that exists" in capsys.readouterr().err
    assert out.read_text() == "mine"


def test_the_config_with_rows_builds_the_same_elsewhere(tmp_path):
    put(tmp_path / "t", TRUTH)
    rows = [[0, "background"], [1, "crack"], [2, "void"]]
    config = from_tree(tmp_path / "t", classes=rows).info.metadata["config"]
    assert config["classes"] == rows
    assert "class_names" not in config


def test_what_no_table_helps_against_is_said_before_one_is_written(tmp_path, capsys):
    drawing.put_image(tmp_path, "JPEGImages/a.jpg")
    drawing.put_mask(tmp_path, "SegmentationClass/a.png", np.arange(35).reshape(5, 7))
    words = ["check", str(tmp_path), "--write_classes", str(tmp_path / "classes.csv")]
    assert cli.main(words) == 1
    assert "a.png: another size than that of" in capsys.readouterr().err
    soft = np.dstack([np.full((*TRUTH.shape, 3), 9, np.uint8), TRUTH])
    drawing.put(tmp_path, "SegmentationClass/a.png", soft)
    assert cli.main(words) == 1
    assert "pixels that are partly transparent" in capsys.readouterr().err
    assert not (tmp_path / "classes.csv").exists()
