"""Makes the layout of a tree: folders, patterns and parts.

It is made of the pairings that were chosen; or of the parts that the user named, or of patterns
with folders.
"""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath
from typing import Self

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import LISTS, SPLIT, Layout, Part
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import (
    EXTRA_WORDS,
    PLAIN_WORDS,
    SHORT_WORDS,
    are_names_of_splits,
    words,
)
from voc_seg_tfrecord.folder.files.candidates import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import RoleEndings
from voc_seg_tfrecord.folder.files.folder_names import (
    compile_with_split,
    find_split_word,
    is_split,
    replace_name,
    split_of,
)
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half, NamedPath
from voc_seg_tfrecord.folder.files.object_masks import check_masks_of_many_images
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder, deepest_above
from voc_seg_tfrecord.folder.tree.listing import Listing, is_at_or_below
from voc_seg_tfrecord.tools.nnunet import is_split_word
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES


def relative(folder: str, root: str) -> str:
    """Returns a folder relative to another, `.` if it is the same."""
    return posixpath.relpath(folder or ".", root or ".")


@dataclasses.dataclass(frozen=True)
class FolderPair:
    """A folder of images and one of masks. With a name they are a `Part` of a layout.

    Attributes:
      images: the folder of images.
      masks: the folder of masks.
      image_name: the pattern of the images' names; empty means `{id}`.
      mask_name: the pattern of the masks' names, likewise.
    """

    images: str
    masks: str
    image_name: str
    mask_name: str

    @classmethod
    def of(cls, pairing: Pairing) -> Self:
        """Returns the folders and patterns of a pairing, relative to the given folder."""
        return cls(*pairing.folders, pairing.image_name, pairing.mask_name)

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images == self.masks

    def with_folders(self, images: str, masks: str) -> Self:
        """Returns the same patterns in other folders."""
        return dataclasses.replace(self, images=images, masks=masks)

    def relative_to(self, root: str) -> Self:
        """Returns the same with the folders relative to another one: `.` if it is the same."""
        return self.with_folders(relative(self.images, root), relative(self.masks, root))

    def as_part(self, name: str) -> Part:
        """Returns the part of a layout that has a name and these folders."""
        return Part(name, self.images, self.masks, self.image_name, self.mask_name)


def part_of(name: str, pairing: Pairing) -> Part:
    """Returns a part of a set in the folders of a pairing."""
    return FolderPair.of(pairing).relative_to("").as_part(name)


def top_folders(pairing: Pairing, *, keeps_splits: bool = False) -> FolderPair:
    """Returns the folders of images and masks without those that both end with.

    Example: `images/a/b` and `masks/a/b` give `images` and `masks`. Neither folder has the other
    one in it then, unless they are the same.

    Args:
      pairing: the images and masks.
      keeps_splits: whether folders that are called as a split stay.
    """
    images, masks = pairing.folders
    while images and masks:
        images_above, last_name = posixpath.split(images)
        masks_above, last_name_of_masks = posixpath.split(masks)
        if last_name != last_name_of_masks:
            break
        if keeps_splits and is_split(last_name):
            break
        are_nested = _is_inside(images_above, masks_above) or _is_inside(masks_above, images_above)
        if are_nested and images_above != masks_above:
            break
        images = images_above
        masks = masks_above
    return FolderPair(images, masks, pairing.image_name, pairing.mask_name)


def _is_inside(folder: str, top: str) -> bool:
    """Says whether a folder is another one, which is empty for the root, or lies in it."""
    return top == "" or is_at_or_below(folder, top)


def arrange_as_named(given: GivenLayout, chosen: Sequence[Pairing]) -> Layout | None:
    """Returns the layout of a set; None if the pairings are no parts of one set.

    A complete set has no folders that images and masks both end with, and splits of images alone.
    If the user named `images/ulm`, that would read `images/bonn` too, so the layout is kept to the
    folders that the user named.

    Args:
      given: the folder, and the user's options.
      chosen: the images and masks of the set, which lie in these folders.
    """
    layout = _arrange(given.listing, chosen, given.endings)
    if layout is None:
        return None
    parts: list[Part] = []
    for part in layout.folders():
        parts += _keep_to_named(given, layout.root, part)
    if parts == layout.folders():
        return layout
    assert parts, "the chosen images and masks lie in named folders"
    return Layout(".", ".", root=layout.root, parts=tuple(parts))


