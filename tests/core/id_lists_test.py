import contextlib
import pathlib

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from voc_seg_tfrecord.core.errors import ListError, VocSegError
from voc_seg_tfrecord.core.id_lists import IdsOfImages, NamesOfImages, id_list_sha256, parse_ids

KNOWN = {"a", "b", "102_0", "1 (237)2", "UFO_6.25_0074", "sub dir/img 2", "x.jpg", "2007_000033"}


def parse(text, image_ids=KNOWN):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_ids(data, "train.txt", IdsOfImages(image_ids))


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


def test_a_line_that_begins_with_an_id_is_no_comment_whatever_stands_behind_the_id():
    images = {"1", "#1", "#2", "#3", "#x/4"}
    text = "#1.jpg\n#2 -1\n#3\n#x\\4.png\n# see imgs/1.jpg\n#a/1.jpg\n"
    assert parse(text, images) == ["#1", "#2", "#3", "#x/4"]
    assert parse("#1.jpg\n1.jpg\n", {"1"}) == ["1"]


def test_a_name_in_latin_1_is_found():
    assert parse(b"caf\xe9\n", {"café"}) == ["café"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, "train.txt: no id in") for text in ("", "\n", "  \n\t\n", "# only a comment\n")),
        ("a\nb\na\n", "1 id more than once: 'a' in lines 1, 3"),
        (
            "".join(f"{n}\n" for n in range(5)) * 2,
            "5 ids more than once: '0' in lines 1, 6; .*'2' in lines 3, 8; and 2 more ids",
        ),
        ("a\n../x\n", "line 2: .* leaves the tree"),
        ("a\n../../etc/passwd\n", "line 2: .* leaves the tree"),
        ("a\n/etc/passwd\n", "line 2: .* leaves the tree"),
        ("a\na/../../x\n", "line 2: .* leaves the tree"),
        ("a\nc:\\x\n", "line 2: .* leaves the tree"),
        ("a\n/z\n../../z\n", "line 2: '/z', .* It is the first of 2 such lines"),
        *((f"a\n{line}\n", "line 2: .* names no file") for line in (".", "./.", "a/.", "a//b")),
        ("a\x07b\n", r"line 1: 'a\\x07b', which has a control character"),
        (f"a\n{'b' * 5000}\n", "line 2: 'b{200}', which has 5,000 characters"),
        ("a\nb\n".encode("utf-32"), "UTF-32"),
        ("a\nb\n".encode("utf-32-le"), "zero byte"),
        (b"a\0b\n", "zero byte"),
        (b"\xff\xfea", "not utf-16"),
        (b"\xff\xfe\x00\xd8", "not utf-16"),
    ],
)
def test_a_list_that_cannot_be_is_refused_with_its_line(text, words):
    with pytest.raises(ListError, match=words):
        parse(text)


def test_the_hash_is_that_of_the_sorted_lines():
    assert id_list_sha256(["b", "a"]) == id_list_sha256(["a", "b"])
    assert id_list_sha256(["a"]) == (
        "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    )


def test_columns_of_which_none_is_an_image_are_refused():
    assert parse("a\t-1\n", {"a"}) == ["a"]
    with pytest.raises(ListError, match="has a tab, and no image has the name before it"):
        parse("a\tdog\n", {"b"})


class Unasked:
    def __contains__(self, name):
        raise AssertionError(f"{name} was looked up")


def test_a_list_of_plain_ids_is_read_before_any_image_is_known():
    assert parse("2007_000001\n\n2007_000002 \r\n", Unasked()) == [
        "2007_000001",
        "2007_000002",
    ]


def test_a_name_in_a_mapping_gives_the_id_that_it_stands_for():
    names = NamesOfImages({"a": "x/a", "a.jpg": "x/a", "masks/a.png": "x/a"})
    text = b"a\na.jpg\na.jpg masks/a.png\nmasks\\a.png\na -1\nmissing\n"
    ids = parse_ids(text, "train.txt", names, may_repeat=True)
    assert ids == ["x/a"] * 5 + ["missing"]


@pytest.mark.parametrize("line", ["a.jpg", "x/a", "x\\a", "a 1", "#a"])
def test_what_may_mean_another_id_is_looked_up(line):
    with pytest.raises(AssertionError, match="looked up"):
        parse(line, Unasked())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\u2028"])
def test_lines_are_numbered_whatever_ends_them(end):
    with pytest.raises(ListError, match=r"'b' in lines 2, 4"):
        parse(f"a{end}b{end}{end}b", ())


@pytest.mark.usefixtures("two_seconds")
@pytest.mark.parametrize("unit", [" ", "\t", "1", "/", "\\", "a ", " 1", "/a", ".", "-1 "])
def test_a_long_line_takes_no_more_time_than_its_length(unit):
    line = f"a{unit * (100_000 // len(unit))}b"
    with contextlib.suppress(ListError):
        parse(f"{line}\n{line}1 1\n", {"x"})


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@settings(max_examples=60)
def test_any_text_gives_ids_inside_the_tree_or_an_error(data):
    with contextlib.suppress(VocSegError):
        ids = parse(data, {"a", "b"})
        assert ids
        paths = [pathlib.PurePosixPath(image_id.replace("\\", "/")) for image_id in ids]
        assert not any(path.is_absolute() or ".." in path.parts for path in paths)
