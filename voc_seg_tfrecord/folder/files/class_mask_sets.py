"""Finds the tree of masks that the user named class by class; see `core.class_masks`.

Masks in a folder for each class are paired with the images as any masks are, class by class. Masks
of which the user gave the names are paired by these names alone.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_masks import ClassMaskNaming, ClassMasks
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, PHOTO_ENDINGS, Layout
from voc_seg_tfrecord.folder.files.affixes import parts_at_token_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.paths import deepest_above
from voc_seg_tfrecord.folder.files.pixels import looks_like_mask
from voc_seg_tfrecord.folder.tree.merged_labels import ClassFiles, MergedLabels
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.shape_classes import number_names

FindTree = Callable[[GivenLayout], VocTree]
"""Finds the tree of masks by the options of a layout, as if there were one class."""

SOURCE_OF_CLASSES = "the names of the masks' classes"


@dataclasses.dataclass(frozen=True)
class _FoundClass:
    """The masks of one class that were found.

    Attributes:
      masks: what the user named.
      folder: where they lie, in words.
      names_by_id: the files of each id, below the folder of the tree.
    """

    masks: ClassMasks
    folder: str
    names_by_id: Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class _FoundSet:
    """The images of a set, and the masks of its classes.

    Attributes:
      tree: has the images.
      classes: the masks of each class, in the order of the user.
    """

    tree: VocTree
    classes: Sequence[_FoundClass]


def find_merged_tree(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> VocTree:
    """Finds the tree whose masks are merged from those of classes.

    Args:
      given: the folder, and the user's options.
      masks_of_classes: what the user named for each class.
      find_tree: finds the images and masks of one class.

    Raises:
      ConfigError: if a folder is not there, or no file of a class belongs to an image.
      LayoutError: if a file belongs to two classes or two images, or the files of a class are
        named as images are only by other letters.
    """
    if masks_of_classes[0].pattern:
        found = _find_by_patterns(given, masks_of_classes)
    else:
        found = _find_by_folders(given, masks_of_classes, find_tree)
    _check_files_differ(given, found.classes)
    for one in found.classes:
        _check_names_of_class(found.tree, one)
    _check_images_are_no_masks(found)
    return _merge(given, found)


def _merge(given: GivenLayout, found: _FoundSet) -> VocTree:
    """Returns the tree with merged labels."""
    tree = found.tree
    names = [one.masks.name for one in found.classes]
    entries = number_names(names, tree.root)
    value_by_name = {entry.name: entry.value for entry in entries}
    classes = [
        ClassFiles(
            name=one.masks.name,
            value=value_by_name[one.masks.name],
            folder=one.folder,
            names_by_id=one.names_by_id,
            show_objects=one.masks.show_objects,
        )
        for one in found.classes
    ]
    first_name_by_id: dict[str, str] = {}
    for one in found.classes:
        for image_id, names_of_image in one.names_by_id.items():
            first_name_by_id.setdefault(image_id, names_of_image[0])
    labels = MergedLabels(
        tree.root,
        Names(dict(sorted(first_name_by_id.items()))),
        class_file=ClassFile(SOURCE_OF_CLASSES, entries),
        images=tree.images,
        image_folder=tree.root / tree.layout.images,
        classes=classes,
    )
    options = {
        name: given.options[name] for name in ("masks", "mask_name") if name in given.options
    }
    layout = dataclasses.replace(
        tree.layout, masks=".", mask_name="", options_of_classes=tuple(options.items())
    )
    return dataclasses.replace(tree, layout=layout, given_labels=labels)


# A folder for each class.


def _find_by_folders(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> _FoundSet:
    """Finds the images and masks of each class as if there were no other one."""
    trees: list[VocTree] = []
    for masks in masks_of_classes:
        options = {**given.options, "masks": masks.folder}
        trees.append(find_tree(dataclasses.replace(given, options=options)))
    first = trees[0]
    classes: list[_FoundClass] = []
    for masks, tree in zip(masks_of_classes, trees, strict=True):
        _check_same_images(masks_of_classes[0], first, masks, tree)
        names_by_id: dict[str, Sequence[str]] = {}
        _check_no_photos(tree, masks)
        for file_id, name in tree.masks.items():
            image_id = first.images.find_id(file_id) or file_id
            names = tree.masks.names_by_ambiguous_id.get(file_id, (name,))
            paths = [posixpath.normpath(posixpath.join(tree.layout.masks, one)) for one in names]
            names_by_id[image_id] = paths
        _check_one_file_of_image(first, masks, names_by_id)
        classes.append(_FoundClass(masks, masks.folder, names_by_id))
    return _FoundSet(first, classes)


def _check_same_images(
    first_masks: ClassMasks, first: VocTree, masks: ClassMasks, tree: VocTree
) -> None:
    """Checks that two classes were found for the same images.

    Raises:
      ConfigError: if they were not.
    """
    has_same_folder = tree.root == first.root and tree.layout.images == first.layout.images
    if has_same_folder and dict(tree.images) == dict(first.images):
        return
    raise ConfigError(
        "option masks",
        found=f"the images in {first.root / first.layout.images} for {first_masks.name}, and those "
        f"in {tree.root / tree.layout.images} for {masks.name}",
        expected="the same images for all classes",
        remedy="name the folder of the images with --images",
    )


def _check_one_file_of_image(
    tree: VocTree, masks: ClassMasks, names_by_id: Mapping[str, Sequence[str]]
) -> None:
    """Checks that a class that shows no objects has one file of each image."""
    for image_id, names in names_by_id.items():
        if len(names) > 1 and image_id in tree.images:
            raise LayoutError(
                tree.root / names[0],
                found=f"{len(names)} masks of {masks.name} for {image_id}: {' and '.join(names)}",
                expected="one mask of a class for each image",
                remedy="keep one of the files in the folder, and rename the others or take them "
                "out",
                kind="several files for one id",
            )


def _check_no_photos(tree: VocTree, masks: ClassMasks) -> None:
    """Checks that no JPEG lies where the mask of an image should."""
    if tree.layout.images == tree.layout.masks:
        return
    photos = tree.set_files.find_masks_with_endings(PHOTO_ENDINGS)
    for image_id, name in photos.items():
        if image_id in tree.images and image_id not in tree.masks:
            raise _photo_error(tree.root / tree.layout.masks / name, masks)


def _photo_error(where: object, masks: ClassMasks) -> LayoutError:
    return LayoutError(
        where,
        found=f"a JPEG, or the like, where a mask of {masks.name} should be",
        expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
        remedy="export the masks again as PNG, because a JPEG changes the values of pixels",
    )


# Patterns of names.


def _find_by_patterns(given: GivenLayout, masks_of_classes: Sequence[ClassMasks]) -> _FoundSet:
    """Finds the masks of each class by the names that the user gave."""
    finder = _PatternFinder(given, masks_of_classes)
    tree = finder.find_tree()
    classes: list[_FoundClass] = []
    for masks in masks_of_classes:
        names_by_id = finder.find_files(masks, tree.images)
        finder.check_no_photos(masks, tree.images)
        if not masks.show_objects:
            _check_one_file_of_image(tree, masks, names_by_id)
        folder = posixpath.join(finder.find_folder(masks), masks.pattern)
        classes.append(_FoundClass(masks, folder, names_by_id))
    return _FoundSet(tree, classes)


@dataclasses.dataclass(frozen=True)
class _PatternFinder:
    """Finds files by the patterns of classes.

    Attributes:
      given: the folder, and the user's options.
      masks_of_classes: the patterns.
    """

    given: GivenLayout
    masks_of_classes: Sequence[ClassMasks]

    def find_tree(self) -> VocTree:
        """Returns the tree of the images, without files that are masks by their names."""
        listing = self.given.listing
        image_name = self.given.image_name
        layout = Layout(self._image_folder or ".", ".", image_name)
        files = SetFiles(listing.root, layout, listing, image_endings=self.given.endings.images)
        all_pictures = files.images
        masks = set[str]()
        for one in self.masks_of_classes:
            for names in self.find_files(one, all_pictures).values():
                masks.update(names)
        files = dataclasses.replace(files, masks_among_images=frozenset(masks))
        return VocTree(listing.root, layout, listing, given_files=files)

    @functools.cached_property
    def _image_folder(self) -> str:
        """The folder of the images, below the given one.

        Raises:
          ConfigError: if the user named several, or none and several are called so.
        """
        named = self.given.image_folders
        if len(named) == 1:
            return named[0].path
        if self.given.image_name and not named:
            return ""
        mask_folders = self._list_folders_called_as_masks()
        folders = _outermost(
            folder
            for folder, files in self.given.listing.files_by_folder.items()
            if role_of_path(folder) == "images"
            and self._has_images(files)
            and deepest_above(folder, mask_folders) is None
        )
        if len(folders) == 1 and not named:
            return folders[0]
        if not folders and not named:
            return self._only_folder_of_photos()
        found = [one.path for one in named] or folders
        raise ConfigError(
            "option images",
            found=f"{counted(len(found), 'folder')} of images: {', '.join(found)}",
            expected="one folder of images, as the masks of classes are found by their names",
            remedy="name the folder with --images",
        )

    def _only_folder_of_photos(self) -> str:
        """Returns the folder that holds images and masks together, or the given one."""
        folders = [
            folder
            for folder, files in self.given.listing.files_by_folder.items()
            if self._has_images(files) and role_of_path(folder) != "masks"
        ]
        return folders[0] if len(folders) == 1 else ""

    def _has_images(self, files: Iterable[str]) -> bool:
        return any(name.lower().endswith(tuple(self.given.endings.images)) for name in files)

    def find_folder(self, masks: ClassMasks) -> str:
        """Returns the folder of the masks of a class, below the given folder.

        Raises:
          ConfigError: if there is no such folder, or several may be meant.
        """
        folders = self._list_mask_folders(masks)
        if len(folders) == 1:
            return folders[0]
        raise ConfigError(
            "option masks",
            found=f"{counted(len(folders), 'folder')} of masks: {', '.join(folders)}",
            expected="one folder of masks, below which the patterns of --mask_name are compared",
            remedy="name the folder with --masks",
        )

    def _list_mask_folders(self, masks: ClassMasks) -> list[str]:
        """Returns the folders that the user named, or that are called as masks, or the images'."""
        if masks.folder:
            options = {**self.given.options, "masks": masks.folder}
            named = dataclasses.replace(self.given, options=options).mask_folders
            return [one.path for one in named]
        if "/" in self.given.image_name:  # images lie in folders of their own, and masks there too
            return [self._image_folder]
        return self._list_folders_called_as_masks() or [self._image_folder]

    def _list_folders_called_as_masks(self) -> list[str]:
        return _outermost(
            folder
            for folder in self.given.listing.files_by_folder
            if role_of_path(folder) == "masks"
        )

    def find_files(self, masks: ClassMasks, images: Names) -> dict[str, list[str]]:
        """Returns the files of a class by the id of their image, below the given folder.

        Raises:
          LayoutError: if a file belongs to two images by its name.
        """
        folder = self.find_folder(masks)
        naming = ClassMaskNaming(masks.pattern)
        files_by_id: dict[str, list[str]] = {}
        for name in sorted(self.given.listing.below(folder)):
            if not name.lower().endswith(MASK_ENDINGS):
                continue
            path = posixpath.join(folder, name)
            image_id = self._find_image(masks, naming, name, path, images)
            if not image_id:
                image_id = self._find_other_id(masks, naming, name, images)
            if image_id:
                files_by_id.setdefault(image_id, []).append(path)
        return files_by_id

    def _find_other_id(
        self, masks: ClassMasks, naming: ClassMaskNaming, name: str, images: Names
    ) -> str:
        """Returns the id that a file has which belongs to no image; empty if it is not known.

        The id may differ from that of an image in its spelling alone.
        """
        similar_ids = naming.find_ids(name, _IdsSpelledAlike(images))
        if similar_ids:
            return similar_ids[0]
        if masks.show_objects:  # where the id ends, only the names of images tell
            return ""
        ids = naming.find_ids(name, _AnyIds())
        return ids[0] if len(ids) == 1 else ""

    def check_no_photos(self, masks: ClassMasks, images: Names) -> None:
        """Checks that no JPEG has the name of a mask of an image."""
        folder = self.find_folder(masks)
        naming = ClassMaskNaming(masks.pattern).without_ending
        for name in self.given.listing.below(folder):
            if not name.lower().endswith(PHOTO_ENDINGS):
                continue
            path = posixpath.join(folder, name)
            if self._find_image(masks, naming, name, path, images):
                raise _photo_error(self.given.listing.root / path, masks)

    def _find_image(
        self, masks: ClassMasks, naming: ClassMaskNaming, name: str, path: str, images: Names
    ) -> str:
        """Returns the id of the image of a file; empty if it belongs to none.

        Args:
          masks: the class.
          naming: the names of its masks.
          name: the name of the file below the folder of the masks.
          path: its path below the given folder.
          images: all images.

        Raises:
          LayoutError: if the file belongs to two images by its name.
        """
        image_ids = naming.find_ids(name, images)
        image_ids = [one for one in image_ids if self._image_path(images[one]) != path]
        if len(image_ids) > 1:
            raise self._two_images_error(path, masks, image_ids)
        if not image_ids:
            return ""
        return images.find_id(image_ids[0]) or image_ids[0]

    def _image_path(self, name: str) -> str:
        return posixpath.normpath(posixpath.join(self._image_folder, name))

    def _two_images_error(
        self, path: str, masks: ClassMasks, image_ids: Sequence[str]
    ) -> LayoutError:
        return LayoutError(
            self.given.listing.root / path,
            found=f"a mask of {masks.name} that fits the images {' and '.join(image_ids)} by "
            f"{masks.pattern}",
            expected="names that fit one image",
            remedy="give a pattern that says more of the name, with --mask_name, or rename the "
            "files",
        )


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


