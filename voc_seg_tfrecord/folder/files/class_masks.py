"""Finds the masks of which each shows one class or one object, and merges those of an image.

| the user gave                                    | the masks of a class                     |
|--------------------------------------------------|------------------------------------------|
| folders, as in `--masks disc=a,cup=b`            | those that pair with the images if there |
|                                                  | is no other class                        |
| patterns, as in `--mask_name 'cat={id}_cat.png'` | the files that have an image's id there  |
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.class_masks import ClassMaskNaming, ClassMasks
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS, PHOTO_ENDINGS, Layout
from voc_seg_tfrecord.folder.decide import Rule, raise_question
from voc_seg_tfrecord.folder.files.align import parts_at_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half, NamedPath
from voc_seg_tfrecord.folder.files.paths import deepest_above, outermost
from voc_seg_tfrecord.folder.looks import looks_like_mask
from voc_seg_tfrecord.folder.tree.merged_labels import ClassFiles, MergedLabels
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFolders
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.shape_classes import number_names

FindTree = Callable[[GivenLayout], VocTree]
"""Finds the tree of masks by the options of a layout, as if there were one class."""


def find_merged_tree(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> VocTree:
    """Finds the tree whose masks are merged from those of classes.

    Args:
      given: the folder, and the user's options.
      masks_of_classes: what the user named for each class.
      find_tree: finds the images and masks of one class.

    Raises:
      ConfigError: if there is not one folder of images, or of the masks of a class, or no mask of a
        class belongs to an image.
      LayoutError: if a mask belongs to two classes or images, an image has several masks of a class
        that shows no objects, or a file may be a mask by its name and is none.
    """
    if masks_of_classes[0].pattern:
        tree, named_files = _find_by_patterns(given, masks_of_classes)
    else:
        tree, named_files = _find_by_folders(given, masks_of_classes, find_tree)
    classes = [_sort_by_image(tree, files) for files in named_files]
    raise_question(tree, CLASS_MASK_RULES, classes)
    first_by_id: dict[str, str] = {}
    for files in classes:
        for image_id, path in files.list_files():
            first_by_id.setdefault(image_id, path)
    entries = number_names([files.name for files in classes], tree.root)
    labels = MergedLabels(
        tree.given,
        Names(dict(sorted(first_by_id.items()))),
        class_file=ClassFile("the names of the masks' classes", entries),
        images=tree.images,
        image_folder=tree.given,
        classes=classes,
    )
    names = [name for name in ("masks", "mask_name") if name in given.options]
    options = [(name, given.options[name]) for name in names]
    layout = dataclasses.replace(
        tree.layout, masks=".", mask_name="", options_of_classes=tuple(options)
    )
    return dataclasses.replace(tree, layout=layout, given_labels=labels)


@dataclasses.dataclass(frozen=True)
class _FilesOfClass:
    """The files that may be masks of a class by their folder and name.

    Attributes:
      masks: what the user named.
      folder: where they lie, in words.
      ids_by_path: the ids that each may have by its name; by paths below the given folder.
    """

    masks: ClassMasks
    folder: str
    ids_by_path: Mapping[str, Sequence[str]]


def _find_by_folders(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> tuple[VocTree, list[_FilesOfClass]]:
    """Finds the images, and the masks of each class as if there were no other class."""
    named_files: list[_FilesOfClass] = []
    trees: list[VocTree] = []
    for masks in masks_of_classes:
        options = {**given.options, "masks": masks.folder}
        tree = find_tree(dataclasses.replace(given, options=options))
        trees.append(tree)
        folder, first_folder = (each.root / each.layout.images for each in (tree, trees[0]))
        if folder != first_folder or dict(tree.images) != dict(trees[0].images):
            raise ConfigError(
                "option masks",
                found=f"the images in {first_folder} for {masks_of_classes[0].name}, and those in "
                f"{folder} for {masks.name}",
                expected="the same images for all classes",
                remedy="name the folder of the images with --images",
            )
        ids_by_path: dict[str, list[str]] = {}
        assert tree.set_files
        for names in (tree.set_files.masks, tree.set_files.photos):
            for mask_id, first_path in names.items():
                for path in names.names_by_ambiguous_id.get(mask_id, (first_path,)):
                    ids_by_path[path] = [mask_id]
        named_files.append(_FilesOfClass(masks, masks.folder, ids_by_path))
    return trees[0], named_files


def _find_by_patterns(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks]
) -> tuple[VocTree, list[_FilesOfClass]]:
    """Finds the images, without files that are named as masks, and the masks of each class."""
    listing = given.listing
    image_folder = _only_folder("images", _list_image_folders(given))
    named_files: list[_FilesOfClass] = []
    for masks in masks_of_classes:
        folders = _list_mask_folders(given) or [NamedPath("", image_folder)]
        if masks.folder:
            options = {**given.options, "masks": masks.folder}
            folders = dataclasses.replace(given, options=options).mask_folders
        elif "/" in given.image_name:  # images lie in folders of their own, and masks there too
            folders = [NamedPath("", image_folder)]
        folder = _only_folder("masks", folders)
        naming = ClassMaskNaming(masks.pattern)
        ids_by_path: dict[str, list[str]] = {}
        for name in sorted(listing.below(folder)):
            path = posixpath.join(folder, name)
            if name.lower().endswith(MASK_ENDINGS):
                ids_by_path[path] = naming.list_ids(name)
            elif name.lower().endswith(PHOTO_ENDINGS):
                ids_by_path[path] = naming.without_ending.list_ids(name)
        folder_and_pattern = posixpath.join(folder, masks.pattern)
        named_files.append(_FilesOfClass(masks, folder_and_pattern, ids_by_path))
    layout = Layout(image_folder or ".", ".", given.image_name)
    set_folders = SetFolders(listing, layout, image_endings=given.endings.images)
    tree = VocTree(listing.root, layout, listing, set_files=set_folders.list_files())
    paths = {path for each in named_files for _, path in _sort_by_image(tree, each).list_files()}
    set_folders = dataclasses.replace(set_folders, left_out=paths)
    return dataclasses.replace(tree, set_files=set_folders.list_files()), named_files


def _sort_by_image(tree: VocTree, named_files: _FilesOfClass) -> ClassFiles:
    """Returns the masks of a class by the id of their image.

    A mask of no image has the id that its name has, if that is clear. That id may differ from an
    image's in its spelling alone. Where it ends in the name of an object's mask, only the names of
    images tell.

    Raises:
      LayoutError: if a mask belongs to two images by its name, or a JPEG lies where one should.
    """
    masks = named_files.masks
    images = tree.images
    paths_by_id: dict[str, list[str]] = {}
    photo_by_id: dict[str, str] = {}
    for path, possible_ids in named_files.ids_by_path.items():
        image_ids = _find_images(tree, path, possible_ids)
        if len(image_ids) > 1:
            raise LayoutError(
                tree.given / path,
                found=f"a mask of {masks.name} whose name fits several images by "
                f"{masks.pattern}: {' and '.join(image_ids)}",
                expected="mask names that fit one image each",
                remedy="give --mask_name a longer pattern, or rename the files",
            )
        if path.lower().endswith(PHOTO_ENDINGS):
            photo_by_id.update((image_id, path) for image_id in image_ids)
            continue
        if not image_ids:
            image_ids = [each for each in possible_ids if images.find_similar_id(each)]
        if not image_ids and not masks.show_objects and len(possible_ids) == 1:
            image_ids = [*possible_ids]
        for image_id in image_ids[:1]:
            paths_by_id.setdefault(image_id, []).append(path)
    for image_id, photo in photo_by_id.items():
        if masks.pattern or image_id not in paths_by_id:
            raise LayoutError(
                tree.given / photo,
                found=f"a JPEG or similar file instead of a mask of {masks.name}",
                expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
                remedy="export the masks again as PNG, because JPEG changes the values of pixels",
            )
    return ClassFiles(masks.name, named_files.folder, paths_by_id, masks.show_objects)


def _find_images(tree: VocTree, path: str, possible_ids: Sequence[str]) -> list[str]:
    """Returns the images that have one of some ids, but for the file itself."""
    images = tree.images
    image_ids = [image_id for image_id in map(images.find_id, possible_ids) if image_id]
    return [image_id for image_id in image_ids if images[image_id] != path]


def _list_image_folders(given: GivenLayout) -> list[NamedPath]:
    """Returns the folders that may be the one of the images.

    These are the folders that the user named; if the user gave how images are called, the given
    folder; else those that are called as images', or the only one that is not called as masks', or
    the given one, which holds images and masks together.
    """
    if given.image_folders:
        return given.image_folders
    if given.image_name:
        return [NamedPath("", "")]
    mask_folders = [folder.path for folder in _list_mask_folders(given)]
    called_images: list[str] = []
    not_called_masks: list[str] = []
    for folder, names in given.listing.files_by_folder.items():
        role = role_of_path(folder)
        if not any(name.lower().endswith(tuple(given.endings.images)) for name in names):
            continue
        if role == "images" and deepest_above(folder, mask_folders) is None:
            called_images.append(folder)
        if role != "masks":
            not_called_masks.append(folder)
    if not called_images:
        called_images = not_called_masks if len(not_called_masks) == 1 else [""]
    return [NamedPath("", folder) for folder in outermost(called_images)]


def _list_mask_folders(given: GivenLayout) -> list[NamedPath]:
    """Returns the outermost folders that are called as masks'."""
    folders = [path for path in given.listing.files_by_folder if role_of_path(path) == "masks"]
    return [NamedPath("", folder) for folder in outermost(folders)]


