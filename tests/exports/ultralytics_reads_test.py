"""Ultralytics itself reads what `export --layout ultralytics` and `yolo` write.

It needs no TensorFlow, so these tests run beside PyTorch alone:
`pip install ./lite ultralytics pytest hypothesis`.
"""

import os
import pathlib

import numpy as np
import pytest
from support.building import holes_and_void

from voc_seg_tfrecord.exports.export import export
from voc_seg_tfrecord.reading.data_source import data_source

pytestmark = pytest.mark.slow
os.environ.setdefault("YOLO_OFFLINE", "true")
ultralytics = pytest.importorskip("ultralytics")


def masks_of(built, split):
    """Returns the masks of a split by the names of the images' files."""
    source = data_source(str(built.data_dir), split=split)
    return {row["image/filename"].decode(): row["segmentation_mask"][..., 0] for row in source}


def read(folder, split):
    """Yields each image's name and the mask that Ultralytics would train on, at its full size."""
    from ultralytics.cfg import get_cfg
    from ultralytics.data import dataset
    from ultralytics.data.utils import add_polygon_background, check_det_dataset

    data = check_det_dataset(str(folder / "data.yaml"), autodownload=False)
    kind = dataset.SemanticDataset
    if "masks_dir" not in data:
        kind = dataset.PolygonSemanticDataset
        add_polygon_background(data)
    options = {"imgsz": 64, "augment": False, "hyp": get_cfg(), "task": "semantic"}
    images = kind(img_path=data[split], data=data, **options)
    root = pathlib.Path(data[split])
    for index, label in enumerate(images.labels):
        name = pathlib.Path(label["im_file"]).relative_to(root).as_posix()
        yield name, images.load_mask(index, image_shape=label["shape"])


def test_ultralytics_reads_the_masks_of_the_dataset(tmp_path):
    built = holes_and_void(tmp_path / "data", 12)
    export(built, tmp_path / "out", layout="ultralytics")
    for split, folder in (("train", "train"), ("validation", "val")):
        expected = masks_of(built, split)
        found = dict(read(tmp_path / "out", folder))
        assert found.keys() == expected.keys()
        for name, mask in expected.items():
            assert (found[name] == mask).all()


def test_ultralytics_fills_the_polygons_to_the_masks_of_the_dataset(tmp_path):
    built = holes_and_void(tmp_path / "data", 12)
    export(built, tmp_path / "out", layout="yolo")
    numbers_in_yolo = np.full(256, 3, np.uint8)  # background, which Ultralytics puts last, and void
    numbers_in_yolo[[0, 3]] = (0, 2)
    for split, folder in (("train", "train"), ("validation", "val")):
        expected = masks_of(built, split)
        found = dict(read(tmp_path / "out", folder))
        assert found.keys() == expected.keys()
        for name, mask in expected.items():
            assert (found[name] == numbers_in_yolo[mask]).all()
