import csv
import io
import json
import os
import subprocess
import sys

import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.commands import cli, screen
from voc_seg_tfrecord.core.errors import MaskError

EVIL = "a\x1b]0;owned\x07\x9b31m[red]b[/]"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def drawn(monkeypatch, rows, columns=("class", "pixels")):
    monkeypatch.setattr(sys, "stdout", Terminal())
    with screen.screened():
        screen.show_table(columns, rows)
    return sys.stdout.getvalue()


def test_control_characters_are_shown_and_not_sent(monkeypatch):
    assert screen.literal("a\u202egpj.b\u2066") == "a\\u202egpj.b\\u2066"
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with screen.screened():
        print(EVIL, "\u202egpj.b\u2066")  # these two reverse the order of letters
    shown = "a\\x1b]0;owned\\x07\\x9b31m[red]b[/] \\u202egpj.b\\u2066\n"
    assert sys.stdout.getvalue() == shown


def test_a_name_in_a_drawn_table_is_neither_markup_nor_a_sequence(monkeypatch):
    shown = drawn(monkeypatch, [(EVIL, 1), (":smile:", 2)])
    assert "a\\x1b]0;owned\\x07\\x9b31m[red]b[/]" in shown
    assert ":smile:" in shown
    assert "\x1b]0" not in shown


def test_a_cell_of_csv_is_never_a_formula():
    cells = ["=cmd|' /C calc'!A0", "+1", "-x", "@SUM(1)", "\t=1", "\n=1", "\r=1", "a-b"]
    rows = [(cell, -1, -0.5, None, float("nan")) for cell in cells]
    read = list(csv.reader(io.StringIO(screen.csv_text(("=class", "n", "x", "y", "z"), rows))))
    shown = [*(f"'{c}" for c in cells[:-3]), "\\x0a=1", "\\x0d=1", "a-b"]
    assert [row[0] for row in read] == ["'=class", *shown]
    assert all(row[1:] == ["-1", "-0.5", "", ""] for row in read[1:])


def test_control_characters_in_an_error_are_shown(monkeypatch, capsys):
    def run(args):
        raise MaskError(args.root, found=EVIL)

    monkeypatch.setattr("voc_seg_tfrecord.commands.check.run", run)
    assert cli.main(["check", "x"]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_a_table_has_complete_columns_without_colors_and_lines(monkeypatch, capsys):
    rows = [("x" * 200, 5, None), ("b", 1234, 0.25)]
    formats = {"share": "{:.1%}"}
    with screen.screened():
        screen.show_table(("class", "pixels", "share"), rows, formats)
    expected = [
        f"{'class':200}  pixels  share",
        f"{'x' * 200}       5      -",
        f"{'b':200}    1234  25.0%",
    ]
    assert capsys.readouterr().out.splitlines() == expected
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", Terminal())
    with screen.screened():
        screen.show_table(("class", "pixels", "share"), rows, formats)
    assert sys.stdout.getvalue().splitlines() == expected


def test_wide_letters_keep_the_columns(capsys):
    screen.show_table(("class", "pixels"), [("道路", 1), ("road", 2)])
    assert capsys.readouterr().out == "class  pixels\n道路        1\nroad        2\n"


def test_what_an_encoding_lacks_is_shown_as_a_code(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    with screen.screened():
        print("Strasse, Straße, \udcff")
    assert raw.getvalue() == b"Strasse, Stra\\xdfe, \\udcff\n"


def test_with_json_a_document_that_is_json_is_alone_on_standard_output(capsys):
    with screen.screened(as_json=True):
        print("a message of somebody else")
        screen.write_json({"name": "Straße\x1b"})
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"name": "Straße\x1b"}
    assert captured.err == "a message of somebody else\n"
    with screen.screened(as_json=True), pytest.raises(ValueError, match="JSON"):
        screen.write_json({"value": float("nan")})


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_gone_away_is_no_error(options):
    ours, theirs = os.pipe()
    os.close(ours)
    result = subprocess.run(
        [sys.executable, "-m", "voc_seg_tfrecord", "leaks", "trainaug", "voc2012_val", *options],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    os.close(theirs)
    assert (result.returncode, result.stderr) == (141, "")


def test_progress_bars_go_to_a_terminal_alone(sample, capsys, monkeypatch):
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        assert cli.main(["verify", str(sample.data_dir)]) == 0
        assert ("%|" in capsys.readouterr().err) == is_terminal


def test_a_title_of_a_table_has_no_control_characters_either(monkeypatch):
    shown = drawn(monkeypatch, [("a", 1)], columns=(EVIL, "\u200epixels"))
    assert "a\\x1b]0;owned\\x07" in shown
    assert "\\u200epixels" in shown
    assert "\x1b]0" not in shown


@pytest.mark.slow
def test_with_json_the_answer_is_written_though_nobody_reads_the_messages():
    program = (
        "from voc_seg_tfrecord.commands import screen\n"
        "with screen.screened(as_json=True):\n"
        "    print('a message')\n"
        "    print('another')\n"
        "    screen.write_json({'a': 1})\n"
    )
    ours, theirs = os.pipe()
    os.close(ours)
    result = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    os.close(theirs)
    assert (result.returncode, json.loads(result.stdout)) == (0, {"a": 1})
