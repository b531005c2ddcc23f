"""The one vocabulary: what names of files, folders, lists and tables say of role, split and fold.

The role of a file is image, mask, or something else that looks like one, such as a prediction.

A word that always means a split is plain: `train`, `val`. A short word, such as `tr`, means one
where it stands alone. Any other word, such as `eval`, may also mean something else, such as scores.

Case does not matter. What the functions return for some names, where - is an empty text or False:

    name        parse_split_name    only_split_in  is_plain_name  has_only_split_words
    Train       train               train          True           True
    val_list    validation          validation     True           True
    train2017   train, rest 2017    train          True           -
    VOCtrain    train               train          True           -
    test1       test, rest 1        -              -              -
    val_fold0   validation, fold 0  -              -              -
    train_val   trainval            trainval       True           True
    train_test  -, rest train test  -              -              True
    tr          train               train          -              True
    eval        validation          validation     -              -
    splits      -                   -              -              True

Of these, `says_split_ambiguously` is True for `eval` alone.
"""

from collections.abc import Collection, Iterable, Mapping
import dataclasses
import functools
import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMAGE_WORDS = _set(
    """
    image images im img imgs jpegimages jpg jpeg jpegs photo photos picture pictures pic pics
    original originals orig input inputs frame frames rgb sat raw
    """
)
# `manual` is here for DRIVE's `1st_manual` and HRF's `manual1`, which people drew. Their folder
# `mask` shows the field of view.
MASK_WORDS = _set(
    """
    mask masks label labels lbl lb l annotation annotations annot annots ann anns
    gt gts ground truth truths groundtruth groundtruths seg segs segmentation segmentations
    manual manuals segmap segmaps semantic target targets
    """
)
# In the name of a file these mean a mask: `a_labeled.png`. Beside a word for images they mean the
# photo that was labeled, and a folder called `labeled` may have either.
LABELED_WORDS = _set("labeled labelled annotated")
# Words for files that look like images or masks but are neither. A folder or file with such a name
# is asked about, or loses to one that is called images or masks.
_PREDICTED_WORDS = _set("predict predicts prediction predictions predicted pred preds inference")
PREDICTION_WORDS = _PREDICTED_WORDS | _set(
    """
    run runs result results output outputs heatmap heatmaps prob probs probability probabilities
    logit logits confidence confidences
    """
)
_COLOR_WORDS = _set("color colors colour colours colored coloured colormap")
DRAWING_WORDS = _COLOR_WORDS | _set(
    """
    overlay overlays overlaid vis viz visual visualization visualizations visualisation
    visualisations blend blended check checks qa debug painted drawn drawing drawings show shows
    shown
    """
)
INSTANCE_WORDS = _set("instance instances object objects panoptic")
EDGE_WORDS = _set("boundary boundaries contour contours edge edges")
DEPTH_WORDS = _set("depth depthmap depthmaps disparity")
BACKUP_WORDS = _set(
    """
    thumb thumbs thumbnail thumbnails preview previews backup backups bak old tmp temp trash
    deprecated archive archived copy copies
    """
)
BYPRODUCT_WORDS = (
    PREDICTION_WORDS | DRAWING_WORDS | INSTANCE_WORDS | EDGE_WORDS | DEPTH_WORDS | BACKUP_WORDS
)
# Masks with such names are labels only if an option says so.
WORDS_FOR_NO_LABELS = BYPRODUCT_WORDS - _COLOR_WORDS - BACKUP_WORDS
ILLUSTRATION_WORDS = _set(
    """
    doc docs documentation asset assets figure figures fig figs chart charts plot plots drawing
    drawings teaser logo logos screen screenshot screenshots readme banner icon icons
    """
)
# Words for masks that a model made. They are asked about, even beside a word for masks, and they
# decide nothing else: `auto` may be a class and `sam` a person.
MODEL_WORDS = _PREDICTED_WORDS | _set(
    """
    pseudo weak auto infer inferred estimate estimates estimated submission submissions yhat
    unet nnunet segformer deeplab deeplabv sam
    """
)
MODEL_NAMES = ("y hat", "best model", "u net", "deep lab")
"""Likewise; each is several words, as `words` takes a name apart."""
# Words for a set that may be a copy or a part of another set beside it. Some are also byproducts:
# those tell which files are images and masks, these whether two sets belong together.
EXTRA_WORDS = _set(
    """
    aug augs augmented augmentation augmentations fold folds backup backups bak old sample
    samples example examples demo demos crop crops cropped resized patches tiles thumb
    thumbs thumbnail thumbnails preview previews copy copies
    """
)
ROLE_WORDS = IMAGE_WORDS | MASK_WORDS | LABELED_WORDS | BYPRODUCT_WORDS

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
    "vali": "validation",
    "validate": "validation",
    "validating": "validation",
    "crossval": "validation",
    "devel": "validation",
    "development": "validation",
    "eval": "validation",
    "evaluation": "validation",
    "minival": "validation",
    "te": "test",
    "tests": "test",
    "minitest": "test",
    "holdout": "test",
    "heldout": "test",
}
"""The split of each word that may also mean something else, such as scores."""

