"""What the name of a text, a folder, a column or a key says about splits."""

import functools
import re

from voc_seg_tfrecord.folder.files.folder_names import SPLITS, words

UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")
"""Lists that hold the ids of `train` too. TFDS reads trainval as split='train+validation'."""

AROUND_SPLITS = frozenset(
    {
        *("list", "lists", "id", "ids", "set", "sets", "split", "splits", "index", "indices"),
        *("image", "images", "img", "imgs", "imageset", "imagesets", "mask", "masks"),
        *("label", "labels", "seg", "segmentation", "file", "files", "filename", "filenames"),
        *("name", "names", "path", "paths", "key", "keys", "pair", "pairs", "data", "dataset"),
        "txt",
    }
)
"""Words around the name of a split that say no more than that, as in `train_list`."""

_SPLIT_AND_WORD = re.compile(f"(train|val|valid|test)({'|'.join(sorted(AROUND_SPLITS))})")


_TWO_SPLITS = {"train", "validation"}


def list_splits_in(name: str) -> list[str]:
    """Returns the splits that the words of a name say, each once: two of `train_test`."""
    splits, _ = _splits_and_other_words(name)
    return splits


def split_in(name: str) -> tuple[str, str]:
    """Returns the split that a name says, and what else it says.

    `train_list` says train and nothing else, `val_fold0` says validation and `fold 0`, `train_val`
    says trainval. The split is empty if the name says none, or train and test.
    """
    plain = name.lower().replace("-", "_")
    if plain in UNIONS:
        return plain, ""
    splits, others = _splits_and_other_words(name)
    if len(splits) == 1:
        return splits[0], " ".join(others)
    is_about_splitting = not {"split", "splits"}.isdisjoint(words(name))
    if {*splits} == _TWO_SPLITS and not is_about_splitting:
        return "trainval", " ".join(word for word in others if word != "and")
    return "", " ".join([*splits, *others])


def _splits_and_other_words(name: str) -> tuple[list[str], list[str]]:
    """Returns the splits in a name, each once, and the words that are not around splits."""
    splits = dict[str, None]()
    others = []
    for word in words(name):
        match = _SPLIT_AND_WORD.fullmatch(word)
        for part in match.groups() if match else (word,):
            if part in SPLITS:
                splits[SPLITS[part]] = None
            elif part not in AROUND_SPLITS:
                others.append(part)
    return [*splits], others


@functools.lru_cache(1024)
def only_split_in(name: str) -> str:
    """Returns the split of a name that says nothing else; empty if it says more, or none."""
    split, rest = split_in(name)
    return "" if rest else split


def is_called_as_split(name: str) -> bool:
    """Says whether a name has a word for a split, or `split` itself, and no other words."""
    called = {*words(name)}
    return bool(called & {"split", "splits", *SPLITS}) and called <= AROUND_SPLITS | SPLITS.keys()
