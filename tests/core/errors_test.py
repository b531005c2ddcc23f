import json
import pathlib
import pickle
import subprocess

import pytest

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core import errors
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.reading.dataset import check_splits


def test_a_message_names_file_found_expected_and_remedy():
    error = errors.MaskError("m.png", found="value 21", expected="0 to 20", remedy="mend it")
    assert str(error) == "m.png: value 21\n  expected: 0 to 20\n  what to do: mend it"


def test_a_split_shows_the_first_problems_and_counts_all():
    problems = [errors.MaskError(f"{n}.png", found="wrong") for n in range(8)]
    text = str(errors.SplitError("train", problems, 20))
    assert "8 of 20 examples" in text
    assert "4.png" in text
    assert "5.png" not in text
    assert "and 3 more" in text


def test_problems_of_one_sort_share_what_is_expected_and_what_to_do():
    advice = {"expected": "0 to 20", "remedy": "mend it"}
    problems = [
        errors.MaskError("a.png", found="value 21", **advice),
        errors.ImageError("b.jpg", found="cut"),
        errors.MaskError("c.png", found="value 22", **advice),
    ]
    assert str(errors.SplitError("train", problems, 9)).splitlines()[1:] == [
        "  a.png: value 21",
        "  c.png: value 22",
        "    expected: 0 to 20",
        "    what to do: mend it",
        "  b.jpg: cut",
    ]


def test_errors_survive_pickling():
    problem = errors.MaskError("m.png", found="value 21", remedy="mend it")
    for error in (problem, errors.SplitError("train", [problem], 3)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_a_split_with_problems_may_become_an_error_of_another_type():
    error = errors.SplitError("train", [errors.MaskError("m.png", found="value 21")], 3)
    other = error.changed(type="RecordError", remedy="mend it")
    assert type(other) is errors.RecordError
    assert str(other) == f"{error}\n  what to do: mend it"
    assert str(error.changed(remedy="mend it")) == str(other)


def all_types(base):
    """Returns the errors of the module, which get from one process to another as they are."""
    below = [kind for kind in base.__subclasses__() if kind.__module__ == errors.__name__]
    return [base, *(kind for one in below for kind in all_types(one))]


@pytest.mark.parametrize("kind", all_types(errors.VocSegError))
def test_every_error_comes_back_from_json(kind):
    problem = errors.MaskError("m.png", found="value 21", expected="0 to 20", kind="unknown value")
    if kind is errors.SplitError:
        error = kind("train", [problem, problem], 3)
    else:
        error = kind("train", found="x", remedy="y")
    again = errors.from_json(json.loads(json.dumps(error.to_json())))
    assert type(again) is kind
    assert vars(again).keys() == vars(error).keys()
    assert (str(again), again.kind) == (str(error), error.kind)


def test_plain_data_of_another_type_is_no_error_of_ours():
    with pytest.raises(KeyError):
        errors.from_json({"type": "SystemExit", "where": "x", "found": "y"})


SPLITS = ["test", "train", "validation"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("trian", "; did you mean 'train'?"),
        ("Train", "; did you mean 'train'?"),
        ("val", "; did you mean 'validation'?"),
        *((word, "") for word in ("t", "", "nothing like it", "x" * 10_000)),
    ],
)
def test_names_that_differ_little_or_begin_so_are_meant(word, meant):
    assert errors.did_you_mean(word, SPLITS) == meant


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda _: list_ids("trainagu"), "trainaug"),
        (lambda _: VocSegConfig(name="a", class_name=["x"]), "class_names"),
        (lambda _: VocSegConfig(name="a", release="2012_ag"), "2012_aug"),
        (lambda _: VocSegConfig(name="a", background="backgruond"), "background"),
        (lambda _: VocSegConfig(name="a", missing_mask="skpi"), "skip"),
        (lambda _: VocSegConfig(name="a", classes={"hrose": "void"}), "horse"),
        (lambda sample: check_splits(sample, ["val"]), "validation"),
    ],
)
def test_the_name_that_was_meant_is_in_the_error(sample, call, meant):
    with pytest.raises(errors.ConfigError, match=f"did you mean '{meant}'"):
        call(sample)


HOSTILE = [
    "$(touch X)",
    "`touch X`",
    "a'; touch X; '",
    'a"b$HOME',
    "a b  c",
    "*",
    "~",
    "!!",
    "a!b",
    "a\nb",
    "a\x1b[31mb\tc\r",
    "\u202ecba\u2066",
    "\udcff'\udc80",
    "ü 日本",
    "a\\b",
    "",
    "#a",
    "{a,b}",
    "a;b|c&d>e<f(g)h[i]",
]


