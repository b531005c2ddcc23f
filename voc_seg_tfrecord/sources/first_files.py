"""Checks a few files of a plan for what a build would refuse in all of them, and asks about it.

These are the first images, for their bands, and masks spread over the plan, for their sizes.
"""

from collections.abc import Iterator
import dataclasses
import itertools

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.tiling import is_scaled
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.formats import images as image_files
from voc_seg_tfrecord.formats import mask_samples, pillow
from voc_seg_tfrecord.formats.index_masks import ADVICE_ON_OTHER_SIZE, OTHER_SIZE
from voc_seg_tfrecord.formats.narrow import LostBandsError

MAX_CHECKED_FILES = 8
"""How many images, and how many masks, are read before all others."""

_DEEP_ENDINGS = (".png", ".tif", ".tiff")


def check_first_files(plan: FolderPlan) -> None:
    """Checks that the first images lose no bands or bits, and a few masks have their images' sizes.

    Any other fault of a file is left to the build, which reports those of all files.

    Raises:
      QuestionError: if an image would lose bands or bits, or if more than half of the masks seem to
        be scaled.
      LostBandsError: if an image would lose bands or bits, and no option keeps them.
    """
    _check_bands(plan)
    _check_sizes(plan)


def _check_bands(plan: FolderPlan) -> None:
    """Raises the question which bands to keep, if an image would lose bands or bits."""
    if plan.config.bands is not None:
        return
    deep_images = (path for path in _list_images(plan) if path.lower().endswith(_DEEP_ENDINGS))
    for path in itertools.islice(deep_images, MAX_CHECKED_FILES):
        try:
            image_files.open_image(File.read(path), decoding="none")
        except LostBandsError as error:
            is_answered_by_option = bool(error.ways)
            if not is_answered_by_option:
                raise
            raise _ask_for_bands(error) from None
        except VocSegError:
            continue


def _list_images(plan: FolderPlan) -> Iterator[str]:
    """Yields the paths of the images of all splits, without listed images that do not exist."""
    for image_id in itertools.chain(*plan.splits.values()):
        if image_id in plan.tree.images:
            yield str(plan.tree.image_file(image_id))


def _ask_for_bands(error: LostBandsError) -> QuestionError:
    """Returns the question which bands of the images to keep."""
    return QuestionError(
        error.where,
        [Alternative(words, options) for words, options in error.ways.items()],
        facts=[error.found],
        task="read the bands of the images",
        expected=error.expected,
        kind=error.kind,
    )


@dataclasses.dataclass(frozen=True)
class _ScaledMask:
    """A mask of another size than its image, with its proportions.

    Attributes:
      where: the mask.
      size: height and width of the mask, in pixels.
      image_size: those of its image.
    """

    where: str
    size: tuple[int, int]
    image_size: tuple[int, int]

    def describe(self) -> str:
        """Returns both sizes in words, the width first."""
        height, width = self.size
        image_height, image_width = self.image_size
        return (
            f"mask of {width} x {height} pixels, beside an image of {image_width} x {image_height}"
        )


def _check_sizes(plan: FolderPlan) -> None:
    """Raises the question whether to scale masks, if most have their images' proportions alone."""
    tree = plan.tree
    if plan.config.resize_masks is not None or tree.labels.origin:
        return
    ids = [
        image_id
        for image_id in itertools.chain(*plan.splits.values())
        if image_id in tree.images and image_id in tree.masks
    ]
    checked_ids = few(ids, MAX_CHECKED_FILES)
    scaled_masks: list[_ScaledMask] = []
    for image_id in checked_ids:
        try:
            mask = tree.labels.file(image_id)
            size = pillow.read_size(File.read(tree.image_file(image_id), ImageError), ImageError)
            mask_size = mask_samples.size_of(mask)
        except VocSegError:
            continue
        if mask_size != size and is_scaled(mask_size, size):
            scaled_masks.append(_ScaledMask(mask.where, mask_size, size))
    are_most_scaled = 2 * len(scaled_masks) > len(checked_ids)
    if not are_most_scaled:
        return
    example = scaled_masks[-1]
    raise QuestionError(
        example.where,
        [
            Alternative(
                "if the masks show all of their images at another size", {"resize_masks": "nearest"}
            )
        ],
        facts=[example.describe()],
        task="read masks of another size than their images",
        expected="masks of the size of their images",
        kind=OTHER_SIZE,
        by_hand=ADVICE_ON_OTHER_SIZE,
    )
