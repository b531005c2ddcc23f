import re
from xml.etree import ElementTree

import numpy as np
import pytest

from voc_seg_tfrecord.report import charts

NAMES = ["<script>alert(1)</script>", "a & b", "$x^2$", "\x0b\x1b[31m", "\ud800", "😀", "x" * 300]


def bars(values, names):
    axis = charts.ClassAxis(names, ["#c00080"] * len(names), range(len(names)))
    return charts.draw_bars("Images", values, axis, "{:,}")


@pytest.fixture
def chart():
    values = {"train": [1.0, 0, 3, 4, 5, 6, 7], "validation": [2.0] * 7}
    return bars(values, NAMES)


def test_names_stay_text_whatever_they_hold(chart):
    root = ElementTree.fromstring(chart)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "text", "rect", "line"}
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"<script>alert(1…", "a & b", "$x^2$", "\ufffd\ufffd[31m", "\ufffd", "😀"} <= set(texts)
    assert "x" * 15 + "…" in texts


def test_no_style_attribute_or_element_is_left_that_a_policy_would_refuse(chart):
    assert "style" not in chart
    assert "javascript" not in chart
    assert 'class="fill-series0"' in chart
    assert 'class="fill-ink"' in chart


def test_a_missing_bar_is_told_in_words(chart):
    assert ">absent in train<" in chart
    assert 'class="fill-warn"' in chart


def test_a_class_without_any_bar_is_told_once():
    values = {"train": [0, 0], "validation": [0, 2]}
    chart = bars(values, ["cat", "dog"])
    texts = re.findall(r">(absent[^<]*)<", chart)
    assert texts == ["absent in all splits here", "absent in train"]
    alone = bars({"train": [0]}, ["cat"])
    assert re.findall(r">(absent[^<]*)<", alone) == ["absent in train"]


def test_a_split_that_has_no_bar_of_its_own_counts_when_a_class_is_called_absent():
    values = {f"split {number}": [float(number == 8)] for number in range(9)}
    chart = bars(values, ["cat"])
    assert "in all splits" not in chart
    assert chart.count(">absent in split") == charts.MAX_COLORED_SPLITS


def test_ticks_are_few_whole_and_even():
    for top, expected in (
        (0.4, [0]),
        (3, [0, 1, 2, 3]),
        (5, [0, 2, 4]),
        (106, [0, 50, 100]),
        (2913, [0, 1000, 2000]),
    ):
        assert charts.ticks(top) == expected


def test_dots_and_bars_lie_where_their_values_are():
    chart = charts.draw_sizes({"train": np.array([[50, 100], [100, 100], [100, 100]])})
    dots = [e.attrib for e in ElementTree.fromstring(chart).iter() if e.tag.endswith("circle")]
    (small, large) = sorted(dots, key=lambda dot: float(dot["r"]))
    assert small["cx"] == large["cx"]
    assert float(small["cy"]) > float(large["cy"])  # downwards is less
    chart = charts.draw_histogram("T", {"a": [1, 2]}, ("0", "1", "100"), x_title="%", y_title="n")
    heights = re.findall(r'height="(\S+)" class="fill-series0"', chart)
    assert float(heights[1]) == 2 * float(heights[0]) > 0
