from html.parser import HTMLParser
from importlib import metadata
import pathlib
import shutil
import subprocess
import tomllib

import numpy as np
import pytest
from support.paths import REPOSITORY
from support.python import run_python

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, evaluation, leaks, stats, verify
from voc_seg_tfrecord.core import lists, wording
from voc_seg_tfrecord.core.errors import command

EVIL = '<script>alert("1")</script>'
TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def many_ids():
    return tuple(f"{number:06}" for number in range(10_582))


def many_stats(name=EVIL):
    names = (name, *(f"a long name of a class, number {n}" for n in range(20)))
    counts = np.arange(21)
    sizes = np.ones((10_582, 2), np.int64)
    return stats.Stats(names, many_ids(), counts, counts, counts, None, 7, sizes)


def confusion():
    made = evaluation.Confusion([EVIL, "b"])
    made.update(np.zeros((1, 2, 2), np.uint8), np.zeros((1, 2, 2), np.uint8))
    return made


def shared():
    images = dict.fromkeys(many_ids(), "")
    return leaks.shared(leaks.Side(EVIL, "train", images), leaks.Side("val", "evaluation", images))


OBJECTS = {
    "Stats": many_stats,
    "Confusion": confusion,
    "Result": lambda: confusion().result(dataset=EVIL),
    "NamedList": lambda: lists.named_lists()["trainaug"],
    "VocSegConfig": lambda: VocSegConfig(name="a", class_names=[EVIL, *map(str, range(200))]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_shows_itself_in_a_short_line_and_a_table(name):
    made = OBJECTS[name]()
    assert repr(made).startswith(f"<{name}: ")
    assert len(repr(made)) < 200
    assert "\n" not in repr(made)
    tags = Tags()
    tags.feed(made._repr_html_())
    assert set(tags.found) == TAGS


@pytest.mark.parametrize("name", ["Stats", "Confusion", "VocSegConfig"])
def test_a_name_that_looks_like_a_tag_is_text_in_a_table(name):
    tags = Tags()
    tags.feed(OBJECTS[name]()._repr_html_())
    assert EVIL in tags.text


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (shared, " and val share "),
        (lambda: lists.pascal5i(0), "<Fold: fold 0 of PASCAL-5i, classes 1 to 5, "),
        (lambda: VocSegConfig(name="own"), "<VocSegConfig: name='own'>"),
        (
            lambda: VocSegConfig(name="own", tile=64, exif="apply"),
            "<VocSegConfig: name='own', exif='apply', tile=64>",
        ),
        (lambda: VocSegConfig(name="2012", release="2012"), "name='2012', release='2012'>"),
    ],
)
def test_the_line_says_what_matters(made, shown):
    assert shown in repr(made())


def test_a_report_of_verify_and_its_parts_are_short(sample):
    report = verify.verify(sample)
    assert repr(report).startswith("<Report: 0 faults, test 1, train 3, validation 2, fingerprint ")
    for split in report.splits.values():
        assert len(repr(split)) < 200
        assert len(repr(split.fingerprint)) < 200
    assert report.fingerprint in report._repr_html_()


def test_a_line_sends_no_control_characters_and_ends():
    assert wording.brief_line(1, "a\x1b[31m\n" * 100).isprintable()
    assert len(wording.brief_line(1, "ü" * 1000)) < 200


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


PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_project_s():
    assert voc_seg_tfrecord.__version__ == PROJECT["version"]
    assert "__version__" in dir(voc_seg_tfrecord)


def test_a_checkout_says_its_own_version_though_another_one_is_installed(tmp_path):
    shutil.copytree(REPOSITORY / "voc_seg_tfrecord", tmp_path / "voc_seg_tfrecord")
    text = (REPOSITORY / "pyproject.toml").read_text()
    old = f'version = "{PROJECT["version"]}"'
    (tmp_path / "pyproject.toml").write_text(text.replace(old, 'version = "99.1"'))
    code = "from voc_seg_tfrecord.core import wording; print(wording.package_version())"
    assert run_python("-c", code, cwd=tmp_path) == "99.1\n"


def test_a_stranger_s_project_file_beside_an_installed_package_is_not_read(monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "7"\n')
    monkeypatch.setattr(wording, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(metadata, "version", lambda _: "5.4")
    assert wording.package_version() == "5.4"


def test_what_is_not_installed_is_told_and_nothing_raises(monkeypatch, tmp_path):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(wording, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(metadata, "version", missing)
    found = wording.all_versions()
    assert found["voc_seg_tfrecord"] == "unknown"
    assert found["tensorflow"] == "not installed"


def test_the_command_line_prints_versions_without_loading_tensorflow():
    code = (
        "import sys\nfrom voc_seg_tfrecord.commands import cli\n"
        "try: cli.main(['--version'])\n"
        "except SystemExit as done: print(done.code, 'tensorflow' in sys.modules)\n"
    )
    first, *others, last = run_python("-c", code).splitlines()
    assert first == f"voc_seg_tfrecord {PROJECT['version']}"
    assert [line.split()[0] for line in others] == [
        *("tensorflow-datasets", "tensorflow", "numpy", "pillow", "python")
    ]
    assert last == "0 False"
