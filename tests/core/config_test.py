import dataclasses
import json

import numpy as np
import pytest

from voc_seg_tfrecord import VOC_CLASSES, VOID, VocSegConfig
from voc_seg_tfrecord.core import config as configs
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.config import CLASSES_OF_FOLDER
from voc_seg_tfrecord.core.errors import ConfigError


def test_2012_is_the_first_config_and_every_release_has_one():
    names = [config.name for config in configs.BUILDER_CONFIGS]
    years = ["2012", "2007", "2008", "2009", "2010", "2011"]
    assert names == [*years, "2012_aug", "2012_test", "sbd", "context59", "context60", "sample"]


def test_a_release_is_strict_and_has_every_feature():
    config = configs.BUILDER_CONFIGS[0]
    assert (config.strict, config.instance_mask, config.objects) == (True, True, True)
    assert config.split_lists == {"train": "train", "validation": "val"}


def test_only_2007_has_a_test_split_beside_the_images_of_the_evaluation_server():
    with_test = [c.name for c in configs.BUILDER_CONFIGS if c.release and "test" in c.split_lists]
    assert with_test == ["2007", "2012_test"]


def test_a_release_has_its_own_classes_and_they_are_not_in_its_json():
    config = VocSegConfig(name="part", release="context59", strict=False)
    assert config.class_names == tuple(releases.CONTEXT_NUMBERS)
    assert "class_names" not in json.loads(config.to_json())
    assert VocSegConfig(name="part", release="2012").class_names == VOC_CLASSES


def test_own_data_has_image_and_mask_alone_unless_asked():
    config = VocSegConfig(name="cracks", class_names=["background", "crack"])
    assert config.class_names == ("background", "crack")
    assert (config.strict, config.instance_mask, config.objects) == (False, False, False)
    assert VocSegConfig(name="x", objects=True).objects


SWAPPED = [VOC_CLASSES[0], VOC_CLASSES[2], VOC_CLASSES[1], *VOC_CLASSES[3:]]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"release": "2013"}, "release: '2013'"),
        ({"strict": True}, "strict: True"),
        ({"release": "2012", "splits": {"train": "val"}}, "splits"),
        ({"class_names": []}, "class_names"),
        ({"class_names": ["a", "a"]}, "class_names"),
        ({"class_names": ["a", "\xa0"]}, "class_names"),
        ({"class_names": ["a", "b\nc"]}, "control characters"),
        ({"class_names": [str(n) for n in range(256)]}, "255"),
        ({"release": "2012", "class_names": SWAPPED}, "'bicycle' at another position than in"),
        ({"tile": 8, "tile_overlap": 8}, "tile_overlap: 8"),
        ({"tile": 0}, "tile: 0"),
        ({"tile_overlap": 8}, "tile_overlap: 8\n  expected: the option tile with it"),
        ({"tile_format": "jpeg"}, "tile_format: 'jpeg'\n  expected: the option tile"),
        ({"tile_format": "webp"}, "tile_format: 'webp'\n  expected: one of png, jpeg"),
        ({"tile": 8, "release": "2012"}, "tile: 8\n  expected: own data"),
        ({"tile": 8, "objects": True}, "tile: 8\n .* without the feature objects"),
        ({"tile": 8, "task": "classification"}, "tile: 8\n  expected: own data with masks"),
        ({"release": "2012_test", "class_names": ["a", "b"]}, "class_names: .*images alone"),
        ({"release": "2012_test", "task": "classification"}, "task: .*images, as 2012_test"),
        ({"release": "2012_test", "objects": True}, "objects: True"),
        ({"release": "2012", "task": "classification"}, "task: .*segmentation, as 2012"),
        ({"release": "2012", "exif": "apply"}, "exif: 'apply'"),
        ({"release": "context59", "class_names": VOC_CLASSES}, "'aeroplane' at another position"),
        ({"task": "images", "class_names": [], "objects": True}, "objects: True"),
        ({"task": "images", "class_names": [], "instance_mask": True}, "instance_mask: True"),
        ({"task": "classification", "missing_mask": "background"}, "missing_mask: 'background'"),
        ({"seed": 3}, "seed: 3\n  expected: ratios with it"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields, words):
    with pytest.raises(ConfigError, match=f"(?s){words}"):
        VocSegConfig(name="mine", **fields)


FIRST_255 = ["background", *(f"class {number}" for number in range(254))]


def test_255_classes_may_be_followed_by_void():
    config = VocSegConfig(name="mine", class_names=[*FIRST_255, "void"])
    assert config.built_class_names == tuple(FIRST_255)
    assert config.index_rule().values == {-1: VOID, VOID: VOID, **{n: n for n in range(255)}}
    with pytest.raises(ConfigError, match="at most 255 names"):
        VocSegConfig(name="mine", class_names=["void", *FIRST_255])


def test_numbers_of_numpy_are_in_the_json_as_those_of_python():
    config = VocSegConfig(name="mine", tile=np.int64(64), tile_overlap=np.uint8(8))
    assert json.loads(config.to_json())["tile"] == 64
    assert config.tiling.overlap == 8
    config = VocSegConfig(name="mine", seed=np.int64(7), splits={"train": 0.5, "test": 0.5})
    assert json.loads(config.to_json())["seed"] == 7


def test_rows_are_brought_into_one_form_before_the_classes_are_known():
    config = VocSegConfig(name="x", class_names=CLASSES_OF_FOLDER, classes={255: "crack"})
    assert config.classes == ((255, "crack"),)
    assert "crack" in repr(config)
    with pytest.raises(ConfigError, match="the key 65536"):
        VocSegConfig(name="x", class_names=CLASSES_OF_FOLDER, classes={65536: "crack"})


@pytest.mark.parametrize(
    "config",
    [
        *configs.BUILDER_CONFIGS,
        VocSegConfig(name="mine"),
        VocSegConfig(name="mine", class_names=("background", "a"), splits={"train": 0.8, "b": 0.2}),
        VocSegConfig(name="mine", release="2012", strict=False, instance_mask=False, objects=False),
        VocSegConfig(name="mine", release="2012_aug", strict=False),
        VocSegConfig(name="mine", classes=[(7, "vehicle")]),
        VocSegConfig(name="mine", class_names=VOC_CLASSES, classes=[(7, "vehicle")]),
        VocSegConfig(name="mine", classes=[(255, "void")]),
        VocSegConfig(name="mine", tile=512),
        VocSegConfig(name="mine", tile=512, tile_overlap=64, tile_format="jpeg"),
    ],
)
def test_a_config_comes_back_from_its_json(config):
    again = VocSegConfig(**json.loads(config.to_json()))
    assert dataclasses.asdict(again) == dataclasses.asdict(config)


def test_a_tuple_of_vocs_names_is_as_good_as_a_list_of_them():
    for names in (VOC_CLASSES, [*VOC_CLASSES]):
        config = VocSegConfig(name="mine", class_names=names, classes=[(7, "vehicle")])
        assert config.built_class_names == (*VOC_CLASSES[:7], "vehicle", *VOC_CLASSES[8:])


def test_the_sample_alone_has_its_tree_in_the_package_and_its_json_does_not_say_so():
    packaged = [c for c in configs.BUILDER_CONFIGS if c.packaged_tree]
    assert [c.name for c in packaged] == ["sample"]
    assert not VocSegConfig(**json.loads(packaged[0].to_json())).packaged_tree
    assert dataclasses.replace(packaged[0], name="copy").packaged_tree == "dummy_data"
