"""Draws the pictures of the README and of docs: sheets of the sample, as `preview` draws them.

Run it as `python docs/make_pictures.py [FOLDER]`; docs/images is the default.
"""

from collections.abc import Iterator
import io
import pathlib
import sys
import tempfile

from PIL import Image
import tensorflow_datasets as tfds

import voc_seg_tfrecord

IMAGES = pathlib.Path(__file__).parent / "images"
SHEETS = {
    "examples.png": {"ids": ["2007_000001", "2008_000002"]},
    "by_class.png": {"by_class": True},
}


def pictures(sample: tfds.core.DatasetBuilder) -> Iterator[tuple[str, Image.Image]]:
    """Yields the name of each file and its picture.

    Args:
      sample: the builder of the sample, built.
    """
    for name, wanted in SHEETS.items():
        drawn = voc_seg_tfrecord.preview(sample, **wanted)._repr_png_()
        yield name, Image.open(io.BytesIO(drawn)).convert("RGB")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    with tempfile.TemporaryDirectory() as data_dir:
        builder = voc_seg_tfrecord.Builder(data_dir=data_dir, config="sample")
        builder.download_and_prepare()
        for name, picture in pictures(builder):
            picture.save(folder / name, optimize=True)
