"""What the names of files, and the pixels of a few, tell about a candidate of the files step."""

from collections.abc import Collection, Iterable
import dataclasses
import posixpath

from voc_seg_tfrecord.folder.files.affixes import Affix
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.file_looks import FileLooks
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import list_roles, role_of_name
from voc_seg_tfrecord.folder.files.pairings import Pairing, few
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.tree.listing import Listing

RANK_BY_ROLE_IN_NAME = {
    "images": {"images": 2, "": 1, "masks": 0, "drawn": -1},
    "masks": {"masks": 2, "": 1, "images": 0, "drawn": -1},
}
"""How well the role in a name fits images, and masks. A name may have no role: the empty text."""


@dataclasses.dataclass(frozen=True)
class _RoleKey:
    """What decides about the role of files.

    Attributes:
      folder: their folder.
      affixes: what their names have around the ids.
      is_flat: whether images and masks lie in one folder.
    """

    folder: str
    affixes: tuple[str, ...]
    is_flat: bool


class FileEvidence:
    """What the rules look at beside two candidates. No file is opened twice for one question.

    Args:
      listing: all that lies in the folder.
      pairings: all pairings of the folder.
      given: the names of the layout's options that the user gave.
      looks: what was seen of files before, by other plans of the folder.

    Attributes:
      listing: see above.
      given: see above.
      common: the folder in which all files of all pairings lie.
    """

    def __init__(
        self,
        listing: Listing,
        pairings: Iterable[Pairing],
        given: Collection[str],
        looks: FileLooks,
    ):
        self.listing = listing
        self.given = frozenset(given)
        self.common = common_folder([folder for p in pairings for folder in p.folders])
        self._roles: dict[_RoleKey, str] = {}
        self._looks = looks

    # Roles in names.

    def role(self, files: FileSet, affix: Affix, *, is_flat: bool = False) -> str:
        """Returns the role in names of files and folders: `images`, `masks`, `drawn` or empty.

        Args:
          files: the files.
          affix: what their names have around the ids, and those of their other halves do not have.
          is_flat: whether images and masks lie in one folder. The name of such a folder gives no
            role, except `drawn`.
        """
        key = _RoleKey(files.folder, (*files.affix, *affix), is_flat)
        if key not in self._roles:
            self._roles[key] = self._find_role(key)
        return self._roles[key]

    def _find_role(self, key: _RoleKey) -> str:
        own_role = role_of_name(" ".join(key.affixes))
        path = posixpath.relpath(key.folder or ".", self.common or ".")
        roles_of_folders = list_roles(path)
        if own_role == "drawn" or "drawn" in roles_of_folders:
            return "drawn"
        if not key.is_flat and roles_of_folders:
            return roles_of_folders[0]
        return own_role

    def image_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the images of a pairing."""
        return self.role(pairing.images, pairing.image_affix, is_flat=pairing.is_flat)

    def mask_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the masks of a pairing."""
        return self.role(pairing.masks, pairing.mask_affix, is_flat=pairing.is_flat)

    def name_rank(self, candidate: PairingCandidate) -> int:
        """Returns how well roles in names fit images and masks: 4 if both are called so."""
        pairing = candidate.pairings[0]
        rank_of_images = RANK_BY_ROLE_IN_NAME["images"][self.image_role(pairing)]
        rank_of_masks = RANK_BY_ROLE_IN_NAME["masks"][self.mask_role(pairing)]
        return rank_of_images + rank_of_masks

    def are_called_images(self, candidate: PairingCandidate) -> bool:
        """Says whether the images of a candidate are called images."""
        return self.image_role(candidate.pairings[0]) == "images"

    def are_called_masks(self, candidate: PairingCandidate) -> bool:
        """Says whether the masks of a candidate are called masks."""
        return self.mask_role(candidate.pairings[0]) == "masks"

    def are_called_drawings(self, candidate: PairingCandidate) -> bool:
        """Says whether the masks of a candidate are called predictions, overlays or the like."""
        return self.mask_role(candidate.pairings[0]) == "drawn"

    def are_images_among_masks(self, candidate: PairingCandidate) -> bool:
        """Says whether the images of a candidate lie in a folder that is called masks."""
        pairing = candidate.pairings[0]
        return self.role(pairing.images, pairing.image_affix) == "masks"

    # What a few files show.

    def looks_like_mask(self, path: str) -> bool:
        """Says whether a file, below the root of the listing, has few colors or values."""
        return self._looks.looks_like_mask(path)

    def masks_look_like_masks(self, candidate: PairingCandidate) -> bool:
        """Says whether all of a few masks of a candidate have few colors or values."""
        return all(self.looks_like_mask(pair.mask_path) for pair in candidate.sample())

    def images_look_like_masks(self, candidate: PairingCandidate) -> bool:
        """Says whether all of a few images of a candidate have few colors or values."""
        return all(self.looks_like_mask(pair.image_path) for pair in candidate.sample())

    def may_be_masks_alone(self, candidate: PairingCandidate) -> bool:
        """Says whether the images of a candidate look like masks, and are not called images."""
        return not self.are_called_images(candidate) and self.images_look_like_masks(candidate)

    def sizes_agree(self, candidate: PairingCandidate) -> bool:
        """Says whether at least half of a few images have the size of their masks."""
        sample = candidate.sample()
        agreeing = [
            pair for pair in sample if self._looks.sizes_agree(pair.image_path, pair.mask_path)
        ]
        return 2 * len(agreeing) >= len(sample)

    def show_images_of(self, pairing: Pairing, original: Pairing) -> bool:
        """Says whether a few images of a pairing are drawings, or show those of another pairing.

        Images of another size than their masks are no other photos either, but thumbnails.
        """
        if not self.sizes_agree(PairingCandidate((pairing,))):
            return True
        image_of_mask = {mask: image for image, mask in original.pairs.items()}
        images_by_original: dict[str, str] = {}
        for image, mask in pairing.pairs.items():
            if mask in image_of_mask:
                path = original.images.path(image_of_mask[mask])
                images_by_original[path] = pairing.images.path(image)
        for original_path in few([*images_by_original]):
            path = images_by_original[original_path]
            if self.looks_like_mask(path) or self.are_same(path, original_path):
                continue
            if not self._looks.shows(path, original_path):
                return False
        return True

    def length(self, path: str) -> int:
        """Returns how many bytes a file has, below the root of the listing; -1 if it has none."""
        return self._looks.length(path)

    def are_same(self, path: str, other: str) -> bool:
        """Says whether two files have the same bytes."""
        return self._looks.are_same(path, other)
