"""Folders are read as the frozen outcomes say: what is built, what is asked, what is refused.

If a change is meant to change outcomes, look at each difference and say its reason in the commit:

    python tests/outcomes/freeze.py made --out made.jsonl.gz
    python tests/outcomes/compare.py tests/outcomes/frozen/made.jsonl.gz made.jsonl.gz --list all

Then replace the file in `frozen`. Those of b3156bc4 stay in the history.
"""

from collections import Counter
import functools
import pathlib
from typing import Any

from outcomes.compare import compare
from outcomes.corpora import Case, list_layouts, list_made
from outcomes.freeze import freeze, read_outcomes
from outcomes.known_layouts import LAYOUTS, Truth
from outcomes.outcome import outcome_of
import pytest
from support import exports, made_folders
from support.drawing import write

FROZEN = pathlib.Path(__file__).parent / "frozen"
SAME = ("same", "same but words", "same but unused files")
CLASSES = {"class_names": made_folders.CLASSES}
PAIRS = {f"images/{name}.jpg": f"masks/{name}.png" for name in "abc"}


@functools.cache
def read_frozen(corpus: str) -> dict[str, dict[str, Any]]:
    return read_outcomes(FROZEN / f"{corpus}.jsonl.gz")


def find_differences(corpus: str, cases: list[Case]) -> dict[str, str]:
    """Returns how cases differ from their frozen outcomes, by key."""
    frozen = read_frozen(corpus)
    kind_by_key = {case.key: compare(frozen[case.key], freeze(case)) for case in cases}
    return {key: kind for key, kind in kind_by_key.items() if kind not in SAME}


@pytest.mark.parametrize("seed", [0, 4, 17])
def test_a_made_folder_is_read_as_before(seed):
    assert find_differences("made", list_made([seed])) == {}


@pytest.mark.parametrize("name", ["labelme", "Kvasir-SEG", "TGS Salt", "Severstal Steel"])
def test_a_known_layout_is_read_as_before(name):
    assert find_differences("layouts", [case for case in list_layouts() if case.key == name]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_known_layouts_are_read_as_before(name):
    assert find_differences("layouts", [case for case in list_layouts() if case.key == name]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 150, 10))
def test_made_folders_are_read_as_before(first):
    assert find_differences("made", list_made(range(first, first + 10))) == {}


def test_each_corpus_has_a_frozen_outcome_of_each_kind():
    for path in FROZEN.glob("*.gz"):
        kinds = Counter(row["kind"] for row in read_outcomes(path).values())
        assert {"read", "asked", "refused"} <= {*kinds}, path


def test_a_reading_is_right_if_its_pairs_and_splits_are_those_of_the_truth(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks/{}.png")
    others = {**PAIRS, "images/a.jpg": "masks/b.png"}
    ranks = [
        outcome_of(root, CLASSES, truth)["truth"]
        for truth in (
            Truth({"train": PAIRS}),
            Truth({"train": PAIRS}, must_ask=True),
            Truth({"train": others}),
            Truth({"train": others}, also_right=({"train": PAIRS},)),
            Truth({"test": PAIRS}),
        )
    ]
    assert ranks == ["right", "WRONG", "WRONG", "right", "WRONG"]


def test_a_question_ranks_the_line_that_gives_the_truth(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks_anna/{}.png masks_ben/{}.png")
    ranks = []
    for annotator in ("anna", "ben", "carl"):
        pairs = {
            image: mask.replace("masks", f"masks_{annotator}") for image, mask in PAIRS.items()
        }
        outcome = outcome_of(root, CLASSES, Truth({"train": pairs}))
        ranks.append(outcome["truth"])
    assert outcome["kind"] == "asked"
    assert {*ranks[:2]} == {"first", "second"}
    assert ranks[2] == "without"


def test_a_copy_counts_as_its_original_and_other_pixels_do_not(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks/{}.png")
    before = outcome_of(root, CLASSES)
    (root / "images" / "a.jpg").rename(root / "images" / "a.jpeg")
    assert compare(before, outcome_of(root, CLASSES)) == "read otherwise: pairs"
    (root / "images" / "a.jpeg").rename(root / "images" / "a.jpg")
    assert compare(before, outcome_of(root, CLASSES)) == "same"
    exports.put_mask(root, "masks/a.png", 2 - exports.truth("a"))
    assert compare(before, outcome_of(root, CLASSES)) == "read otherwise: pixels"
    names = {"class_names": ["background", "foreground", "class_2"]}
    exports.put_mask(root, "masks/a.png", exports.truth("a"))
    assert compare(before, outcome_of(root, names)) == "read otherwise: default class names"


def test_a_question_and_a_refusal_are_told_apart(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks/{}.png others/{}.png")
    before = outcome_of(root, CLASSES)
    assert before["lines"][0][2]["kind"] == "read"
    assert compare(before, outcome_of(root, {**CLASSES, "masks": "masks"})) == "asked -> read"
    refused = outcome_of(root, {**CLASSES, "masks": "nowhere"})
    assert compare(before, refused) == "asked -> refused"
