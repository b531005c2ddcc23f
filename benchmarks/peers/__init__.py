"""How others read the same images and masks into a Python loop. Each file has one library.

A module has `PACKAGES`, which it needs, and `WAYS`: names of ways, each with a function from a
`Source` to the way's pairs. Pairs are iterated over many times; each pair is an image, uint8
`[H, W, 3]` or `[3, H, W]`, and a mask of class indices. Nothing here imports TensorFlow, and
nothing but `this_package` imports this package. Libraries are imported within functions:
`run_peer.py` runs them with whatever interpreter has them.
"""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Source:
    """The same images and masks in several forms; read.py writes them, see forms.py.

    Attributes:
      tree: root of the VOC tree.
      folder: holds the folders below.
    """

    tree: pathlib.Path
    folder: pathlib.Path

    @property
    def parquet(self) -> pathlib.Path:
        """What `export --layout parquet` writes."""
        return self.folder / "parquet"

    @property
    def tars(self) -> pathlib.Path:
        """WebDataset's tar files, each member the file's own bytes."""
        return self.folder / "tars"

    @property
    def array_record(self) -> pathlib.Path:
        """The built dataset's version folder, in the format array_record."""
        return self.folder / "array_record/voc_seg_tfrecord/bench/1.0.0"

    @property
    def tfrecord(self) -> pathlib.Path:
        """The built dataset's version folder, in TFDS's own format."""
        return self.folder / "tfrecord/voc_seg_tfrecord/bench/1.0.0"

    @property
    def scratch(self) -> pathlib.Path:
        """Where a library may put what it makes of these."""
        return self.folder / "scratch"

    def files(self) -> list[tuple[str, str]]:
        """Returns paths of image and mask of each pair."""
        masks = sorted((self.tree / "SegmentationClass").iterdir())
        images = (self.tree / "JPEGImages" / f"{mask.stem}.jpg" for mask in masks)
        return list(zip(map(str, images), map(str, masks), strict=True))
