"""What the splits of a folder are decided from: its images, and the texts that name them."""

from collections.abc import Iterable, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.words import SPLIT_BY_WORD, list_splits_in
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate
from voc_seg_tfrecord.folder.splits.copied_images import find_repeated_images
from voc_seg_tfrecord.folder.splits.find_lists import find_lists
from voc_seg_tfrecord.folder.splits.folders import SplitFolders
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList
from voc_seg_tfrecord.folder.splits.unread_files import UnreadFiles, find_unread_files
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.texts import READ_ENDINGS

MIN_LETTERS_OF_SPLIT = 3
"""Letters of a word in the name of an image that says a split; shorter ones may be anything."""

_SPLIT_IN_NAME = re.compile(
    "|".join(word for word in SPLIT_BY_WORD if len(word) >= MIN_LETTERS_OF_SPLIT), re.IGNORECASE
)

_ENDINGS_OF_READ_FILES = {*IMAGE_OR_MASK_ENDINGS, *READ_ENDINGS} - {".npy"}


@dataclasses.dataclass(frozen=True)
class SplitEvidence:
    """What the splits of a folder are decided from.

    Attributes:
      tree: the images and labels.
      image_names: the id of an image by any name that a text may have for it.
      lists: the texts that name images, those in the most usual folders first.
      notes: what a user should know about texts that look like lists of splits and are none.
      unclear: the texts that name images and splits, and are not understood.
      ids_by_group: the images of each group that a text may name in place of images.
      list_names_group: whether a text names such a group.
      of_other_names: the texts with splits of images that are not in the folder.
      user_gave_lists: whether the user gave the folder of the lists, with `--lists`.
      folds: the lists of each division into folds, of which the user says which one validates.
      candidates: the candidates for the splits; see `find_candidates`.
      remaining_candidates: those of them that no rule beats; those that belong together are one.
    """

    tree: VocTree
    image_names: ImageNames = dataclasses.field(default_factory=ImageNames)
    lists: Sequence[SplitList] = ()
    notes: Sequence[str] = ()
    unclear: Sequence[UnclearText] = ()
    ids_by_group: IdsByGroup = dataclasses.field(default_factory=dict)
    list_names_group: bool = False
    of_other_names: Sequence[UnclearText] = ()
    user_gave_lists: bool = False
    folds: Sequence[Sequence[SplitList]] = ()
    candidates: Sequence[SplitCandidate] = ()
    remaining_candidates: Sequence[SplitCandidate] = ()

    @classmethod
    def find(
        cls, tree: VocTree, ids_by_group: IdsByGroup, *, user_gave_lists: bool
    ) -> "SplitEvidence":
        """Reads the texts of a folder.

        Args:
          tree: the images and labels.
          ids_by_group: the images of each group that a text may name in place of images.
          user_gave_lists: whether the user gave the folder of lists.
        """
        # A file with the shapes of many images is no mask that a list may name.
        masks = Names() if tree.labels.label_files else tree.masks
        image_names = ImageNames(
            tree.images,
            masks,
            image_folder=tree.folder_below_given("images"),
            mask_folder=tree.folder_below_given("masks"),
        )
        texts = find_lists(tree, image_names, ids_by_group, user_gave_lists=user_gave_lists)
        return cls(
            tree,
            image_names,
            texts.lists,
            texts.notes,
            texts.unclear,
            ids_by_group=ids_by_group,
            list_names_group=texts.name_group,
            of_other_names=texts.of_other_names,
            user_gave_lists=user_gave_lists,
        )

    @functools.cached_property
    def repeated_images(self) -> Sequence[Sequence[str]]:
        """The ids of each labeled image that lies in several folders: they belong in one split."""
        return find_repeated_images(self.tree)

    @functools.cached_property
    def unread_files(self) -> UnreadFiles:
        """The files that may say splits, in a form that is not read."""
        return find_unread_files(self.tree, self.image_names)

    @functools.cached_property
    def split_folders(self) -> SplitFolders:
        """The folders of splits."""
        return SplitFolders(self.tree)

    @property
    def says_nothing(self) -> bool:
        """Whether no text, no second folder, no name and no unread file can say splits.

        Names of images that have a word for a split among other letters, as in `attest_1`, may.
        """
        tree = self.tree
        texts = (*self.lists, *self.notes, *self.unclear, *self.of_other_names)
        has_several_folders = tree.layout.parts or any("/" in image_id for image_id in tree.images)
        if texts or has_several_folders or tree.labels.label_files or self.user_gave_lists:
            return False
        path = tree.folder_below_given("images")
        if list_splits_in(path) or _SPLIT_IN_NAME.search("\n".join(tree.images)):
            return False
        assert tree.listing
        files = itertools.chain(*tree.listing.files_by_folder.values())
        return all(ending_of(name) in _ENDINGS_OF_READ_FILES for name in files)

    def labeled_ids_outside(self, candidates: Iterable[SplitCandidate]) -> list[str]:
        """Returns the labeled images that are in no split of any candidate."""
        used_ids = {image_id for candidate in candidates for image_id in candidate.split_by_id}
        return [image_id for image_id in self.tree.labeled_ids if image_id not in used_ids]

    def words_for(self, split_list: SplitList) -> str:
        """Returns a list as a user reads it: its name alone if it lies where lists usually lie."""
        if split_list.rank < ListRank.ELSEWHERE:
            name = posixpath.basename(split_list.file)
        elif self.tree.root_below_given:
            name = split_list.file.removeprefix(f"{self.tree.root_below_given}/")
        else:
            name = split_list.file
        return split_list.with_key(name)

    def option_for(self, split_list: SplitList) -> str:
        """Returns a list as the option `splits` gives it: `val`, `meta/val.csv`, `all.csv:val`."""
        tree = self.tree
        usual_folder = tree.path_below_given(tree.layout.lists)
        path, ending = posixpath.splitext(split_list.file)
        folder = posixpath.dirname(path) or "."
        if folder == usual_folder and ending == ".txt" and not split_list.key:
            return posixpath.basename(path)
        return split_list.name
