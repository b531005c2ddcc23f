"""The benchmarks run, and compare what they say they compare. No test looks at a time."""

import contextlib
import functools
import importlib
import io
import pathlib
import sys
import tempfile
import types

import build
from make_tree import ids_of, make_tree
import measuring
from measuring import Way
import peers
import pytest
from support import pictures

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.formats import pillow

PAGE = f"before\n{measuring.BEGIN}old{measuring.END}\nafter\n"


def way(name, *seconds, against=(), note=""):
    rounds = [{"s": value} for value in seconds]
    return Way("read", name, dict, 10, against, note, rounds)


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    ours, theirs = way("ours", 1.0, 0.1, 0.3), way("theirs", 2.0, 0.05, 1.0)
    assert ours.times_as_fast_as(theirs) == 2.0
    theirs.images = 20
    assert ours.times_as_fast_as(theirs) == 1.0


def test_this_package_stands_on_the_left_of_every_comparison():
    ways = [
        way("limit", 0.5),
        way("absent", note="not installed"),
        way("ours", 1.0, against=["limit", "absent", "theirs"]),
        way("theirs", 2.0),
    ]
    lines = measuring.comparisons(ways).splitlines()[2:]
    assert lines == ["| read | ours | 0.50 | limit |", "| read | ours | 2.00 | theirs |"]
    assert measuring.missing(ways) == "- absent: not measured: not installed"


def test_the_first_of_the_rounds_does_not_count(monkeypatch):
    monkeypatch.setattr(measuring, "_PAUSE", 0)
    ran = []
    first, second = (Way("read", n, lambda n=n: ran.append(n) or {"s": len(ran)}, 1) for n in "ab")
    measuring.take_turns([first, second], 2)
    assert ran == list("ababab")
    assert second.rounds == [{"s": 4}, {"s": 6}]


@pytest.mark.slow
def test_the_memory_of_a_command_is_not_that_of_who_starts_it():
    large = b"x" * (400 << 20)
    assert 5 < measuring.run_command("-c", "")["MiB"] < len(large) >> 22


def test_all_writes_its_table_into_a_page(tmp_path, monkeypatch):
    def measure(folder, *, pairs, repeats):
        assert (folder, pairs, repeats) == (tmp_path, 4, 2)
        return [way("tiles", 1.0, against=["images"]), way("images", 5.0)]

    usual = {"pairs": 200, "repeats": 2}
    monkeypatch.setitem(sys.modules, "tiles", types.SimpleNamespace(QUICK=usual, measure=measure))
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    options = f"--only tiles --quick --pairs 4 --folder {tmp_path} --page {page}"
    importlib.import_module("all").main(options.split())
    before, _, rest = page.read_text().partition(measuring.BEGIN)
    table, _, after = rest.partition(measuring.END)
    assert (before, after) == ("before\n", "\nafter\n")
    assert "Images and rounds: tiles 4 and 2." in table
    assert "| read | tiles | 5.00 | images |" in table
    assert "old" not in table


@pytest.mark.parametrize("text", ["text\n", 2 * PAGE])
def test_a_page_without_one_pair_of_marks_is_left_alone(tmp_path, text):
    path = tmp_path / "speed.md"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"speed\.md: expected .* once; found"):
        measuring.replace_between_marks(path, "table")
    assert path.read_text() == text


_TAKE_TURNS = measuring.take_turns


def _in_this_process(name, root, folder):
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    return build.build_once(name, root, out)


def _command_here(python, module, *words):
    assert (python, module) == ("-m", "voc_seg_tfrecord")
    with contextlib.redirect_stdout(io.StringIO()):
        return measuring.timed(lambda: cli.main([*map(str, words)]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["build", "read", "commands", "tiles"])
def test_every_benchmark_measures_its_ways(name, tmp_path, monkeypatch):
    # Of batches of 16 there have to be two, as the clock starts when the first is there.
    pairs = 1 if name == "tiles" else 33
    benchmark = importlib.import_module(name)
    # Builds and commands start a process each: here they share this one, and images are small.
    monkeypatch.setattr(build, "_in_a_process", _in_this_process)
    run = measuring.run_command
    here = {"-m": _command_here, "-c": run}
    monkeypatch.setattr(measuring, "run_command", lambda *words: here[words[0]](*words))
    for place, value in (
        ("make_tree.SIZES", ((90, 60), (60, 90))),
        ("tiles.HEIGHT", 600),
        ("tiles.WIDTH", 800),
    ):
        monkeypatch.setattr(place, value)
    monkeypatch.setattr(measuring, "take_turns", functools.partial(_TAKE_TURNS, warm_up=False))
    monkeypatch.setattr(measuring, "_PAUSE", 0)
    ways = benchmark.measure(tmp_path, pairs=pairs, repeats=1)
    assert all(way.rounds or "No module named" in way.note for way in ways)
    assert len(measuring.comparisons(ways).splitlines()) > 3
    if name == "read":
        measured = {way.name for way in ways if way.rounds}
        assert {"Pillow", "`datasets`, exported Parquet"} <= measured


def test_a_peer_that_reads_other_masks_is_refused():
    right = {"count": 1, "pixels": 3, "values": [1, 0]}
    with pytest.raises(RuntimeError, match="Pillow does not read the same values"):
        peers.check_seen("Pillow", right | {"values": [0, 1]}, right)


def test_ids_of_a_large_tree_share_files(tmp_path):
    root = make_tree(tmp_path, 5, different=2)
    images = list((root / "JPEGImages").iterdir())
    assert len({image.read_bytes() for image in images}) == 2
    ids = [*ids_of(root, "train"), *ids_of(root, "val")]
    assert sorted(ids) == sorted(image.stem for image in images)


@pytest.mark.slow
def test_planted_copies_are_found_by_kind(tmp_path, capsys):
    for seed in range(3):
        pixels = pictures.draw_photo(seed)
        (tmp_path / f"{seed}.png").write_bytes(pillow.encode_png(pixels))
    importlib.import_module("leaks").main([str(tmp_path), "--drawn", "2", "--max_copied", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| kind | images | no signs | encoded as JPEG 75 |")
    recalls = lines[2].split(" | ")[3:12]
    assert (lines[2].split(" | ")[:3], recalls) == ([f"| {tmp_path.name}", "3", "0"], ["1.000"] * 9)
    assert lines[-1] == "0 of 30 pairs of two kinds are found"


@pytest.mark.slow
def test_planted_crops_are_found_by_kind(tmp_path, capsys):
    pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")
    for seed in range(3):
        (tmp_path / f"{seed}.png").write_bytes(pillow.encode_png(pictures.draw_scene(seed)))
    words = [str(tmp_path), "--drawn", "1", "--max_copied", "2", "--parts"]
    importlib.import_module("leaks").main(words)
    lines = capsys.readouterr().out.splitlines()
    start = lines.index(
        "| kind | images | crop of 80 % | crop of 60 % | mirrored crop of 60 % | pairs "
        "| keypoints ms |"
    )
    cells = lines[start + 2].split(" | ")
    assert cells[:6] == [f"| {tmp_path.name}", "3", "1.000", "1.000", "1.000", "0"]
    assert lines[-1] == "0 of 12 pairs of two kinds are found"
