"""What the names of files tell of their role, and what a few files show."""

from collections.abc import Iterable
import posixpath

from voc_seg_tfrecord.folder.files.align import Affix
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import list_roles, role_of_name
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder

_RANK_OF_IMAGES = {"images": 2, "": 1, "masks": 0, "drawn": -1}
_RANK_OF_MASKS = {"masks": 2, "": 1, "images": 0, "drawn": -1}
"""How well the role in a name fits images, and masks. A name may have no role: the empty text."""


class FileEvidence:
    """What the rules look at beside the candidates.

    Args:
      given: the folder, and the user's options.
      pairings: all pairings of the folder.

    Attributes:
      given: see above.
      looks: what files show. No file is opened twice for one question.
      common: the folder in which all files of all pairings lie.
    """

    def __init__(self, given: GivenLayout, pairings: Iterable[Pairing]):
        self.given = given
        self.looks = given.looks
        self.common = common_folder([folder for p in pairings for folder in p.folders])
        self._roles: dict[tuple[str, str, bool], str] = {}

    def role(self, files: FileSet, affix: Affix, *, is_flat: bool = False) -> str:
        """Returns the role in names of files and folders: `images`, `masks`, `drawn` or empty.

        Args:
          files: the files.
          affix: what their names have around the ids, and those of their other halves do not have.
          is_flat: whether images and masks lie in one folder. The name of such a folder gives no
            role, except `drawn`.
        """
        key = (files.folder, " ".join([*files.affix, *affix]), is_flat)
        if key not in self._roles:
            self._roles[key] = self._find_role(*key)
        return self._roles[key]

    def _find_role(self, folder: str, affixes: str, is_flat: bool) -> str:
        own_role = role_of_name(affixes)
        roles_of_folders = list_roles(posixpath.relpath(folder or ".", self.common or "."))
        if "drawn" in (own_role, *roles_of_folders):
            return "drawn"
        if not is_flat and roles_of_folders:
            return roles_of_folders[0]
        return own_role

    def image_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the images of a pairing."""
        return self.role(pairing.images, pairing.image_affix, is_flat=pairing.is_flat)

    def mask_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the masks of a pairing."""
        return self.role(pairing.masks, pairing.mask_affix, is_flat=pairing.is_flat)

    def lies_among_masks(self, pairing: Pairing) -> bool:
        """Says whether the images of a pairing lie in a folder that is called masks."""
        return self.role(pairing.images, pairing.image_affix) == "masks"

    def name_rank(self, pairing: Pairing) -> int:
        """Returns how well roles in names fit images and masks: 4 if both are called so."""
        rank_of_images = _RANK_OF_IMAGES[self.image_role(pairing)]
        return rank_of_images + _RANK_OF_MASKS[self.mask_role(pairing)]