def _keep_to_named(given: GivenLayout, root: str, part: Part) -> list[Part]:
    """Returns parts that read only the folders of a part that the user named.

    - The part itself, if it reads no other folder.
    - Otherwise a part for each named folder in it. It is named after the path that leads there from
      the folders of the part, so that ids are the same with and without the user's options.
    - None, if it reads no named folder, such as a part `val`, if the user named `train/images`.

    Examples for the folders `images` and `masks`:

    | the user named images | the user named masks | the paths |
    | --- | --- | --- |
    | `images/ulm` | `masks/ulm` | `ulm` |
    | `images/ulm` | `masks`, or none | `ulm` |
    | `images/ulm` | `masks/ulm/day` | `ulm/day` |
    | `images/ulm`, `images/ulm/day` | none | `ulm`, which has `ulm/day` in it |

    Args:
      given: the folder, and the user's options.
      root: the root of the layout.
      part: the part; its folders lie below the root.
    """
    top_by_half: dict[Half, str] = {
        "images": _below_given(root, part.images),
        "masks": _below_given(root, part.masks),
    }
    paths: set[str] = set()
    has_unnamed_files = False
    for half, top in top_by_half.items():
        if _has_unnamed_files(given, half, top):
            has_unnamed_files = True
        for named in given.paths_of_named[half]:
            if named != top and _is_inside(named, top):
                paths.add(named.removeprefix(top).strip("/"))
    if not has_unnamed_files:
        return [part]
    parts: dict[str, Part] = {}
    for path in sorted(paths):  # upper folders come before those in them
        are_named = all(
            given.is_named(half, posixpath.join(top, path)) for half, top in top_by_half.items()
        )
        if are_named and deepest_above(path, parts) is None:
            parts[path] = dataclasses.replace(
                part,
                name=posixpath.join(part.name, path),
                images=posixpath.normpath(posixpath.join(part.images, path)),
                masks=posixpath.normpath(posixpath.join(part.masks, path)),
            )
    return [*parts.values()]


def _below_given(root: str, folder: str) -> str:
    """Returns the path of a folder of a layout below the given folder; empty for that one."""
    path = posixpath.normpath(posixpath.join(root, folder))
    return "" if path == "." else path


def _has_unnamed_files(given: GivenLayout, half: Half, top: str) -> bool:
    """Says whether files of a half lie at or below a folder, outside of those the user named."""
    endings = tuple(given.endings.images if half == "images" else given.endings.masks)
    for folder in given.listing.folders_at_or_below(top):
        names = given.listing.files_by_folder[folder]
        has_files = any(name.lower().endswith(endings) for name in names)
        if has_files and not given.is_named(half, folder):
            return True
    return False


def _arrange(listing: Listing, chosen: Sequence[Pairing], endings: RoleEndings) -> Layout | None:
    """Returns the layout of a set; None if the pairings are no parts of one set.

    A set whose folders all lie below one folder of images and one of masks has no parts: the
    folders below these two become the beginnings of ids.

    Args:
      listing: all that lies in the folder.
      chosen: the images and masks of the set.
      endings: what names of images and masks end with.
    """
    image_folders = [pairing.images.folder for pairing in chosen]
    tops = {top_folders(pairing) for pairing in chosen}
    top = next(iter(tops))
    if top.is_flat:
        folder = common_folder(image_folders)
        top = top.with_folders(folder, folder)
    root = common_folder([top.images, top.masks])
    if (
        len(tops) > 1
        or _has_images_beside_other_splits(image_folders, top.images)
        or _is_one_split(top, root)
    ):
        return _arrange_parts(listing, chosen, endings)
    below_root = top.relative_to(root)
    if is_split(posixpath.basename(root)):
        # Images and masks lie in one folder `val`, whose name becomes the beginning of ids.
        root = posixpath.dirname(root)
    return Layout(below_root.images, below_root.masks, top.image_name, top.mask_name, root=root)


def _is_one_split(top: FolderPair, root: str) -> bool:
    """Says whether the only folders of images and masks are those of a split, and so a part.

    Examples: `val/images` with `val/masks`, and `images_val` with `masks_val`. One folder `val`
    with both is no part. Nor is a short word: nnU-Net's `imagesTr` alone makes no split, so that
    its ids are those of nnU-Net's own lists.
    """
    if is_split(posixpath.basename(root)):
        return not top.is_flat
    below_root = top.relative_to(root)
    found = {find_split_word(folder).word for folder in (below_root.images, below_root.masks)}
    return any(word and not is_split_word(word) for word in found)


