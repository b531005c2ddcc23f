"""Arguments that several commands share, such as those about a tree, and the values in them."""

import argparse
import csv
from typing import TYPE_CHECKING, Any, get_args

from etils import epath

from voc_seg_tfrecord.core import dataset_files
from voc_seg_tfrecord.core.bands import RGB, Dtype
from voc_seg_tfrecord.core.chosen_ids import is_file_of_ids, read_ids_option
from voc_seg_tfrecord.core.class_rows import Rows, parse_pairs
from voc_seg_tfrecord.core.config_fields import MissingImage, MissingMask, SplitBy
from voc_seg_tfrecord.core.decisions import PageDecision, parse_decisions
from voc_seg_tfrecord.core.errors import ConfigError, ListError
from voc_seg_tfrecord.core.example import Exif
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.scaling import Resizing
from voc_seg_tfrecord.tools.class_texts import parse_table

if TYPE_CHECKING:
    from voc_seg_tfrecord.build_from.earlier_build import EarlierBuild

_SHARED: dict[str, dict[str, Any]] = {
    "data_dir": {"help": "the folder of all datasets, as in TFDS (~/tensorflow_datasets)"},
    "ids": {
        "metavar": "FILE",
        "help": "take only the examples whose ids are in this file: a text file with one id per "
        "line, a CSV file of check or evaluate, or the decisions file that a page saved (only ids "
        "marked as wrong); 'FILE[:20]' takes the first 20",
    },
    "decisions": {
        "metavar": "FILE",
        "action": "append",
        "help": "decisions file that a page saved: labels marked as right are not reported again, "
        "as long as their files are the same; may be given several times",
    },
    "rgb": {
        "metavar": "BANDS",
        "help": "for images other than 8-bit RGB: the bands to show as red, green and blue, such "
        "as 3,2,1; the first band is 0; default: the first three, or the first one in gray",
    },
    "seed": {
        "type": int,
        "default": 0,
        "help": "seed for dividing images by ratio or into folds (0)",
    },
    "version": {
        "help": "version of the dataset, such as 1.1.0 (1.0.0); earlier versions stay, and "
        "tfds.load takes the newest"
    },
    "workers": {
        "type": int,
        "metavar": "N",
        "help": "number of processes that make the examples; default: one for each 3,000 images, "
        "at most one per core",
    },
}


_SHARED_FLAGS = {
    "json": "print one JSON document in place of text",
    "no_fit": "do not look for masks that do not fit their images, or for regions that look like "
    "another class; that can take half of the time",
    "overwrite": "replace an existing dataset",
    "parts": "also find images that share a part: crops, overlapping tiles, mirrored parts; needs "
    "OpenCV",
}
"""Flags that several commands share, and what each does."""


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Adds shared options to a command, or to a group of its options."""
    for name in names:
        if name in _SHARED_FLAGS:
            add_flag(parser, name, _SHARED_FLAGS[name])
        else:
            parser.add_argument(f"--{name}", **_SHARED[name])


def add_flag(
    parser: argparse._ActionsContainer, name: str, effect: str, *, default: bool | None = False
) -> None:
    """Adds a flag, which is switched on by `--NAME` and off by `--noNAME`, as in absl and TFDS.

    A call with both is refused. `--noNAME` is not in the help, as it is there for every flag.

    Args:
      parser: a command, a group of its options, or a group of options of which one may be given.
      name: the flag's name.
      effect: what it does, for the help.
      default: its value if neither is given. None tells that from a flag that is switched off.
    """
    options = parser
    if not isinstance(parser, argparse._MutuallyExclusiveGroup):
        options = parser.add_mutually_exclusive_group()
    options.add_argument(f"--{name}", action="store_true", default=default, help=effect)
    options.add_argument(
        f"--no{name}", dest=name, action="store_false", default=default, help=argparse.SUPPRESS
    )


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Adds DATASET and `--data_dir`."""
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        help="a built dataset, such as cracks or cracks:1.0.0, or the path of its version folder",
    )
    add(parser, "data_dir")


def add_target_data_dir(parser: argparse.ArgumentParser) -> None:
    """Adds `--data_dir` to a command that builds a dataset."""
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")


