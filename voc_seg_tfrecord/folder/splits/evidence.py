"""What the splits of a folder are decided from: its images, and the texts that name them."""

from collections.abc import Container, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.splits.find_lists import find_lists
from voc_seg_tfrecord.folder.splits.folders import SplitFolders
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup
from voc_seg_tfrecord.folder.splits.repeated_images import find_repeated_images
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


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
    """

    tree: VocTree
    image_names: ImageNames = dataclasses.field(default_factory=ImageNames)
    lists: Sequence[SplitList] = ()
    notes: Sequence[str] = ()
    unclear: Sequence[UnclearText] = ()
    ids_by_group: IdsByGroup = dataclasses.field(default_factory=dict)
    list_names_group: bool = False
    of_other_names: Sequence[UnclearText] = ()

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
        image_folder = posixpath.join(tree.root_below_given, tree.layout.images)
        mask_folder = posixpath.join(tree.root_below_given, tree.layout.masks)
        # A file with the shapes of many images is no mask that a list may name.
        mask_names = Names() if tree.labels.label_files else tree.masks
        image_names = ImageNames(
            tree.images, mask_names, image_folder=image_folder, mask_folder=mask_folder
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
        )

    @functools.cached_property
    def repeated_images(self) -> Sequence[Sequence[str]]:
        """The ids of each labeled image that lies in several folders: they belong in one split."""
        return find_repeated_images(self.tree)

    @functools.cached_property
    def split_folders(self) -> SplitFolders:
        """The folders of splits."""
        return SplitFolders(self.tree)

    def labeled_ids_beside(self, used_ids: Container[str]) -> list[str]:
        """Returns the labeled images that are not among some ids."""
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
        usual_folder = posixpath.normpath(posixpath.join(tree.root_below_given, tree.layout.lists))
        path, ending = posixpath.splitext(split_list.file)
        folder = posixpath.dirname(path) or "."
        if folder == usual_folder and ending == ".txt" and not split_list.key:
            return posixpath.basename(path)
        return split_list.name