SPLIT_BY_WORD = {**PLAIN_WORDS, **SHORT_WORDS, **OTHER_WORDS}
"""The split that a word means."""

UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")
"""Names of what holds the images of `train` and others."""

TO_TRAIN_ON = frozenset({"train", *UNIONS})
"""The splits that a model is trained on."""

USUAL_NAMES_OF_LISTS = ("train", "val", "valid", "validation", "test", "trainval", "trainaug")
"""Names, in lower case, that lists of a set in VOC's layout have."""

_LIST_OF_CVAT = "default"
"""CVAT's name of the list of images without a subset."""

WORDS_FOR_UNLABELED = frozenset({"unlabeled", "unlabelled"})
"""Words for images that no model is trained on with labels; a split beside others."""

WORDS_FOR_NO_SPLIT = frozenset(
    {"", "-", "none", "nan", "na", "ignore", "ignored", "unused", "exclude", "excluded"}
)
"""Values, in lower case, of images in no split."""

WORDS_AROUND_SPLITS = frozenset(
    {
        *("list", "lists", "id", "ids", "set", "sets", "split", "splits", "index", "indices"),
        *("image", "images", "img", "imgs", "imageset", "imagesets", "mask", "masks"),
        *("label", "labels", "seg", "segmentation", "file", "files", "filename", "filenames"),
        *("name", "names", "path", "paths", "key", "keys", "pair", "pairs", "data", "dataset"),
        "txt",
    }
)
"""Words around the name of a split that say no more than that, as in `train_list`."""

