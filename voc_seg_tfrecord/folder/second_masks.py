"""Images with several masks: of two people, of one object each, or an old one and a new one.

None of them is taken silently. If names pair each image with one mask, and a file that is left over
is another mask of an image, the build stops. If names pair nothing because of them, the user is
asked which masks are meant.
"""

import collections
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, command, counted
from voc_seg_tfrecord.core.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.core.layout import ID, MASK_SUFFIXES, PICTURES
from voc_seg_tfrecord.folder.files.affixes import cores_in
from voc_seg_tfrecord.folder.files.folder_names import role, role_of
from voc_seg_tfrecord.folder.files.infixes import find_infix
from voc_seg_tfrecord.folder.files.pixels import are_same, looks_like_mask, sizes_agree
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

KIND = "several masks for one image"
"""The kind of the errors about them."""

_MAX_READ_FILES = 16
_MAX_PATTERNS = 8
_NUMBER = re.compile(r"\d+")

_EXPECTED = "one mask for each image"
_MERGE = (
    "If each mask shows one object, one class, or other regions, merge them into one mask for each "
    "image. If one replaces the other, take the other out of the folder"
)


@dataclasses.dataclass(frozen=True)
class SecondMask:
    """A file that is another mask of an image.

    Attributes:
      image_id: the image.
      path: the file, below the given folder.
    """

    image_id: str
    path: str


def check_no_second_masks(tree: VocTree, used: Collection[str], left_over: Sequence[str]) -> None:
    """Checks that no file that is left over is another mask of an image in use.

    Args:
      tree: the set.
      used: the ids in splits.
      left_over: the paths of the files that a build does not use, below the given folder.

    Raises:
      LayoutError: if one is.
    """
    masks = [path for path in left_over if path.lower().endswith(MASK_SUFFIXES)]
    if not masks:
        return
    found = _second_masks(tree, used, masks)
    first = next((mask for mask in found[:_MAX_READ_FILES] if _is_mask_of(tree, mask)), None)
    if first is None:
        return
    more = len({mask.image_id for mask in found}) - 1
    others = f", and several for {counted(more, 'other image')} by their names" if more else ""
    mask = tree.mask_path(first.image_id)
    raise LayoutError(
        tree.given,
        found=f"2 masks for the image {tree.image_path(first.image_id)}: {mask} and "
        f"{first.path}{others}",
        expected=_EXPECTED,
        remedy=f"{_MERGE}. To read only masks that are named as {posixpath.basename(mask)} is: "
        + command(**_options(tree, mask)),
        kind=KIND,
    )


def _options(tree: VocTree, mask: str) -> dict[str, str]:
    """Returns the options that give the same pairs, with the pattern of the masks' names."""
    options = tree.layout.options(tree.place)
    if "mask_name" not in options:
        options["mask_name"] = ID + posixpath.splitext(mask)[1]
    return {name: options[name] for name in ("image_name", "mask_name") if name in options}


def _second_masks(
    tree: VocTree, used: Collection[str], left_over: Sequence[str]
) -> list[SecondMask]:
    """Returns the files whose names are those of images with more behind or before them."""
    names = _NamesInUse(tree, used)
    found: list[SecondMask] = []
    for path in left_over:
        folder, name = posixpath.split(path)
        stem = posixpath.splitext(name)[0]
        if role(stem) == "drawn":
            continue
        for core, rest in cores_in(stem):
            image_id = names.owner(folder, core)
            if image_id is not None and not names.has_ids_with(rest):
                found.append(SecondMask(image_id, path))
                break
    return found


class _NamesInUse:
    """The names of images in use, without their folders and endings.

    Args:
      tree: the set.
      used: the ids in splits.
    """

    def __init__(self, tree: VocTree, used: Collection[str]):
        self._owners: dict[tuple[str, str], str] = {}
        self._cores: set[str] = set()
        for image_id in used:
            if image_id not in tree.images or image_id not in tree.masks:
                continue
            core = posixpath.basename(image_id)
            image, mask = tree.image_path(image_id), tree.mask_path(image_id)
            stems = {core, _stem(image), _stem(mask)}
            self._cores.add(core)
            for path in (image, mask):
                for stem in stems:
                    self._owners[posixpath.dirname(path), stem] = image_id
        self._rests: set[str] | None = None

    def owner(self, folder: str, core: str) -> str | None:
        """Returns the image of a name whose image or mask lies in a folder."""
        return self._owners.get((folder, core))

    def has_ids_with(self, rest: str) -> bool:
        """Says whether other images are called as one in use is, with the same more.

        Then the file is the mask of an image that is not there.
        """
        if self._rests is None:
            self._rests = set()
            for core in self._cores:
                self._rests.update(
                    _shape(more) for own, more in cores_in(core) if own in self._cores
                )
        return _shape(rest) in self._rests


