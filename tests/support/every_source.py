"""Builds a dataset from each kind of source, and prints the sha256 of every file that is built.

Runs as a script, with any interpreter that has the package: `python every_source.py OUT`. It uses
nothing but the package and what the package needs, so that it runs without TensorFlow.
"""

import contextlib
import hashlib
import io
import pathlib
import shutil
import sys

import numpy as np

from voc_seg_tfrecord import from_arrays
from voc_seg_tfrecord.commands import cli

EXAMPLES = ("cracks", "field", "labelme", "voc", "old")
STREETS = ("yolo", "cvat")  # which the caller has written, as it has the other files of tests

BUILDS = {
    "release": "build --release sample",
    "own": "build {examples}/cracks --name own",
    "own_workers": "build {examples}/cracks --name own_workers --workers 2",
    "archive": "build {out}/cracks.zip --name archive",
    "voc": "build {examples}/voc --name voc --class_names voc --instance_masks",
    "labelme": "build {examples}/labelme --name labelme",
    "yolo": "build {examples}/yolo --name yolo",
    "cvat": "build {examples}/cvat --name cvat",
    "tiles": "build {examples}/field --name tiles --tile 32",
    "bands": "build {out}/bands --name bands --class_names a,b --bands all --dtype uint16",
    "records": "import {examples}/old/train.tfrecord --name records --class_names voc",
}


def run(words: str, **places: pathlib.Path) -> None:
    """Runs a command; raises an error with what it prints if it fails."""
    arguments = [word.format(**places) for word in words.split()]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = cli.main(arguments)
    if status:
        raise SystemExit(f"{words} ends with {status}:\n{printed.getvalue()}")


def write_bands(folder: pathlib.Path) -> None:
    """Writes four images of five bands of 16 bits, and their masks."""
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    generator = np.random.default_rng(0)
    for number in range(4):
        np.save(folder / f"images/{number}.npy", generator.integers(0, 9999, (8, 9, 5), np.uint16))
        np.save(folder / f"masks/{number}.npy", generator.integers(0, 2, (8, 9), np.uint8))


def main(out: pathlib.Path) -> None:
    """Writes the sources, builds them, and prints a line for each file."""
    examples = out / "examples"
    for name in EXAMPLES:
        run(f"example {name} --out {{examples}}/{name}", examples=examples)
    shutil.make_archive(str(out / "cracks"), "zip", examples / "cracks")
    write_bands(out / "bands")
    for words in BUILDS.values():
        run(f"{words} --data_dir {{out}}/data", examples=examples, out=out)
    generator = np.random.default_rng(1)
    images = [generator.integers(0, 256, (8, 9, 3), np.uint8) for _ in range(5)]
    masks = [generator.integers(0, 2, (8, 9), np.uint8) for _ in range(5)]
    names = ["background", "blob"]
    with contextlib.redirect_stdout(io.StringIO()):
        from_arrays(images, masks, name="arrays", class_names=names, data_dir=out / "data")
    for path in sorted((out / "data").rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            print(digest, path.relative_to(out / "data"))


if __name__ == "__main__":  # as several workers import the script anew
    main(pathlib.Path(sys.argv[1]))
