"""Masks of pixels that are soft: a threshold makes them black and white when they are read."""

from collections.abc import Collection
import dataclasses
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError, MaskError, counted
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.mask_survey import Survey, survey_files
from voc_seg_tfrecord.folder.soft_masks import (
    HIGHEST_SOFT_VALUE,
    LOWEST_SOFT_VALUE,
    SoftCounts,
    apply_threshold,
)
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


def with_threshold(tree: VocTree, threshold: int) -> VocTree:
    """Returns a tree whose masks are soft.

    Args:
      tree: the tree.
      threshold: the lowest gray of pixels that become white.

    Raises:
      ConfigError: if the masks are drawn from polygons, or merged from those of classes.
    """
    labels = tree.labels
    if labels.origin:
        raise ConfigError(
            "option threshold",
            found=f"{threshold}, but the masks are {labels.origin}",
            expected="masks that are files of pixels, one for each image",
            remedy="leave threshold out, or name one folder of masks with --masks; soft masks of "
            "classes have to be saved with two values",
        )
    soft = SoftLabels(labels.folder, labels.names, threshold=threshold)
    return dataclasses.replace(tree, given_labels=soft)


@dataclasses.dataclass(frozen=True)
class SoftPair(Pair):
    """An image and its soft mask. See `Pair`.

    Attributes:
      threshold: the lowest gray of pixels that become white.
    """

    threshold: int = 0

    def read(self) -> RawExample:
        """Reads each file once, and makes the mask black and white."""
        raw = super().read()
        if raw.mask is None:
            return raw
        return dataclasses.replace(raw, mask=apply_threshold(raw.mask, self.threshold).file)


@dataclasses.dataclass(frozen=True, eq=False)
class SoftLabels(Labels):
    """The masks of a tree, as files of pixels that are soft.

    Attributes:
      threshold: the lowest gray of pixels that become white.
    """

    threshold: int = 0
    _counts_by_path: dict[str, SoftCounts] = dataclasses.field(default_factory=dict, init=False)
    """What was counted of the masks that were surveyed."""

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Reads the masks of ids as black and white ones; see `Labels`.

        Raises:
          MaskError: if none of them is a soft mask, about the first.
          ConfigError: if the threshold does nothing: if none of their pixels, or all of them, reach
            it, or if the masks are black and white without it.
        """
        found = survey_files(
            ids, self._path_of, self._read, self._content_by_id, all_colors=all_colors
        )
        if ids and found.damaged == found.examined:
            first_id = next(iter(ids))
            self.file(first_id)  # raises the error of the first mask
        self._check_threshold(ids)
        return found

    def file(self, image_id: str) -> File:
        """Returns the mask of an id that has one, with the values 0 and 255."""
        return self._read(self._path_of(image_id))

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that reads its mask as these labels have it."""
        del parts
        fields: dict[str, Any] = {**vars(pair), "surveyed": self.surveyed_mask(pair.id)}
        return SoftPair(**fields, threshold=self.threshold)

    def notes(self) -> list[str]:
        """Says how many pixels of the masks that were read are soft."""
        counts = sum(self._counts_by_path.values(), SoftCounts())
        if not counts.total:
            return []
        masks = counted(len(self._counts_by_path), "mask")
        return [
            f"Of the pixels of {masks}, {counts.soft / counts.total:.2%} are between "
            f"{LOWEST_SOFT_VALUE} and {HIGHEST_SOFT_VALUE}. From {self.threshold} on a pixel is "
            "255, and below it is 0."
        ]

    def _path_of(self, image_id: str) -> epath.Path:
        return self.folder / self.names[image_id]

    def _read(self, path: epath.PathLike) -> File:
        """Returns the black and white mask of a file, whose pixels are counted."""
        mask = apply_threshold(File.read(path, MaskError), self.threshold)
        self._counts_by_path[str(path)] = mask.counts
        return mask.file

    def _check_threshold(self, ids: Collection[str]) -> None:
        """Checks that the threshold divides the pixels of the masks that could be read."""
        paths = {str(self._path_of(image_id)) for image_id in ids}
        counts_of_masks = [self._counts_by_path[path] for path in paths & {*self._counts_by_path}]
        counts = sum(counts_of_masks, SoftCounts())
        if not counts.total:
            return
        if not counts.needs_threshold:
            fault = "each pixel is 0 or 255 already"
        elif counts.white == 0:
            fault = "no pixel of any mask reaches it"
        elif counts.white == counts.total:
            fault = "all pixels of all masks reach it"
        else:
            return
        raise ConfigError(
            "option threshold",
            found=f"{self.threshold}, and {fault}",
            expected="soft masks, and a threshold between the grays of background and class",
            remedy="leave threshold out if each value is a class; otherwise choose another "
            "threshold",
        )
