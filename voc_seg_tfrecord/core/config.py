"""The config that a build is made from, and how it shows itself."""

from collections.abc import Mapping, Sequence
import copy
import dataclasses
import functools
import json
from typing import Any, Literal, Self, cast

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import config_checks, config_fields, display
from voc_seg_tfrecord.core.bands import RGB, Bands, Dtype
from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.class_rows import Rows, are_whole, check_rows
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config_fields import (
    SAMPLE,
    SAMPLE_TREE,
    MissingImage,
    MissingMask,
    SplitBy,
)
from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.example import ExampleSpec, Exif, NeededFiles, Task
from voc_seg_tfrecord.core.folds import divide_train
from voc_seg_tfrecord.core.grouping import NO_GROUPS, Grouping
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.ratios import by_split_name
from voc_seg_tfrecord.core.releases import RELEASES, Release
from voc_seg_tfrecord.core.scaling import Resizing
from voc_seg_tfrecord.core.tiling import TileFormat, Tiling


class _PlaceholderNames(tuple[str, ...]):
    """Class names that the user did not give; compared as an object, by `is`."""

    __slots__ = ()


_CLASSES_BY_DEFAULT = _PlaceholderNames(VOC_CLASSES)
"""VOC's names for own data. A complete table of classes or a release replaces them; a folder whose
masks are not VOC's refuses them."""

CLASSES_OF_FOLDER = _PlaceholderNames()
"""The `class_names` of a config whose folder has the classes: not known yet. `with_findings` adds
them."""

_MAX_SHOWN_CLASSES = 3
"""How many names of classes a config shows of itself in one line."""


