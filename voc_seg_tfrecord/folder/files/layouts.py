"""Makes the layout of a tree of the pairings that were chosen: folders, patterns and parts."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.layout import LISTS, SPLIT, Layout, Part
from voc_seg_tfrecord.core.role_words import EXTRA_WORDS
from voc_seg_tfrecord.core.split_names import PLAIN_WORDS, SHORT_WORDS, are_names_of_splits, words
from voc_seg_tfrecord.folder.files.file_sets import RoleEndings
from voc_seg_tfrecord.folder.files.folder_names import (
    compile_with_split,
    find_split_word,
    is_split,
    replace_name,
    split_of,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.tools.nnunet import is_split_word
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES


@dataclasses.dataclass(frozen=True)
class ArrangedSet:
    """A set as a tree has it.

    Attributes:
      root: the folder of the tree, below the root of the listing.
      layout: the layout below it.
    """

    root: str
    layout: Layout


@dataclasses.dataclass(frozen=True)
class FolderPair:
    """A folder of images, the folder of their masks, and how the files in both are named.

    Attributes:
      images: the folder of the images.
      masks: the folder of the masks.
      image_name: the pattern of the images' names; empty if they are the ids.
      mask_name: the pattern of the masks' names, likewise.
    """

    images: str
    masks: str
    image_name: str
    mask_name: str

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images == self.masks

    def in_folder(self, folder: str) -> "FolderPair":
        """Returns the same with images and masks in one folder."""
        return dataclasses.replace(self, images=folder, masks=folder)

    def relative_to(self, root: str) -> "FolderPair":
        """Returns the same with the folders as they lie below a folder."""
        images, masks = relative(self.images, root), relative(self.masks, root)
        return dataclasses.replace(self, images=images, masks=masks)

    def as_part(self, name: str) -> Part:
        """Returns it as a part of a set."""
        return Part(name, self.images, self.masks, self.image_name, self.mask_name)


def relative(folder: str, root: str) -> str:
    """Returns a folder relative to another, `.` if it is the same."""
    return posixpath.relpath(folder or ".", root or ".")


def part_of(name: str, pairing: Pairing) -> Part:
    """Returns a part of a set in the folders of a pairing."""
    images, masks = (folder or "." for folder in pairing.folders)
    return Part(name, images, masks, pairing.image_name, pairing.mask_name)


def top_folders(pairing: Pairing, *, keeps_splits: bool = False) -> FolderPair:
    """Returns the folders of images and masks without the folders that both end with.

    Example: `images/a/b` and `masks/a/b` give `images` and `masks`. Neither folder has the other
    one in it then, unless they are the same.

    Args:
      pairing: the images and masks.
      keeps_splits: whether folders that are called as a split stay.
    """
    image_folder, mask_folder = pairing.folders
    images = folder_names(image_folder)
    masks = folder_names(mask_folder)
    while images and masks and images[-1] == masks[-1]:
        if keeps_splits and is_split(images[-1]):
            break
        upper_images, upper_masks = images[:-1], masks[:-1]
        if _is_inside(upper_images, upper_masks) or _is_inside(upper_masks, upper_images):
            break
        images, masks = upper_images, upper_masks
    return FolderPair("/".join(images), "/".join(masks), pairing.image_name, pairing.mask_name)


def _is_inside(inner: Sequence[str], outer: Sequence[str]) -> bool:
    """Says whether a path, as names, lies below another one."""
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def arrange(
    listing: Listing, chosen: Sequence[Pairing], endings: RoleEndings
) -> ArrangedSet | None:
    """Returns the layout of a set; None if the pairings are no parts of one set.

    A set whose folders all lie below one folder of images and one of masks has no parts: the
    folders below these two become the beginnings of ids.

    Args:
      listing: all that lies in the folder.
      chosen: the images and masks of the set.
      endings: what names of images and masks end with.
    """
    top = _common_top(chosen)
    if top is None:
        return _arrange_parts(listing, chosen, endings)
    image_folders = [pairing.images.folder for pairing in chosen]
    root = common_folder([top.images, top.masks])
    if _has_images_beside_other_splits(image_folders, top.images) or _is_one_split(top, root):
        return _arrange_parts(listing, chosen, endings)
    if is_split(posixpath.basename(root)):
        # Images and masks lie in one folder `val`, whose name becomes the beginning of ids.
        root = posixpath.dirname(root)
        below_root = top.in_folder(".")
    else:
        below_root = top.relative_to(root)
    layout = Layout(below_root.images, below_root.masks, top.image_name, top.mask_name)
    return ArrangedSet(root, layout)


def _common_top(chosen: Sequence[Pairing]) -> FolderPair | None:
    """Returns the folders at or below which all images and all masks lie; None if they differ."""
    tops = {top_folders(pairing) for pairing in chosen}
    if len(tops) > 1:
        return None
    (top,) = tops
    if top.is_flat:
        return top.in_folder(common_folder([pairing.images.folder for pairing in chosen]))
    return top


def _is_one_split(top: FolderPair, root: str) -> bool:
    """Says whether the only folders of images and masks are those of a split, and so a part.

    Examples: `val/images` with `val/masks`, and `images_val` with `masks_val`. One folder `val`
    with both is no part.
    """
    if is_split(posixpath.basename(root)):
        return not top.is_flat
    below_root = top.relative_to(root)
    return _is_called_split(below_root.images) or _is_called_split(below_root.masks)


def _has_images_beside_other_splits(image_folders: Iterable[str], top: str) -> bool:
    """Says whether images lie in a folder itself, and others in `val` or `test` below it.

    Then those in the folder itself are train: `images/1.jpg` beside `images/val/2.jpg`.
    """
    folders_below = [folder.removeprefix(top).strip("/") for folder in image_folders]
    splits = {split_of(folder) for folder in folders_below if is_split(folder)}
    return "" in folders_below and bool(splits) and "train" not in splits


def _is_called_split(folder: str) -> bool:
    """Says whether a folder is called as a split is.

    A short word is none: nnU-Net's `imagesTr` alone makes no split, so that its ids are those of
    nnU-Net's own lists.
    """
    word = find_split_word(folder).word
    return word != "" and not is_split_word(word)


def _arrange_parts(
    listing: Listing, chosen: Sequence[Pairing], endings: RoleEndings
) -> ArrangedSet | None:
    """Returns the layout of a set in several parts, such as splits; None if they have no names."""
    tops = list(dict.fromkeys(_top_of_part(pairing) for pairing in chosen))
    root = common_folder([folder for top in tops for folder in (top.images, top.masks)])
    if len(tops) == 1 and is_split(posixpath.basename(root)):
        root = posixpath.dirname(root)
    folders = [top.relative_to(root) for top in tops]
    names = _names_of_splits(folders) or _names_of_siblings(listing, root, folders)
    if names is None:
        return None
    parts = [pair.as_part(name) for pair, name in zip(folders, names, strict=True)]
    parts += _parts_without_pairs(listing, root, parts, endings)
    parts.sort(key=lambda part: part.name)
    return ArrangedSet(root, Layout(".", ".", parts=tuple(parts)))


def _top_of_part(pairing: Pairing) -> FolderPair:
    """Returns the folders of a part, without the folders that both end with, but with its split.

    Images and masks in one folder, such as that of a scene, are a part in that folder.
    """
    top = top_folders(pairing, keeps_splits=True)
    if top.is_flat and not is_split(posixpath.basename(top.images)):
        return top.in_folder(pairing.images.folder)
    return top


def _names_of_splits(folders: Sequence[FolderPair]) -> list[str] | None:
    """Returns the names of parts that are called as a split each; None if some are not.

    One part may have no such name: it is `train` if the others are validation and test.
    """
    names: list[str] = []
    splits: set[str] = set()
    for pair in folders:
        image_word = find_split_word(pair.images)
        mask_word = find_split_word(pair.masks)
        if image_word.split and mask_word.split and image_word.split != mask_word.split:
            return None
        split = image_word.split or mask_word.split
        if not split and _has_short_word_for_evaluation(pair):
            return None
        names.append(image_word.word or mask_word.word or "train")
        splits.add(split or "train")
    return names if len(splits) == len(folders) else None


def _has_short_word_for_evaluation(pair: FolderPair) -> bool:
    """Says whether a folder is called `ts`, `dev` or the like, which train is not."""
    for name in (*pair.images.split("/"), *pair.masks.split("/")):
        if SHORT_WORDS.get(name.lower(), "train") != "train":
            return True
    return False


def _names_of_siblings(
    listing: Listing, root: str, folders: Sequence[FolderPair]
) -> list[str] | None:
    """Returns the names of folders that all have the same inside; None if there are others.

    These may be scenes or patients. Two, or some with lists or class files of their own, may be
    sets of which each has its own classes.
    """
    names: list[str] = []
    patterns: set[FolderPair] = set()
    for pair in folders:
        sibling = _split_off_sibling(pair)
        if sibling is None or EXTRA_WORDS.intersection(words(sibling.name)):
            return None
        names.append(sibling.name)
        patterns.add(sibling.inside)
    are_several = len(names) > 2 or are_names_of_splits(names)
    depths = {name.count("/") for name in names}
    are_alike = len(patterns) == 1 and len(depths) == 1
    if not are_several or not are_alike or have_texts_of_sets(listing, root, names):
        return None
    return names


@dataclasses.dataclass(frozen=True)
class _Sibling:
    """A scene or patient.

    Attributes:
      name: the folder that is its own.
      inside: the folders of images and masks without that.
    """

    name: str
    inside: FolderPair


def _split_off_sibling(pair: FolderPair) -> _Sibling | None:
    """Separates the folder that images and masks have in common, or with which both end.

    Example: `v1/images` and `v1/masks`, or `images/v1` and `masks/v1`. None if there is none.
    """
    common_top = common_folder([pair.images, pair.masks])
    if common_top:
        images = pair.images.removeprefix(common_top).strip("/")
        masks = pair.masks.removeprefix(common_top).strip("/")
        return _Sibling(common_top, dataclasses.replace(pair, images=images, masks=masks))
    image_top, image_name = posixpath.split(pair.images)
    mask_top, mask_name = posixpath.split(pair.masks)
    if image_name != mask_name:
        return None
    return _Sibling(image_name, dataclasses.replace(pair, images=image_top, masks=mask_top))


def have_texts_of_sets(listing: Listing, root: str, folders: Iterable[str]) -> bool:
    """Says whether one of some folders has lists or a class file of its own."""
    for folder in folders:
        for name in listing.below(posixpath.normpath(posixpath.join(root, folder))):
            if name.startswith(LISTS) or posixpath.basename(name) in CLASS_FILE_NAMES:
                return True
    return False


def _parts_without_pairs(
    listing: Listing, root: str, parts: Sequence[Part], endings: RoleEndings
) -> list[Part]:
    """Returns parts that have the folders of a split, but images alone or masks alone.

    Example: `test/images` beside `train/images` and `train/masks`. Masks of a test split without
    images make no part: those of test images are often published before the images.

    Args:
      listing: all that lies in the folder.
      root: the folder of the set.
      parts: those that have images and masks.
      endings: what names of images and masks end with.
    """
    used_names = {part.name for part in parts}
    used_folders = {folder for part in parts for folder in (part.images, part.masks)}
    folders = [relative(folder, root) for folder in listing.files_by_folder]
    unused = _UnusedFolders(
        listing, root, [folder for folder in folders if folder not in used_folders]
    )
    new_parts: dict[str, Part] = {}
    for template in _templates(parts):
        names = unused.find_splits(template.images, endings.images)
        for name in unused.find_splits(template.masks, endings.masks):
            if PLAIN_WORDS[name.lower()] != "test":
                names.append(name)
        for name in names:
            if name not in used_names:
                new_parts[name] = _fill_template(template, name)
    return list(new_parts.values())


@dataclasses.dataclass(frozen=True)
class _UnusedFolders:
    """The folders of a set that are in no part.

    Attributes:
      listing: all that lies in the folder.
      root: the folder of the set.
      folders: the folders, below the root.
    """

    listing: Listing
    root: str
    folders: Sequence[str]

    def find_splits(self, pattern: str, endings: Sequence[str]) -> list[str]:
        """Returns the names of splits that stand in the path of a folder which has some files.

        Args:
          pattern: the path of a folder, with `{split}` in place of a split's name.
          endings: what names of the files end with.
        """
        return [
            name
            for folder, name in _folders_of_splits(self.folders, pattern)
            if self._has_files(folder, endings)
        ]

    def _has_files(self, folder: str, endings: Sequence[str]) -> bool:
        path = posixpath.normpath(posixpath.join(self.root, folder))
        return any(file.lower().endswith(tuple(endings)) for file in self.listing.below(path))


def _fill_template(template: Part, name: str) -> Part:
    """Returns the part of a split, given one with `{split}` in place of the split's name."""
    return dataclasses.replace(
        template,
        name=name,
        images=template.images.replace(SPLIT, name),
        masks=template.masks.replace(SPLIT, name),
    )


def _templates(parts: Iterable[Part]) -> list[Part]:
    """Returns parts with `{split}` in place of their names, one for all that lie alike.

    Example: `{split}_images/{split}` for `train_images/train`.
    """
    templates: dict[tuple[str, str], Part] = {}
    for part in parts:
        if part.name in part.images and part.name in part.masks:
            images = replace_name(part.images, part.name, SPLIT)
            masks = replace_name(part.masks, part.name, SPLIT)
            templates[images, masks] = dataclasses.replace(part, images=images, masks=masks)
    return list(templates.values())


def _folders_of_splits(folders: Iterable[str], pattern: str) -> Iterator[tuple[str, str]]:
    """Yields the folders that are called as a pattern with the name of a split, and that name.

    `{split}` stands for the same name wherever it stands in the pattern.
    """
    regex = compile_with_split(pattern)
    for folder in folders:
        match = regex.fullmatch(folder)
        if match and is_split(match["split"]):
            yield folder, match["split"]
