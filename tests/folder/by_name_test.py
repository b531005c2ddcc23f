"""A path in a text leads to the file that it names, also if names have signs of addresses."""

import pytest

from voc_seg_tfrecord.folder.by_name import FilesByName

FILES = ("images/a?1.png", "images/a?2.png", "images/a.png", "images/b.png")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a?1.png", ["images/a?1.png"]),
        ("https://host/images/a?2.png", ["images/a?2.png"]),
        ("a.png", ["images/a.png"]),
        ("a.png?v=1", ["images/a.png"]),
        ("https://host/images/b.png?path=images/a.png", ["images/b.png"]),
        ("b?1.png", ["images/b.png"]),
    ],
)
def test_a_question_mark_is_part_of_a_name_if_a_file_has_it_and_else_begins_a_query(text, paths):
    assert list(FilesByName(FILES).find(text).paths) == paths


def test_a_question_mark_may_be_in_the_name_of_a_folder():
    assert list(FilesByName(["a?/1.png", "b/1.png"]).find("a?/1.png").paths) == ["a?/1.png"]


def test_a_query_that_ends_like_a_file_is_no_file():
    assert list(FilesByName(["a.png", "images/b.png"]).find("b.png?x=/a.png").paths) == [
        "images/b.png"
    ]
