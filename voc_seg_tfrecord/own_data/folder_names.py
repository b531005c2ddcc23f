"""What the names of folders say: images, masks, drawings of masks, and the splits they make."""

from collections.abc import Collection, Sequence
import dataclasses
import functools
import itertools
import re

from voc_seg_tfrecord.base.errors import LayoutError, command
from voc_seg_tfrecord.splitting.ratios import named_by_split
from voc_seg_tfrecord.trees.tree import VocTree


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
    mask masks label labels labeled labelled lbl lb l annotation annotations annotated annot annots
    ann anns
    gt gts ground truth truths groundtruth groundtruths seg segs segmentation segmentations
    manual manuals segmap segmaps semantic target targets
    """
)
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
ROLES = _IMAGES | _MASKS | DRAWN
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

    The word is as the folder writes it. Both are empty if no folder is called as a split is.
    """
    for folder in reversed(path.split("/")):
        if short := _OF_NNUNET.fullmatch(folder):
            return short[1], SHORT[short[1].lower()]
        for word in reversed(words(folder)):
            if word in _SPLITS:
                at = folder.lower().rindex(word)
                return folder[at : at + len(word)], _SPLITS[word]
    return "", ""


def is_split(folder: str) -> bool:
    """Says whether a folder is called as a split is and nothing else: `train`, `Val`."""
    return folder.lower() in _SPLITS


def are_splits(folders: Collection[str]) -> bool:
    """Says whether several folders are called as one split each, also in short."""
    splits = {SPLITS.get(folder.lower(), "") for folder in folders}
    return len(splits) == len(folders) > 1 and "" not in splits


def role(text: str) -> str:
    """Returns what a name says of files: `images`, `masks`, `drawn`, or nothing."""
    named = [w for w in words(text) if w not in _ENDINGS or w == text.lower()]
    colored = "rgb" in named and _MASKS.intersection(named)
    if DRAWN.intersection(named) or colored:
        return "drawn"
    if _MASKS.intersection(named):
        return "masks"
    return "images" if _IMAGES.intersection(named) and not EXTRA.intersection(named) else ""


@functools.cache
def role_of(folder: str) -> str:
    """Returns what the names of a folder and of those above it say of the files in it."""
    roles = [role(part) for part in folder.split("/")[::-1]]
    return "drawn" if "drawn" in roles else next(filter(None, roles), "")


def common_folder(folders: Sequence[str]) -> str:
    """Returns the folder in which all folders lie, or which they are; empty for the root."""
    parts = [f.split("/") if f else [] for f in folders]
    same = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*parts, strict=False))
    return "/".join(names[0] for names in same)


@dataclasses.dataclass(frozen=True)
class SplitFolders:
    """The folders of a set in which the images of splits lie.

    Attributes:
      tree: the set.
    """

    tree: VocTree

    @functools.cached_property
    def names(self) -> Sequence[str]:
        """Those among the first folders of ids; none if no folder is called as a split is."""
        images, masks = self.tree.images, self.tree.masks
        # Masks that lie at the top say that folders below name no splits.
        if any("/" not in mask_id for mask_id in masks):
            return ()
        folders = {image_id.partition("/")[0] for image_id in images if "/" in image_id}
        labelled = {i.partition("/")[0] for i in images if "/" in i and i in masks}
        named = labelled or folders
        are_named = any(map(is_split, named)) or are_splits(named)
        return sorted(folders) if are_named else ()

    def sources(self) -> dict[str, str]:
        """Returns the folder of each split.

        Raises:
          LayoutError: if a folder has masks and no images, which would be lost.
        """
        tree = self.tree
        by_split = _by_split(self.names, tree.root / tree.layout.images)
        lost = {name.partition("/")[0] for name in tree.masks if "/" in name} - {*self.names}
        if lost:
            first = min(name for name in tree.masks if name.partition("/")[0] in lost)
            raise LayoutError(
                tree.root / tree.layout.masks / tree.masks[first],
                found=f"masks for a split {min(lost)!r}, which has no images. The splits with "
                f"images are {', '.join(self.names)}",
                expected="images and masks in the folders of a split",
                remedy="give the folder of its images the same name as in the other splits, or "
                f"say which splits you want, such as {_choice(by_split)}",
            )
        return {split: f"{name}/" for split, name in by_split.items()}

    def check_all_train(self) -> None:
        """Checks that images that shall all be in train do not lie in folders of other splits.

        Raises:
          LayoutError: if some do, and others in no folder of a split.
        """
        tree = self.tree
        folders = {i.partition("/")[0] for i in tree.images if "/" in i and i in tree.masks}
        if called := sorted(filter(is_split, folders)):
            first = next(name for name in tree.masks if "/" not in name)
            raise LayoutError(
                tree.root / tree.layout.images,
                found=f"images in folders that are called as splits, {', '.join(called)}, and "
                f"others in none, such as {tree.images.get(first, first)}",
                expected="images in the folders of splits, or lists",
                remedy=f"take the folders with {_choice(_by_split(called, tree.root))}, or all "
                "images with --splits train=1",
            )


def _choice(by_split: dict[str, str]) -> str:
    return command(splits=",".join(f"{split}={name}/" for split, name in by_split.items()))


def _by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that folders make: `val` makes `validation`, `training` makes `train`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    called = {SPLITS.get(name.lower(), name): name for name in names}
    if len(called) < len(names):
        called = {name: name for name in names}
    splits = named_by_split(called)
    for split, (first, *others) in splits.items():
        if others:
            raise LayoutError(
                where,
                found=f"{first!r} and {others[0]!r}, which would both be the split {split!r}",
                expected="one folder for each split",
                remedy=f"say which: {command(splits=f'{split}={others[0]},...')}",
            )
    return {split: called[name] for split, (name,) in splits.items()}
