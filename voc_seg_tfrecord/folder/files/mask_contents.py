"""Refuses masks whose pixels are not the classes of their image, by what lies beside them."""

from collections.abc import Iterable
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.storage import open_file
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import TOOLS
from voc_seg_tfrecord.tools.tool import NamesPerMask, RefusedMasks

_MAX_READ_BYTES_OF_JSON = 1 << 20


def check_pixels_are_classes(tree: VocTree) -> None:
    """Checks that no file beside a folder of masks says that its pixels are something else.

    Example: `panoptic_train.json` beside `panoptic_train`: the pixels are numbers of segments.

    Raises:
      LayoutError: if one does.
    """
    if not tree.listing:
        return
    for mask_folder in _list_mask_folders(tree):
        for tool in TOOLS:
            if tool.refused_masks:
                _check_not_refused(tree.listing, mask_folder, tool.refused_masks)


def _list_mask_folders(tree: VocTree) -> list[str]:
    """Returns the folders of the masks, below the given folder."""
    top = posixpath.join(tree.root_below_given, tree.layout.masks)
    folders_below_top = {posixpath.dirname(name) for name in tree.masks.values()}
    return sorted(posixpath.normpath(posixpath.join(top, folder)) for folder in folders_below_top)


def _check_not_refused(listing: Listing, mask_folder: str, refused: RefusedMasks) -> None:
    above, name = posixpath.split(mask_folder)
    file_name = refused.file.format(folder=name)
    if file_name not in listing.files_by_folder.get(above, ()):
        return
    path = listing.root / above / file_name
    with open_file(path) as file:
        text = file.read(_MAX_READ_BYTES_OF_JSON)
    if refused.word in text:
        raise LayoutError(
            path,
            found=refused.found,
            expected=refused.expected,
            remedy=refused.advice(path, listing.root / mask_folder),
        )


def check_one_numbering(tree: VocTree) -> None:
    """Checks that the class lists beside single masks are all the same.

    labelme writes such a list beside each mask: `a_json/label_names.txt` beside `a_json/label.png`.

    Raises:
      LayoutError: if a tool numbered the classes of each mask anew.
    """
    are_single_masks = any("/" in part.mask_name for part in tree.layout.folders())
    if not are_single_masks or not tree.listing:
        return
    for tool in TOOLS:
        if tool.names_per_mask:
            _check_same_names(tree, tree.listing, _list_mask_folders(tree), tool.names_per_mask)


def _check_same_names(
    tree: VocTree, listing: Listing, folders: Iterable[str], names_per_mask: NamesPerMask
) -> None:
    """Checks that the files of names in some folders have the same text."""
    first_path_by_text: dict[bytes, str] = {}
    for folder in folders:
        if names_per_mask.name in listing.files_by_folder.get(folder, ()):
            path = tree.given / folder / names_per_mask.name
            first_path_by_text.setdefault(tree.texts.read(path).data, str(path))
    if len(first_path_by_text) > 1:
        first, second, *_ = first_path_by_text.values()
        raise LayoutError(
            second,
            found=f"other names than in {first}: {names_per_mask.found}",
            expected="masks in which each value means the same class",
            remedy=names_per_mask.advice,
        )


def check_images_are_no_masks(tree: VocTree) -> None:
    """Checks that no file is both the image and the mask of an id, if both are in one folder.

    Raises:
      LayoutError: if one is.
    """
    if tree.layout.images != tree.layout.masks:
        return
    for image_id, name in tree.images.items():
        if tree.masks.get(image_id) == name:
            raise LayoutError(
                tree.root / tree.layout.masks / name,
                found="the same file as an image and as its mask",
                expected="separate files for images and masks",
                remedy="check the folders that --images and --masks name",
                kind="names of masks",
            )
