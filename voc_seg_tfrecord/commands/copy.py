"""Copies a built dataset to another folder, or to and from a bucket such as s3://BUCKET/datasets.

The copy lies below TARGET as TFDS expects it, so TARGET is its --data_dir. Every file is read back
and compared. In a bucket, what makes a folder a dataset is written last, and a copy that was broken
off goes on where it was.
"""

import argparse

from etils import epath

from voc_seg_tfrecord.built.dataset import open_built
from voc_seg_tfrecord.built.find import INFO
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.exports import copies

SUMMARY = "copy a built dataset to another folder, or to and from a bucket"
EXAMPLE = "voc-seg-tfrecord copy cracks s3://BUCKET/datasets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    arguments.add_dataset(parser, "dataset")
    parser.add_argument(
        "target", metavar="TARGET", help="folder or address of datasets, on a disk or in a bucket"
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace what is there under the dataset's name and version",
    )
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Copies, and says what was copied."""
    builder = open_built(args.dataset, args.data_dir)
    needed = [
        path.name
        for split in builder.info.splits.values()
        for path, length in zip(split.filepaths, split.shard_lengths, strict=True)
        if length
    ]
    copied = copies.copy(
        builder.data_path,
        epath.Path(args.target).expanduser() / builder.info.full_name,
        last=INFO,
        needed=needed,
        overwrite=args.overwrite,
        progress=True,
    )
    if args.json:
        write_json({"dataset": builder.info.full_name, **vars(copied)})
        return 0
    kept = f", {copied.kept} of them were there already" if copied.kept else ""
    print(f"{copied.files} files, {copied.bytes} bytes{kept}")
    print(f"copied to {copied.folder}")
    return 0
