"""Finds the masks of classes by the patterns of their names that the user gave."""

from collections.abc import Container, Iterable, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.class_masks import ClassMaskNaming, ClassMasks
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, PHOTO_ENDINGS, Layout
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.class_mask_checks import (
    check_one_file_of_image,
    photo_error,
)
from voc_seg_tfrecord.folder.files.class_mask_files import FilesOfClass, ImagesAndClasses
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, NamedFolder
from voc_seg_tfrecord.folder.files.paths import deepest_above
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


def find_by_patterns(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks]
) -> ImagesAndClasses:
    """Finds the images, and the masks of each class.

    Raises:
      ConfigError: if there is not one folder of images, or of the masks of a class.
      LayoutError: if a mask belongs to two images, an image has several masks of a class that
        shows no objects, or a JPEG has the name of a mask.
    """
    image_folder = _choose_image_folder(given)
    patterns: list[_ClassPattern] = []
    for masks in masks_of_classes:
        mask_folder = _choose_mask_folder(given, masks, image_folder)
        patterns.append(_ClassPattern(given.listing, masks, mask_folder, image_folder))
    tree = _find_images(given, image_folder, patterns)
    classes = [_read_class(pattern, tree) for pattern in patterns]
    return ImagesAndClasses(tree, classes)


def _find_images(
    given: GivenLayout, image_folder: str, patterns: Iterable["_ClassPattern"]
) -> VocTree:
    """Returns the tree of the images, without files that are masks by their names."""
    listing = given.listing
    layout = Layout(image_folder or ".", ".", given.image_name)
    files = SetFiles(listing.root, layout, listing, image_endings=given.endings.images)
    all_pictures = files.images
    masks: set[str] = set()
    for pattern in patterns:
        for names in pattern.find_files(all_pictures).values():
            masks.update(names)
    files = dataclasses.replace(files, left_out=frozenset(masks))
    return VocTree(listing.root, layout, listing, given_files=files)


def _read_class(pattern: "_ClassPattern", tree: VocTree) -> FilesOfClass:
    """Returns the masks of a class, by the ids of the images of a tree."""
    masks = pattern.masks
    folder = posixpath.join(pattern.folder, masks.pattern)
    files = FilesOfClass(masks, folder, pattern.find_files(tree.images))
    pattern.check_no_photos(tree.images)
    if not masks.show_objects:
        check_one_file_of_image(tree, files)
    return files


def _choose_image_folder(given: GivenLayout) -> str:
    """Returns the folder of the images, below the given one.

    | the user named | folders with images that are called so | the folder |
    | --- | --- | --- |
    | one folder | any | the one that the user named |
    | several folders | any | an error |
    | only how images are called | any | the given one |
    | nothing | one | this one |
    | nothing | several | an error |
    | nothing | none | the only one with images, if it is not called as masks; or the given one |

    Raises:
      ConfigError: if the user named several, or nothing, and several are called so.
    """
    named_folders = given.image_folders
    if len(named_folders) == 1:
        _check_has_no_name("images", named_folders[0])
        return named_folders[0].path
    if named_folders:
        raise _several_image_folders_error([named.path for named in named_folders])
    if given.image_name:
        return ""
    folders = _list_folders_called_as_images(given)
    if len(folders) == 1:
        return folders[0]
    if folders:
        raise _several_image_folders_error(folders)
    return _find_only_folder_of_images(given)


def _list_folders_called_as_images(given: GivenLayout) -> list[str]:
    """Returns the folders that are called as images', have some, and lie below no masks' folder."""
    mask_folders = _list_folders_called_as_masks(given.listing)
    folders: list[str] = []
    for folder, names in given.listing.files_by_folder.items():
        is_below_masks = deepest_above(folder, mask_folders) is not None
        is_called_so = role_of_path(folder) == "images"
        if is_called_so and not is_below_masks and _has_images(given, names):
            folders.append(folder)
    return _outermost(folders)


def _list_folders_called_as_masks(listing: Listing) -> list[str]:
    return _outermost(
        folder for folder in listing.files_by_folder if role_of_path(folder) == "masks"
    )


def _find_only_folder_of_images(given: GivenLayout) -> str:
    """Returns the only folder with images that is not called as masks', or else the given one.

    It holds images and masks together.
    """
    folders = [
        folder
        for folder, names in given.listing.files_by_folder.items()
        if _has_images(given, names) and role_of_path(folder) != "masks"
    ]
    return folders[0] if len(folders) == 1 else ""


def _has_images(given: GivenLayout, names: Iterable[str]) -> bool:
    return any(name.lower().endswith(tuple(given.endings.images)) for name in names)


def _check_has_no_name(option: str, folder: NamedFolder) -> None:
    """Checks that a folder was not given the name of a part, which would have no effect."""
    if folder.part:
        raise ConfigError(
            f"option {option}",
            found=f"a name for a folder, {folder.item}, beside the masks of classes",
            expected="a folder without a name: such masks and their images are one set",
            remedy=f"give {command(**{option: folder.path or '.'})}",
        )


def _several_image_folders_error(folders: Sequence[str]) -> ConfigError:
    return ConfigError(
        "option images",
        found=f"{counted(len(folders), 'folder')} of images: {', '.join(folders)}",
        expected="one folder of images, whose names give the masks of each class",
        remedy="name the folder with --images",
    )


