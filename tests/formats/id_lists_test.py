import pytest

from voc_seg_tfrecord.errors import ListError
from voc_seg_tfrecord.formats.id_lists import id_list_sha256, parse_ids

KNOWN = {"a", "b", "102_0", "1 (237)2", "UFO_6.25_0074", "sub dir/img 2", "x.jpg", "2007_000033"}


def parse(text, known=KNOWN):
    return parse_ids(text if isinstance(text, bytes) else text.encode(), "train.txt", known)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a\nb\n", ["a", "b"]),
        ("b\na", ["b", "a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\r", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        ("a\nb\n".encode("utf-16"), ["a", "b"]),
        ("\na\n\n\nb\n\n", ["a", "b"]),
        ("a  \nb\t\n", ["a", "b"]),
        ("# made by tool\na\n", ["a"]),
        ("102_0.png\n", ["102_0"]),
        ("x.jpg\n", ["x.jpg"]),
        ("1 (237)2\n", ["1 (237)2"]),
        ("UFO_6.25_0074\n", ["UFO_6.25_0074"]),
        ("sub dir/img 2\n", ["sub dir/img 2"]),
        ("sub dir\\img 2\n", ["sub dir/img 2"]),
        ("/JPEGImages/a.jpg /SegmentationClassAug/a.png\n", ["a"]),
        ("JPEGImages/b.jpg SegmentationClass/b.png\n", ["b"]),
        ("/JPEGImages/a.jpg\n", ["a"]),
        ("/JPEGImages/sub dir/img 2.jpg\n", ["sub dir/img 2"]),
        ("a  1\nb -1\n", ["a", "b"]),
        ("missing\n", ["missing"]),
        ("missing 2.v3\n", ["missing 2.v3"]),
    ],
)
def test_every_kind_of_line_gives_its_id(text, ids):
    assert parse(text) == ids


def test_a_name_in_latin_1_is_found():
    assert parse(b"caf\xe9\n", {"café"}) == ["café"]


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n", "# only a comment\n"])
def test_an_empty_list_is_refused(text):
    with pytest.raises(ListError, match=r"train\.txt: no id in"):
        parse(text)


def test_an_id_that_comes_twice_is_refused_with_both_lines():
    with pytest.raises(ListError, match="line 3: id 'a' twice, first in line 1"):
        parse("a\nb\na\n")


@pytest.mark.parametrize("line", ["../x", "../../etc/passwd", "/etc/passwd", "a/../../x", "c:\\x"])
def test_an_id_that_leaves_the_tree_is_refused(line):
    with pytest.raises(ListError, match=r"line 2: .* leaves the tree"):
        parse(f"a\n{line}\n")


@pytest.mark.parametrize("data", [b"a\0b\n", b"\xff\xfea", b"\xff\xfe\x00\xd8"])
def test_what_is_no_text_is_refused(data):
    with pytest.raises(ListError):
        parse(data)


def test_the_hash_is_that_of_the_sorted_lines():
    assert id_list_sha256(["b", "a"]) == id_list_sha256(["a", "b"])
    assert id_list_sha256(["a"]) == (
        "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    )
