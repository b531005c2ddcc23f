"""What a message tells users to paste works, or leads to another question than the same fault."""

import dataclasses
import re
import shlex

import numpy as np
from outcomes.corpora import list_cases
from outcomes.freeze import read_outcomes
import pytest
from support import drawing, exports
from support.command_line import run_command
from support.paths import DUMMY_DATA, REPOSITORY

from voc_seg_tfrecord.core.shell import command

_VALUE = r"""(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|[^\s'",:;()]*[^\s'".,:;()])+"""
_OPTION = rf"(?<![\w/-])--[a-z]\w+(?:[ =](?!and |or |out\b|with |in ){_VALUE})?"
_OPTIONS = re.compile(rf"{_OPTION}(?: {_OPTION})*")
"""Options in a sentence, one after another."""

_LINE = re.compile(r"^    (?:.*: )?(--[a-z].*)$", re.MULTILINE)
"""A line of a question: what it gives, and its options."""

_COMMAND = re.compile(
    r"(?<!usage: )voc-seg-tfrecord ([a-z]+ [^`\n]*?)(?=[`)]|; |, fill|\.? If |$)",
    re.MULTILINE,
)
"""A whole command, to the mark that ends it in a sentence."""

_COMMAND_OF_TFDS = re.compile(r"tfds build [^\n]*?(?=[`)]|; |\.? If |$)", re.MULTILINE)
"""A whole command of TFDS; folder/tree/completeness_test runs one."""

_USAGE = re.compile(r"unrecognized arguments|expected one argument|invalid choice|required:")
"""What argparse says of a call that cannot be parsed."""


@dataclasses.dataclass(frozen=True)
class Remedy:
    """A call that a message proposes.

    Attributes:
      words: the words of the call.
      text: the part of the message.
    """

    words: list[str]
    text: str


def remedies(words: list[str], message: str) -> list[Remedy]:
    """Returns the calls that a message about a call proposes, each once."""
    found = {}
    for text in _COMMAND.findall(message):
        found[text] = shlex.split(text)
    in_lines = _LINE.findall(message)
    _, _, advice = message.partition("what to do: ")
    sentences = _COMMAND_OF_TFDS.sub("", _COMMAND.sub("", advice))
    in_sentences = _OPTIONS.findall(sentences)
    for text in [*in_lines, *in_sentences]:
        has_value = " " in text or "=" in text
        if has_value or text.startswith("--no"):
            found[text] = replaced(words, shlex.split(text))
    return [Remedy(call, text) for text, call in found.items()]


def replaced(words: list[str], options: list[str]) -> list[str]:
    """Returns a call with options in place of its own of the same names."""
    names = {option.partition("=")[0] for option in options if option.startswith("--")}
    if "--classes" in names:
        names.add("--class_names")  # the classes are said again
    kept = []
    is_dropped = False
    for word in words:
        if word.startswith("--"):
            is_dropped = word.partition("=")[0] in names
        if not is_dropped:
            kept.append(word)
    return [*kept, *options]


def fault_of(text: str) -> str:
    """Returns what is wrong by a message, without what to do about it."""
    before_advice, _, _ = text.rpartition("what to do: ")
    return before_advice.rpartition("error: ")[2] or text


def check_remedies(words: list[str]) -> int:
    """Runs a call that fails, and what its message proposes; returns how many calls that are.

    A call that ends well, or that asks something else, is right.
    """
    failed = run_command(*words)
    message = failed.text
    assert failed.status in (1, 2), words
    proposed = remedies(words, message)
    for remedy in proposed:
        result = run_command(*remedy.words)
        where = f"{shlex.join(words)}\n{message}\n{shlex.join(remedy.words)}\n{result.text}"
        assert not _USAGE.search(result.errors), where
        if result.status:
            assert fault_of(result.text) != fault_of(message), where
    return len(proposed)


def rename_masks(root):
    for path in (root / "masks").iterdir():
        path.rename(path.with_name(f"gt-of-{ord(path.stem) * 7}.png"))


def add_folders_of_splits(root):
    drawing.write(root, "xy test/images/{}.jpg test/masks/{}.png")


def add_masks_of_another_person(root):
    (root / "masks").rename(root / "masks_anna")
    for image_id in "abcd":
        drawing.put_mask(root, f"masks_ben/{image_id}.png", drawing.truth(image_id)[::-1])


def add_photos_of_another_camera(root):
    (root / "images").rename(root / "vis")
    drawing.write(root, "abcd ir/{}.jpg")


def remove_a_mask(root):
    (root / "masks" / "a.png").unlink()


def save_in_colors(root):
    for path in (root / "masks").iterdir():
        exports.rgb(drawing.truth(path.stem)).save(path)


def save_with_other_values(root, values):
    for path in (root / "masks").iterdir():
        drawing.put_mask(root, f"masks/{path.name}", values[drawing.truth(path.stem) % len(values)])


def halve_masks(root):
    for path in (root / "masks").iterdir():
        drawing.put_mask(root, f"masks/{path.name}", drawing.truth(path.stem)[::2, ::2])


def list_twice(root):
    drawing.put_lists(root, train="abc", val="bcd")