def _shape(rest: str) -> str:
    """Returns what is around an id, whatever its numbers are."""
    return _NUMBER.sub("0", rest)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _is_mask_of(tree: VocTree, mask: SecondMask) -> bool:
    """Says whether a file may be a mask of an image by its pixels, and is no copy of its mask."""
    file = tree.given / mask.path
    own = tree.given / tree.mask_path(mask.image_id)
    return (
        sizes_agree(tree.image_file(mask.image_id), file)
        and looks_like_mask(file)
        and not are_same(own, file)
    )


# Where names pair nothing.


def ask_which_masks(listing: Listing, find: Callable[[str], VocTree]) -> LayoutError | None:
    """Returns the question which masks are meant, if images of a folder have several.

    Args:
      listing: a folder in which no images and masks were found.
      find: returns the tree of masks with a pattern of names; it raises if there is none.

    Returns:
      The question, or the error that says which image has several; None if no image has.
    """
    for image, masks in _several_masks(listing):
        if not all(looks_like_mask(listing.root / mask) for mask in masks):
            continue
        first, second, *_ = masks
        alternatives = _patterns(image, masks, find)
        if len(alternatives) > 1:
            return QuestionError(
                listing.root,
                alternatives,
                to=f"read the masks, of which images have several, such as {first} and {second} "
                f"for {image}",
                expected=_EXPECTED,
                kind=KIND,
            )
        return LayoutError(
            listing.root,
            found=f"{counted(len(masks), 'mask')} for the image {image}, such as {first} and "
            f"{second}",
            expected=_EXPECTED,
            remedy=_MERGE,
            kind=KIND,
        )
    return None


def _patterns(
    image: str, masks: Sequence[str], find: Callable[[str], VocTree]
) -> list[Alternative]:
    """Returns the patterns of masks' names that give pairs."""
    alternatives: list[Alternative] = []
    for mask in masks[:_MAX_PATTERNS]:
        pattern = _pattern_of(posixpath.basename(mask), _stem(image))
        if pattern is None:
            continue
        try:
            tree = find(pattern)
        except VocSegError:
            continue
        if any(image_id in tree.masks for image_id in tree.images):
            alternatives.append(Alternative("", {"mask_name": pattern}))
    return alternatives


def _pattern_of(mask_name: str, image_stem: str) -> str | None:
    """Returns the pattern of a mask's name, with the name of its image as the id.

    Example: `{id}_1.png` for `a_1.png` and the image `a`. None if the mask has another name.
    """
    stem, ending = posixpath.splitext(mask_name)
    if image_stem in stem:
        return stem.replace(image_stem, ID, 1) + ending
    match = find_infix(mask_name, {image_stem})
    return match.pattern if match else None


def _several_masks(listing: Listing) -> Iterator[tuple[str, list[str]]]:
    """Yields images that have several masks by their names, or by their folders."""
    pictures: dict[str, list[str]] = {}
    for folder, files in listing.folders.items():
        of_folder = [name for name in files if posixpath.splitext(name)[1].lower() in PICTURES]
        if of_folder and role_of(folder) != "drawn":
            pictures[folder] = of_folder
    for folder, names in pictures.items():
        images = [name for name in names if name.lower().endswith(IMAGE_SUFFIXES)]
        by_stem = {posixpath.splitext(name)[0]: name for name in images}
        for mask_folder in _folders_of_masks(folder, pictures):
            masks = _by_core(by_stem, pictures[mask_folder], flat=mask_folder == folder)
            for stem, of_image in masks.items():
                if len(of_image) > 1:
                    paths = [posixpath.join(mask_folder, name) for name in of_image]
                    yield posixpath.join(folder, by_stem[stem]), paths
            of_folder = pictures[mask_folder]
            if not masks and mask_folder != folder and len(images) == 1 < len(of_folder):
                paths = [posixpath.join(mask_folder, name) for name in of_folder]
                yield posixpath.join(folder, images[0]), paths


def _folders_of_masks(folder: str, pictures: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the folder itself, and those beside it that are called as masks are."""
    above = posixpath.dirname(folder)
    beside = [
        other
        for other in pictures
        if posixpath.dirname(other) == above and role(posixpath.basename(other)) == "masks"
    ]
    return list(dict.fromkeys([folder, *beside]))


def _by_core(
    images: Mapping[str, str], names: Sequence[str], *, flat: bool
) -> dict[str, list[str]]:
    """Returns by images the masks whose names are those of images with a word more."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        stem, ending = posixpath.splitext(name)
        if ending.lower() not in MASK_SUFFIXES or role(stem) == "drawn":
            continue
        image_stem = _image_stem_in(name, images, flat=flat)
        if image_stem is not None:
            found[image_stem].append(name)
    return found


def _image_stem_in(mask_name: str, images: Mapping[str, str], *, flat: bool) -> str | None:
    """Returns the image whose name a mask has, with a word more; None if there is none."""
    stem, _ = posixpath.splitext(mask_name)
    for core, _ in cores_in(stem):
        if core in images and not (flat and images[core] == mask_name):
            return core
    match = find_infix(mask_name, images.keys())
    return match.image_stem if match else None
