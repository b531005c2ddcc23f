import numpy as np
import pytest
from support.syntax import PACKAGE, read_package

from voc_seg_tfrecord.core import names as base_names


def test_there_are_twenty_classes_and_background():
    assert len(base_names.VOC_CLASSES) == 21
    assert base_names.VOC_CLASSES[0] == "background"
    assert base_names.VOC_CLASSES[15] == "person"


@pytest.mark.parametrize(
    ("index", "color"),
    [
        (0, (0, 0, 0)),
        (1, (128, 0, 0)),
        (2, (0, 128, 0)),
        (15, (192, 128, 128)),
        (20, (0, 64, 128)),
        (255, (224, 224, 192)),
    ],
)
def test_the_palette_has_the_published_colors(index, color):
    assert tuple(base_names.voc_palette()[index]) == color


def test_no_color_of_the_palette_occurs_twice():
    assert len(np.unique(base_names.voc_palette(), axis=0)) == 256


@pytest.mark.parametrize(
    ("names", "index"),
    [
        (("background", "crack"), 0),
        (("apple", "background"), 1),
        (("_background_",), 0),
        (("a",), None),
        (("Apple", "Background"), 1),
        (("apple", " BG "), 1),
        (("__bg__",), 0),
        (("bg", "background"), 1),
        (("BG", "Background"), None),
        (("background noise",), None),
    ],
)
def test_background_is_found_by_its_name(names, index):
    assert base_names.background_index(names) == index


def test_the_background_that_is_named_decides_alone():
    assert base_names.background_index(("background", "road"), "road") == 1
    assert base_names.background_index(("background", "road"), "sky") is None


# Names that mean nothing but a feature. `image`, `labels`, `objects` and `label` are words of
# options, parts and other people's records as well.
NAMES = {
    base_names.MASK,
    base_names.INSTANCES,
    base_names.FILENAME,
    base_names.HEIGHT,
    base_names.WIDTH,
    base_names.MASK_SOURCE,
}
ALLOWED = {
    "core/names.py": NAMES,
    # DeepLab's records, whose features happen to be called the same.
    "sources/records/layouts.py": {base_names.FILENAME, base_names.HEIGHT, base_names.WIDTH},
    # The option of a config.
    "core/config_fields.py": {base_names.INSTANCES},
    "commands/arguments.py": {base_names.INSTANCES},
    "build_from/tree.py": {base_names.INSTANCES},
    "_tfds.py": {base_names.INSTANCES},
}


def test_only_the_module_names_types_the_names_of_features():
    for path, module in read_package().items():
        name = path.relative_to(PACKAGE).as_posix()
        assert module.constants & NAMES <= ALLOWED.get(name, set()), name


def test_every_image_and_mask_has_a_fill_and_channels():
    assert base_names.FILL == {"image": 0, "segmentation_mask": 255, "instance_mask": 255}
    assert base_names.CHANNELS == {"image": 3, "segmentation_mask": 1, "instance_mask": 1}
