"""Makes the layout of folders that the user named: parts with a name, or patterns with folders."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import Layout, Part
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.folder_names import find_split_word
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, NamedFolder
from voc_seg_tfrecord.folder.files.layouts import part_of
from voc_seg_tfrecord.folder.files.object_masks import check_masks_of_many_images
from voc_seg_tfrecord.folder.files.pairings import Pairing

INCOMPLETE_NAMES = "incomplete names"
"""The kind of the error that some of the folders have names, and others none."""

_EXPECTED_PARTS = (
    "the same names in --images and --masks, such as train=A,test=B, and masks in each"
)


def has_named_parts(given: GivenLayout) -> bool:
    """Says whether the user gave a name to each folder, as in `--images test=A --masks test=B`."""
    if not given.image_folders or not given.mask_folders:
        return False
    return all(folder.part for folder in (*given.image_folders, *given.mask_folders))


def check_all_or_none_are_named(given: GivenLayout) -> None:
    """Checks that the user gave a name to each folder of images and masks, or to none.

    A name that the folder itself has as its split, as in `--masks test=test/masks`, is allowed.

    Raises:
      ConfigError: if a name would have no effect, as in `--images test=A --masks B`.
    """
    if has_named_parts(given):
        return
    named_images = [folder for folder in given.image_folders if _has_name_of_its_own(folder)]
    named_masks = [folder for folder in given.mask_folders if _has_name_of_its_own(folder)]
    if not named_images and not named_masks:
        return
    if not named_masks:
        found = f"a name for images alone, {named_images[0].item}"
    elif not named_images:
        found = f"a name for masks alone, {named_masks[0].item}"
    else:
        folders = (*given.image_folders, *given.mask_folders)
        unnamed = next(folder for folder in folders if not folder.part)
        found = f"the name {named_images[0].item}, and no name for {unnamed.path or '.'}"
    raise ConfigError(
        "options images and masks",
        found=found,
        expected="the same names in --images and in --masks, or none",
        remedy=_propose_names(given, named_images),
        kind=INCOMPLETE_NAMES,
    )


def _has_name_of_its_own(folder: NamedFolder) -> bool:
    """Says whether a folder was given another name than that of the split in its path."""
    return folder.part != "" and find_split_word(folder.path).word != folder.part


def _propose_names(given: GivenLayout, named_images: Sequence[NamedFolder]) -> str:
    """Returns what a user can do who gave a name to some of the folders."""
    are_images_named = bool(named_images) and len(named_images) == len(given.image_folders)
    if are_images_named and len(given.mask_folders) == 1:
        (masks,) = given.mask_folders
        items = [dataclasses.replace(masks, part=images.part).item for images in named_images]
        return f"give the names to the folder of masks, too: {command(masks=','.join(items))}"
    example = "--images train=A,test=B --masks train=C,test=D"
    return f"give a name to each folder, such as {example}, or to none"


def lay_out_parts(given: GivenLayout, pairings: Sequence[Pairing]) -> Layout:
    """Returns the layout of parts that the user named, as in `train=images,test=more/images`.

    Raises:
      ConfigError: if the parts of images and of masks have other names, or one has no pairs.
    """
    evidence = FileEvidence(given, pairings)
    parts: list[Part] = []
    for named_part in _list_named_parts(given):
        candidates: list[Pairing] = []
        for pairing in pairings:
            image_folder, mask_folder = pairing.folders
            if image_folder == named_part.images and mask_folder == named_part.masks:
                candidates.append(pairing)
        if not candidates:
            raise _no_masks_of_part_error(named_part.name, named_part.images)
        best = _best_named(candidates, evidence)
        check_masks_of_many_images(given.listing, *best.folders, best.images.names)
        parts.append(part_of(named_part.name, best))
    return Layout(".", ".", parts=tuple(parts))


def lay_out_by_patterns(given: GivenLayout) -> Layout:
    """Returns the layout of patterns that name folders too, so that nothing has to be paired.

    Example: `--image_name {id}/rgb.png --mask_name {id}/label.png`.

    Raises:
      ConfigError: if the user gave several folders of images or masks, and not as parts.
    """
    if has_named_parts(given):
        parts: list[Part] = []
        for named_part in _list_named_parts(given):
            part = Part(
                named_part.name,
                named_part.images or ".",
                named_part.masks or ".",
                given.image_name,
                given.mask_name,
            )
            parts.append(part)
        return Layout(".", ".", parts=tuple(parts))
    images = _only_folder("images", given.image_folders)
    masks = _only_folder("masks", given.mask_folders)
    return Layout(images, masks, given.image_name, given.mask_name)


def _only_folder(option: str, folders: Sequence[NamedFolder]) -> str:
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


@dataclasses.dataclass(frozen=True)
class _NamedPart:
    """A part that the user named, with its folders; the given folder itself is empty.

    Attributes:
      name: the name of the part.
      images: the folder of its images.
      masks: the folder of its masks.
    """

    name: str
    images: str
    masks: str


def _list_named_parts(given: GivenLayout) -> list[_NamedPart]:
    """Returns the parts that the user named.

    Raises:
      ConfigError: if a folder of images is in two parts, or if a part has two folders of images or
        of masks, or none.
    """
    image_folders = [each.path for each in given.image_folders]
    repeated = [folder for folder in image_folders if image_folders.count(folder) > 1]
    if repeated:
        raise ConfigError(
            "option images",
            found=f"the folder {repeated[0]!r} twice",
            expected="different folders for each part",
            remedy="name each folder once",
        )
    _check_part_names("images", given.image_folders)
    _check_part_names("masks", given.mask_folders)
    mask_folder_of_part = {each.part: each.path for each in given.mask_folders}
    parts: list[_NamedPart] = []
    for images in given.image_folders:
        mask_folder = mask_folder_of_part.pop(images.part, None)
        if mask_folder is None:
            raise _no_masks_of_part_error(images.part, images.path)
        parts.append(_NamedPart(images.part, images.path, mask_folder))
    for name, mask_folder in mask_folder_of_part.items():
        raise _no_images_of_part_error(name, mask_folder)
    return parts


def _check_part_names(option: str, folders: Sequence[NamedFolder]) -> None:
    """Checks that each part has one folder.

    Raises:
      ConfigError: if two folders have the name of one part.
    """
    names = [each.part for each in folders]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"option {option}",
                found=f"two folders for the part {name!r}",
                expected="one folder for each part",
                remedy="name each part once, such as train_1=A,train_2=B",
            )


def _no_masks_of_part_error(part: str, image_folder: str) -> ConfigError:
    return ConfigError(
        "option images",
        found=f"no masks for the part {part!r}, whose images are in {image_folder!r}",
        expected=_EXPECTED_PARTS,
        remedy="check the names and the folders",
    )


def _no_images_of_part_error(part: str, mask_folder: str) -> ConfigError:
    return ConfigError(
        "option masks",
        found=f"the part {part!r} without images for its masks in {mask_folder!r}",
        expected=_EXPECTED_PARTS,
        remedy="check the names and the folders",
    )


def _best_named(pairings: Sequence[Pairing], evidence: FileEvidence) -> Pairing:
    """Returns the pairing whose files are best named as images and masks, or else the largest."""

    def rank(pairing: Pairing) -> tuple[int, int]:
        return evidence.name_rank(pairing), len(pairing.pairs)

    return max(pairings, key=rank)
