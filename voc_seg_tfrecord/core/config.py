"""The config that a build is made from, and how it shows itself."""

from collections.abc import Mapping, Sequence
import copy
import dataclasses
import functools
import json
from typing import Any, Literal, Self, cast

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import config_checks, config_fields, display
from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.class_rows import Rows, are_whole, check_rows
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config_fields import (
    AS_STORED,
    CAN_BE_CUT,
    CLASSES,
    DESCRIPTION,
    FOLDERS,
    HAS_BANDS,
    HAS_MASKS,
    IS_CUT,
    IS_DIVIDED,
    MAY_HAVE_GROUPS,
    NAME,
    NO_GROUPS,
    NOT_STRICT,
    OF_RELEASE,
    OWN_BANDS,
    OWN_IMAGES,
    OWN_MASKS,
    OWN_SPLITS,
    SAMPLE,
    SAMPLE_TREE,
    SPEED,
    TILES,
    MissingImage,
    MissingMask,
    SplitBy,
    are_pairs,
    are_sources,
    are_versions,
    is_address,
    is_gray,
    is_name,
    is_number_of_folds,
    is_version,
    list_fields,
    row,
    row_of_list,
)
from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.example import (
    RGB,
    Bands,
    Dtype,
    ExampleSpec,
    Exif,
    NeededFiles,
    Resizing,
    Task,
)
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.ratios import MAX_FOLDS, MIN_FOLDS, by_split_name, divide_train
from voc_seg_tfrecord.core.releases import RELEASES, Release
from voc_seg_tfrecord.core.tiling import TileFormat, Tiling


class _NamesByDefault(tuple[str, ...]):
    """VOC's class names for own data whose user gave none.

    A complete table of classes or a release replaces them; a folder whose masks are not VOC's
    refuses them.
    """

    __slots__ = ()


class _NamesOfFolder(tuple[str, ...]):
    """No class names yet: the folder has them, and `with_findings` adds them."""

    __slots__ = ()


CLASSES_OF_FOLDER = _NamesOfFolder()
"""The `class_names` of a config whose folder has the classes."""

_MAX_SHOWN_CLASSES = 3
"""How many names of classes a config shows of itself in one line."""


