"""Makes the layout of folders that the user named: parts with a name, or patterns with folders."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import Layout, Part
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.candidates import FileEvidence
from voc_seg_tfrecord.folder.files.folder_names import find_split_word
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half, NamedPath
from voc_seg_tfrecord.folder.files.layouts import part_of
from voc_seg_tfrecord.folder.files.object_masks import check_masks_of_many_images
from voc_seg_tfrecord.folder.files.pairings import Pairing


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
