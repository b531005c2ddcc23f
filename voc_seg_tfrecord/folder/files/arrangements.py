"""Groups pairings to candidates: those whose folders have the same relative position.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
import dataclasses
import re

from voc_seg_tfrecord.folder.files.affixes import core_of
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names


def list_candidates(
    pairings: Iterable[Pairing], role_key: Callable[[Pairing], Hashable]
) -> list[PairingCandidate]:
    """Returns the candidates of a folder, those of the most pairings first.

    Args:
      pairings: all pairings of the folder.
      role_key: returns the roles that names of a pairing's folders and files tell of its images
        and masks. Pairings of different keys are in different candidates.
    """
    pairings_by_key: dict[Hashable, list[Pairing]] = {}
    for pairing in pairings:
        key = (_arrangement_of(pairing), role_key(pairing))
        pairings_by_key.setdefault(key, []).append(pairing)
    candidates: list[PairingCandidate] = []
    for group in pairings_by_key.values():
        for same_kind in _separate_from_splits(group):
            candidates += _separate_overlapping(same_kind)
    return sorted(candidates, key=lambda candidate: -len(candidate.pairings))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Arrangement:
    """The relative position of the folders of images and masks, and how files in them are named.

    It is the same for

    - `train/images` with `train/masks`, and `val/images` with `val/masks`;
    - `s1/images` with `s1/masks`, and `s2/images` with `s2/masks`;
    - `images/ulm` with `masks/ulm`, and `images/bonn` with `masks/bonn`.

    The words of splits are left out of folders; whether a folder has one is not.

    Attributes:
      image_name: the pattern of the images' names.
      mask_name: the pattern of the masks' names.
      depth: how many folders above both have.
      common_end_depth: how many folders at their ends have the same names.
      image_folders: the names of the folders in between that only images have.
      mask_folders: those that only masks have.
      same_split: whether both folders have the name of one split, or neither has any.
      only_images_have_split: whether only the folder of images has the name of a split.
    """

    image_name: str
    mask_name: str
    depth: int
    common_end_depth: int
    image_folders: tuple[str, ...]
    mask_folders: tuple[str, ...]
    same_split: bool
    only_images_have_split: bool


@dataclasses.dataclass(frozen=True)
class _FoldersOfTwoSplits:
    """Folders of images and masks that have the names of different splits: `train` and `val_masks`.

    Each such pairing is a candidate of its own.

    Attributes:
      folders: both folders.
      image_name: the pattern of the images' names.
      mask_name: the pattern of the masks' names.
    """

    folders: tuple[str, str]
    image_name: str
    mask_name: str


def _arrangement_of(pairing: Pairing) -> _Arrangement | _FoldersOfTwoSplits:
    """Returns the relative position of the folders of a pairing."""
    if pairing.image_and_mask_splits_differ:
        return _FoldersOfTwoSplits(pairing.folders, pairing.image_name, pairing.mask_name)
    image_split, mask_split = pairing.splits
    image_folder, mask_folder = (without_split_word(folder) for folder in pairing.folders)
    top = common_folder([image_folder, mask_folder])
    depth = len(folder_names(top))
    image_parts = folder_names(image_folder)[depth:]
    mask_parts = folder_names(mask_folder)[depth:]
    # `images/ulm` and `masks/ulm` become `images` and `masks`, with a common end of 1.
    common_end_depth = 0
    while image_parts and mask_parts and image_parts[-1] == mask_parts[-1]:
        image_parts.pop()
        mask_parts.pop()
        common_end_depth += 1
    return _Arrangement(
        image_name=pairing.image_name,
        mask_name=pairing.mask_name,
        depth=depth,
        common_end_depth=common_end_depth,
        image_folders=tuple(image_parts),
        mask_folders=tuple(mask_parts),
        same_split=image_split == mask_split,
        only_images_have_split=bool(image_split) and not mask_split,
    )


def _separate_from_splits(pairings: list[Pairing]) -> list[list[Pairing]]:
    """Separates folders without the name of a split from folders of splits, if one is train.

    - `images`, `images_train` and `images_val`: two groups, `images` alone and the other two.
    - `images` and `images_val`: one group, in which `images` is train.
    """
    of_splits = [pairing for pairing in pairings if any(pairing.splits)]
    others = [pairing for pairing in pairings if not any(pairing.splits)]
    has_train = any("train" in pairing.splits for pairing in of_splits)
    if others and has_train:
        return [of_splits, others]
    return [pairings]


def _separate_overlapping(pairings: Iterable[Pairing]) -> list[PairingCandidate]:
    """Makes candidates of pairings that are alike: one, unless an image or a mask is in two.

    Each pairing goes to the first candidate in which its images and masks are new.
    """
    groups: list[_DisjointPairings] = []
    for pairing in pairings:
        for group in groups:
            if group.is_apart_from(pairing):
                group.add(pairing)
                break
        else:
            new_group = _DisjointPairings()
            new_group.add(pairing)
            groups.append(new_group)
    return [PairingCandidate(tuple(group.pairings)) for group in groups]


class _DisjointPairings:
    """Pairings of which no two have an image in common, or a mask.

    Names are kept by folder, so that a pairing of other folders needs no comparison.
    """

    def __init__(self) -> None:
        self.pairings: list[Pairing] = []
        self._images_by_folder: dict[str, set[str]] = {}
        self._masks_by_folder: dict[str, set[str]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing that is apart from the others."""
        self.pairings.append(pairing)
        images = self._images_by_folder.setdefault(pairing.images.folder, set())
        images.update(_image_names(pairing))
        masks = self._masks_by_folder.setdefault(pairing.masks.folder, set())
        masks.update(_mask_names(pairing))

    def is_apart_from(self, pairing: Pairing) -> bool:
        """Says whether no image and no mask of a pairing is in the group."""
        images = self._images_by_folder.get(pairing.images.folder, set())
        masks = self._masks_by_folder.get(pairing.masks.folder, set())
        return images.isdisjoint(_image_names(pairing)) and masks.isdisjoint(_mask_names(pairing))