def _only_folder(option: Half, folders: Sequence[NamedPath]) -> str:
    """Returns the only one of some folders, which may not have the name of a part."""
    if len(folders) == 1 and not folders[0].part:
        return folders[0].path
    items = [folder.item for folder in folders]
    found = f"{counted(len(folders), 'folder')} of {option}: {', '.join(items)}"
    if folders[0].part:
        found = f"a name for a folder, {items[0]}"
    raise ConfigError(
        f"option {option}",
        found=found,
        expected=f"one folder of {option} without a name, to which the patterns of --mask_name "
        "apply",
        remedy=f"name the folder with --{option}",
    )


# The rules that ask about the masks of classes.


def files_show_two_classes(tree: VocTree, classes: Sequence[ClassFiles]) -> LayoutError | None:
    """A file shows two classes.

    Example: `a_cat.png` of `{id}_*.png` and `{id}_cat.png`.
    """
    class_by_path: dict[str, str] = {}
    for files in classes:
        for _, path in files.list_files():
            other = class_by_path.setdefault(path, files.name)
            if other != files.name:
                return LayoutError(
                    tree.given / path,
                    found=f"one file for the classes {other} and {files.name}",
                    expected="different files for each class",
                    remedy="give folders or patterns that do not share files",
                )
    return None