def _choose_mask_folder(given: GivenLayout, masks: ClassMasks, image_folder: str) -> str:
    """Returns the folder of the masks of a class, below the given folder.

    Raises:
      ConfigError: if there is no such folder, or several may be meant.
    """
    folders = _list_mask_folders(given, masks, image_folder)
    if len(folders) == 1:
        return folders[0]
    raise ConfigError(
        "option masks",
        found=f"{counted(len(folders), 'folder')} of masks: {', '.join(folders)}",
        expected="one folder of masks, to which the patterns of --mask_name apply",
        remedy="name the folder with --masks",
    )


def _list_mask_folders(given: GivenLayout, masks: ClassMasks, image_folder: str) -> list[str]:
    """Returns the folders that the user named, or that are called as masks, or the images'."""
    if masks.folder:
        options = {**given.options, "masks": masks.folder}
        given_for_class = dataclasses.replace(given, options=options)
        for named in given_for_class.mask_folders:
            _check_has_no_name("masks", named)
        return [named.path for named in given_for_class.mask_folders]
    if "/" in given.image_name:  # images lie in folders of their own, and masks there too
        return [image_folder]
    return _list_folders_called_as_masks(given.listing) or [image_folder]


def _outermost(folders: Iterable[str]) -> list[str]:
    """Returns the folders that lie in no other one, sorted."""
    outermost: list[str] = []
    for folder in sorted(folders):
        if deepest_above(folder, outermost) is None:
            outermost.append(folder)
    return outermost


@dataclasses.dataclass(frozen=True)
class _ClassPattern:
    """Finds the masks of one class.

    Attributes:
      listing: all that lies in the given folder.
      masks: what the user named.
      folder: the folder of the masks, below the given one.
      image_folder: the folder of the images, below the given one.
    """

    listing: Listing
    masks: ClassMasks
    folder: str
    image_folder: str

    @functools.cached_property
    def _naming(self) -> ClassMaskNaming:
        return ClassMaskNaming(self.masks.pattern)

    def find_files(self, images: Names) -> dict[str, list[str]]:
        """Returns the masks by the id of their image, below the given folder.

        A file that belongs to no image has the id that its name has, if that is clear.

        Raises:
          LayoutError: if a file belongs to two images by its name.
        """
        files_by_id: dict[str, list[str]] = {}
        for name in sorted(self.listing.below(self.folder)):
            if not name.lower().endswith(MASK_ENDINGS):
                continue
            image_id = self._find_image(name, self._naming, images)
            if not image_id:
                image_id = self._find_id_of_no_image(name, images)
            if image_id:
                files_by_id.setdefault(image_id, []).append(self._path(name))
        return files_by_id

    def check_no_photos(self, images: Names) -> None:
        """Checks that no JPEG has the name of a mask of an image.

        Raises:
          LayoutError: if one has.
        """
        for name in self.listing.below(self.folder):
            if not name.lower().endswith(PHOTO_ENDINGS):
                continue
            if self._find_image(name, self._naming.without_ending, images):
                raise photo_error(self.listing.root / self._path(name), self.masks)

    def _path(self, name: str) -> str:
        """Returns the path of a file below the given folder, by that below the masks' folder."""
        return posixpath.join(self.folder, name)

    def _find_image(self, name: str, naming: ClassMaskNaming, images: Names) -> str:
        """Returns the id of the image of a file; empty if it belongs to none.

        Args:
          name: the name of the file below the folder of the masks.
          naming: how masks of the class are called.
          images: all images. One of them may be the file itself.

        Raises:
          LayoutError: if the file belongs to two images by its name.
        """
        path = self._path(name)
        image_ids: list[str] = []
        for image_id in naming.find_ids(name, images):
            image_path = posixpath.normpath(posixpath.join(self.image_folder, images[image_id]))
            if image_path != path:
                image_ids.append(image_id)
        if len(image_ids) > 1:
            raise self._two_images_error(path, image_ids)
        if not image_ids:
            return ""
        return images.find_id(image_ids[0]) or image_ids[0]

    def _two_images_error(self, path: str, image_ids: Sequence[str]) -> LayoutError:
        return LayoutError(
            self.listing.root / path,
            found=f"a mask of {self.masks.name} whose name fits several images by "
            f"{self.masks.pattern}: {' and '.join(image_ids)}",
            expected="mask names that fit one image each",
            remedy="give --mask_name a longer pattern, or rename the files",
        )

    def _find_id_of_no_image(self, name: str, images: Names) -> str:
        """Returns the id in the name of a file that belongs to no image; empty if it is not known.

        The id may differ from that of an image in its spelling alone.
        """
        similar_ids = self._naming.find_ids(name, _IdsSpelledAlike(images))
        if similar_ids:
            return similar_ids[0]
        if self.masks.show_objects:  # where the id ends, only the names of images tell
            return ""
        possible_ids = self._naming.find_ids(name, _AnyIds())
        return possible_ids[0] if len(possible_ids) == 1 else ""


@dataclasses.dataclass(frozen=True)
class _IdsSpelledAlike(Container[str]):
    """The ids that differ from those of images in upper and lower case, or in Unicode form.

    Attributes:
      images: the images.
    """

    images: Names

    def __contains__(self, image_id: object) -> bool:
        return isinstance(image_id, str) and self.images.find_similar_id(image_id) != ""


class _AnyIds(Container[str]):
    """All ids."""

    def __contains__(self, image_id: object) -> bool:
        return True
