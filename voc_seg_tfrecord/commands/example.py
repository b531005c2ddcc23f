"""Writes small drawn data to try the package with. The pages of the documentation build it.

The same NAME gives the same files. If the folder has them already, nothing is written.
"""

import argparse
from collections.abc import Mapping
import pathlib

from etils import epath

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.config_fields import SAMPLE_TREE
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.releases import facts_folder
from voc_seg_tfrecord.core.storage import as_storage_error

SUMMARY = "write small drawn data to try things with"
EXAMPLE = "voc-seg-tfrecord example cracks --out cracks"

EXAMPLES = {
    "cracks": "six photos of walls as CVAT exports them, one without a mask",
    "field": "two large drone photos and a small one, as CVAT exports them",
    "labelme": "four photos of a street with polygons as labelme writes them",
    "voc": "six images in a VOCdevkit, the package's sample",
    "old": "TFRecords as tutorials write them, and with other keys",
}
"""The names of the examples, and what each is."""

_FOLDER = pathlib.Path(__file__).parent / "examples"
"""Has a folder for each example but `voc`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    lines = [f"{name}: {about}" for name, about in EXAMPLES.items()]
    parser.add_argument("name", choices=EXAMPLES, help="; ".join(lines))
    parser.add_argument(
        "--out",
        required=True,
        metavar="FOLDER",
        help="folder to write into; other files in it stay",
    )


def run(args: argparse.Namespace) -> int:
    out = epath.Path(args.out).expanduser()
    files = _read_example(args.name)
    with as_storage_error(out):
        missing = [name for name, data in files.items() if not _has_content(out / name, data)]
        if missing:
            _check_nothing_is_there(files, out, missing)
            staging.write_files(out, files)
    print(f"{out}: {EXAMPLES[args.name]}; {counted(len(files), 'file')}")
    return 0


def _read_example(name: str) -> dict[str, bytes]:
    """Returns the bytes of each file of an example, by its path in the folder."""
    folder = _FOLDER / name
    if name == "voc":
        folder = pathlib.Path(facts_folder(SAMPLE_TREE))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _has_content(path: epath.Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _check_nothing_is_there(
    files: Mapping[str, bytes], out: epath.Path, missing: list[str]
) -> None:
    """Checks that a folder that lacks files of an example has none of its files and folders.

    Raises:
      ConfigError: if it has another file under the name of one, or a part of the files.
    """
    found_by_name = dict.fromkeys(missing, "another file or folder of this name")
    for name in files:
        top_name = name.partition("/")[0]
        found_by_name.setdefault(top_name, f"a part of the example, without {missing[0]}")
    for name, found in found_by_name.items():
        if (out / name).exists():
            raise ConfigError(
                out / name,
                found=found,
                expected="a new folder, or a folder that has this example",
                remedy="name another folder with --out",
            )
