"""Reads folders as a user does: what is found in them, or why they are refused."""

from collections.abc import Sequence
import pathlib
import re
import shlex
import subprocess

import numpy as np
import pytest
from support.encoding import decoded

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments, cli
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.formats.index_masks import read_mask
from voc_seg_tfrecord.sources.open import own_source
from voc_seg_tfrecord.writing.examples import make_example

NAMES = ["background", "apple", "tree"]


def plan_of(root: pathlib.Path, **options) -> FolderPlan:
    """Returns the plan of a folder, whose classes are `NAMES` unless others are given.

    The question about pictures that nothing explains is answered with its one line.
    """
    options = {"name": "mine", "class_names": NAMES, **options}
    try:
        return plan_to_build(root, **options)
    except LayoutError as error:
        if error.kind != "pictures that nothing explains":
            raise
        ((_, answer),) = proposed(str(error))
        return plan_to_build(root, **options | said_by(answer))


def examples_of(root: pathlib.Path, **options) -> dict[str, dict]:
    """Returns what a build of a folder stores of each image, by `image/filename`."""
    source = own_source(plan_to_build(root, name="x", **options))
    examples = {}
    for pairs in source.splits.values():
        for pair in pairs:
            examples[pair.filename] = make_example(pair.read(), source.spec)
    return examples


def pairs_of(plan: FolderPlan) -> dict[str, dict[pathlib.Path, pathlib.Path]]:
    """Returns by split the mask file of each image file."""
    return {
        split: {
            pathlib.Path(pair.image): pathlib.Path(pair.mask)
            for pair in plan.items.of_split(split, ids)
        }
        for split, ids in plan.splits.items()
    }


def images_of(plan: FolderPlan) -> dict[str, list[str]]:
    """Returns by split the names of the images, without folders and endings, sorted."""
    pairs_by_split = pairs_of(plan)
    return {split: sorted(image.stem for image in pairs) for split, pairs in pairs_by_split.items()}


def refused(
    root: pathlib.Path, words: str, error: type[VocSegError] = LayoutError, **options
) -> str:
    """Checks that a folder cannot be read, with words of the error; returns its text."""
    with pytest.raises(error, match=words) as caught:
        plan_of(root, **options)
    return str(caught.value)


def proposed(text: str) -> list[tuple[str, str]]:
    """Returns the lines of a question: what each gives, and its options."""
    return re.findall(r"^    (.*): (--.*)$", text, re.M)


def pasted(text: str) -> list[str]:
    """Returns the words that Bash makes of a text."""
    words = ["bash", "-c", f'printf "%s\\n" {text}']
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def said_by(options: str) -> dict:
    """Returns what options say, as the command line reads them."""
    words = ["check", "folder", *shlex.split(options)]
    fields = arguments.tree_fields(cli.make_parser(["check"]).parse_args(words))
    return {name: value for name, value in fields.items() if name != "class_names" or value}


def unused_of(plan: FolderPlan) -> dict[tuple[str, str], Sequence[str]]:
    """Returns the names of the unused files, by their folder and the row that explains them."""
    return {(group.folder, group.kind.name): names for group, names in plan.unused.items()}


def read_as(config: VocSegConfig, plan: FolderPlan) -> np.ndarray:
    """Returns what a build makes of the mask `SegmentationClass/a.png`, uint8 `[H, W]`."""
    path = plan.tree.root / "SegmentationClass" / "a.png"
    return decoded(read_mask(File.read(path), config.example_spec(plan.mask_rule).rule).png)
