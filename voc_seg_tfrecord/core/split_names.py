"""What names say about splits: the one vocabulary of lists, tables, folders, records and shapes.

A word that always means a split is plain: `train`, `val`. A short word, such as `tr`, means one
where it stands alone. Any other word, such as `eval`, means one only beside a split to train on.
"""

from collections.abc import Collection, Iterable, Mapping
import functools
import re

from voc_seg_tfrecord.core.role_words import ROLES

PLAIN_WORDS: Mapping[str, str] = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}
"""The split of each word that always means one."""

SHORT_WORDS: Mapping[str, str] = {
    "tr": "train",
    "trn": "train",
    "ts": "test",
    "tst": "test",
    "dev": "validation",
}
"""The split of each word that means one where it stands alone, or behind images or labels."""

OTHER_WORDS: Mapping[str, str] = {
    "va": "validation",
    "validate": "validation",
    "eval": "validation",
    "evaluation": "validation",
    "minival": "validation",
    "te": "test",
    "holdout": "test",
}
"""The split of each word that means one beside a split to train on."""

WORDS = {**PLAIN_WORDS, **SHORT_WORDS, **OTHER_WORDS}
"""The split that a word means."""

UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")
"""Names of what holds the images of `train` and others."""

TO_TRAIN_ON = frozenset({"train", *UNIONS})
"""The splits that a model is trained on."""

USUAL_NAMES_OF_LISTS = ("train", "val", "valid", "validation", "test", "trainval", "trainaug")
"""Names, in lower case, that lists of a set in VOC's layout have."""

WORDS_FOR_UNLABELED = frozenset({"unlabeled", "unlabelled"})
"""Words for images that no model is trained on with labels; a split beside others."""

WORDS_FOR_NO_SPLIT = frozenset(
    {"", "-", "none", "nan", "na", "ignore", "ignored", "unused", "exclude", "excluded"}
)
"""Values, in lower case, of images in no split."""

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

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_GLUED = re.compile(
    "(voc|data)?(training|train|validation|valid|val|testing|test|evaluation|eval|holdout|dev)"
    "([a-z]*)"
)
_TRAIN_AND_VAL = re.compile("(train|training)(val|valid|validation)")
_WORDS_OF_TWO = {("test", "dev"): "test", ("hold", "out"): "holdout"}
_YEAR = re.compile(r"(?:19|20)\d\d")


def words(name: str) -> list[str]:
    """Returns the words and numbers of a name in lower case: `valAnnot2` has val, annot and 2."""
    parts = []
    for word in _WORD.findall(name):
        parts += _parts_of_word(word.lower())
    return parts


def _parts_of_word(word: str) -> list[str]:
    """Returns the words of which one is made, as `valset` is; the singular of a role."""
    if word in WORDS:
        return [word]
    union = _TRAIN_AND_VAL.fullmatch(word)
    if union:
        return [union[1], union[2]]
    glued = _GLUED.fullmatch(word)
    if glued:
        before, split, after = glued.groups(default="")
        if not after or after in ROLES or after in AROUND_SPLITS:
            return [part for part in (before, split, after) if part]
    if word.endswith("s") and word not in ROLES and word[:-1] in ROLES:
        return [word[:-1]]
    return [word]


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
    if {*splits} == {"train", "validation"} and not is_about_splitting:
        return "trainval", " ".join(word for word in others if word != "and")
    return "", " ".join([*splits, *others])


@functools.lru_cache(1024)
def only_split_in(name: str) -> str:
    """Returns the split of a name that says nothing else, but for a year: `val`, `train2017`.

    It is empty if the name says more, or no split.
    """
    split, rest = split_in(name)
    return split if not rest or _YEAR.fullmatch(rest) else ""


def is_plain_name(name: str) -> bool:
    """Says whether a name says a split and nothing else, in plain words: `Val`, `trainset`."""
    return bool(only_split_in(name)) and not PLAIN_WORDS.keys().isdisjoint(words(name))


def are_names_of_splits(names: Collection[str]) -> bool:
    """Says whether several names say one split each, and each another one, also in short words."""
    splits = {only_split_in(name) for name in names}
    return len(splits) == len(names) > 1 and "" not in splits


def needs_train(name: str) -> bool:
    """Says whether a name says a split only in words that mean none but beside train: `eval`."""
    named = [word for word in _joined_words(name) if word in WORDS]
    return bool(named) and all(word in OTHER_WORDS for word in named)


def is_called_as_split(name: str) -> bool:
    """Says whether a name has a word for a split, or `split` itself, and no other words."""
    called = {*words(name)}
    if called <= OTHER_WORDS.keys():
        return False
    return bool(called & {"split", "splits", *WORDS}) and called <= AROUND_SPLITS | WORDS.keys()


def _splits_and_other_words(name: str) -> tuple[list[str], list[str]]:
    """Returns the splits in a name, each once, and the words that are not around splits."""
    splits = dict[str, None]()
    others = []
    for word in _joined_words(name):
        if word in WORDS:
            splits[WORDS[word]] = None
        elif word not in AROUND_SPLITS and word != "voc":
            others.append(word)
    return [*splits], others


def _joined_words(name: str) -> list[str]:
    """Returns the words of a name, those that mean a split only together as one: `hold_out`."""
    joined: list[str] = []
    for word in words(name):
        together = _WORDS_OF_TWO.get((joined[-1], word)) if joined else None
        if together:
            joined[-1] = together
        else:
            joined.append(word)
    return joined


def own_split_name(name: str) -> str:
    """Returns a name as TFDS takes it for a split: letters, digits and `_`."""
    return re.sub(r"\W+", "_", name).strip("_")


# Names that users type, and names of lists.


def split_of(name: str) -> str:
    """Returns the split that a list, a folder or a ratio of this name makes.

    `val` and `valid` become `validation`, and known names are taken in any case. Other names stay
    as the user writes them.
    """
    if name.lower() in (*USUAL_NAMES_OF_LISTS, "default"):
        name = name.lower()
    return {"val": "validation", "valid": "validation"}.get(name, name)


def named_by_split(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of lists, folders or ratios that make each split; see `split_of`."""
    names_by_split: dict[str, list[str]] = {}
    for name in names:
        names_by_split.setdefault(split_of(name), []).append(name)
    return names_by_split