def add_predictions(parser: argparse.ArgumentParser, dataset: str, **options: Any) -> None:
    """Adds DATASET@SPLIT with a help text and options, `--data_dir` and `--predictions`."""
    parser.add_argument("dataset", metavar="DATASET@SPLIT", help=dataset, **options)
    add(parser, "data_dir")
    parser.add_argument(
        "--predictions",
        required=True,
        metavar="FOLDER",
        help="folder of ID.png or ID.npy: the class index of each pixel",
    )


def read_decisions(args: argparse.Namespace) -> list[PageDecision]:
    """Returns the decisions in the files of `--decisions`.

    Raises:
      ListError: if a file holds none.
    """
    decisions: list[PageDecision] = []
    for name in args.decisions or ():
        path = epath.Path(name).expanduser()
        decisions += parse_decisions(File.read(path, ListError).data, path)
    return decisions


def check_num_shards(args: argparse.Namespace) -> None:
    """Checks `--num_shards`.

    Raises:
      ConfigError: if it is below 1.
    """
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")


def parse_named_values(option: str, text: str) -> dict[str, str]:
    """Returns the values of an option of the form `NAME=VALUE,NAME=VALUE`, by name.

    Raises:
      ConfigError: if the text has another form, or has a name twice.
    """
    value_by_name: dict[str, str] = {}
    parts = next(csv.reader([text]), [])  # a part with a comma is quoted
    for part in parts or [""]:
        name, _, value = (word.strip() for word in part.partition("="))
        if not name or not value or name in value_by_name:
            raise ConfigError(
                option,
                found=repr(text),
                expected="NAME=VALUE, separated by commas, each name once",
                remedy=f"change {option}",
            )
        value_by_name[name] = value
    return value_by_name


def parse_class_names(text: str) -> list[str]:
    """Returns the names in `--class_names`.

    `a,,b` has an empty name, which the config refuses: without it, `b` would get the number 1.
    """
    return [name.strip() for name in text.split(",")]


def parse_rgb(text: str | None) -> list[int] | None:
    """Returns the numbers of `--rgb`; None if it was not given.

    Raises:
      ConfigError: if they are no numbers.
    """
    if text is None:
        return None
    words = text.replace(" ", "").split(",")
    if not all(word.isdecimal() for word in words):
        raise ConfigError("--rgb", found=repr(text), expected="three numbers, such as 3,2,1")
    return [int(word) for word in words]


def check_not_empty(args: argparse.Namespace, *names: str) -> None:
    """Checks that no option has an empty text, which would be as good as no option.

    Raises:
      ConfigError: if one has.
    """
    for name in names:
        text = getattr(args, name)
        if text is not None and not text.strip():
            raise ConfigError(
                f"--{name}",
                found="an empty text",
                expected="a value",
                remedy="give it a value, or leave the option out",
            )