def classes_have_no_image(tree: VocTree, classes: Sequence[ClassFiles]) -> ConfigError | None:
    """No image has a mask of a class.

    Example: images are called `a`, and masks `m_a`.
    """
    for files in classes:
        if any(image_id in tree.images for image_id in files.names_by_id):
            continue
        example = min((path for _, path in files.list_files()), default="")
        count = f", of {len(files.names_by_id)} such as {example}" if example else ""
        image = min(tree.images, default="")
        return ConfigError(
            "option mask_name" if ID in files.folder else "option masks",
            found=f"no mask of {files.name} for an image{count}, in {files.folder}",
            expected=f"masks with the names of their images, such as {image}",
            remedy="correct the folder or the pattern, or name the images with --images and "
            "--image_name",
        )
    return None


def ids_differ_in_spelling(tree: VocTree, classes: Sequence[ClassFiles]) -> LayoutError | None:
    """A mask would belong to an image if its name were spelled as the image's is.

    Example: `Hall.png` is the mask of `hall.jpg`, unless there is `hall.png` too. A class that
    shows objects may have both.
    """
    for files in classes:
        for image_id, names in files.names_by_id.items():
            similar_id = "" if image_id in tree.images else tree.images.find_similar_id(image_id)
            is_missing = similar_id not in files.names_by_id
            if similar_id and (is_missing or files.show_objects):
                return LayoutError(
                    tree.given / names[0],
                    found=f"a mask of {files.name} without an image, but the id {similar_id} is "
                    "similar",
                    expected="the same spelling in the names of images and masks",
                    remedy="rename one of the two files",
                )
    return None


def images_have_two_masks(tree: VocTree, classes: Sequence[ClassFiles]) -> LayoutError | None:
    """An image has two masks of a class that shows no objects.

    Example: a PNG and a BMP.
    """
    for files in classes:
        if files.show_objects:
            continue
        for image_id, names in files.names_by_id.items():
            if len(names) > 1 and image_id in tree.images:
                masks = " and ".join(names)
                return LayoutError(
                    tree.given / names[0],
                    found=f"{len(names)} masks of {files.name} for {image_id}: {masks}",
                    expected="one mask of a class for each image",
                    remedy="keep one of the files, and rename or remove the others",
                    kind="several files for one id",
                )
    return None


def images_may_be_masks(tree: VocTree, classes: Sequence[ClassFiles]) -> LayoutError | None:
    """A mask of a class that the user did not name counts as an image.

    Example: `a_cup.png` beside `a.jpg` and `a_disc.png`, if the user named the class disc alone.
    """
    labeled_ids: set[str] = set()
    for files in classes:
        labeled_ids.update(files.names_by_id)
    for image_id, image in tree.images.items():
        if image_id in labeled_ids or not image.lower().endswith(MASK_ENDINGS):
            continue
        folder, name = posixpath.split(image_id)
        parts = [posixpath.join(folder, part) for part, _ in parts_at_ends(name)]
        ids_in_name = [part for part in parts if part in labeled_ids]
        path = tree.image_file(image_id)
        if ids_in_name and looks_like_mask(path):
            return LayoutError(
                path,
                found=f"a file that may be an image or another mask of {ids_in_name[0]}",
                expected="images, and masks of the named classes only",
                remedy="if it is a mask, name its class too; if not, choose the images with "
                "--images and --image_name",
            )
    return None


CLASS_MASK_RULES: Sequence[Rule[VocTree, Sequence[ClassFiles]]] = (
    Rule("files of two classes", asks=files_show_two_classes),
    Rule("classes without images", asks=classes_have_no_image),
    Rule("spelling of ids", asks=ids_differ_in_spelling),
    Rule("two masks of a class", asks=images_have_two_masks),
    Rule("images that may be masks", asks=images_may_be_masks),
)
"""When the user is asked about the images of a tree and the masks of each class."""
