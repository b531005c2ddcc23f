"""Outlines of real masks in the files of each tool, built, and compared with the tool's pixels."""

import shutil

import numpy as np
from PIL import Image, ImageDraw
from polygons import write_coco, write_cvat, write_labelme, write_yolo
import pytest
from support.building import examples

from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.core.names import VOC_CLASSES

coco_masks = pytest.importorskip("pycocotools.mask")
contourpy = pytest.importorskip("contourpy")


def outlines(mask):
    """Returns the outlines of each class of a mask: pairs of name and points."""
    found = []
    for value in np.unique(mask[mask > 0]):
        padded = np.pad(mask == value, 1).astype(float)
        for line in contourpy.contour_generator(z=padded).lines(0.5):
            name = "__ignore__" if value == 255 else VOC_CLASSES[value]
            found.append((name, (line[:-1] - 0.63).round(2).tolist()))
    return [(name, line) for name, line in found if len(line) > 2]


def by_pillow(line, size):
    image = Image.new("L", size[::-1])
    ImageDraw.Draw(image).polygon([tuple(point) for point in line], fill=1, outline=1)
    return np.array(image)


def by_pycocotools(line, size):
    return coco_masks.decode(coco_masks.frPyObjects([np.ravel(line).tolist()], *size)[0])


@pytest.fixture(scope="module", params=[25, pytest.param(4, marks=pytest.mark.slow)])
def outlined(request, real_data):
    """Real photos' paths, each with its name, its size and the outlines of its mask."""
    images = {}
    paths = sorted(real_data.glob("voc2012/VOCdevkit/VOC2012/SegmentationClass/*.png"))
    assert len(paths) == 106
    for path in paths[:: request.param]:
        mask = np.array(Image.open(path))
        photo = path.parents[1] / "JPEGImages" / f"{path.stem}.jpg"
        images[photo] = path.stem, mask.shape, outlines(mask)
    return images


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("write", "draw", "smaller_above"),
    [
        (write_labelme, by_pillow, False),
        (write_coco, by_pycocotools, True),
        (write_yolo, by_pillow, True),
        (write_cvat, by_pycocotools, False),
    ],
)
def test_real_outlines_are_built_with_the_pixels_of_the_tool(
    outlined, tmp_path, write, draw, smaller_above
):
    (tmp_path / "set").mkdir()
    for photo in outlined:
        shutil.copy(photo, tmp_path / "set")
    write(tmp_path / "set", [*outlined.values()])
    builder = builder_from_tree(
        tmp_path / "set", name="real", data_dir=tmp_path / "built", verbose=False
    )
    names = builder.info.features["segmentation_mask"].names
    values = {name: n for n, name in enumerate(names)} | {"__ignore__": 255}
    built = examples(builder, "train")
    assert len(built) == len(outlined)
    for name, size, shapes in outlined.values():
        drawn = [(values[label], draw(line, size)) for label, line in shapes]
        if smaller_above:
            drawn.sort(key=lambda pair: -int(pair[1].sum()))
        expected = np.zeros(size, np.uint8)
        for value, pixels in drawn:
            expected[pixels > 0] = value
        np.testing.assert_array_equal(built[f"{name}.jpg"]["segmentation_mask"][..., 0], expected)