def _has_images_beside_other_splits(image_folders: Iterable[str], top: str) -> bool:
    """Says whether images lie in a folder itself, and others in `val` or `test` below it.

    Then those in the folder itself are train: `images/1.jpg` beside `images/val/2.jpg`.
    """
    folders_below = [folder.removeprefix(top).strip("/") for folder in image_folders]
    splits = {split_of(folder) for folder in folders_below if is_split(folder)}
    return "" in folders_below and bool(splits) and "train" not in splits


def _arrange_parts(
    listing: Listing, chosen: Sequence[Pairing], endings: RoleEndings
) -> Layout | None:
    """Returns the layout of a set in several parts, such as splits; None if they have no names."""
    tops: dict[FolderPair, None] = {}  # in place of an ordered set
    for pairing in chosen:
        top = top_folders(pairing, keeps_splits=True)
        if top.is_flat and not is_split(posixpath.basename(top.images)):
            # Images and masks in one folder, such as that of a scene, are a part in that folder.
            folder = pairing.images.folder
            top = top.with_folders(folder, folder)
        tops[top] = None
    root = common_folder([folder for top in tops for folder in (top.images, top.masks)])
    if len(tops) == 1 and is_split(posixpath.basename(root)):
        root = posixpath.dirname(root)
    pairs = [top.relative_to(root) for top in tops]
    names = _names_of_splits(pairs) or _names_of_siblings(listing, root, pairs)
    if names is None:
        return None
    parts = [pair.as_part(name) for pair, name in zip(pairs, names, strict=True)]
    parts += _parts_without_pairs(listing, root, parts, endings)
    parts.sort(key=lambda part: part.name)
    return Layout(".", ".", root=root, parts=tuple(parts))


def _names_of_splits(pairs: Sequence[FolderPair]) -> list[str] | None:
    """Returns the names of parts that are called as a split each; None if some are not.

    One part may have no such name: it is `train` if the others are validation and test, and no
    folder of it is called `ts`, `dev` or the like.
    """
    names: list[str] = []
    splits: set[str] = set()
    for pair in pairs:
        image_word = find_split_word(pair.images)
        mask_word = find_split_word(pair.masks)
        if image_word.split and mask_word.split and image_word.split != mask_word.split:
            return None
        split = image_word.split or mask_word.split
        if not split:
            all_names = f"{pair.images}/{pair.masks}".lower().split("/")
            if any(SHORT_WORDS.get(name, "train") != "train" for name in all_names):
                return None
        names.append(image_word.word or mask_word.word or "train")
        splits.add(split or "train")
    return names if len(splits) == len(pairs) else None


def _names_of_siblings(
    listing: Listing, root: str, pairs: Sequence[FolderPair]
) -> list[str] | None:
    """Returns the names of folders that all have the same inside; None if there are others.

    These may be scenes or patients. Two, or some with lists or class files of their own, may be
    sets of which each has its own classes.
    """
    names: list[str] = []
    insides: set[FolderPair] = set()
    for pair in pairs:
        sibling = _split_off_sibling(pair)
        if sibling is None or EXTRA_WORDS.intersection(words(sibling.name)):
            return None
        names.append(sibling.name)
        insides.add(sibling.inside)
    depths = {name.count("/") for name in names}
    if len(insides) > 1 or len(depths) > 1:
        return None
    are_several = len(names) > 2 or are_names_of_splits(names)
    if not are_several or have_texts_of_sets(listing, root, names):
        return None
    return names


@dataclasses.dataclass(frozen=True)
class _Sibling:
    """The folder of one scene or patient, beside those of others.

    Attributes:
      name: the folder of its own: `v1` for `v1/images` with `v1/masks`.
      inside: the folders of images and masks without it: `images` with `masks`.
    """

    name: str
    inside: FolderPair


