"""The benchmarks run, and compare what they say they compare. No test looks at a time."""

import importlib
import tarfile

import forms
import page
from peers import Source
import pytest
import read_peers
import rows
from rows import Row
from support.paths import DUMMY_DATA
import trees


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    ours = Row("read", "ours", (10.0, 100.0, 30.0), "theirs", ours=True)
    theirs = Row("read", "theirs", (5.0, 200.0, 10.0))
    assert rows.ratio(ours, theirs) == 2.0


def test_this_package_stands_on_the_left_of_every_comparison():
    found = [
        Row("read", "limit", (20.0,)),
        Row("read", "ours", (10.0,), "limit", ours=True),
        Row("read", "theirs", (5.0,), "ours"),
        Row("read", "absent", note="not installed"),
    ]
    compared = [(one.way, one.other, one.ratio) for one in rows.comparisons(found)]
    assert compared == [("ours", "limit", 0.5), ("ours", "theirs", 2.0)]
    assert rows.missing(found) == ["absent: not installed"]


def test_all_writes_its_table_into_a_page(tmp_path):
    generated = tmp_path / "speed.md"
    generated.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    options = [
        "--only",
        "evaluate",
        "--pairs",
        "4",
        "--repeats",
        "1",
        "--folder",
        tmp_path / "work",
    ]
    options += ["--page", generated]
    importlib.import_module("all").main([*map(str, options)])
    before, table, after = generated.read_text().partition(page.BEGIN)[0::1]
    assert before == "before\n"
    assert after.endswith(f"{page.END}\nafter\n")
    assert "| evaluate predictions in png files | `evaluate` | " in after
    assert "old" not in after
    assert table == page.BEGIN


def test_a_page_without_marks_is_left_alone(tmp_path):
    path = tmp_path / "speed.md"
    path.write_text("text\n")
    with pytest.raises(ValueError, match="nothing is written"):
        page.replace_between_marks(path, "table")
    assert path.read_text() == "text\n"


@pytest.mark.slow
def test_reading_is_measured_beside_its_limit_and_its_peers(tmp_path):
    read = importlib.import_module("read")
    found = read.rows(tmp_path, pairs=6, repeats=1, parts=("limit", "peers"))
    measured = {row.way for row in found if row.rates}
    assert {"`tfds.load`", "Pillow", "`datasets`, exported Parquet"} <= measured
    assert all(row.note.startswith("not measured: ") for row in found if not row.rates)


def test_a_peer_that_reads_other_masks_is_refused():
    right = {"count": 1, "pixels": 3, "values": [1, 0]}
    with pytest.raises(RuntimeError, match="Pillow does not read the same values"):
        read_peers.check_seen("Pillow", right | {"values": [0, 1]}, right)


def test_pairs_of_a_tree_are_repeated_until_there_are_enough(tmp_path):
    sample = DUMMY_DATA
    root, different = trees.repeated_tree(sample, tmp_path / "tree", 20)
    files = Source(root, tmp_path).files()
    assert len(files) >= 20
    assert len(files) % different == 0
    lists = [(root / f"ImageSets/Segmentation/{name}.txt").read_text() for name in ("train", "val")]
    assert len("".join(lists).split()) == len(files)


def test_repeated_pairs_are_complete_files_in_tars(tmp_path):
    root, _ = trees.repeated_tree(DUMMY_DATA, tmp_path / "tree", 20)
    source = Source(root, tmp_path)
    forms.write_tars(source)
    members = []
    for path in source.tars.iterdir():
        with tarfile.open(path) as tar:
            members += [member for member in tar if member.isreg()]
    assert len(members) == 2 * len(source.files())


def test_a_folder_without_pairs_is_no_tree(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a tree in VOC's layout"):
        trees.repeated_tree(tmp_path, tmp_path / "tree", 20)
