import pytest

from voc_seg_tfrecord.core.file_names import name_fault, show_file_name


@pytest.mark.parametrize("name", ["a.jpg", "folder/a.jpg", "..a..jpg", "\xe9.png", "a b.png", "a"])
def test_a_name_below_a_folder_is_fine(name):
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../x.png", "leaves the folder"),
        ("a/../../x.png", "leaves the folder"),
        ("/etc/passwd", "leaves the folder"),
        ("C:/x.png", "leaves the folder"),
        ("a:b.png", "begins as the letter of a drive does on Windows"),
        ("a\\x.png", "has a backslash"),
        (".", "names no file"),
        ("a//b", "names no file"),
        ("a/", "names no file"),
        ("a\0b", "has a control character"),
        ("a\nb", "has a control character"),
        ("a\u2028b", "has a control character"),
        ("n" * 300, "has 300 bytes"),
        ("\xe9" * 200, "has 400 bytes"),
        ("/".join(["folder"] * 200), "has 1399 bytes"),
    ],
)
def test_a_name_that_can_be_no_file_below_a_folder_is_told_why(name, words):
    assert name_fault(name) == words


def test_a_name_is_shown_with_nothing_hidden_and_not_at_full_length():
    assert show_file_name("a\0b") == r"'a\x00b'"
    assert len(show_file_name("n" * 300)) < 80