def _split_off_sibling(pair: FolderPair) -> _Sibling | None:
    """Returns the scene or patient whose images and masks lie in two folders; None if it is none.

    Its folder is the one that images and masks have in common, or with which both end: `v1/images`
    and `v1/masks`, or `images/v1` and `masks/v1`.
    """
    common_top = common_folder([pair.images, pair.masks])
    if common_top:
        images = pair.images.removeprefix(common_top).strip("/")
        masks = pair.masks.removeprefix(common_top).strip("/")
        return _Sibling(common_top, pair.with_folders(images, masks))
    images, image_end = posixpath.split(pair.images)
    masks, mask_end = posixpath.split(pair.masks)
    if image_end != mask_end:
        return None
    return _Sibling(image_end, pair.with_folders(images, masks))


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
    templates: dict[tuple[str, str], FolderPair] = {}  # one for all parts that lie alike
    for part in parts:
        if part.name in part.images and part.name in part.masks:
            images = replace_name(part.images, part.name, SPLIT)
            masks = replace_name(part.masks, part.name, SPLIT)
            template = FolderPair(images, masks, part.image_name, part.mask_name)
            templates[images, masks] = template
    if not templates:
        return []
    used_names = {part.name for part in parts}
    used_folders = {folder for part in parts for folder in (part.images, part.masks)}
    path_below_root = {folder: relative(folder, root) for folder in listing.files_by_folder}
    new_parts: dict[str, Part] = {}
    for template in templates.values():
        for half in ("images", "masks"):
            endings_of_files = endings.images if half == "images" else endings.masks
            regex = compile_with_split(template.images if half == "images" else template.masks)
            for folder, path in path_below_root.items():
                match = regex.fullmatch(path)
                if match is None or not is_split(match["split"]) or path in used_folders:
                    continue
                name = match["split"]
                is_of_test = PLAIN_WORDS[name.lower()] == "test"
                if name in used_names or (half == "masks" and is_of_test):
                    continue
                files = listing.below(folder)
                if any(file.lower().endswith(tuple(endings_of_files)) for file in files):
                    new_images = template.images.replace(SPLIT, name)
                    new_masks = template.masks.replace(SPLIT, name)
                    new_parts[name] = template.with_folders(new_images, new_masks).as_part(name)
    return [*new_parts.values()]


# Folders that the user named as parts, and patterns that name folders.


def has_named_parts(given: GivenLayout) -> bool:
    """Says whether the user gave a name to each folder, as in `--images test=A --masks test=B`."""
    if not given.image_folders or not given.mask_folders:
        return False
    return all(folder.part for folder in (*given.image_folders, *given.mask_folders))


def find_incomplete_names(given: GivenLayout) -> ConfigError | None:
    """Returns the error that the user gave a name to some folders of images and masks, not to all.

    The name would have no effect, as in `--images test=A --masks B`. One that the folder itself has
    as its split, as in `--masks test=test/masks`, is allowed.
    """
    if has_named_parts(given):
        return None
    named_images = [folder for folder in given.image_folders if _has_name_of_its_own(folder)]
    named_masks = [folder for folder in given.mask_folders if _has_name_of_its_own(folder)]
    if not named_images and not named_masks:
        return None
    if not named_masks:
        found = f"a name for images alone, {named_images[0].item}"
    elif not named_images:
        found = f"a name for masks alone, {named_masks[0].item}"
    else:
        folders = (*given.image_folders, *given.mask_folders)
        unnamed = next(folder for folder in folders if not folder.part)
        found = f"the name {named_images[0].item}, and no name for {unnamed.path or '.'}"
    example = "--images train=A,test=B --masks train=C,test=D"
    remedy = f"give a name to each folder, such as {example}, or to none"
    are_images_named = bool(named_images) and len(named_images) == len(given.image_folders)
    if are_images_named and len(given.mask_folders) == 1:
        (masks,) = given.mask_folders
        items = [dataclasses.replace(masks, part=images.part).item for images in named_images]
        names_of_masks = command(masks=",".join(items))
        remedy = f"give the names to the folder of masks, too: {names_of_masks}"
    return ConfigError(
        "options images and masks",
        found=found,
        expected="the same names in --images and in --masks, or none",
        remedy=remedy,
        kind="incomplete names",
    )


def _has_name_of_its_own(folder: NamedPath) -> bool:
    """Says whether a folder was given another name than that of the split in its path."""
    return folder.part != "" and find_split_word(folder.path).word != folder.part


