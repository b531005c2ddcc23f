"""Finds the images, masks and texts of one folder, for one plan of it or for several.

Several plans are made where a question has to be asked: one for each alternative. They differ in
their options, and the files are the same.
"""

from collections.abc import Mapping
import dataclasses
import functools

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.folder.files import discovery
from voc_seg_tfrecord.folder.files.file_sets import RoleEndings
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.ignore_masks import add_ignore_masks, pair_ignore_masks
from voc_seg_tfrecord.folder.files.no_masks import NO_MASKS
from voc_seg_tfrecord.folder.files.object_masks import find_several_masks
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.listed_groups import find_listed_groups
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.soft_labels import with_threshold
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


@dataclasses.dataclass(frozen=True)
class _FileOptions:
    """The options that say which files are images, masks and lists.

    Attributes:
      layout: the names of folders and patterns that the user gave, sorted.
      exif: what an EXIF orientation means.
      has_bands: whether bands are wanted.
      threshold: from which gray on a pixel of soft masks is white; None if masks are not soft.
      ignore_masks: the folder of ignore masks; empty if the user named none.
    """

    layout: tuple[tuple[str, str], ...]
    exif: str
    has_bands: bool
    threshold: int | None = None
    ignore_masks: str = ""

    @classmethod
    def of(cls, config: VocSegConfig) -> "_FileOptions":
        """Returns those of a config."""
        options = cls(
            layout=(),
            exif=config.exif,
            has_bands=config.kept_bands is not None,
            threshold=config.threshold,
            ignore_masks=config.ignore_masks,
        )
        return options.with_layout(config.layout or {})

    def with_layout(self, layout: Mapping[str, str]) -> "_FileOptions":
        """Returns the same options with other folders and patterns."""
        return dataclasses.replace(self, layout=tuple(sorted(layout.items())))

    @property
    def gives_lists(self) -> bool:
        """Whether the user gave the folder of lists."""
        return "lists" in dict(self.layout)


class FolderReader:
    """Reads one folder. What was listed and looked at for one config is not read again for another.

    `find_tree` takes the first of these that there is:

    1. The images and masks that the names of folders and files pair, within the user's options.
    2. The error about several masks of each image, or the error of the first step.

    Args:
      folder: the folder that a tool exported, or one above it.
    """

    def __init__(self, folder: epath.PathLike):
        self.folder = epath.Path(folder).expanduser()
        self._trees: dict[_FileOptions, VocTree] = {}
        # By the rule of groups that lists may name, too.
        self._split_evidence: dict[tuple[_FileOptions, str], SplitEvidence] = {}

    @functools.cached_property
    def listing(self) -> Listing:
        """All files at and below the folder."""
        return Listing.of(self.folder)

    def _ignore_layout(self, listing: Listing, options: _FileOptions) -> GivenLayout:
        """Returns the layout of ignore masks that the user named, in some files of the folder."""
        named = {"ignore_masks": options.ignore_masks}
        return GivenLayout(listing, named, RoleEndings(), self._looks)

    def _find_ignore_folders(self, options: _FileOptions) -> list[str]:
        """Returns the folders of ignore masks that the user named."""
        return self._ignore_layout(self.listing, options).ignore_folders()

    def _listing_of_set(self, options: _FileOptions) -> Listing:
        """Returns all files but ignore masks, which are neither images nor masks."""
        folders = self._find_ignore_folders(options)
        return self.listing.without(folders) if folders else self.listing

    @functools.cached_property
    def _looks(self) -> Looks:
        return Looks(self.folder)

    def find_tree(self, config: VocSegConfig) -> VocTree:
        """Returns the images and labels, in the folders that the config names if it names any.

        Raises:
          ConfigError: if the folder, or one that the config names, does not exist; if polygons are
            to be read by a threshold or resized.
          LayoutError: if there is no set of images and masks, or more than one.
        """
        if not self.folder.is_dir():
            raise ConfigError(
                self.folder,
                found="no such folder",
                expected="the folder that your labeling tool exported",
                remedy="check the path",
            )
        options = _FileOptions.of(config)
        if options not in self._trees:
            try:
                self._trees[options] = self._find_tree_by_names(options)
            except LayoutError as error:
                if error.kind != NO_MASKS:
                    raise
                raise self._find_masks_of_objects(config) or error from None
        tree = self._trees[options]
        _check_masks_can_be_resized(tree, config)
        return tree

    def _find_masks_of_objects(self, config: VocSegConfig) -> LayoutError | None:
        """Returns the error about several masks of an image; None if images have one or none."""
        if "mask_name" in (config.layout or {}):
            return None
        listing = self._listing_of_set(_FileOptions.of(config))
        return find_several_masks(listing.root, listing.below())

    def find_split_evidence(self, config: VocSegConfig) -> SplitEvidence:
        """Returns the images of the set, and the texts that name them.

        Raises:
          VocSegError: if a text cannot be read that makes splits.
        """
        options = _FileOptions.of(config)
        rule = "" if config.ratios else config.group_by
        if (options, rule) not in self._split_evidence:
            tree = self.find_tree(config)
            ids_by_group = find_listed_groups(tree.images, config)
            self._split_evidence[options, rule] = SplitEvidence.find(
                tree, ids_by_group, user_gave_lists=options.gives_lists
            )
        return self._split_evidence[options, rule]

    def _find_tree_by_names(self, options: _FileOptions) -> VocTree:
        """Returns the images and labels that the names of folders and files pair."""
        listing = self._listing_of_set(options)
        try:
            tree = discovery.find_tree(
                listing,
                dict(options.layout),
                looks=self._looks,
                exif=options.exif,
                bands=options.has_bands,
                soft_masks=options.threshold is not None,
            )
        except QuestionError as question:
            raise add_ignore_masks(question, self._ignore_layout(listing, options)) from None
        if options.threshold is not None:
            tree = with_threshold(tree, options.threshold)
        ignore_folders = self._find_ignore_folders(options)
        if ignore_folders:
            tree = pair_ignore_masks(tree, self.listing, ignore_folders)
        return tree


def _check_masks_can_be_resized(tree: VocTree, config: VocSegConfig) -> None:
    """Checks that masks are files if they are to be resized: neither drawn nor merged.

    Raises:
      ConfigError: if they are.
    """
    if config.resize_masks is not None and tree.labels.origin:
        raise ConfigError(
            "option resize_masks",
            found=f"{config.resize_masks}, but the masks are {tree.labels.origin}",
            expected="masks that are files of pixels, one for each image",
            remedy="leave resize_masks out, or name the folder of masks with --masks",
        )