def pasted(text, cwd):
    """Returns the words that Bash makes of a command, with the expansions of a terminal."""
    script = f"set -o history -H\nshow() {{ printf '%s\\0' \"$@\"; }}\nshow {text}\n"
    run = ["bash", "--norc"]
    out = subprocess.run(run, input=script.encode(), cwd=cwd, capture_output=True, check=True)
    assert not out.stderr
    assert not list(cwd.iterdir())
    return out.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_pasted_command_has_the_words_that_it_was_made_of(name, tmp_path):
    text = command("voc-seg-tfrecord", "check", name, masks=name, splits=[name, "b"])
    words = ["voc-seg-tfrecord", "check", name, "--masks", name, "--splits", name, "b"]
    assert pasted(text, tmp_path) == words
    assert text.isprintable()


def test_only_words_that_need_quotes_have_them():
    text = command("voc-seg-tfrecord", "verify", "cv3:1.0.0", data_dir="/a b", out="c/d.png")
    assert text == "voc-seg-tfrecord verify cv3:1.0.0 --data_dir '/a b' --out c/d.png"


def test_options_come_in_order_and_those_without_a_value_not_at_all():
    assert command(b=1, palette=True, a=None, overwrite=False) == "--b 1 --palette"


def test_a_value_or_a_path_that_begins_like_an_option_is_none(tmp_path):
    text = command("check", pathlib.Path("-rf"), pathlib.Path("~me"), masks="-x y")
    assert pasted(text, tmp_path) == ["check", "./-rf", "./~me", "--masks=-x y"]


@pytest.mark.parametrize(
    ("old", "new", "remedy", "renamed"),
    [
        ("/tmp/x", "/c d/z.zip", "rm /tmp/x/m.png", "rm '/c d/z.zip/m.png'"),
        ("/tmp/x", "/c d/z.zip", "rm '/tmp/x/a b.png'.", "rm '/c d/z.zip/a b.png'."),
        ("/a b", "/c", "rm '/a b/m.png', or --masks='/a b'", "rm /c/m.png, or --masks=/c"),
        (
            "/tmp/x",
            "/c",
            "the image's mask is /tmp/x/it, isn't it",
            "the image's mask is /c/it, isn't it",
        ),
        (
            "/tmp/x",
            "/c",
            r"""rm $'/tmp/x/a\x07b' '/tmp/x/it'"'"'s'""",
            r"""rm $'/c/a\x07b' '/c/it'"'"'s'""",
        ),
        ("/d/a", "/z", "rm /d/ab/m.png /d/a/m.png", "rm /d/ab/m.png /z/m.png"),
    ],
)
def test_a_folder_gets_another_path_and_its_commands_stay_right(old, new, remedy, renamed):
    error = errors.MaskError(f"{old}/m.png", found=f"{old}b/m.png", remedy=remedy)
    error.rename_folder(old, new)
    assert (error.where, error.found) == (f"{new}/m.png", f"{old}b/m.png")
    assert error.remedy == renamed
    assert str(error) == f"{new}/m.png: {old}b/m.png\n  what to do: {renamed}"


def test_a_split_with_problems_at_another_place_keeps_its_text():
    error = errors.SplitError("train", [errors.MaskError("m.png", found="value 21")], 3)
    other = error.changed(where="record 7")
    assert str(other) == f"record 7: {error.found}"
    assert (type(other), other.kind) == (errors.VocSegError, "split")


def test_an_error_of_another_type_keeps_its_kind():
    error = errors.LayoutError("a", found="b").changed(type="ConfigError")
    assert (type(error), error.kind) == (errors.ConfigError, "layout")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b"], "a, b"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
        (["x" * 30 + "1" + "y" * 30], "x" * 20 + "..." + "y" * 20),
        (["x" * 60 + "1", "x" * 60 + "2"], f"{'x' * 20}...{'x' * 19}1, {'x' * 20}...{'x' * 19}2"),
    ],
)
def test_long_names_are_cut_in_the_middle(names, expected):
    assert errors.several(names) == expected


def test_names_that_would_be_the_same_are_not_cut():
    names = [f"{'x' * 30}{number}{'y' * 30}" for number in range(3)]
    assert errors.several(names) == ", ".join(names)