def _image_names(pairing: Pairing) -> list[str]:
    """Returns the names of the images that have a mask."""
    return [pairing.images.names[stem] for stem in pairing.pairs]


def _mask_names(pairing: Pairing) -> list[str]:
    """Returns the names of the masks that have an image."""
    return [pairing.masks.names[stem] for stem in pairing.pairs.values()]


def are_parts_of_one_set(pairings: Sequence[Pairing], are_same: Callable[[str, str], bool]) -> bool:
    """Says whether pairings that no layout has as one set differ in a number alone.

    | the images of the pairings | the number |
    | --- | --- |
    | `20180807/cam/20180807_cam_{id}`, `20180925/cam/20180925_cam_{id}` | the date in the names |
    | `images/{id}`, `images2/{id}` | at the end of the folders of images and masks |

    In the first case it is in the path, too, and has six digits, so that it is no size; and no
    image is there again. In the second case no id is: `images2` may show `images` in another size.

    Args:
      pairings: the pairings.
      are_same: says whether the files at two paths have the same bytes.
    """
    if len({_of_any_date(pairing) for pairing in pairings}) == 1:
        have_dates = all(_has_its_date(pairing) for pairing in pairings)
        return have_dates and not any(are_same(*paths) for paths in _images_of_one_id(pairings))
    return _are_numbered(pairings) and not any(_images_of_one_id(pairings))


def _images_of_one_id(pairings: Sequence[Pairing]) -> Iterator[tuple[str, str]]:
    """Yields the first image of each id and another one that another pairing has."""
    path_by_id: dict[str, str] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            path = pairing.images.path(stem)
            first_path = path_by_id.setdefault(core_of(stem, pairing.image_affix), path)
            if first_path != path:
                yield first_path, path


_DATE = re.compile(r"\d{6,}")
_NUMBER_OF_FOLDER = re.compile(r"(?<=[^\W\d_])\d$")


def _of_any_date(pairing: Pairing) -> Hashable:
    """Returns the arrangement of a pairing and its patterns, without the dates in these."""
    arrangement = _arrangement_of(pairing)
    return dataclasses.replace(
        arrangement,
        image_name=_DATE.sub("", pairing.image_name),
        mask_name=_DATE.sub("", pairing.mask_name),
    )


def _has_its_date(pairing: Pairing) -> bool:
    """Says whether the folder of images and masks has the one date of their names."""
    dates = {*_DATE.findall(pairing.image_name), *_DATE.findall(pairing.mask_name)}
    digits_of_folder = re.sub(r"\D", "", common_folder(pairing.folders))
    return len(dates) == 1 and dates.pop() in digits_of_folder


def _are_numbered(pairings: Iterable[Pairing]) -> bool:
    """Says whether the folders are those of one pairing, with one more digit: `images2`, `masks2`.

    Sizes and scales have more digits, or a sign before them: `images_512`, `images_x2`.
    """
    arrangements: set[Hashable] = set()
    has_pairing_without_number = False
    for pairing in pairings:
        images, masks = (_NUMBER_OF_FOLDER.sub("", folder) for folder in pairing.folders)
        numbers = {pairing.images.folder.removeprefix(images)}
        numbers.add(pairing.masks.folder.removeprefix(masks))
        if len(numbers) > 1:
            return False
        has_pairing_without_number |= numbers == {""}
        arrangements.add((images, masks, pairing.image_name, pairing.mask_name))
    return has_pairing_without_number and len(arrangements) == 1
