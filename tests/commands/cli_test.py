import argparse
import importlib
import pathlib
import re
import shlex
import sys

import pytest
from support.command_line import run_command

from voc_seg_tfrecord import commands
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import list_fields
from voc_seg_tfrecord.core.errors import ConfigError, MaskError

# Modules that are not commands.
SHARED = {
    "__init__",
    "arguments",
    "cli",
    "copy_chosen",
    "process",
    "screen",
}


def module(name):
    return importlib.import_module(f"voc_seg_tfrecord.commands.{name}")


def printed(*words, status=0):
    """Returns what a call prints that ends before a command runs."""
    ended = run_command(*words)
    assert ended.status == status
    return ended.errors if status else ended.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "usage: voc-seg-tfrecord"),
        ("verify", "DATASET"),
        ("export x --out y --layout darknet", "deeplab"),
        ("chekc", "; did you mean 'check'?\n"),
        ("stats x --jsno", "; did you mean '--json'?\n"),
        ("check x --clas_names=a", "; did you mean '--class_names'?\n"),
        ("export x --out y --layout vco", "; did you mean 'voc'?\n"),
    ],
)
def test_a_call_that_cannot_be_parsed_is_a_wrong_one_and_misspelled_words_are_corrected(
    words, message
):
    assert message in printed(*words.split(), status=2)


def test_every_command_of_the_folder_is_on_the_help_page():
    (folder,) = commands.__path__
    found = {path.stem for path in pathlib.Path(folder).glob("*.py")}
    assert found - SHARED == set(cli.COMMANDS)


def test_the_help_page_lists_the_commands_in_their_order():
    listed = re.findall(r"^    (\w+)  ", printed("--help"), re.MULTILINE)
    assert listed == [name.rstrip("_") for name in cli.COMMANDS]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_summary_of_one_line_and_every_option_says_what_it_does(name):
    assert re.fullmatch(r"[a-z].{10,90}[^.]", module(name).SUMMARY)
    assert len(module(name).__doc__.split()) > 5
    parser = argparse.ArgumentParser()
    module(name).add_arguments(parser)
    for action in parser._actions:
        assert action.help, action.dest
        if type(action.default) is int:
            assert f"default: {action.default}" in action.help, action.dest


@pytest.mark.parametrize("name", ["build", "check"])
def test_every_flag_that_a_config_may_have_is_switched_off_by_no_before_its_name(name):
    parser = argparse.ArgumentParser()
    module(name).add_arguments(parser)
    options = parser._option_string_actions
    for field in list_fields(VocSegConfig):
        if field.value_type is bool and f"--{field.option_name}" in options:
            assert options[f"--no{field.option_name}"].dest == field.option_name
    assert "--noobjects" in options


@pytest.mark.parametrize("name", [name.rstrip("_") for name in cli.COMMANDS])
def test_an_unknown_option_is_a_wrong_call(name):
    said = printed(name, "a", "b", "--no_such_option", status=2)
    assert f"usage: voc-seg-tfrecord {name}" in said


@pytest.mark.parametrize(("error", "status"), [(ConfigError, 2), (MaskError, 1)])
def test_an_error_is_printed_and_its_kind_decides_the_status(error, status, monkeypatch, capsys):
    def run(args):
        raise error(args.root, found="this", expected="that")

    monkeypatch.setattr("voc_seg_tfrecord.commands.check.run", run)
    assert cli.main(["check", "somewhere"]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: somewhere: this\n  expected: that")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_help_of_every_command_ends_with_an_example_that_parses(name):
    words = shlex.split(module(name).EXAMPLE)
    assert words[:2] == ["voc-seg-tfrecord", name.rstrip("_")]
    assert cli.make_parser().parse_args(words[1:]).run is module(name).run
    said = printed(words[1], "--help")
    assert f"example: {module(name).EXAMPLE}" in " ".join(said.split())


@pytest.mark.parametrize("name", [name.rstrip("_") for name in cli.COMMANDS])
def test_the_usage_of_a_command_is_one_line_with_all_that_it_demands(name):
    usage, blank, *_ = printed(name, "--help").splitlines()
    assert usage.startswith(f"usage: voc-seg-tfrecord {name} [options]")
    assert not blank
    parser = cli.make_parser([name])
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for action in commands.choices[name]._actions:
        if action.required and action.option_strings:
            assert f"{action.option_strings[0]} " in usage


@pytest.mark.parametrize("name", ["build", "check"])
def test_the_help_of_a_command_with_many_options_shows_the_usual_ones_first(name):
    usual, everything = printed(name, "--help"), printed(name, "--help_all")
    assert len(usual.splitlines()) < 48
    for option in module(name).USUAL:
        assert re.search(rf"^  (--)?{option}\b", usual, re.M | re.I)
    assert "--classes" not in usual
    assert "--classes" in everything


@pytest.mark.parametrize("encoding", ["iso8859-1", "ascii"])
def test_names_of_files_are_read_as_utf_8_or_not_at_all(encoding, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: encoding)
    assert cli.main(["list", "--data_dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"the encoding {encoding} for names of files" in error
    assert "PYTHONUTF8=1" in error


def test_a_limit_of_threads_is_one_error_that_names_it(monkeypatch, capsys, tmp_path):
    def no_more(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module("list_"), "run", no_more)
    assert cli.main(["list", "--data_dir", str(tmp_path)]) == 1
    assert "ulimit -u" in capsys.readouterr().err
