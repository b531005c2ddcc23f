"""The only module here that knows names of the package: how a folder is read, and what is pasted.

It goes through what users and builders call: a plan, its source, and the examples of a build. If
these get other names, this module changes and no outcome does.
"""

from collections.abc import Iterator, Mapping
import dataclasses
import io
import os
import pathlib
import posixpath
import re
import shlex
from typing import Any

import numpy as np
from PIL import Image

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments, cli
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.sources.open import own_source
from voc_seg_tfrecord.writing.examples import make_example

MAX_CLASS_PROPOSALS = 8

_LINE = re.compile(r"^    (?:(.*): )?((?:voc-seg-tfrecord|--[a-z]).*)$", re.MULTILINE)
"""A line of a question: what it gives, and its options, or a whole command."""

_QUESTION = re.compile(r"(\d+ ways|one way) to ")

_CLASS_PROPOSAL = re.compile(r"--(?:class_names|classes) (?:'[^'\n]*'|[^\s;,]+(?:,[^\s;,]+)*)")
"""Options about classes inside the sentences of an error."""

_TABLE_OF_CLASSES = "write the table of classes"


@dataclasses.dataclass(frozen=True)
class StoredItem:
    """One image of a split.

    Attributes:
      filename: the name that the record holds.
      image: the path of the image.
      labels: the paths of the files that label it, sorted.
      mask: the stored index mask, uint8 `[H, W]`; None if it was not read.
      fault: the class of the error that stops a build at this item; empty if none does.
    """

    filename: str
    image: str
    labels: tuple[str, ...]
    mask: np.ndarray | None
    fault: str


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a build of a folder would store.

    Attributes:
      splits: the items of each split.
      class_names: the names of the classes.
      facts: what else reaches the dataset or its metadata.
      unused: the paths of the unused files, relative to the folder.
    """

    splits: dict[str, list[StoredItem]]
    class_names: list[str]
    facts: dict[str, Any]
    unused: list[str]


def read_folder(root: pathlib.Path, options: Mapping[str, Any], max_masks: int) -> Reading:
    """Plans a folder, and reads up to `max_masks` masks of each split, chosen evenly.

    Raises:
      VocSegError: if the folder is refused, or the user is asked.
    """
    plan = plan_to_build(root, name="mine", **options)
    source = own_source(plan)
    spec = source.spec
    splits = {}
    for split, items in source.splits.items():
        step = max(1, -(-len(items) // max_masks))
        splits[split] = [_store(item, spec, n % step == 0, root) for n, item in enumerate(items)]
    facts = {
        "background": spec.background_index,
        "bands": str(spec.bands or ""),
        "colors": {str(index): list(color) for index, color in source.colors.items()},
        "instances": spec.instances,
        "numbered": source.numbered,
        "objects": spec.objects,
        "rows": [[str(key), name] for key, name in source.rows],
    }
    unused = []
    for group, names in plan.unused.items():
        counted = [name for name in names if _is_counted(group.kind.name, name)]
        unused += [posixpath.join(group.folder, name) for name in counted]
    return Reading(splits, list(spec.class_names), facts, sorted(unused))


def _is_counted(kind: str, name: str) -> bool:
    """Says whether an unused file is one of those that the frozen outcomes list."""
    if kind == "class files":
        return True
    if kind == "boxes" and name.lower().endswith(".json"):
        return True
    return name.lower().endswith((*IMAGE_OR_MASK_ENDINGS, ".txt"))


def _store(item: Any, spec: Any, is_read: bool, root: pathlib.Path) -> StoredItem:
    """Returns one item, with its mask if that is read."""
    image = os.fspath(item.image)
    texts = {text for text in _texts(item.to_json()) if text.startswith(str(root))}
    labels = tuple(sorted(text for text in texts - {image} if pathlib.Path(text).is_file()))
    mask = None
    fault = ""
    if is_read:
        try:
            stored = make_example(item.read(), spec)["segmentation_mask"]
            mask = _decode(stored)
        except VocSegError as error:
            fault = type(error).__name__
    return StoredItem(item.filename, image, labels, mask, fault)


def _texts(value: Any) -> Iterator[str]:
    """Yields all texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _decode(stored: Any) -> np.ndarray:
    """Returns the mask that a builder's feature takes: an array, or a grayscale PNG."""
    if isinstance(stored, np.ndarray):
        return stored.squeeze()
    data = stored if isinstance(stored, bytes) else stored.getvalue()
    return np.asarray(Image.open(io.BytesIO(data)))


def list_answers(text: str) -> list[tuple[str, str]] | None:
    """Returns what an error proposes to paste: what each line gives, and its options.

    Returns:
      None if the error is no question: it proposes nothing that says how the folder is read.
    """
    lines = _LINE.findall(text)
    if lines:
        return lines
    sentences, table, _ = text.partition(_TABLE_OF_CLASSES)
    options = dict.fromkeys(_CLASS_PROPOSAL.findall(sentences))
    if options or table or _QUESTION.search(text):
        return [("", option) for option in options][:MAX_CLASS_PROPOSALS]
    return None


def add_answer(options: Mapping[str, Any], answer: str, text: str) -> dict[str, Any] | None:
    """Returns the options of a call to which the options of a line are added.

    Args:
      options: those of the call.
      answer: those of the line, as they are typed.
      text: the error with the line, which may say that they replace `--class_names`.

    Returns:
      None if the line is a whole command, such as one about a part of the folder.

    Raises:
      VocSegError: if the command line refuses them.
      SystemExit: likewise.
    """
    if not answer.startswith("--"):
        return None
    words = ["check", "folder", *shlex.split(answer)]
    added = arguments.tree_fields(cli.make_parser(["check"]).parse_args(words))
    fields = dict(options)
    if "classes" in added and "in place of --class_names" in text:
        fields.pop("class_names", None)
    return fields | added