def lay_out_parts(given: GivenLayout, pairings: Sequence[Pairing]) -> Layout:
    """Returns the layout of parts that the user named, as in `train=images,test=more/images`.

    Raises:
      ConfigError: if the parts of images and of masks have other names, or one has no pairs.
    """
    evidence = FileEvidence(given, pairings)

    def rank(pairing: Pairing) -> tuple[int, int]:
        """How well its files are named as images and masks, and then how many there are."""
        roles = (evidence.image_role(pairing), evidence.mask_role(pairing))
        fit = 0
        for role, right_role in zip(roles, ("images", "masks"), strict=True):
            if role == right_role:
                fit += 1
            elif role != "":
                fit -= 1
        return fit, len(pairing.pairs)

    parts: list[Part] = []
    for part in _list_named_parts(given):
        candidates = [each for each in pairings if each.folders == (part.images, part.masks)]
        if not candidates:
            raise _incomplete_part_error("images", part.name, "masks", part.images)
        best = max(candidates, key=rank)
        check_masks_of_many_images(given.listing, *best.folders, best.images.names)
        parts.append(part_of(part.name, best))
    return Layout(".", ".", parts=tuple(parts))


def lay_out_by_patterns(given: GivenLayout) -> Layout:
    """Returns the layout of patterns that name folders too, so that nothing has to be paired.

    Example: `--image_name {id}/rgb.png --mask_name {id}/label.png`.

    Raises:
      ConfigError: if the user gave several folders of images or masks, and not as parts.
    """
    patterns = given.image_name, given.mask_name
    if not has_named_parts(given):
        images = _only_folder("images", given.image_folders)
        masks = _only_folder("masks", given.mask_folders)
        return Layout(images, masks, *patterns)
    parts: list[Part] = []
    for part in _list_named_parts(given):
        parts.append(Part(part.name, part.images or ".", part.masks or ".", *patterns))
    return Layout(".", ".", parts=tuple(parts))


def _only_folder(option: str, folders: Sequence[NamedPath]) -> str:
    """Returns the one folder that an option names, or the given folder itself if it names none.

    Raises:
      ConfigError: if it names several.
    """
    if len(folders) > 1:
        raise ConfigError(
            f"option {option}",
            found=f"{len(folders)} folders, such as {folders[0].path} and {folders[1].path}, and "
            "a pattern of names that has a folder",
            expected="one folder, or a name for each folder in --images and in --masks",
            remedy="name the folders, such as --images train=A,test=B --masks train=C,test=D",
        )
    if not folders:
        return "."
    return folders[0].path or "."


def _list_named_parts(given: GivenLayout) -> list[Part]:
    """Returns the parts that the user named, with their folders; the given folder is empty.

    Raises:
      ConfigError: if a folder of images is in two parts, or if a part has two folders of images or
        of masks, or none.
    """
    image_folder_by_part = _folder_by_part("images", given.image_folders)
    mask_folder_by_part = _folder_by_part("masks", given.mask_folders)
    part_by_folder: dict[str, Part] = {}
    for name, folder in image_folder_by_part.items():
        if name not in mask_folder_by_part:
            raise _incomplete_part_error("images", name, "masks", folder)
        if folder in part_by_folder:
            raise ConfigError(
                "option images",
                found=f"the folder {folder!r} twice",
                expected="different folders for each part",
                remedy="name each folder once",
            )
        part_by_folder[folder] = Part(name, folder, mask_folder_by_part[name])
    for name, folder in mask_folder_by_part.items():
        if name not in image_folder_by_part:
            raise _incomplete_part_error("masks", name, "images", folder)
    return [*part_by_folder.values()]


def _folder_by_part(option: Half, folders: Sequence[NamedPath]) -> dict[str, str]:
    """Returns the folder of each part that an option names.

    Raises:
      ConfigError: if a part has two.
    """
    folder_by_part: dict[str, str] = {}
    for folder in folders:
        if folder.part in folder_by_part:
            raise ConfigError(
                f"option {option}",
                found=f"two folders for the part {folder.part!r}",
                expected="one folder for each part",
                remedy="name each part once, such as train_1=A,train_2=B",
            )
        folder_by_part[folder.part] = folder.path
    return folder_by_part


def _incomplete_part_error(option: str, part: str, missing: str, folder: str) -> ConfigError:
    """Returns the error about a part of which the user named images alone, or masks alone."""
    return ConfigError(
        f"option {option}",
        found=f"no {missing} for the part {part!r}, whose {option} are in {folder!r}",
        expected="the same names in --images and --masks, such as train=A,test=B, and masks in "
        "each",
        remedy="check the names and the folders",
    )
