"""Groups pairings to candidates: those whose folders have the same relative position.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`.
"""

from collections.abc import Callable, Hashable, Iterable
import dataclasses

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
