"""What names of folders say: images, masks, drawings, splits; and what paths have in common."""

from collections.abc import Collection, Iterable, Sequence
import functools
import itertools
import posixpath
import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IMAGES = _set(
    """
    image images im img imgs jpegimages jpg jpeg jpegs photo photos picture pictures pic pics
    original originals orig input inputs frame frames rgb sat raw
    """
)
# DRIVE and HRF have what people drew in `1st_manual` and `manual1`. Their folder `mask` shows the
# field of view.
_MASKS = _set(
    """
    mask masks label labels lbl lb l annotation annotations annot annots ann anns
    gt gts ground truth truths groundtruth groundtruths seg segs segmentation segmentations
    manual manuals segmap segmaps semantic target targets
    """
)
# Of files these are masks, unless a word for images says what was labelled; a folder has either.
_LABELED = _set("labeled labelled annotated")
# What has the names of images or masks and is neither, or is no longer: what lies beside a folder
# that is called masks is not taken if it is called so.
DRAWN = _set(
    """
    prediction predictions predicted pred preds inference run runs result results output
    outputs overlay overlays overlaid vis viz visual visualization visualizations visualisation
    visualisations blend blended thumb thumbs thumbnail thumbnails preview previews backup
    backups bak old tmp temp trash deprecated archive archived color colors colour colours
    colored coloured colormap instance instances object objects panoptic boundary boundaries
    check checks qa contour contours edge edges debug heatmap heatmaps painted drawn
    drawing drawings depth depthmap depthmaps disparity trimap trimaps prob probs
    probability probabilities logit logits confidence confidences copy copies
    """
)
# A set of these names is no second part of the set, and whether it counts nobody can tell.
EXTRA = _set(
    """
    aug augs augmented augmentation augmentations fold folds backup backups bak old sample
    samples example examples demo demos crop crops cropped resized patches tiles thumb
    thumbs thumbnail thumbnails preview previews copy copies
    """
)
ROLES = _IMAGES | _MASKS | _LABELED | DRAWN
_ENDINGS = frozenset({"jpg", "jpeg", "png"})
_SPLITS = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}
# Words that name splits only behind images or labels, or as folders beside one another.
SHORT = {"tr": "train", "trn": "train", "ts": "test", "tst": "test", "dev": "validation"}
SPLITS = _SPLITS | SHORT
"""The split that a word means; the short ones only where nothing else can be meant."""
_OF_NNUNET = re.compile("(?:images?|labels?|imgs?|masks?)[ _-]?(tr|ts)", re.IGNORECASE)
_SPLIT_AND_MORE = re.compile("(training|train|validation|valid|val|testing|test)([a-z]+)")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def words(name: str) -> list[str]:
    """Returns the words and numbers of a name in lower case: `valAnnot2` has val, annot and 2."""
    parts = []
    for word in _WORD.findall(name):
        word = word.lower()
        glued = _SPLIT_AND_MORE.fullmatch(word)
        if glued and word not in _SPLITS and (glued[2] in ROLES or glued[2] in ("set", "data")):
            parts += [glued[1], glued[2]]
        elif word.endswith("s") and word not in ROLES and word[:-1] in ROLES:
            parts.append(word[:-1])
        else:
            parts.append(word)
    return parts


def split_word(path: str) -> tuple[str, str]:
    """Returns the word for a split in the last folder of a path that has one, and its split.

    The word is as the folder writes it. Both are empty if no folder is called as a split is, or if
    that folder is called as two are, as `train_val` is.
    """
    for folder in reversed(path.split("/")):
        short = _OF_NNUNET.fullmatch(folder)
        if short:
            return short[1], SHORT[short[1].lower()]
        found = [word for word in words(folder) if word in _SPLITS]
        if len({_SPLITS[word] for word in found}) > 1:
            return "", ""
        if found:
            at = folder.lower().rindex(found[-1])
            return folder[at : at + len(found[-1])], _SPLITS[found[-1]]
    return "", ""


def without_split_word(path: str) -> str:
    """Returns a path without the word for a split: `images` of `images_val` and of `val/images`."""
    word, _ = split_word(path)
    if not word:
        return path
    folders = path.split("/")
    for position in reversed(range(len(folders))):
        folder = folders[position]
        if split_word(folder)[0]:
            start = folder.rindex(word)
            folders[position] = f"{folder[:start]}{folder[start + len(word) :]}".strip(" _.-")
            break
    return "/".join(filter(None, folders))


def is_split(folder: str) -> bool:
    """Says whether a folder is called as a split is and nothing else: `train`, `Val`."""
    return folder.lower() in _SPLITS


def are_splits(folders: Collection[str]) -> bool:
    """Says whether several folders are called as one split each, also in short."""
    splits = {SPLITS.get(folder.lower(), "") for folder in folders}
    return len(splits) == len(folders) > 1 and "" not in splits


def role(text: str, *, of_folder: bool = False) -> str:
    """Returns what a name says of files: `images`, `masks`, `drawn`, or nothing."""
    named = [w for w in words(text) if w not in _ENDINGS or w == text.lower()]
    colored = "rgb" in named and _MASKS.intersection(named)
    if DRAWN.intersection(named) or colored:
        return "drawn"
    if _MASKS.intersection(named):
        return "masks"
    if _LABELED.intersection(named):
        return "" if of_folder or _IMAGES.intersection(named) else "masks"
    return "images" if _IMAGES.intersection(named) and not EXTRA.intersection(named) else ""


@functools.cache
def role_of(folder: str) -> str:
    """Returns what the names of a folder and of those above it say of the files in it."""
    roles = [role(part, of_folder=True) for part in folder.split("/")[::-1]]
    return "drawn" if "drawn" in roles else next(filter(None, roles), "")


def common_folder(folders: Sequence[str]) -> str:
    """Returns the folder in which all folders lie, or which they are; empty for the root."""
    parts = [f.split("/") if f else [] for f in folders]
    same = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*parts, strict=False))
    return "/".join(names[0] for names in same)


def common(*paths: str) -> str:
    """Returns the folder in which all files lie; empty for the root."""
    return common_folder([posixpath.dirname(path) for path in paths])


def below(paths: Iterable[str], top: str) -> list[str]:
    """Returns the paths at or below one; all if it is empty."""
    top = posixpath.normpath(top)
    if top == ".":
        return [*paths]
    return [path for path in paths if path == top or path.startswith(f"{top}/")]


def stem(path: str) -> str:
    """Returns the name of a file without its folders and ending."""
    return posixpath.splitext(posixpath.basename(path))[0]


def same_parts(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Returns how many folders and names two paths share at their ends."""
    parts = zip(reversed(path), reversed(wanted), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], parts))
