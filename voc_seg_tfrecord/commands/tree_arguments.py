"""The arguments of `build` and `check` that tell about a tree."""

import argparse
import re
import shlex
from typing import Any, get_args

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.configs import MissingImage, MissingMask, SplitBy
from voc_seg_tfrecord.formats.images import Exif
from voc_seg_tfrecord.masks.rule import By


def add(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Adds the arguments about a tree to a command, which may be called without a tree."""
    parser.add_argument(
        "root",
        nargs="?" if optional else None,
        metavar="ROOT",
        help="the folder that your labelling tool exported, or its .zip or .tar",
    )
    _add_classes(parser.add_argument_group("classes and masks"))
    _add_folders(parser.add_argument_group("folders and splits"))


def _add_classes(classes: argparse._ArgumentGroup) -> None:
    classes.add_argument(
        "--class_names",
        help="names in mask order, separated by commas, or voc for VOC's 21; default: read from "
        "the class file in ROOT",
    )
    classes.add_argument(
        "--background",
        metavar="NAME",
        help="name of the class that is background; needed only if it is not called background "
        "or bg, in any spelling",
    )
    classes.add_argument(
        "--background_first",
        action="store_true",
        help="make background class 0; the classes of the masks move with their names",
    )
    classes.add_argument(
        "--map_classes",
        metavar="RULES",
        help="merge, drop and reorder classes, such as 'car,bus=vehicle; tree=void; *=background'; "
        "* is every class that no rule names, and *=* keeps them; default: each class stays",
    )
    classes.add_argument(
        "--masks_by",
        choices=get_args(By),
        help="read classes from values (index) or colours; default: detected",
    )
    classes.add_argument(
        "--values",
        help="class index by mask value, such as 0=0,255=1; implies --masks_by index",
    )
    classes.add_argument(
        "--void",
        help="values, names (in any spelling) or colours that mean void, separated by blanks, "
        "such as '255 unlabelled 224,224,192'; a name that holds a blank stands in double quotes; "
        "default: void, ignore, ignored, __ignore__; also 255 and 224,224,192, which are always "
        "void unless a class has them",
    )
    classes.add_argument(
        "--missing_mask",
        choices=get_args(MissingMask),
        help="what to do about a listed image without a mask: stop (error), leave the image out "
        "(skip), or give it a mask of the background class (background); default: skip",
    )
    classes.add_argument(
        "--missing_image",
        choices=get_args(MissingImage),
        help="what to do about a listed id without an image: stop (error), or leave it out "
        "(skip); default: error",
    )
    classes.add_argument(
        "--exif",
        choices=get_args(Exif),
        help="what to do about a rotated image (EXIF orientation): rotate it as its mask "
        "demands (auto), always (apply), or never (ignore); default: auto",
    )


def _add_folders(folders: argparse._ArgumentGroup) -> None:
    folders.add_argument("--images", help="folder of images, relative to ROOT; default: detected")
    folders.add_argument("--masks", help="folder of masks, relative to ROOT; default: detected")
    folders.add_argument(
        "--lists", help="folder of id lists, relative to ROOT; . is ROOT itself; default: detected"
    )
    folders.add_argument(
        "--mask_name",
        metavar="PATTERN",
        help="how masks are named, {id} being the image's name without its ending, such as "
        "'gt_{id}.png'; default: {id} with any ending",
    )
    folders.add_argument(
        "--image_name",
        metavar="PATTERN",
        help="how images are named, if only a part of their name is in the mask's, such as "
        "'image_{id}.jpg'; default: {id} with any ending",
    )
    folders.add_argument(
        "--instance_masks", action="store_true", help="add the feature instance_mask"
    )
    folders.add_argument("--objects", action="store_true", help="add the feature objects (boxes)")
    folders.add_argument(
        "--splits",
        help="ratios such as train=0.8,validation=0.2, or lists such as train=my_list; default: "
        "the lists in ROOT",
    )
    folders.add_argument(
        "--split_by",
        choices=get_args(SplitBy),
        help="assign images to splits by a hash of their ids (hash), or so that numbers are exact "
        "and each split has each class where possible (stratified); default: hash",
    )
    folders.add_argument(
        "--group_by",
        metavar="RULE",
        help="keep images in one split if they lie in one folder (folder), have the same text "
        "before the first _ (prefix:_), or give the same match of a regular expression "
        "(regex:PATTERN); needs ratios; default: each image alone",
    )
    arguments.add(folders, "seed")
    folders.add_argument(
        "--allow_overlap", action="store_true", help="allow an image to be in several splits"
    )


_TEXTS = (
    *("class_names", "background", "map_classes", "values", "void", "splits", "group_by"),
    *("images", "masks", "lists", "image_name", "mask_name"),
)


def fields(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what the user said, as arguments of `find_config_of`.

    Raises:
      ConfigError: if an option is not written as its help says.
    """
    for name in _TEXTS:
        if getattr(args, name) is not None and not getattr(args, name).strip():
            raise ConfigError(
                f"--{name}",
                found="an empty text",
                expected="a value",
                remedy="give it a value, or leave the option out",
            )
    said: dict[str, Any] = {
        "background_first": args.background_first,
        "instance_mask": args.instance_masks or None,
        "objects": args.objects or None,
        "overlap": args.allow_overlap,
        "map_classes": args.map_classes or "",
        "group_by": args.group_by or "",
        "seed": args.seed,
        "images": args.images,
        "masks": args.masks,
        "lists": args.lists,
        "image_name": args.image_name,
        "mask_name": args.mask_name,
    }
    said |= given(args, "masks_by", "missing_mask", "missing_image", "exif", "split_by")
    if args.background:
        said["background"] = args.background
    if args.class_names:
        said["class_names"] = [name.strip() for name in args.class_names.split(",")]
    if args.values:
        values = arguments.pairs("--values", args.values, _integer)
        said["values"] = {_integer("--values", value): index for value, index in values.items()}
    if args.void:
        said["void"] = [_void(word) for word in _words(args.void)]
    if args.splits:
        said["splits"] = arguments.pairs("--splits", args.splits, _source)
    return said


def given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Returns those of the options that the user gave, all others being None."""
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def _integer(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(option, found=repr(text), expected="a whole number") from None


def _source(_: str, text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ConfigError(
            "--void", found=repr(text), expected=f"words, and no {str(error).lower()}"
        ) from None


def _void(word: str) -> int | str | tuple[int, ...]:
    parts = word.split(",")
    if len(parts) == 3 and all(_NUMBER.fullmatch(part) for part in parts):
        return tuple(int(part) for part in parts)
    return int(word) if _NUMBER.fullmatch(word) else word


_NUMBER = re.compile("-?[0-9]{1,9}")  # a longer one is no value of a mask