@dataclasses.dataclass(eq=False, kw_only=True)
class VocSegConfig(tfds.core.BuilderConfig):
    """What one dataset is made from. Give it a name of its own, and a tree with `--manual_dir`.

    Attributes:
      name: the config's name; the dataset is called `voc_seg_tfrecord/<name>`.
      version: the dataset's version, such as `1.1.0`, by default `1.0.0`. Each version has a folder
        of its own, and `tfds.load` takes the newest one unless a version is named.
      release: name of the official release, such as `2007` or `2012_aug`; empty for own data.
      strict: whether the id lists must be the release's official lists; for a release, yes by
        default. `False` builds a part of a release.
      class_names: the classes of the values 0, 1, 2, background among them. Defaults to those of
        the release, and for own data to VOC's 21 if the folder's masks have VOC's colors, or its
        class file VOC's names; else the build stops. A name such as `void` or `ignore` is not a
        class of the dataset: its pixels are 255, and the numbers of later classes are one lower.
      classes: pairs of a key and a class, which replace what `class_names` gives for these keys:
        `[[255, "crack"], ["#ff0000", "weed"], ["car", "vehicle"], ["*", "void"]]`. A key is a
        value, a color, a name of `class_names`, or `*` for all others. Without `class_names`, these
        pairs are the complete table.
      default_names: whether nobody gave `class_names`, so that they are default names:
        `background` and `foreground`, or `class_0`, `class_1` and so on. The build sets it, and
        later names replace them.
      background: name of the background class; needed only if it is not called background or bg, in
        any spelling.
      splits: split names and where each comes from: a list (`{"train": "trainaug"}`), a part
        of a file (`{"train": "meta.csv:train"}`), a folder (`{"train": "train/"}`), or a ratio
        for all of them (`{"train": 0.8, "validation": 0.2}`). By default the folder's lists and
        folders decide; `val` becomes `validation`.
      instance_mask: whether to add the feature `instance_mask`, from SegmentationObject. By default
        only if the release has it; not for own data. The option is `--instance_masks`.
      objects: whether to add the feature `objects`, from Annotations. By default only if the
        release has it; not for own data.
      layout: names of folders, and patterns of file names, that differ from VOC's: `images`,
        `masks`, `lists`, `image_name`, `mask_name`.
      missing_mask: what to do about a listed image without a mask: `error`; `skip` leaves it
        out; `background` gives it a mask of background alone, and needs a background class.
      missing_image: what to do about a listed id without an image: `error`, or `skip` leaves it
        out.
      exclude: images to leave out, by their ids, such as those of damaged files.
      threshold: for soft masks (black and white with gray edges, such as JPEGs): a gray from 1 to
        255. A pixel of this gray or a lighter one is read as 255, all others as 0.
      ignore_masks: the folder of ignore masks, such as DRIVE's field of view. Where an ignore mask
        is 0, the mask of its image is void. Each image needs one.
      resize_masks: `nearest` scales a mask to the size of its image if both have the same
        proportions. By default a mask of another size is an error.
      exif: what to do about an image that EXIF rotates: rotate it if its mask demands it (`auto`),
        always (`apply`), or never (`ignore`).
      bands: the numbers, from 0, of the bands to store, in this order; or `rgb` for 8-bit RGB, even
        if bands or bits are lost. By default images are stored as 8-bit RGB, and an image that
        would lose bands or bits is an error. For `builder_from_tree` and the command `build`, `all`
        stands for all bands of the first image.
      dtype: the dtype of stored bands: `uint8`, `uint16` or `float32`. A value that it cannot hold
        is an error.
      task: `segmentation`; `classification` for records and arrays with one label per image in
        place of a mask; or `images` for records with neither, where `class_names` has to be empty.
      trust_images: whether to skip decoding each image as a test, because `check` has done it. The
        dataset's bytes stay the same.
      overlap: whether an id may be in several splits. The option is `--allow_overlap`.
      tile: height and width, in pixels, of the tiles that images and masks are cut into. By default
        they are not cut. Only for own data with masks and without `objects`.
      tile_overlap: number of pixels that neighboring tiles share. The option is
        `--tile_overlap`, or `--overlap` for short.
      tile_format: `png` stores the pixels of tiles without loss; `jpeg` encodes them again with
        quality 95.
      split_by: how ids are assigned to splits by ratio: by a `hash` of the id, or `stratified`, so
        that each split has about the same share of every class.
      folds: number of folds for k-fold cross-validation. The images of train are divided into the
        splits `fold_0`, `fold_1`, ... of equal size; other splits stay the same. With
        `builder_from_tree` and the command `build`, `split_by` is then `stratified` by default.
      group_by: which ids stay in the same split if splits come from ratios or folds: those with the
        same folder (`folder`; folders of splits do not count), the same text before the first `_`
        (`prefix:_`), the same text up to a word and its number (`word:patient`), or the same match
        of a regular expression (`regex:PATTERN`). With `none`, ids are independent, and the build
        does not ask. Without ratios and folds, lists must name groups instead of images.
      seed: seed for assigning ids to splits by ratio, and to folds.
      citation: how to cite the dataset, in BibTeX. Only a release has one by default.
      homepage: address of the dataset's page. Only a release has one by default.
      license: the dataset's license: its name or its text.
      packaged_tree: the package's folder that holds the tree, for data that comes with it.

    Raises:
      ConfigError: if a field is unknown or of another type, or if fields do not go together.
    """

    name: str = ""  # this default is refused, with the same error as any other wrong name
    version: Any = None  # TFDS takes its own type too
    release: str = ""
    strict: bool | None = None
    # A JSON config brings a list, so any sequence will do.
    class_names: Sequence[str] = _CLASSES_BY_DEFAULT
    classes: Sequence[Sequence[Any]] | Mapping[Any, str] = ()
    default_names: bool = False
    background: str = ""
    splits: Mapping[str, str | float] | None = None
    instance_mask: bool | None = None
    objects: bool | None = None
    layout: Mapping[str, str] | None = None
    missing_mask: MissingMask = "error"
    missing_image: MissingImage = "error"
    exclude: Sequence[str] = ()
    threshold: int | None = None
    ignore_masks: str = ""
    resize_masks: Resizing | None = None
    exif: Exif = "auto"
    bands: Sequence[int] | Literal["rgb"] | None = None
    dtype: Dtype = "uint8"
    task: Task = "segmentation"
    trust_images: bool = False
    overlap: bool = False
    tile: int | None = None
    tile_overlap: int = 0
    tile_format: TileFormat = "png"
    split_by: SplitBy = "hash"
    folds: int | None = None
    group_by: str = ""
    seed: int = 0
    citation: str | None = None
    homepage: str | None = None
    license: str | None = None
    # The package's folder that holds the tree, in place of --manual_dir. It is no field, so that it
    # is not in the JSON, which describes the data and not its location. A subclass could not have
    # it either, because `tfds build --config` wants all configs of one class.
    packaged_tree: dataclasses.InitVar[str] = ""

    def __new__(cls, *_: object, **fields: object) -> Self:
        """Refuses unknown fields, which JSON may bring, by an error of this package."""
        names = [*(field.name for field in dataclasses.fields(cls)), "packaged_tree"]
        config_fields.check_field_names(fields, names)
        config: Self = super().__new__(cls)
        return config

    def __post_init__(self, packaged_tree: str) -> None:
        config_fields.check_fields(self)
        self.packaged_tree = packaged_tree
        if self.version is not None:
            self.version = str(self.version)
        self._unpack_numbers()
        self._take_defaults_of_release()
        ratios = self.given_ratios
        if ratios and len(ratios) == len(self.splits or {}):
            self.splits = by_split_name(ratios, "option splits")
        config_checks.check_release(self)
        self.classes = check_rows(self.classes)
        self.exclude = tuple(self.exclude)
        if self.has_classes:
            self._finish_classes()
        config_checks.check_options(self)

    def _unpack_numbers(self) -> None:
        """Makes Python's numbers of NumPy's, which JSON cannot hold."""
        if self.bands is not None and not isinstance(self.bands, str):
            self.bands = tuple(int(number) for number in self.bands)
        if self.tile is not None:
            self.tile = int(self.tile)
        if self.threshold is not None:
            self.threshold = int(self.threshold)
        self.tile_overlap = int(self.tile_overlap)
        self.seed = int(self.seed)

    def _take_defaults_of_release(self) -> None:
        """Fills in what the user has not given. Own data have no release."""
        release = self.official
        if self.strict is None:
            self.strict = release is not None
        if self.instance_mask is None:
            self.instance_mask = release is not None and release.instances
        if self.objects is None:
            self.objects = release is not None and release.objects
        if release is None:
            return
        if not release.masks and self.task == type(self).task:
            self.task = "images"
        if self.class_names is _CLASSES_BY_DEFAULT:
            self.class_names = release.class_names if release.masks else ()

    def _finish_classes(self) -> None:
        """Brings the names of classes into one form, and checks the classes."""
        if self.has_classes_by_default and are_whole(cast(Rows, self.classes)):
            self.class_names = ()
        if not self.has_classes_by_default:
            # TFDS reads the names without blanks at their ends, whatever was written.
            self.class_names = tuple(name.strip() for name in self.class_names)
        config_checks.check_classes(self)

    @property
    def has_classes(self) -> bool:
        """Whether the classes are known. If not, `with_findings` adds those of the folder."""
        return self.class_names is not CLASSES_OF_FOLDER

    @property
    def has_classes_by_default(self) -> bool:
        """Whether the classes are VOC's for own data because the user gave none."""
        return isinstance(self.class_names, _PlaceholderNames) and self.has_classes

    def with_findings(
        self,
        *,
        class_names: Sequence[str] | None = None,
        default_names: bool = False,
        classes: Rows | None = None,
        background: str | None = None,
        bands: Sequence[int] | None = None,
    ) -> Self:
        """Returns the config with what was found in its folder.

        A field that is None stays as it is. The classes are checked again, and the bands are not:
        a file has them. New names are default names only if `default_names` says so.

        Raises:
          ConfigError: if there cannot be such classes.
        """
        config = copy.copy(self)
        config.__dict__.pop("table", None)  # the cached table is that of the old classes
        if class_names is not None:
            config.class_names = class_names
            config.default_names = default_names
        if classes is not None:
            config.classes = check_rows(classes)
        if background is not None:
            config.background = background
        if bands is not None:
            config.bands = bands
        config._finish_classes()
        return config

    @functools.cached_property
    def table(self) -> ClassTable:
        """The class of the dataset for each class of the masks, and for each row's key."""
        return ClassTable(tuple(self.class_names), cast(Rows, self.classes), self.background)

    @property
    def named_classes(self) -> tuple[str, ...]:
        """The classes of the masks: `class_names` without names that mean void."""
        return tuple(name for name in self.class_names if not is_void_name(name))

    @functools.cached_property
    def grouping(self) -> Grouping | None:
        """Which ids stay together in splits by ratio; None if each is on its own."""
        if self.group_by in ("", NO_GROUPS):
            return None
        return Grouping.parse(self.group_by)

    @property
    def built_class_names(self) -> Sequence[str]:
        """The class names of the dataset, in mask order."""
        return self.table.class_names if self.task == "segmentation" else self.class_names

    @property
    def built_background(self) -> str:
        """The name of the dataset's background class; empty where none is known."""
        return self.table.background_name if self.task == "segmentation" else self.background

    @property
    def official(self) -> Release | None:
        """The release that the tree is; None for own data."""
        return RELEASES.get(self.release)

    @property
    def split_lists(self) -> dict[str, str]:
        """The splits that a release may have, and the list that each is read from."""
        if self.splits is None and self.official is not None:
            return dict(self.official.list_by_split)
        return dict(cast(Mapping[str, str], self.splits))

    @property
    def ratios(self) -> dict[str, float]:
        """The share of each split, folds included; empty if lists or folders make the splits."""
        if self.folds is None:
            return self.given_ratios
        return divide_train(self.given_ratios, self.folds)

    @property
    def given_ratios(self) -> dict[str, float]:
        """The share of each split as it was given, before train is divided into folds."""
        splits = self.splits or {}
        return {split: ratio for split, ratio in splits.items() if not isinstance(ratio, str)}

    @property
    def mask_sources(self) -> Mapping[str, str]:
        """The values of the feature `mask_source` and their meaning; empty without it."""
        return self.official.mask_sources if self.official else {}

    @property
    def tiling(self) -> Tiling | None:
        """How images are cut into tiles; None if they are not."""
        if self.tile is None:
            return None
        return Tiling(self.tile, self.tile_overlap, self.tile_format)

    @property
    def kept_bands(self) -> Bands | None:
        """Which bands images keep; None if they are RGB of 8 bits."""
        if self.bands is None or isinstance(self.bands, str):
            return None
        return Bands(tuple(self.bands), self.dtype)

    @property
    def needed_files(self) -> NeededFiles:
        """The files that examples need beside their images."""
        return NeededFiles(
            masks=self.task == "segmentation",
            instances=bool(self.instance_mask),
            annotations=bool(self.objects),
            background=self.missing_mask == "background" and self.official is None,
        )

    def index_rule(self, position_by_value: Mapping[int, int] | None = None) -> MaskRule:
        """Returns the rule of masks whose values are positions in `class_names`, or have a row.

        Args:
          position_by_value: the position, or 255, for each value; by default the value itself.
        """
        return MaskRule(self.table.index_values(position_by_value))

    def example_spec(self, rule: MaskRule) -> ExampleSpec:
        """Returns what examples are to hold, with masks read by a rule."""
        return ExampleSpec(
            tuple(self.built_class_names),
            rule,
            instances=bool(self.instance_mask),
            objects=bool(self.objects),
            official=self.official is not None,
            exif="ignore" if self.official else self.exif,
            task=self.task,
            mask_source=bool(self.mask_sources),
            decoding="none" if self.trust_images else "readable",
            background=self.built_background,
            tiling=self.tiling,
            table=self.table if self.task == "segmentation" else None,
            bands=self.kept_bands,
            user_wants_rgb=self.bands == RGB,
            resizing=self.resize_masks,
        )

    def __repr__(self) -> str:
        changed = changed_fields(self)
        changed.pop("description", None)
        if "class_names" in changed and len(self.class_names) > _MAX_SHOWN_CLASSES:
            changed["class_names"] = several(self.class_names, _MAX_SHOWN_CLASSES)
        return display.brief_line(self, *(f"{name}={value!r}" for name, value in changed.items()))

    def _repr_html_(self) -> str:
        rows = ((name, str(value)) for name, value in changed_fields(self).items())
        return display.brief_table(f"config {self.name}", ("field", "value"), rows)

    def to_json(self) -> str:
        """Returns the config as `tfds build --config` takes it: what differs from defaults."""
        return json.dumps(changed_fields(self))