def _outermost(folders: Iterable[str]) -> list[str]:
    """Returns the folders that lie in no other one, sorted."""
    tops: list[str] = []
    for folder in sorted(folders):
        if deepest_above(folder, tops) is None:
            tops.append(folder)
    return tops


# What must not be.


def _check_files_differ(given: GivenLayout, classes: Sequence[_FoundClass]) -> None:
    """Checks that no file shows two classes.

    Raises:
      LayoutError: if one does.
    """
    class_by_file: dict[str, str] = {}
    for one in classes:
        for name in _files_of(one):
            other = class_by_file.setdefault(name, one.masks.name)
            if other != one.masks.name:
                raise LayoutError(
                    given.listing.root / name,
                    found=f"one file for the classes {other} and {one.masks.name}",
                    expected="files of its own for each class",
                    remedy="give folders or patterns of names that have no file in common",
                )


def _check_images_are_no_masks(found: _FoundSet) -> None:
    """Checks that no mask of a class that the user did not name counts as an image.

    Example: `a_cup.png` beside `a.jpg` and `a_disc.png`, if the user named the class disc alone.

    Raises:
      LayoutError: if one does.
    """
    tree = found.tree
    labeled_ids = {image_id for one in found.classes for image_id in one.names_by_id}
    for image_id, name in tree.images.items():
        if image_id in labeled_ids or not name.lower().endswith(MASK_ENDINGS):
            continue
        folder, last = posixpath.split(image_id)
        cores = [posixpath.join(folder, core) for core, _ in parts_at_token_ends(last)]
        image_with_mask = next((core for core in cores if core in labeled_ids), "")
        path = tree.image_file(image_id)
        if image_with_mask and looks_like_mask(path):
            raise LayoutError(
                path,
                found="a file that would be an image, and may be another mask of "
                f"{image_with_mask}",
                expected="images and the masks of the classes that are named",
                remedy="name its class too, or say with --images and --image_name which files are "
                "images",
            )


