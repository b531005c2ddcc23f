import re
from xml.etree import ElementTree

import pytest

from voc_seg_tfrecord.report import charts, svg

NAMES = ["<script>alert(1)</script>", "a & b", "$x^2$", "\x0b\x1b[31m", "\ud800", "😀", "x" * 300]


@pytest.fixture
def chart():
    values = {"train": [1.0, 0, 3, 4, 5, 6, 7], "validation": [2.0] * 7}
    return charts.bars("Images", values, NAMES, ["#c00080"] * 7, "{:,}", "images")


def test_names_stay_text_whatever_they_hold(chart):
    root = ElementTree.fromstring(chart)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "defs", "path", "use", "text", "clipPath", "rect"}
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"<script>alert(1…", "a & b", "$x^2$", "\ufffd\ufffd[31m", "\ufffd", "😀"} <= set(texts)
    assert "x" * 15 + "…" in texts


def test_no_style_attribute_or_element_is_left_that_a_policy_would_refuse(chart):
    assert "style" not in chart
    assert "javascript" not in chart
    assert 'class="fill-series0"' in chart
    assert 'class="fill-ink"' in chart
    assert "#0" not in chart.replace('"#images-', "")


def test_a_missing_bar_is_told_in_words(chart):
    assert ">absent in train<" in chart
    assert 'class="fill-warn"' in chart


def test_a_class_without_any_bar_is_told_once():
    values = {"train": [0, 0], "validation": [0, 2]}
    chart = charts.bars("Images", values, ["cat", "dog"], ["#c00080"] * 2, "{:,}", "images")
    texts = re.findall(r">(absent[^<]*)<", chart)
    assert texts == ["absent in all splits here", "absent in train"]
    alone = charts.bars("Images", {"train": [0]}, ["cat"], ["#c00080"], "{:,}", "images")
    assert re.findall(r">(absent[^<]*)<", alone) == ["absent in train"]


def test_a_split_that_has_no_bar_of_its_own_counts_when_a_class_is_called_absent():
    values = {f"split {number}": [float(number == 8)] for number in range(9)}
    chart = charts.bars("Images", values, ["cat"], ["#c00080"], "{:,}", "images")
    assert "in all splits" not in chart
    assert chart.count(">absent in split") == len(svg.SERIES)


def test_the_same_figures_give_the_same_bytes_and_ids_have_their_prefix(chart):
    values = {"train": [1.0, 0, 3, 4, 5, 6, 7], "validation": [2.0] * 7}
    again = charts.bars("Images", values, NAMES, ["#c00080"] * 7, "{:,}", "images")
    assert again == chart
    ids = [e.get("id") for e in ElementTree.fromstring(chart).iter() if e.get("id")]
    assert ids
    assert all(name.startswith("images-") for name in ids)


def test_settings_of_the_users_matplotlib_do_not_stay_changed():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with svg.figure(100, 100):
        pass
    assert dict(matplotlib.rcParams) == before