CASES = {
    "masks of two people": (add_masks_of_another_person, ""),
    "photos of two cameras": (add_photos_of_another_camera, ""),
    "no name pairs": (rename_masks, ""),
    "folders of one split": (add_folders_of_splits, "--class_names x,y,z --lists lists"),
    "colors": (save_in_colors, ""),
    "colors and names": (save_in_colors, "--class_names background,apple,tree"),
    "0, 128 and 255": (lambda r: save_with_other_values(r, np.uint8([0, 128, 255])), ""),
    "1 to 3": (lambda root: save_with_other_values(root, np.uint8([1, 2, 3])), ""),
    "a new value": (lambda r: save_with_other_values(r, np.uint8([0, 1, 7])), "--class_names a,b"),
    "255 and names": (
        lambda root: save_with_other_values(root, np.uint8([0, 255])),
        "--class_names a,b,c",
    ),
    "small masks": (halve_masks, ""),
    "ids in two lists": (list_twice, ""),
    "folds beside validation": (
        lambda root: drawing.put_lists(root, train="ab", val="cd"),
        "--folds 2",
    ),
    "no mask for background": (remove_a_mask, "--missing_mask background --class_names x,y,z"),
    "an unknown list": (None, "--splits train=nothing.txt"),
    "ratios below 1": (None, "--splits train=0.5"),
    "a folder that is not there": (None, "--masks msks"),
    "a pattern without masks": (None, "--mask_name gt_{id}.png"),
    "a misspelled background": (None, "--background bakground --class_names background,a,b"),
    "images to leave out that are not there": (None, "--exclude x,y"),
    "an image of a band less": (None, "--bands 0,1,2,3"),
    "groups of nothing": (None, "--group_by prefix:-"),
    "a seed of nothing": (None, "--seed 5"),
    "tiles of nothing": (None, "--tile_overlap 5"),
    "numbers of objects that are not there": (None, "--instance_masks"),
    "boxes that are not there": (None, "--objects"),
    "more folds than images": (None, "--folds 9"),
    "a threshold of index masks": (None, "--threshold 128"),
    "a misspelled option": (None, "--clas_names a,b"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_message_about_a_folder_proposes_works_or_asks_something_else(
    tmp_path, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    change, options = CASES[name]
    drawing.write(tmp_path / "set", "abcd images/{}.jpg masks/{}.png")
    if change is not None:
        change(tmp_path / "set")
    words = ["build", "set", "--name=mine", "--dry_run", f"--data_dir={tmp_path}"]
    check_remedies([*words, *shlex.split(options)])


def test_the_table_of_classes_that_is_filled_in_as_told_builds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawing.write(tmp_path / "set", "abcd images/{}.jpg masks/{}.png")
    save_in_colors(tmp_path / "set")
    words = ["build", "set", "--name=mine", "--dry_run", f"--data_dir={tmp_path}"]
    message = run_command(*words, "--class_names", "background,apple,tree").errors
    (write,) = _COMMAND.findall(message)
    written = run_command(*shlex.split(write))
    table = tmp_path / "classes.csv"
    table.write_text(re.sub(r"\?", lambda mark: f"class{mark.start()}", table.read_text()))
    (build,) = _COMMAND.findall(written.output)
    assert run_command(*shlex.split(build), "--dry_run", f"--data_dir={tmp_path}").status == 0
    assert run_command(*words, "--classes", "classes.csv").status == 0


CALLS = [
    "build --release 2012 --manual_dir {tree}",
    "build --release 2012 --manual_dir {tree} --config part.json",
    "build --release sample --manual_dir {tree}",
    "build --config nothing.json --name x {tree}",
    "check {tree} --write_config x.txt",
    "check {tree} --rgb 1,2,3",
    "check {tree} --decisions nothing.csv",
    "verify sample@train",
    "verify nothing",
    "verify {tree}",
    "verify 2012",
    "verify sample --source nowhere",
    "diff sample nothing",
    "stats sample@nothing",
    "leaks 2012@train sample@validation",
    "preview sample --out a.txt",
    "report sample",
    "report sample --out a.html --ids nothing.txt",
    "report sample@semi_92 --out a.html",
    "evaluate sample --predictions {tree}",
    "evaluate sample@validation --predictions {tree}",
    "export sample --layout voc --out {tree}",
    "export sample --layout voc --out b --num_shards 2",
    "import {tree} --name x",
    "import nowhere --name x",
    "submission --predictions {tree} --out a.tgz",
]


@pytest.mark.parametrize("call", CALLS)
def test_what_a_message_about_a_call_proposes_works_or_asks_something_else(
    tmp_path, monkeypatch, sample, call
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFDS_DATA_DIR", str(sample.data_path.parents[2]))
    check_remedies(call.format(tree=DUMMY_DATA).split())


FROZEN = REPOSITORY / "tests" / "outcomes" / "frozen"


def list_cases_that_stop(corpus, every):
    """Returns cases of a corpus whose frozen outcome is a question or a refusal, some of them."""
    outcomes = read_outcomes(FROZEN / f"{corpus}.jsonl.gz")
    stopping = [case for case in list_cases(corpus) if outcomes[case.key]["kind"] != "read"]
    return stopping[::every]


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "every"), [("layouts", 1), ("made", 12)])
def test_what_questions_about_known_and_made_folders_propose_works(
    tmp_path, monkeypatch, subtests, corpus, every
):
    for number, case in enumerate(list_cases_that_stop(corpus, every)):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        opened = case.open(folder)
        words = ["build", str(opened.root), "--name=mine", "--dry_run", f"--data_dir={tmp_path}"]
        with subtests.test(case.key):
            check_remedies([*words, *shlex.split(command(**as_texts(opened.options)))])


def as_texts(options):
    """Returns the options of a case as the command line takes them."""
    texts = {}
    for name, value in options.items():
        texts[name] = ",".join(value) if isinstance(value, list) else value
    return texts
