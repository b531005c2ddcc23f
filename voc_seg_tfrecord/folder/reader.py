"""Finds the images, masks and texts of one folder, for one plan of it or for several.

Several plans are made where a question has to be asked: one for each alternative. They differ in
their options, and the files are the same.
"""

import dataclasses
import functools
from typing import Self

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import IMAGE_OR_ARRAY_ENDINGS, MASK_ENDINGS, SOFT_MASK_ENDINGS
from voc_seg_tfrecord.folder.files.discovery import find_tree
from voc_seg_tfrecord.folder.files.file_sets import RoleEndings
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.ignore_masks import (
    add_ignore_masks,
    ignores_all_masks_error,
    pair_ignore_masks,
)
from voc_seg_tfrecord.folder.files.no_masks import NO_MASKS
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
      layout: the folders and patterns of the config, by name.
      exif: what an EXIF orientation means.
      has_bands: whether bands of images are chosen, so that arrays may be images.
      threshold: the threshold of soft masks; None if none are read.
      ignore_masks: the folder of ignore masks; empty if there is none.
    """

    layout: frozenset[tuple[str, str]]
    exif: str
    has_bands: bool
    threshold: int | None
    ignore_masks: str

    @classmethod
    def of(cls, config: VocSegConfig) -> Self:
        """Returns the options of a config."""
        return cls(
            layout=frozenset((config.layout or {}).items()),
            exif=config.exif,
            has_bands=config.kept_bands is not None,
            threshold=config.threshold,
            ignore_masks=config.ignore_masks,
        )


@dataclasses.dataclass(frozen=True)
class _EvidenceOptions:
    """The options by which the evidence for splits is found.

    Attributes:
      files: those that say which files are images, masks and lists.
      group_rule: the rule of the groups that lists may name in place of images; empty if there is
        no rule, or if ratios make the splits.
    """

    files: _FileOptions
    group_rule: str


class FolderReader:
    """Reads one folder. What was listed and looked at for one config is not read again for another.

    Args:
      folder: the folder that a tool exported, or one above it.
    """

    def __init__(self, folder: epath.PathLike):
        self.folder = epath.Path(folder).expanduser()
        self._trees: dict[_FileOptions, VocTree] = {}
        self._split_evidence: dict[_EvidenceOptions, SplitEvidence] = {}

    @functools.cached_property
    def listing(self) -> Listing:
        """All files at and below the folder."""
        return Listing.of(self.folder)

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
                found="no such folder or archive",
                expected="the folder that your labeling tool exported",
                remedy="check the path",
            )
        options = _FileOptions.of(config)
        if options not in self._trees:
            self._trees[options] = self._find_tree(config)
        tree = self._trees[options]
        _check_masks_can_be_resized(tree, config)
        return tree

    def _find_tree(self, config: VocSegConfig) -> VocTree:
        """Returns the images and labels; ignore masks that the user named are neither."""
        endings = RoleEndings(
            images=IMAGE_ENDINGS if config.kept_bands is None else IMAGE_OR_ARRAY_ENDINGS,
            masks=MASK_ENDINGS if config.threshold is None else SOFT_MASK_ENDINGS,
        )
        named = {"ignore_masks": config.ignore_masks}
        ignore_layout = GivenLayout(self.listing, named, RoleEndings(), self._looks)
        ignore_folders = ignore_layout.ignore_folders()
        listing = self.listing
        if ignore_folders:
            listing = listing.without(ignore_folders)
        given = GivenLayout(listing, config.layout or {}, endings, self._looks)
        try:
            tree = find_tree(given, config.exif)
        except QuestionError as question:
            ignore_layout = dataclasses.replace(ignore_layout, listing=listing)
            raise add_ignore_masks(question, ignore_layout) from None
        except LayoutError as error:
            if ignore_folders and error.kind == NO_MASKS:
                raise ignores_all_masks_error(ignore_folders) from None
            raise
        if config.threshold is not None:
            tree = with_threshold(tree, config.threshold)
        if ignore_folders:
            tree = pair_ignore_masks(tree, self.listing, ignore_folders)
        return tree

    def find_split_evidence(self, config: VocSegConfig) -> SplitEvidence:
        """Returns the images of the set, and the texts that name them.

        Raises:
          VocSegError: if a text cannot be read that makes splits.
        """
        rule = "" if config.ratios else config.group_by
        options = _EvidenceOptions(_FileOptions.of(config), rule)
        if options not in self._split_evidence:
            tree = self.find_tree(config)
            ids_by_group = find_listed_groups(tree.images, config)
            self._split_evidence[options] = SplitEvidence.find(
                tree, ids_by_group, user_gave_lists="lists" in (config.layout or {})
            )
        return self._split_evidence[options]


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
