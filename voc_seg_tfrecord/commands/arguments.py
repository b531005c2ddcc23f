"""The arguments by which `build` and `check` are told about a tree."""

import argparse
from typing import Any

from voc_seg_tfrecord.errors import ConfigError


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them to a command."""
    parser.add_argument("root", metavar="ROOT", help="the folder that your tool exported")
    classes = parser.add_argument_group("classes and masks")
    classes.add_argument(
        "--class_names", help="names in mask order, with commas between them; or voc"
    )
    classes.add_argument("--background_first", action="store_true", help="make background class 0")
    classes.add_argument(
        "--masks_by", choices=["index", "color"], help="what decides the class, if not found out"
    )
    classes.add_argument(
        "--values", help="class index by mask value, such as 0=0,255=1; implies --masks_by index"
    )
    classes.add_argument(
        "--void",
        help="values, names or colours that mean void, with blanks between them, such as "
        "'255 ignore 224,224,192'",
    )
    classes.add_argument(
        "--missing_mask",
        choices=["skip", "background", "error"],
        help="what a listed image without a mask is; left out (skip) by default",
    )
    classes.add_argument(
        "--exif", choices=["auto", "apply", "ignore"], help="what an EXIF orientation means"
    )
    folders = parser.add_argument_group("folders and splits")
    folders.add_argument("--images", help="folder of images, if it has another name")
    folders.add_argument("--masks", help="folder of masks, if it has another name")
    folders.add_argument("--instance_masks", action="store_true", help="have instance_mask too")
    folders.add_argument("--objects", action="store_true", help="have objects (boxes) too")
    folders.add_argument(
        "--splits", help="train=0.8,validation=0.2 (ratios) or train=my_list (lists)"
    )
    folders.add_argument(
        "--seed", type=int, default=0, help="seed for assigning ids to splits by ratio (0)"
    )
    folders.add_argument(
        "--allow_overlap", action="store_true", help="let an image be in several splits"
    )


def fields(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what was said, as fields of `VocSegConfig` and arguments of `find_config`."""
    said: dict[str, Any] = {
        "background_first": args.background_first,
        "instance_mask": args.instance_masks or None,
        "objects": args.objects or None,
        "overlap": args.allow_overlap,
        "seed": args.seed,
        "images": args.images,
        "masks": args.masks,
    }
    for name in ("masks_by", "missing_mask", "exif"):
        if getattr(args, name) is not None:
            said[name] = getattr(args, name)
    if args.class_names:
        said["class_names"] = [name.strip() for name in args.class_names.split(",")]
    if args.values:
        values = pairs("--values", args.values)
        said["values"] = {_integer("--values", k): _integer("--values", v) for k, v in values}
    if args.void:
        said["void"] = [_void(word) for word in args.void.split()]
    if args.splits:
        said["splits"] = {name: _source(text) for name, text in pairs("--splits", args.splits)}
    return said


def pairs(option: str, text: str) -> list[tuple[str, str]]:
    """Returns the parts of `NAME=VALUE,NAME=VALUE`.

    Raises:
      ConfigError: if it is not written so.
    """
    parts = [part.partition("=")[::2] for part in text.split(",")]
    if not all(key.strip() and value.strip() for key, value in parts):
        raise ConfigError(
            option,
            found=repr(text),
            expected="NAME=VALUE with commas between",
            remedy="write it so",
        )
    return [(key.strip(), value.strip()) for key, value in parts]


def _integer(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(option, found=repr(text), expected="a whole number") from None


def ratio(text: str) -> float:
    """Returns a ratio.

    Raises:
      ConfigError: if it is no number.
    """
    try:
        return float(text)
    except ValueError:
        raise ConfigError("--splits", found=repr(text), expected="a ratio such as 0.8") from None


def _source(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _void(word: str) -> int | str | tuple[int, ...]:
    parts = word.split(",")
    if len(parts) == 3 and all(part.isdigit() for part in parts):
        return tuple(int(part) for part in parts)
    return int(word) if word.lstrip("-").isdigit() else word


def add_dataset(parser: argparse.ArgumentParser, *names: str) -> None:
    """Adds positional arguments that name built datasets, and `--data_dir`."""
    for name in names:
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="a built dataset: voc_seg_tfrecord/CONFIG, or the path of its version folder",
        )
    parser.add_argument(
        "--data_dir", help="where datasets are, as everywhere in TFDS (~/tensorflow_datasets)"
    )
