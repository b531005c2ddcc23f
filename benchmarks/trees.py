"""The trees that are read: a drawn one, or one's own photos as often as it takes."""

import contextlib
import os
import pathlib
import shutil
import sys

from make_tree import make_tree
import tensorflow_datasets as tfds

from voc_seg_tfrecord import Builder, VocSegConfig

SPLIT = "train+validation"


def drawn_tree(folder: pathlib.Path, pairs: int, copies: int = 1) -> pathlib.Path:
    """Makes the tree of so many drawn pairs if it is not in the folder yet; returns its root."""
    return make_tree(folder / f"tree_{pairs}_{copies}", pairs, copies)


def repeated_tree(
    given: pathlib.Path, folder: pathlib.Path, pairs: int
) -> tuple[pathlib.Path, int]:
    """Links the pairs of a tree under new names, until there are enough to be timed.

    Args:
      given: a tree in VOC's layout, its devkit, or the devkit's parent.
      folder: a new one, where the links are put.
      pairs: how many there are to be at least.

    Returns:
      The root of the new tree, and how many different pairs it has.

    Raises:
      FileNotFoundError: if there is no image with a mask.
    """
    places = (given, given / "VOC2012", given / "VOCdevkit" / "VOC2012")
    masks = [mask for place in places for mask in sorted(place.glob("SegmentationClass/*.png"))]
    found = [
        (mask.parents[1] / "JPEGImages" / f"{mask.stem}.jpg", mask)
        for mask in masks
        if (mask.parents[1] / "JPEGImages" / f"{mask.stem}.jpg").exists()
    ]
    if not found:
        raise FileNotFoundError(
            f"{given}: found no JPEGImages/ID.jpg with a SegmentationClass/ID.png, "
            "expected a tree in VOC's layout"
        )
    root = folder / "VOCdevkit" / "VOC2012"
    lists = root / "ImageSets" / "Segmentation"
    for name in (root / "JPEGImages", root / "SegmentationClass", lists):
        name.mkdir(parents=True)
    ids = []
    for copy in range(-(-pairs // len(found))):
        for image, mask in found:
            ids.append(f"{image.stem}_{copy:03}")
            _link(image, root / "JPEGImages" / f"{ids[-1]}.jpg")
            _link(mask, root / "SegmentationClass" / f"{ids[-1]}.png")
    for name, part in (("train", ids[0::2]), ("val", ids[1::2])):
        (lists / f"{name}.txt").write_text("".join(f"{i}\n" for i in part))
    return root, len(found)


def _link(source: pathlib.Path, target: pathlib.Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError:  # another disk
        shutil.copyfile(source, target)


def build(root: pathlib.Path, data_dir: pathlib.Path, **options: str) -> tfds.core.DatasetBuilder:
    """Builds a tree as own data, image and class mask only, as its peers have them."""
    builder = Builder(data_dir=data_dir, config=VocSegConfig(name="bench"), **options)
    with contextlib.redirect_stdout(sys.stderr):  # TFDS prints; the tables are to stand alone
        builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=root))
    return builder