@functools.cache
def _defaults(release: str) -> Mapping[str, object]:
    """Returns the defaults of all fields but the name. They differ from release to release."""
    config = VocSegConfig(name="default", release=release)
    fields = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    del fields["name"]
    return fields


def changed_fields(config: VocSegConfig) -> dict[str, object]:
    """Returns name and release, and the fields that differ from their defaults."""
    defaults = dict(_defaults(config.release))
    if config.official is None and are_whole(cast(Rows, config.classes)):
        defaults["class_names"] = ()  # a complete table needs no names
    elif config.official is None and not config.has_classes_by_default:
        defaults["class_names"] = None  # VOC's names count too, if the user gave them
    fields: dict[str, object] = {"name": config.name}
    if config.release:
        fields["release"] = config.release
    for name, default in defaults.items():
        value = getattr(config, name)
        if value != default:
            fields[name] = value
    return fields


BUILDER_CONFIGS = [
    *(
        VocSegConfig(name=row.name, release=row.name, description=row.description)
        for row in RELEASES.values()
    ),
    VocSegConfig(
        name=SAMPLE,
        packaged_tree=SAMPLE_TREE,
        instance_mask=True,
        objects=True,
        description="Six small drawn images in VOC's layout, to try things with no download.",
    ),
]
"""The configs that `tfds build` knows by name; the first is the default."""
