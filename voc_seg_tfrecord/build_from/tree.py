"""Builds a dataset from a folder that a labeling tool exported, in one call."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import itertools
from typing import Any

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.run import build_source, check_name, expand_class_names
from voc_seg_tfrecord.core.class_masks import find_class_masks
from voc_seg_tfrecord.core.config import CLASSES_OF_FOLDER, VocSegConfig
from voc_seg_tfrecord.core.config_fields import MissingMask
from voc_seg_tfrecord.core.errors import ConfigError, ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.alternatives import check_alternatives
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.plan import (
    ClassOptions,
    FolderPlan,
    OpenFolder,
    open_folder,
    plan_opened,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.formats import images as image_files
from voc_seg_tfrecord.formats import mask_samples, pillow
from voc_seg_tfrecord.formats.archives import FolderNaming, unpacked
from voc_seg_tfrecord.formats.index_masks import ADVICE_ON_OTHER_SIZE, OTHER_SIZE, is_scaled
from voc_seg_tfrecord.formats.narrow import LostBandsError
from voc_seg_tfrecord.sources.open import own_source, try_config
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

MAX_CHECKED_FILES = 8
"""How many images, and how many masks, are read before all others."""

_DEEP_ENDINGS = (".png", ".tif", ".tiff")


def builder_from_tree(
    root: PathLike,
    *,
    name: str,
    data_dir: PathLike | None = None,
    num_shards: int | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    verbose: bool = True,
    **options: Any,
) -> Builder:
    """Builds a dataset from a folder of images and masks or polygons, as labeling tools export.

    Args:
      root: the folder, or its `.zip` or `.tar`.
      name: the config's name; the dataset is called `voc_seg_tfrecord/<name>`.
      data_dir: where to write; TFDS's default if not given.
      num_shards: number of shards per split; TFDS chooses by default.
      overwrite: whether to replace an existing dataset.
      workers: number of processes that make the examples; by default one for each 3,000 images, at
        most one per core.
      verbose: whether to print what is found and decided, as the command `build` does (True).
      **options: options of the command `build`, such as `class_names`, `masks` or `splits`, and
        fields of `VocSegConfig` that are no option.

    Returns:
      The builder of the built dataset. `builder.as_dataset(split='train')` reads it.

    Raises:
      VocSegError: if the folder or an argument is wrong; nothing is built then.
    """
    with unpacked(root) as folder:
        plan = plan_to_build(folder, name=name, **options)
        if verbose:
            print(FolderNaming(str(folder), str(root)).rename(describe(plan)))
        return build_source(
            own_source(plan),
            plan.config,
            data_dir=data_dir,
            num_shards=num_shards,
            overwrite=overwrite,
            workers=workers,
        )


def plan_to_build(root: PathLike, *, name: str, **options: Any) -> FolderPlan:
    """Plans a folder completely, or asks the user; see `FolderPlanner`."""
    check_name(name)
    planner = FolderPlanner(root, name=name, **options)
    try:
        plan = planner.plan()
        check_first_files(plan)
    except QuestionError as question:
        raise planner.check_question(question) from None
    return plan


class FolderPlanner:
    """Plans a folder by the options that a user gave, and by those of alternatives with them.

    Args:
      root: the folder that a tool exported, or one above it.
      name: the config's name.
      **options: options of the command `build`, such as `class_names`, `masks` or `splits`, and
        fields of `VocSegConfig` that are no option.
    """

    def __init__(self, root: PathLike, *, name: str, **options: Any):
        self._reader = FolderReader(root)
        self._name = name
        self._options = options

    def plan(self, *, reads_on: bool = False) -> FolderPlan:
        """Returns the plan.

        Args:
          reads_on: whether the plan goes on where it cannot choose; see `plan_folder`.

        Raises:
          VocSegError: if the folder or the call is wrong, or something cannot be decided.
        """
        plan = plan_opened(self.open(reads_on=reads_on))
        return dataclasses.replace(plan, are_classes_numbered=self._are_classes_numbered())

    def _are_classes_numbered(self) -> bool:
        """Says whether the user gave the order of the classes."""
        if self._options.get("default_names"):
            return False
        return bool(self._options.get("class_names") or self._options.get("classes"))

    def open(self, *, reads_on: bool = False) -> OpenFolder:
        """Finds files, splits, pairs and classes; see `plan`."""
        config, class_options = config_from_options(name=self._name, **self._options)
        return open_folder(self._reader, config, class_options=class_options, reads_on=reads_on)

    def check_question(self, question: QuestionError) -> VocSegError:
        """Returns a question with the alternatives that work; see `check_alternatives`."""
        return check_alternatives(question, self._plan_alternative)

    def _plan_alternative(self, options: Mapping[str, Any]) -> FolderPlan:
        """Returns the plan with more options; see `alternatives.Planner`."""
        fields = {**self._options, **options}
        if "class_names" in options:
            fields["default_names"] = False
        config, class_options = config_from_options(name=self._name, **fields)
        plan = try_config(self._reader, config, class_options)
        check_first_files(plan)
        return plan


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


def config_from_options(
    *,
    name: str,
    class_names: Sequence[str] | None = None,
    images: str | None = None,
    masks: str | None = None,
    lists: str | None = None,
    image_name: str | None = None,
    mask_name: str | None = None,
    missing_mask: MissingMask | None = None,
    default_names: bool = False,
    background: str = "",
    **fields: Any,
) -> tuple[VocSegConfig, ClassOptions]:
    """Returns a config of the options that a user gave, and the options about classes.

    Args:
      name: the config's name.
      class_names: the classes of the values 0, 1, 2; `['voc']` means VOC's 21. By default they
        are read from the folder's class file.
      images: the folder of images, if its name is not a known one.
      masks: the folder of masks, likewise.
      lists: the folder of id lists, if it is neither VOC's nor the root.
      image_name: pattern of the images' names, such as `image_{id}.jpg`.
      mask_name: pattern of the masks' names, such as `gt_{id}.png`.
      missing_mask: what to do about a listed image without a mask; by default it is left out, or
        an error if the options name the masks of each class.
      default_names: whether `class_names` are default names of an earlier build. Then names that
        the folder gives replace them.
      background: name of the class that is background, if its name does not say so.
      **fields: other fields of `VocSegConfig`; but `layout`, which the options above make. Folds
        are stratified unless `split_by` is given.

    Raises:
      ConfigError: if the call is wrong, whatever the folder holds.
    """
    _check_no_layout(fields)
    folders_and_patterns = {
        "images": images,
        "masks": masks,
        "lists": lists,
        "image_name": image_name,
        "mask_name": mask_name,
    }
    layout = {option: text for option, text in folders_and_patterns.items() if text is not None}
    class_options = ClassOptions(
        classes=fields.get("classes") or (),
        background=background,
        default_names=tuple(class_names or ()) if default_names else (),
        all_bands=fields.get("bands") == "all",
    )
    if missing_mask is None:
        missing_mask = "error" if find_class_masks(layout) else "skip"
    config_fields = {**fields, "layout": layout or None, "missing_mask": missing_mask}
    if class_options.all_bands:
        config_fields["bands"] = [0]  # until an image is read
    if fields.get("folds") is not None:
        config_fields.setdefault("split_by", "stratified")
    if class_names and not default_names:
        config_fields["class_names"] = expand_class_names(class_names)
        config_fields["background"] = background
    else:  # the names and the rows of classes are set when the folder is planned
        config_fields["class_names"] = CLASSES_OF_FOLDER
        config_fields["classes"] = ()
    return VocSegConfig(name=name, **config_fields), class_options


def _check_no_layout(fields: Mapping[str, Any]) -> None:
    """Checks that no field is the `layout`, which would be lost.

    Raises:
      ConfigError: if one is.
    """
    layout = fields.get("layout")
    if layout:
        options = ", ".join(f"{option}={value!r}" for option, value in dict(layout).items())
        raise ConfigError(
            "option layout",
            found=repr(layout),
            expected="the folders and patterns as options of their own",
            remedy=f"give {options}",
        )