def _files_of(one: _FoundClass) -> Set[str]:
    return {name for names in one.names_by_id.values() for name in names}


def _check_names_of_class(tree: VocTree, one: _FoundClass) -> None:
    """Checks that some masks of a class belong to images, and none only but for its spelling.

    Raises:
      ConfigError: if no mask does.
      LayoutError: if one differs from the name of an image in upper and lower case alone.
    """
    ids_with_image = [image_id for image_id in one.names_by_id if image_id in tree.images]
    if not ids_with_image:
        example = min(_files_of(one), default="")
        found = f"no mask of {one.masks.name} for an image"
        if example:
            found += f", of {len(one.names_by_id)} such as {example}"
        image_id = min(tree.images, default="")
        raise ConfigError(
            "option mask_name" if one.masks.pattern else "option masks",
            found=f"{found}, in {one.folder}",
            expected=f"masks that are named as their images, such as {image_id}",
            remedy="correct the folder or the pattern, or name the images with --images and "
            "--image_name",
        )
    for image_id, names in one.names_by_id.items():
        similar_id = "" if image_id in tree.images else tree.images.find_similar_id(image_id)
        is_missing_there = similar_id not in one.names_by_id or one.masks.show_objects
        if similar_id and is_missing_there:
            raise LayoutError(
                tree.root / names[0],
                found=f"a mask of {one.masks.name} for no image, but {similar_id} is spelled alike",
                expected="the same spelling in the names of images and masks",
                remedy="rename one of the two files",
            )
