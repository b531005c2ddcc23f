"""Reads images and masks of a checked folder as a build would store them, as far as it can."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
from typing import Any

import numpy as np

from voc_seg_tfrecord.audit.check import Report
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import IMAGE, MASK
from voc_seg_tfrecord.formats import band_files, pillow
from voc_seg_tfrecord.report.band_display import (
    MAX_SAMPLED_IMAGES_PER_SPLIT,
    BandDisplay,
    make_display,
    pixels_with_data,
)
from voc_seg_tfrecord.writing.examples import make_example


@dataclasses.dataclass(frozen=True)
class FolderExamples:
    """The examples that a build would make of a folder.

    Attributes:
      report: what was found in the folder.
      config: the config of the build; None if no build could read the folder.
    """

    report: Report
    config: VocSegConfig | None

    def read_classes(self, image_id: str) -> np.ndarray | None:
        """Returns the classes of a mask, uint8 `[H, W]`; None if a build could not read it.

        Args:
          image_id: the id in the tree.
        """
        example = self._make_example(image_id)
        return None if example is None else _classes_of(example)

    def show_bands(self, image_id: str, display: BandDisplay) -> np.ndarray | None:
        """Returns an image as a display shows its bands, uint8 `[H, W, 3]`.

        Args:
          image_id: the id in the tree.
          display: how the bands become red, green and blue.

        Returns:
          None if a build could not read image or mask.
        """
        example = self._make_example(image_id)
        return None if example is None else display.show(_bands_of(example))

    def _make_example(self, image_id: str) -> dict[str, Any] | None:
        """Returns what a record would have of an id; None if a build could not make it."""
        tree = self.report.tree
        if self.report.plan is None or self.config is None or tree is None:
            return None
        spec = self.config.example_spec(self.report.plan.mask_rule)
        spec = dataclasses.replace(spec, decoding="none", instances=False, objects=False)
        try:
            return make_example(tree.items()[image_id].read(), spec)
        except Exception:  # a page is written, whatever a file does to a decoder
            return None

    def find_display(self, rgb: Sequence[int] | None = None) -> BandDisplay | None:
        """Returns how the images are shown in the same way; None if each is shown as it is.

        Images are shown as they are if a build keeps RGB of 8 bits, or could not read the folder.

        Args:
          rgb: the bands for red, green and blue, as the dataset numbers them; by default the first
            three, or one.

        Raises:
          ConfigError: if there is no such band, or a build keeps RGB of 8 bits.
        """
        if self.config is None:
            return None
        kept_bands = self.config.kept_bands
        if kept_bands is not None:
            band_count = len(kept_bands.numbers)
            return make_display(band_count, np.dtype(kept_bands.dtype), self._sample_pixels(), rgb)
        if rgb is None:
            return None
        raise ConfigError(
            "--rgb",
            found="images of which a build keeps RGB of 8 bits",
            expected="--bands with it: which bands are kept, among which --rgb chooses",
            remedy="add --bands all, or leave --rgb out",
        )

    def _sample_pixels(self) -> Iterator[np.ndarray]:
        """Yields some pixels with data of some images, `[M, N]` of the dtype of the build."""
        for image_id in self._choose_sampled_ids():
            example = self._make_example(image_id)
            if example is not None:
                yield pixels_with_data(_bands_of(example), _classes_of(example))

    def _choose_sampled_ids(self) -> list[str]:
        """Returns the first images of each split; of all images if the splits are not decided."""
        plan = self.report.plan
        if plan is None:
            return []
        ids_by_split = dict(plan.splits) or {"all": plan.tree.labeled_ids}
        sampled_ids: list[str] = []
        for ids in ids_by_split.values():
            sampled_ids += ids[:MAX_SAMPLED_IMAGES_PER_SPLIT]
        return sampled_ids


def _classes_of(example: Mapping[str, Any]) -> np.ndarray:
    """Returns the mask of an example, uint8 `[H, W]`."""
    return pillow.decode(File(example[MASK], MASK), MaskError).values()


def _bands_of(example: Mapping[str, Any]) -> np.ndarray:
    """Returns the image of an example, `[H, W, N]` of its dtype."""
    stored = example[IMAGE]
    return band_files.read(File(stored, IMAGE)) if isinstance(stored, bytes) else stored
