from html.parser import HTMLParser

import numpy as np
import pytest

from voc_seg_tfrecord import VocSegConfig, evaluation, leaks, stats, verify
from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.named_lists import named_lists
from voc_seg_tfrecord.splits import pascal5i

EVIL = '<script>alert("1")</script>'
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def many_ids():
    return tuple(f"{number:06}" for number in range(10_582))


def many_stats(name=EVIL):
    names = (name, *(f"a long name of a class, number {n}" for n in range(20)))
    counts = np.arange(21)
    sizes = np.ones((10_582, 2), np.int64)
    return stats.Stats(names, many_ids(), counts, counts, counts, None, 7, sizes)


def confusion():
    made = evaluation.Confusion([EVIL, "b"])
    made.update(np.zeros((1, 2, 2), np.uint8), np.zeros((1, 2, 2), np.uint8))
    return made


def shared():
    images = dict.fromkeys(many_ids(), "")
    return leaks.find_overlap(
        leaks.Side(EVIL, "train", images), leaks.Side("val", "evaluation", images)
    )


OBJECTS = {
    "Stats": many_stats,
    "Confusion": confusion,
    "Result": lambda: confusion().result(dataset=EVIL),
    "NamedList": lambda: named_lists()["trainaug"],
    "VocSegConfig": lambda: VocSegConfig(name="a", class_names=[EVIL, *map(str, range(200))]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_shows_itself_in_a_short_line_and_a_table(name):
    made = OBJECTS[name]()
    assert repr(made).startswith(f"<{name}: ")
    assert len(repr(made)) < 200
    assert "\n" not in repr(made)
    tags = Tags()
    tags.feed(made._repr_html_())
    assert set(tags.found) == TAGS


@pytest.mark.parametrize("name", ["Stats", "Confusion", "VocSegConfig"])
def test_a_name_that_looks_like_a_tag_is_text_in_a_table(name):
    tags = Tags()
    tags.feed(OBJECTS[name]()._repr_html_())
    assert EVIL in tags.text


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (shared, " and val share "),
        (lambda: pascal5i(0), "<Fold: fold 0 of PASCAL-5i, classes 1 to 5, "),
        (lambda: VocSegConfig(name="own"), "<VocSegConfig: name='own'>"),
        (
            lambda: VocSegConfig(name="own", tile=64, exif="apply"),
            "<VocSegConfig: name='own', exif='apply', tile=64>",
        ),
        (lambda: VocSegConfig(name="2012", release="2012"), "name='2012', release='2012'>"),
    ],
)
def test_the_line_says_what_matters(made, shown):
    assert shown in repr(made())


def test_a_report_of_verify_and_its_parts_are_short(sample):
    report = verify.verify(sample)
    assert repr(report).startswith(
        "<VerificationReport: 0 faults, test 1, train 3, validation 2, fingerprint "
    )
    for split in report.splits.values():
        assert len(repr(split)) < 200
        assert len(repr(split.fingerprint)) < 200
    assert report.fingerprint in report._repr_html_()


def test_a_line_sends_no_control_characters_and_ends():
    assert display.brief_line(1, "a\x1b[31m\n" * 100).isprintable()
    assert len(display.brief_line(1, "ü" * 1000)) < 200


def test_truth_is_no_number_in_a_table():
    table = display.brief_table("t", ("a", "b"), [(True, 1000)])
    assert ">True<" in table
    assert ">1,000<" in table
