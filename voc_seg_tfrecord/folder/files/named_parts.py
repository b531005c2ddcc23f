"""Makes the layout of folders that the user named: parts with a name, or patterns with folders."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import Layout, Part
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, NamedFolder
from voc_seg_tfrecord.folder.files.layouts import part_of
from voc_seg_tfrecord.folder.files.object_masks import check_masks_of_many_images
from voc_seg_tfrecord.folder.files.pairings import Pairing


def names_parts(given: GivenLayout) -> bool:
    """Says whether the user gave a name to each folder, as in `--images test=A --masks test=B`."""
    has_folders = bool(given.image_folders)
    same_count = len(given.image_folders) == len(given.mask_folders)
    folders = [*given.image_folders, *given.mask_folders]
    return has_folders and same_count and all(each.part for each in folders)


def check_lone_name(given: GivenLayout) -> None:
    """Checks that the name of one folder of images is that of one folder of masks too.

    Raises:
      ConfigError: if it would have no effect, as in `--images test=A --masks B`.
    """
    if len(given.image_folders) != 1 or len(given.mask_folders) > 1 or names_parts(given):
        return
    (images,) = given.image_folders
    if images.part:
        raise ConfigError(
            "options images and masks",
            found=f"a name for images alone, {images.part}={images.path}",
            expected="the same name in --images and in --masks",
            remedy=f"give both a name, such as --images {images.part}=A --masks {images.part}=B, "
            "or none",
        )


def lay_out_parts(given: GivenLayout, pairings: Sequence[Pairing]) -> Layout:
    """Returns the layout of parts that the user named, as in `train=images,test=more/images`.

    Raises:
      ConfigError: if the parts of images and of masks have other names, or one has no pairs.
    """
    evidence = FileEvidence(given.listing, pairings, given.options, given.looks)
    parts: list[Part] = []
    for part in _list_named_parts(given):
        folders = (part.images, part.masks)
        candidates = [pairing for pairing in pairings if pairing.folders == folders]
        if not candidates:
            raise _no_masks_of_part_error(part.name, part.images)
        pairing = _best_named(candidates, evidence)
        check_masks_of_many_images(given.listing, *pairing.folders, pairing.images.names)
        parts.append(part_of(part.name, pairing))
    return Layout(".", ".", parts=tuple(parts))


def lay_out_by_patterns(given: GivenLayout) -> Layout:
    """Returns the layout of patterns that name folders too, so that nothing has to be paired.

    Example: `--image_name {id}/rgb.png --mask_name {id}/label.png`.

    Raises:
      ConfigError: if the user gave several folders of images or masks, and not as parts.
    """
    if names_parts(given):
        parts: list[Part] = []
        for part in _list_named_parts(given):
            folders = part.images or ".", part.masks or "."
            parts.append(Part(part.name, *folders, given.image_name, given.mask_name))
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
    return folders[0].path or "." if folders else "."


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
      ConfigError: if a folder of images is in two parts, or a part has no folder or two.
    """
    image_folders = [each.path for each in given.image_folders]
    repeated = [folder for folder in image_folders if image_folders.count(folder) > 1]
    if repeated:
        raise ConfigError(
            "option images",
            found=f"the folder {repeated[0]!r} in two parts",
            expected="folders of their own for each part",
            remedy="name each folder once",
        )
    _check_part_names("images", given.image_folders)
    _check_part_names("masks", given.mask_folders)
    mask_folder_of_part = {each.part: each.path for each in given.mask_folders}
    parts: list[_NamedPart] = []
    for named in given.image_folders:
        if named.part not in mask_folder_of_part:
            raise _no_masks_of_part_error(named.part, named.path)
        parts.append(_NamedPart(named.part, named.path, mask_folder_of_part[named.part]))
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
        found=f"the part {part!r} without masks for its images in {image_folder!r}",
        expected="the same names in --images and --masks, such as train=A,test=B, and masks in "
        "each",
        remedy="check the names and the folders",
    )


def _best_named(pairings: Sequence[Pairing], evidence: FileEvidence) -> Pairing:
    """Returns the pairing whose files are best named as images and masks, or else the largest."""

    def rank(pairing: Pairing) -> tuple[int, int]:
        return evidence.name_rank(PairingCandidate((pairing,))), len(pairing.pairs)

    return max(pairings, key=rank)