_LETTERS_OR_DIGITS = re.compile(r"[A-Za-z]+|\d+")
_PLAIN_WORD = re.compile("training|train|validation|valid|val|testing|test")
# A data set's name in capitals is a word of its own before a word for a split: COCOtrain is COCO
# and train, not COC and Otrain.
_NAME_OF_SET = re.compile(f"[A-Z]{{2,}}(?=(?:{_PLAIN_WORD.pattern})(?:val)?(?![a-z]))")
_PART_OF_CAMEL_CASE = re.compile(f"{_NAME_OF_SET.pattern}|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PLAIN_WORDS_ALONE = re.compile(f"(?:{_PLAIN_WORD.pattern})+")
# What stands before the word for a split is a name of data sets, as in `voctest`. What stands
# behind it has to be a word that says no more, as in `valset`; `trains` is no split.
_SPLIT_AMONG_LETTERS = re.compile(
    f"(voc|data)?({_PLAIN_WORD.pattern}|evaluation|eval|holdout|dev)([a-z]*)"
)
_WORDS_OF_TWO = {
    ("test", "dev"): "test",
    ("hold", "out"): "holdout",
    ("held", "out"): "heldout",
    ("cross", "val"): "crossval",
}
_YEAR = re.compile(r"(?:19|20)\d\d")
_FOLD = re.compile(r"(?:(?:k|cv) ?)?folds? (\d+)")


def words(name: str) -> list[str]:
    """Returns the words and numbers of a name in lower case: `valAnnot2` has val, annot and 2."""
    parts = []
    for letters in _LETTERS_OR_DIGITS.findall(name):
        if letters.isdecimal() or letters.lower() in SPLIT_BY_WORD:  # in any case, as in `vAL`
            parts.append(letters.lower())
            continue
        for word in _PART_OF_CAMEL_CASE.findall(letters):
            parts += _parts_of_word(word.lower())
    return parts


def _parts_of_word(word: str) -> list[str]:
    """Returns the words of which one is made, as `valset` is; the singular of a role."""
    if word in SPLIT_BY_WORD:  # val
        return [word]
    if _PLAIN_WORDS_ALONE.fullmatch(word):  # trainval: train, val
        return _PLAIN_WORD.findall(word)
    glued = _SPLIT_AMONG_LETTERS.fullmatch(word)
    if glued:  # vocvalset: voc, val, set
        before, split, after = glued.groups(default="")
        if not after or after in ROLE_WORDS or after in WORDS_AROUND_SPLITS:
            return [part for part in (before, split, after) if part]
    singular = word.removesuffix("s")
    if word not in ROLE_WORDS and singular in ROLE_WORDS:  # depths: depth
        return [singular]
    return [word]


@dataclasses.dataclass(frozen=True)
class SplitName:
    """What a name says.

    Attributes:
      split: the split; empty if the name says none, or train and test.
      rest: the other words of the name, with blanks between them.
    """

    split: str
    rest: str


@functools.lru_cache(4096)
def parse_split_name(name: str) -> SplitName:
    """Returns the split that a name says, and what else it says.

    `train_list` says train and nothing else, `val_fold0` says validation and `fold 0`, `train_val`
    says trainval.
    """
    with_underscores = name.lower().replace("-", "_")
    if with_underscores in UNIONS:
        return SplitName(with_underscores, "")
    splits, others = _splits_and_other_words(name)
    if len(splits) == 1:
        return SplitName(splits[0], " ".join(others))
    is_about_splitting = not {"split", "splits"}.isdisjoint(words(name))
    if {*splits} == {"train", "validation"} and not is_about_splitting:
        return SplitName("trainval", " ".join(word for word in others if word != "and"))
    return SplitName("", " ".join([*splits, *others]))


def list_splits_in(name: str) -> list[str]:
    """Returns the splits that the words of a name say, each once: two of `train_test`."""
    splits, _ = _splits_and_other_words(name)
    return splits


def only_split_in(name: str) -> str:
    """Returns the split of a name that says nothing else, but for a year: `val`, `train2017`.

    It is empty if the name says more, or no split.
    """
    parsed = parse_split_name(name)
    says_more = parsed.rest and not _YEAR.fullmatch(parsed.rest)
    return "" if says_more else parsed.split


def split_but_for_number(name: str) -> str:
    """Returns the split of a name that says nothing else but numbers: `test1`, `val_2017`, `dev`.

    It is empty if the name says more, or no split.
    """
    parsed = parse_split_name(name)
    says_more = parsed.rest and not parsed.rest.replace(" ", "").isdecimal()
    return "" if says_more else parsed.split


def fold_in(name: str) -> str:
    """Returns the number of the fold that a name says and nothing else: `fold_0`, `kfold1_ids`."""
    match = _FOLD.fullmatch(parse_split_name(name).rest)
    says_split = parse_split_name(name).split
    return match[1] if match and not says_split else ""


def is_mixed_name(name: str) -> bool:
    """Says whether a name says test and another split: nobody knows which images are which."""
    if parse_split_name(name).split:
        return False
    splits = list_splits_in(name)
    return len(splits) > 1 and "test" in splits


def is_plain_name(name: str) -> bool:
    """Says whether a name says a split and nothing else, in plain words: `Val`, `trainset`."""
    return bool(only_split_in(name)) and not PLAIN_WORDS.keys().isdisjoint(words(name))


def begins_with_name_of_set(name: str) -> bool:
    """Says whether a name begins with that of a data set, and a split follows: `COCOtrain`."""
    return _NAME_OF_SET.match(name) is not None


def are_names_of_splits(names: Collection[str]) -> bool:
    """Says whether several names say one split each, and each another one, also in short words."""
    splits = {only_split_in(name) for name in names}
    return len(splits) == len(names) > 1 and "" not in splits


def says_split_ambiguously(name: str) -> bool:
    """Says whether a name says a split only in words that may mean something else: `eval`.

    Such a name counts as a split beside one that says train.
    """
    split_words = [word for word in _joined_words(name) if word in SPLIT_BY_WORD]
    return bool(split_words) and all(word in OTHER_WORDS for word in split_words)


def has_only_split_words(name: str) -> bool:
    """Says whether a name has a word for a split, or `split` itself, and no other words.

    Words such as `list` and `ids` may stand around it. Words that may mean something else, such as
    `eval`, do not count alone.
    """
    words_of_name = {*words(name)}
    if words_of_name <= OTHER_WORDS.keys():
        return False
    has_split_word = not words_of_name.isdisjoint({"split", "splits", *SPLIT_BY_WORD})
    has_only_known_words = words_of_name <= WORDS_AROUND_SPLITS | SPLIT_BY_WORD.keys()
    return has_split_word and has_only_known_words


def _splits_and_other_words(name: str) -> tuple[list[str], list[str]]:
    """Returns the splits in a name, each once, and the words that are not around splits."""
    splits = dict[str, None]()
    others = []
    names_of_sets = {"voc", *(found.lower() for found in _NAME_OF_SET.findall(name))}
    for word in _joined_words(name):
        if word in SPLIT_BY_WORD:
            splits[SPLIT_BY_WORD[word]] = None
        elif word not in WORDS_AROUND_SPLITS and word not in names_of_sets:
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


def as_split_name(name: str) -> str:
    """Returns a name as TFDS takes it for a split: letters, digits and `_`."""
    return re.sub(r"\W+", "_", name).strip("_")


def canonical_split(name: str) -> str:
    """Returns the split that a list, a folder or a ratio of this name makes.

    `val` and `valid` become `validation`, and known names are taken in any case. Other names stay
    as the user writes them.
    """
    if name.lower() in (*USUAL_NAMES_OF_LISTS, _LIST_OF_CVAT):
        name = name.lower()
    return {"val": "validation", "valid": "validation"}.get(name, name)


def named_by_split(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of lists, folders or ratios that make each split; see `canonical_split`."""
    names_by_split: dict[str, list[str]] = {}
    for name in names:
        names_by_split.setdefault(canonical_split(name), []).append(name)
    return names_by_split
