"""The arguments of `build` that cut images into tiles."""

import argparse
from typing import Any, get_args

from voc_seg_tfrecord.examples.grid import QUALITY, TileFormat


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments to a command."""
    tiles = parser.add_argument_group("tiles")
    tiles.add_argument(
        "--tile",
        type=int,
        metavar="PIXELS",
        help="cut images and masks into tiles of this height and width; default: complete images",
    )
    tiles.add_argument(
        "--tile_overlap",
        "--overlap",
        type=int,
        metavar="PIXELS",
        help="how many pixels neighbouring tiles share (0); ids in several splits are another "
        "option, --allow_overlap",
    )
    tiles.add_argument(
        "--tile_format",
        choices=get_args(TileFormat),
        help="store the pixels of tiles as png, which loses nothing, or encode them again as "
        "jpeg (png)",
    )
    tiles.add_argument(
        "--tile_quality",
        "--quality",
        type=int,
        help=f"quality of JPEG tiles, 1 to 100 ({QUALITY})",
    )


def fields(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what the user said, as fields of a config."""
    names = ("tile", "tile_overlap", "tile_format", "tile_quality")
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}