@dataclasses.dataclass(eq=False, kw_only=True)
class VocSegConfig(tfds.core.BuilderConfig):
    """What one dataset is made from. Give it a name of its own, and a tree with `--manual_dir`.

    Each field is declared with its type, its default, its meaning, and when it may be given. The
    checks of a config, the options of `build` and `check`, and the pages are made from these; see
    `config_fields`.
    `packaged_tree` is the package's folder that holds the tree, for data that comes with it.

    Raises:
      ConfigError: if a field is unknown or of another type, or if fields do not go together.
    """

    # The default of the name is refused, with the same error as any other wrong name.
    name: str = row(
        "",
        "name; the dataset is called `voc_seg_tfrecord/<name>`",
        words=NAME,
        accepts=is_name,
    )
    version: Any = row(  # TFDS takes its own type too
        None,
        "version of the dataset, such as 1.1.0. Each version has a folder of its own, and "
        "`tfds.load` takes the newest; default: 1.0.0",
        words="a version such as 1.0.0",
        accepts=is_version,
    )
    release_notes: Mapping[str, str] | None = row(None, "see TFDS", words="a text for each version")
    supported_versions: Sequence[Any] = row_of_list(
        "see TFDS",
        words="a list of versions such as 1.0.0",
        accepts=are_versions,
    )
    tags: Sequence[str] = row_of_list("see TFDS", words="a list of texts")
    description: str | None = row(
        None,
        "text about the data; default: none",
        group=DESCRIPTION,
        metavar="TEXT",
    )
    release: str = row(
        "",
        "official release, such as `2007` or `2012_aug`; empty for own data",
        words="the name of a release, such as 2012",
    )
    strict: bool | None = row(
        None,
        "whether the id lists must be the release's official lists; for a release, yes by default. "
        "`false` builds a part of a release",
        needs=(OF_RELEASE,),
    )
    class_names: Sequence[str] = row(
        _NamesByDefault(VOC_CLASSES),
        "class names in the order of mask values, background among them",
        words="a list of names",
        group=CLASSES,
        usage="separated by commas; or voc for VOC's 21, cityscapes for the 19 of its training "
        "ids, camvid for SegNet's 11; default: from the class file in ROOT",
        in_config="a name such as `void` or `ignore` is not a class: its pixels are 255, and the "
        "numbers of later classes are one lower; default: those of the release, and for own data "
        "VOC's 21 if the folder's masks have VOC's colors, or its class file VOC's names; else the "
        "build stops",
    )
    classes: Sequence[Sequence[Any]] | Mapping[Any, str] = row(
        (),
        "the class of each value, color or class name, with `*` for all others. It replaces what "
        "class_names gives for these keys",
        in_config="without `class_names`, the complete table",
        words='pairs of a key and a class, such as [[255, "crack"], ["*", "void"]]',
        accepts=are_pairs,
        group=CLASSES,
        usage="as in '0=background,255=crack', '#ff0000=weed,*=background', "
        "'car=vehicle,bus=vehicle' or 'sky=void'; or a .csv file of such rows; default: detected",
        metavar="PAIRS",
        needs=(HAS_MASKS,),
    )
    default_names: bool = row(
        False,
        "whether `class_names` are default names, because nobody gave any: `background` and "
        "`foreground`, or `class_0`, `class_1` and so on. The build sets this field, and names "
        "that you give later replace the default ones",
    )
    background: str = row(
        "",
        "name of the background class; needed only if it is not called background or bg, in any "
        "spelling",
        words="the name of a class",
        group=CLASSES,
        metavar="NAME",
    )
    splits: Mapping[str, str | float] | None = row(
        None,
        "where each split comes from: ratios for all; or a list, a part of a file, or a folder for "
        "each, several joined with +; rest is all other labeled images; default: from lists and "
        "folders, where `val` becomes `validation`",
        words='a list, a folder or a ratio for each split, such as {"train": 0.8, "test": 0.2}',
        accepts=are_sources,
        group=FOLDERS,
        usage="as in train=0.8,validation=0.2 or train=my_list,val=meta.csv:val,test=images/test/",
        needs=(NOT_STRICT,),
    )
    instance_mask: bool | None = row(
        None,
        "add the feature `instance_mask`, from SegmentationObject",
        group=FOLDERS,
        option_name="instance_masks",
        needs=(HAS_MASKS,),
        in_config="default: only if the release has it",
    )
    objects: bool | None = row(
        None,
        "add the feature `objects`, the boxes in Annotations",
        group=FOLDERS,
        needs=(HAS_MASKS,),
        in_config="default: only if the release has it",
    )
    layout: Mapping[str, str] | None = row(
        None,
        "names of folders, and patterns of file names, that differ from VOC's: `images`, `masks`, "
        "`lists`, `image_name`, `mask_name`",
        words='names of folders, such as {"masks": "labels"}',
    )
    missing_mask: MissingMask = row(
        "error",
        "what to do about a listed image without a mask: stop (`error`), leave the image out "
        "(`skip`), or give it a mask of the background class (`background`)",
        group=CLASSES,
        usage="with one mask for each class, background means that the image has no pixel of the "
        "class whose mask is missing; default: skip, and error if --masks or --mask_name names "
        "classes",
        needs=(HAS_MASKS, OWN_MASKS),
    )
    missing_image: MissingImage = row(
        "error",
        "what to do about a listed id without an image: stop (`error`), or leave it out (`skip`)",
        group=CLASSES,
        usage="default: error",
    )
    exclude: Sequence[str] = row(
        (),
        "images to leave out, such as those of damaged files",
        words="a list of ids",
        group=CLASSES,
        usage="a file as for --ids, such as the decisions that a page saved; or ids separated by "
        "commas; --exclude none cancels the --exclude of --like",
        metavar="FILE",
        needs=(OWN_IMAGES,),
    )
    threshold: int | None = row(
        None,
        "for soft masks (black and white with gray edges, such as JPEGs): pixels of this gray "
        "and lighter ones are read as 255, and darker ones as 0; default: each gray "
        "is a value, and JPEGs are not masks",
        words="a gray from 1 to 255, such as 128",
        accepts=is_gray,
        group=CLASSES,
        metavar="GRAY",
        needs=(HAS_MASKS, OWN_MASKS),
    )
    ignore_masks: str = row(
        "",
        "folder of ignore masks, such as DRIVE's field of view: where the ignore mask of an image "
        "is 0, its mask is void. Each image needs one",
        words="the name of a folder",
        group=FOLDERS,
        usage="relative to ROOT; default: none",
        metavar="FOLDER",
        needs=(HAS_MASKS, OWN_MASKS),
    )
    resize_masks: Resizing | None = row(
        None,
        "scale a mask to the size of its image if their proportions agree within a pixel; each "
        "pixel takes the nearest value; default: a mask of another size is an error",
        group=CLASSES,
        needs=(HAS_MASKS, OWN_MASKS),
    )
    exif: Exif = row(
        "auto",
        "what to do about a rotated image (EXIF orientation): rotate it as its mask demands "
        "(`auto`), always (`apply`), or never (`ignore`)",
        group=CLASSES,
        usage="default: auto",
        needs=(AS_STORED,),
    )
    bands: Sequence[int] | Literal["rgb"] | None = row(
        None,
        "the bands to store, with all their bits: numbers from 0, in the order to store; or rgb "
        "for 8-bit RGB, even if bands or bits are lost; default: 8-bit RGB, and an image that "
        "would lose bands or bits is an error",
        words=f"a list of the bands' numbers, from 0, such as [3, 0]; or {RGB}",
        group=CLASSES,
        usage="such as 3,0; or all",
        metavar="NUMBERS",
        needs=(OWN_BANDS,),
        in_config="only `builder_from_tree` also takes `all`",
    )
    dtype: Dtype = row(
        "uint8",
        "dtype of the stored bands; a value that it cannot hold is an error",
        group=CLASSES,
        usage="needs --bands; default: uint8",
        needs=(HAS_BANDS,),
    )
    task: Task = row(
        "segmentation",
        "`segmentation`; `classification` for records and arrays with one label per image in place "
        "of a mask; or `images` for records with neither, where `class_names` has to be empty",
    )
    trust_images: bool = row(
        False,
        "do not decode each image as a test, because `check` has done it. The dataset's bytes stay "
        "the same",
        group=SPEED,
    )
    overlap: bool = row(
        False,
        "allow an image to be in several splits",
        group=FOLDERS,
        option_name="allow_overlap",
    )
    tile: int | None = row(
        None,
        "cut images and masks into tiles of this height and width; default: complete images",
        words="a number of pixels",
        group=TILES,
        metavar="PIXELS",
        needs=(CAN_BE_CUT,),
    )
    tile_overlap: int = row(
        0,
        "number of pixels that neighboring tiles share; default: 0",
        words="a number of pixels",
        group=TILES,
        metavar="PIXELS",
        needs=(IS_CUT,),
    )
    tile_format: TileFormat = row(
        "png",
        "store tiles as PNG without loss (`png`), or encode them again as JPEG of quality 95 "
        "(`jpeg`); default: png",
        group=TILES,
        needs=(IS_CUT,),
    )
    split_by: SplitBy = row(
        "hash",
        "divide images by a hash of their ids (`hash`), or so that the ratios are exact, as far as "
        "whole groups allow, and each split has every class if possible (`stratified`)",
        group=FOLDERS,
        usage="default: hash, or stratified with --folds",
        needs=(IS_DIVIDED,),
    )
    folds: int | None = row(
        None,
        "for k-fold cross-validation: divide train into this number of splits, `fold_0`, "
        "`fold_1` and so on, of about equal size if groups allow; other splits do not change",
        words=f"{MIN_FOLDS} to {MAX_FOLDS}",
        accepts=is_number_of_folds,
        group=FOLDERS,
        metavar="K",
        needs=(OWN_SPLITS,),
    )
    group_by: str = row(
        "",
        "keep images in the same split if they have the same folder (`folder`; folders of splits "
        "do not count), the same text before the first _ (`prefix:_`), the same text up to a word "
        "and its number (`word:patient`), or the same match of a regular expression "
        "(`regex:PATTERN`); or treat all as independent (`none`). Needs ratios, folds, or lists "
        "that name groups in place of images; default: `none`, but if ids are numbered in groups "
        "and neighbors look alike, the build stops and asks",
        words="folder, prefix:CHARACTERS, word:WORD, regex:PATTERN or none",
        group=FOLDERS,
        metavar="RULE",
        needs=(MAY_HAVE_GROUPS,),
    )
    seed: int = row(
        0,
        "seed for dividing images by ratio or into folds; default: 0",
        group=FOLDERS,
        needs=(IS_DIVIDED,),
    )
    citation: str | None = row(
        None,
        "how to cite the data, in BibTeX; default: that of the release, or none",
        group=DESCRIPTION,
        metavar="TEXT",
    )
    homepage: str | None = row(
        None,
        "address of the data's page; default: that of the release, or none",
        words="an address that begins with https:// or http://",
        accepts=is_address,
        group=DESCRIPTION,
        metavar="TEXT",
    )
    license: str | None = row(
        None,
        "name or text of the data's license; default: none",
        group=DESCRIPTION,
        metavar="TEXT",
    )
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
        config_fields.check_types(self)
        self.packaged_tree = packaged_tree
        if self.version is not None:
            self.version = str(self.version)
        self._unpack_numbers()
        self._take_defaults_of_release()
        ratios = self.given_ratios
        if self.splits and len(ratios) == len(self.splits):
            self.splits = by_split_name(ratios, "option splits")
        config_checks.check_release(self)
        config_fields.check_conditions(self)
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
        if not release.masks and self.task == "segmentation":  # the default
            self.task = "images"
        if self.has_classes_by_default:
            self.class_names = release.class_names if release.masks else ()

    def _finish_classes(self) -> None:
        """Brings the names of classes into one form, and checks the classes."""
        if not self.has_classes_by_default:
            # TFDS reads the names without blanks at their ends, whatever was written.
            self.class_names = tuple(name.strip() for name in self.class_names)
        elif are_whole(cast(Rows, self.classes)):
            self.class_names = ()
        config_checks.check_classes(self)

    @property
    def has_classes(self) -> bool:
        """Whether the classes are known. If not, `with_findings` adds those of the folder."""
        return not isinstance(self.class_names, _NamesOfFolder)

    @property
    def has_classes_by_default(self) -> bool:
        """Whether the classes are VOC's for own data because the user gave none."""
        return isinstance(self.class_names, _NamesByDefault)

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

    @property
    def has_group_rule(self) -> bool:
        """Whether `group_by` is a rule by which ids stay together; if not, each is on its own."""
        return self.group_by not in ("", NO_GROUPS)

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
        """The list that each split of a release is read from: the user's, or the release's own."""
        lists = self.splits
        if lists is None:
            lists = RELEASES[self.release].list_by_split
        return dict(cast(Mapping[str, str], lists))

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


_DESCRIPTIONS = [f"  {one.name}: {one.description}" for one in list_fields(VocSegConfig)]
VocSegConfig.__doc__ = "\n".join([VocSegConfig.__doc__ or "", "Attributes:", *_DESCRIPTIONS])


@functools.cache
def _defaults(release: str) -> Mapping[str, object]:
    """Returns the defaults of all fields but the name. They differ from release to release."""
    config = VocSegConfig(name="default", release=release)
    fields = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    del fields["name"]
    return fields


def _has_default_names(config: VocSegConfig) -> bool:
    """Says whether a config without `class_names` would have the same ones."""
    if config.official is not None:
        return config.class_names == _defaults(config.release)["class_names"]
    if are_whole(cast(Rows, config.classes)):
        return not config.class_names
    return config.has_classes_by_default  # not if the user gave VOC's names


def changed_fields(config: VocSegConfig) -> dict[str, object]:
    """Returns name and release, and the fields that differ from their defaults."""
    fields: dict[str, object] = {"name": config.name}
    if config.release:
        fields["release"] = config.release
    for name, default in _defaults(config.release).items():
        value = getattr(config, name)
        is_default = value == default
        if name == "class_names":
            is_default = _has_default_names(config)
        if not is_default:
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