def add_tree(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Adds the arguments of `build` and `check` about a tree.

    Args:
      parser: the command's parser.
      optional: whether ROOT may be missing.
    """
    parser.add_argument(
        "root",
        nargs="?" if optional else None,
        metavar="ROOT",
        help="the folder that your labeling tool exported, or its .zip or .tar",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="take the options of this JSON file, which check --write_config writes and tfds build "
        "--config takes; an option that is given too replaces that of the file, and --noNAME "
        "switches a flag off",
    )
    _add_classes(parser.add_argument_group("classes and masks"))
    _add_folders(parser.add_argument_group("folders and splits"))


def _add_classes(classes: argparse._ArgumentGroup) -> None:
    classes.add_argument(
        "--class_names",
        help="class names in the order of mask values, separated by commas; or voc for VOC's 21, "
        "cityscapes for the 19 of its training ids, camvid for SegNet's 11; default: from the "
        "class file in ROOT",
    )
    classes.add_argument(
        "--background",
        metavar="NAME",
        help="name of the background class; needed only if it is not called background or bg, in "
        "any spelling",
    )
    classes.add_argument(
        "--classes",
        metavar="PAIRS",
        help="the class of each value, color or class name, with * for all others: "
        "'0=background,255=crack', '#ff0000=weed,*=background', 'car=vehicle,bus=vehicle', "
        "'sky=void'; or a .csv file of such rows; default: detected",
    )
    classes.add_argument(
        "--threshold",
        type=int,
        metavar="GRAY",
        help="for soft masks (black and white with gray edges, such as JPEGs): read pixels of "
        "this gray, such as 128, and lighter ones as 255, and darker ones as 0; default: each "
        "gray is a value, and JPEGs are not masks",
    )
    classes.add_argument(
        "--resize_masks",
        choices=get_args(Resizing),
        help="scale a mask to the size of its image if their proportions agree within a pixel; "
        "each pixel takes the nearest value; default: a mask of another size is an error",
    )
    classes.add_argument(
        "--missing_mask",
        choices=get_args(MissingMask),
        help="what to do about a listed image without a mask: stop (error), leave the image out "
        "(skip), or give it a mask of the background class (background). With one mask for each "
        "class, background means that the image has no pixel of the class whose mask is missing; "
        "default: skip, and error if --masks or --mask_name names classes",
    )
    classes.add_argument(
        "--missing_image",
        choices=get_args(MissingImage),
        help="what to do about a listed id without an image: stop (error), or leave it out "
        "(skip); default: error",
    )
    classes.add_argument(
        "--exclude",
        metavar="FILE",
        help="the images to leave out, such as those of damaged files: a file as for --ids, or "
        "their ids separated by commas; none replaces those of --like; default: none",
    )
    classes.add_argument(
        "--exif",
        choices=get_args(Exif),
        help="what to do about a rotated image (EXIF orientation): rotate it as its mask "
        "demands (auto), always (apply), or never (ignore); default: auto",
    )
    classes.add_argument(
        "--bands",
        metavar="NUMBERS",
        help="the bands to store, with all their bits: numbers from 0 in the order to store, such "
        "as 3,0; all; or rgb for 8-bit RGB, even if bands or bits are lost; default: 8-bit RGB, "
        "and an image that would lose bands or bits is an error",
    )
    classes.add_argument(
        "--dtype",
        choices=get_args(Dtype),
        help="dtype of the stored bands; a value that it cannot hold is an error; needs --bands; "
        "default: uint8",
    )


def _add_folders(folders: argparse._ArgumentGroup) -> None:
    folders.add_argument("--images", help="folder of images, relative to ROOT; default: detected")
    folders.add_argument(
        "--masks",
        help="folder of masks, relative to ROOT; or a folder for each class, where later classes "
        "cover earlier ones: disc=masks_disc,cup=masks_cup; default: detected",
    )
    folders.add_argument(
        "--ignore_masks",
        metavar="FOLDER",
        help="folder of ignore masks, relative to ROOT, such as DRIVE's field of view: where the "
        "ignore mask of an image is 0, its mask is void; default: none",
    )
    folders.add_argument(
        "--lists",
        help="folder of lists, or a file with all splits, relative to ROOT; . is ROOT itself; "
        "default: detected",
    )
    folders.add_argument(
        "--mask_name",
        metavar="PATTERN",
        help="pattern of the masks' names, such as 'gt_{id}.png': {id} stands for the image's "
        "name without its ending, or {a} and {b} for two parts of it, as in '{a}_road_{b}.png'. A "
        "mask for each class: 'cat={id}_cat.png,dog={id}_dog.png'; a mask for each object: "
        "'cell={id}/masks/*.png'. Default: {id} with any ending",
    )
    folders.add_argument(
        "--image_name",
        metavar="PATTERN",
        help="pattern of the images' names, such as 'image_{id}.jpg', if the masks have only a "
        "part of the image's name; default: {id} with any ending",
    )
    add_flag(folders, "instance_masks", "add the feature instance_mask", default=None)
    add_flag(folders, "objects", "add the feature objects (boxes)", default=None)
    folders.add_argument(
        "--splits",
        help="ratios such as train=0.8,validation=0.2; or a list, a part of a file or a folder "
        "for each split, as in train=my_list,val=meta.csv:val,test=images/test/. Join several "
        "with +; rest is all other labeled images. Default: from lists and folders in ROOT",
    )
    folders.add_argument(
        "--split_by",
        choices=get_args(SplitBy),
        help="divide images by a hash of their ids (hash), or so that the ratios are exact and "
        "each split has every class if possible (stratified); default: hash, or stratified with "
        "--folds",
    )
    folders.add_argument(
        "--folds",
        type=int,
        metavar="K",
        help="for k-fold cross-validation: divide train into K splits of equal size, fold_0, "
        "fold_1 and so on; other splits do not change",
    )
    folders.add_argument(
        "--group_by",
        metavar="RULE",
        help="keep images in the same split if they have the same folder (folder), the same text "
        "before the first _ (prefix:_), the same text up to a word and its number (word:patient), "
        "or the same match of a regular expression (regex:PATTERN); or treat all as independent "
        "(none). Needs ratios, --folds, or lists that name groups in place of images. Default: "
        "none; if ids are numbered in groups and neighbors look alike, the build stops and asks",
    )
    add(folders, "seed")
    folders.set_defaults(seed=None)  # tells what was given from the default of a config
    add_flag(folders, "allow_overlap", "allow an image to be in several splits", default=None)


_TEXT_OPTIONS = (
    "class_names",
    "background",
    "classes",
    "splits",
    "group_by",
    "bands",
    "images",
    "masks",
    "ignore_masks",
    "lists",
    "image_name",
    "mask_name",
    "exclude",
)

_OPTIONS_PASSED_ON = (
    "threshold",
    "ignore_masks",
    "resize_masks",
    "missing_mask",
    "missing_image",
    "exif",
    "split_by",
    "folds",
    "dtype",
    "background",
    "images",
    "masks",
    "lists",
    "image_name",
    "mask_name",
    "group_by",
    "seed",
)
"""The options that reach the planner as they are written."""


_FIELD_BY_FLAG = {
    "instance_masks": "instance_mask",
    "objects": "objects",
    "allow_overlap": "overlap",
}
"""Flags about a tree, and the field of a config that each sets. Without `--like` all are off."""


def tree_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the options that the user gave, as arguments of `FolderPlanner`.

    Raises:
      ConfigError: if an option is not written as its help says.
    """
    check_not_empty(args, *_TEXT_OPTIONS)
    options = select_given(args, *_OPTIONS_PASSED_ON)
    for flag, field in _FIELD_BY_FLAG.items():
        if getattr(args, flag):
            options[field] = True
    if args.exclude:
        options["exclude"] = _parse_excluded(args.exclude)
    if args.bands:
        options["bands"] = _parse_bands(args.bands)
    if args.class_names:
        options["class_names"] = parse_class_names(args.class_names)
    if args.classes:
        options["classes"] = _parse_classes(args.classes)
    if args.splits:
        text_by_split = parse_named_values("--splits", args.splits)
        options["splits"] = {split: _parse_split(text) for split, text in text_by_split.items()}
    if args.config:
        options = read_config(args).options_with(options, fields_switched_off(args))
    return options


def read_config(args: argparse.Namespace) -> "EarlierBuild":
    """Returns the config in the file of `--config`."""
    from voc_seg_tfrecord.build_from.earlier_build import EarlierBuild

    return EarlierBuild.read_config(args.config)


def fields_switched_off(args: argparse.Namespace) -> list[str]:
    """Returns the fields of a config whose flags the user switched off: `--noobjects`."""
    return [field for flag, field in _FIELD_BY_FLAG.items() if getattr(args, flag) is False]


def select_given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Returns the values of some options, without those that the user did not give."""
    value_by_name = {name: getattr(args, name) for name in names}
    return {name: value for name, value in value_by_name.items() if value is not None}


def _parse_excluded(text: str) -> list[str]:
    """Reads the names of images in `--exclude`: a file of them, the ids themselves, or `none`."""
    if text.strip() == "none":
        return []
    if is_file_of_ids(text):
        return read_ids_option(text)
    return [name.strip() for name in next(csv.reader([text])) if name.strip()]


def _parse_bands(text: str) -> str | list[int]:
    """Reads `--bands`: `all`, `rgb`, or numbers."""
    if text.strip() in ("all", RGB):
        return text.strip()
    numbers = text.replace(" ", "").split(",")
    if not all(number.isdecimal() for number in numbers):
        expected = f"all, {RGB}, or numbers from 0 such as 3,0"
        raise ConfigError(f"--bands {text}", found=repr(text), expected=expected)
    return [int(number) for number in numbers]


def _parse_classes(text: str) -> Rows:
    """Reads the rows of `--classes`: pairs, or the name of a file."""
    if not text.lower().endswith(".csv"):
        return parse_pairs(text)
    path = epath.Path(text).expanduser()
    if not path.is_file():
        raise ConfigError(f"--classes {text}", found="no such file", expected="a table of classes")
    return parse_table(dataset_files.read_small(path).decode("utf-8-sig", "replace"), path)


def _parse_split(text: str) -> str | float:
    """Reads a ratio, or where the ids of a split stand.

    `0.8` is a ratio, and `2007` the name of a list, because no ratio is above 1.
    """
    try:
        ratio = float(text)
    except ValueError:
        return text
    is_list_name = text.isdecimal() and ratio > 1
    return text if is_list_name else ratio
