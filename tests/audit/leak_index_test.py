"""Indexes that `leaks` writes and reads in place of datasets."""

import json

import pytest
from support import pictures, shared_pictures

from voc_seg_tfrecord.audit import leak_index, leaks
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ListError


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two datasets: `ours` has a mirrored picture of `theirs`, a copy of one, and a blank image."""
    root = tmp_path_factory.mktemp("shared")
    photos = shared_pictures.draw(1, 2, 3, 4)
    blank = pictures.draw_images_without_structure()["gray"]
    ours = shared_pictures.build(
        root, "ours", shared_pictures.draw(1, 2, 5), {"blank": blank, **shared_pictures.draw(6)}
    )
    mirrored = {"mirrored": pictures.encode_again(photos["photo_1"][:, ::-1], 90)}
    theirs = shared_pictures.build(
        root, "theirs", shared_pictures.draw(8), {**mirrored, **shared_pictures.draw(2, 7)}
    )
    return str(ours.data_dir), str(theirs.data_dir)


@pytest.fixture(scope="module")
def index(built, tmp_path_factory):
    file = tmp_path_factory.mktemp("index") / "ours.jsonl"
    assert cli.main(["leaks", built[0], "--write_index", str(file)]) == 0
    return file


def shared(capsys, *args):
    """Returns exit status, and what two sides share, without their names and confirmations.

    An index has no pixels that could confirm a pair.
    """
    capsys.readouterr()
    status = cli.main(["leaks", *map(str, args), "--json"])
    compared = json.loads(capsys.readouterr().out)["compared"]
    for overlap in compared:
        del overlap["first"], overlap["second"]
        for pair in overlap["pictures"]:
            del pair["is_confirmed"]
    return status, compared


@pytest.mark.slow
def test_an_index_finds_what_the_dataset_finds(built, index, capsys):
    ours, theirs = built
    status, found = shared(capsys, ours, theirs)
    assert status == 1
    assert [row["pictures"] for row in found if row["pictures"]] == [
        [
            {
                "first_id": "photo_1",
                "second_id": "mirrored",
                "level": "same picture",
                "transformation": "mirrored",
                "different_bits": found[0]["pictures"][0]["different_bits"],
            }
        ]
    ]
    assert [row["images"] for row in found if row["images"]] == [[["photo_2", "photo_2"]]]
    assert shared(capsys, index, theirs) == (status, found)


def test_the_command_names_pairs_with_what_was_done(built, capsys):
    assert cli.main(["leaks", *built]) == 1
    out = capsys.readouterr().out
    assert "  1 pair of the same picture, in other bytes:\n    photo_1 ~ mirrored, mirrored" in out


def test_an_index_may_be_either_side_and_both(built, index, tmp_path, capsys):
    other = tmp_path / "theirs.jsonl"
    assert cli.main(["leaks", built[1], "--write_index", str(other)]) == 0
    expected = shared(capsys, *built)
    assert shared(capsys, built[0], other) == expected
    assert shared(capsys, index, other) == expected


def test_an_index_has_the_same_bytes_each_time_and_no_image(built, index, tmp_path):
    again = tmp_path / "again.jsonl"
    cli.main(["leaks", built[0], "--write_index", str(again)])
    assert again.read_bytes() == index.read_bytes()
    assert leak_index.make_index(leak_index.read_index(index)) == index.read_bytes()
    assert len(index.read_bytes()) < 5 * 256 + 400
    entries = [json.loads(line) for line in index.read_text().splitlines()[1:]]
    (left_out,) = [entry for entry in entries if "left_out" in entry]
    assert (left_out["id"], left_out["left_out"]) == ("blank", "too little structure")


def test_the_command_says_which_images_are_compared_by_bytes_alone(built, tmp_path, capsys):
    file = tmp_path / "ours.jsonl"
    assert cli.main(["leaks", built[0], "--write_index", str(file)]) == 0
    assert capsys.readouterr().out == (
        f"{file}: 5 images\n  1 of them by their bytes alone: blank, smooth, or not decoded\n"
    )


@pytest.mark.parametrize(
    ("line", "old", "new", "found"),
    [
        (
            0,
            "leak index 1",
            "leak index 9",
            "line 1: it cannot be read as an index of leaks: ValueError: the format",
        ),
        (0, '"min_side_px":320', '"min_side_px":40', "entries with min_side_px 40, here 320"),
        (0, '"role":"train"', '"role":"nurse"', "the role 'nurse'"),
        (0, '"images":3', '"images":4', "3 images of .*, not 4"),
        (1, '"side":0', '"side":7', "line 2: .* side 7 of 2"),
        (1, '"side":0', '"side":-1', "side -1 of 2"),
        (1, '"sha256":"', '"sha256":"x', "not of 64 hexadecimal digits"),
        (1, '"signs"', '"sings"', "KeyError: 'left_out'"),
        (2, '"id":"photo_2"', '"id":"photo_1"', "'photo_1' a second time"),
        (3, "{", "", "line 4: it cannot be read as an index of leaks"),
    ],
)
def test_a_damaged_index_is_refused_with_its_line(index, tmp_path, line, old, new, found):
    lines = index.read_text().splitlines(keepends=True)
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new, 1)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("".join(lines))
    with pytest.raises(ListError, match=found):
        leak_index.read_index(damaged)


@pytest.mark.parametrize("text", ["", "\n", "[]", "null", "photo_1\nphoto_2\n", '{"format": 1}'])
def test_another_file_is_no_index(tmp_path, text, capsys):
    (tmp_path / "other.jsonl").write_text(text)
    assert cli.main(["leaks", str(tmp_path / "other.jsonl"), "voc2012_val"]) == 1
    assert "expected: a file that leaks --write_index wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["{ours}"], "no second dataset"),
        (["{ours}", "{theirs}", "--write_index", "{out}/a.jsonl"], "two datasets"),
        (["{ours}", "--write_index", "{out}/a.txt"], "the ending '.txt'"),
        (["voc2012_val", "--write_index", "{out}/a.jsonl"], "a list of ids: voc2012_val"),
        (["{ours}", "voc2012_val", "--certificate", "{out}/a.json"], "a list of ids: voc2012_val"),
        (["{ours}", "{theirs}", "--certificate", "{out}/none/a.json"], "no folder"),
        (
            ["{ours}", "--write_index", "{out}/a.jsonl", "--certificate", "{out}/a.json"],
            "two of these options",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(built, tmp_path, args, found, capsys):
    places = {"ours": built[0], "theirs": built[1], "out": tmp_path}
    assert cli.main(["leaks", *(arg.format(**places) for arg in args)]) == 2
    assert found in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_image_that_cannot_be_decoded_is_in_the_index_by_its_bytes():
    side = leaks.Side(
        "own@train", "train", {"a": "0" * 64}, left_out_by_id={"a": leaks.NOT_DECODED}
    )
    assert b'"left_out":"cannot be decoded"' in leak_index.make_index([side])
