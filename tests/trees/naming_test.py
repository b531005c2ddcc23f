import pytest

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.trees.naming import Naming


@pytest.mark.parametrize(
    ("pattern", "name", "image_id"),
    [
        ("gt_{id}.png", "gt_0001.png", "0001"),
        ("gt_{id}.png", "gt_0001.PNG", "0001"),
        ("gt_{id}.png", "gt_0001.bmp", None),
        ("gt_{id}", "gt_0001.bmp", "0001"),
        ("{id}.png", "a.v1.png", "a.v1"),
        ("{id}_L.v2.png", "a_L.v2.png", "a"),
        ("{id}_mask", "city/a_mask.png", "city/a"),
        ("gt_{id}", "gt_.png", None),
        ("{id}/mask.png", "scene 1/mask.png", "scene 1"),
    ],
)
def test_a_pattern_finds_the_id_in_a_name(pattern, name, image_id):
    assert Naming.parse(pattern).id_of(name) == image_id


@pytest.mark.parametrize("pattern", ["gt.png", "{id}_{id}.png", "/a/{id}.png", "gt_{ID}.png"])
def test_a_pattern_without_exactly_one_id_is_refused(pattern):
    with pytest.raises(ConfigError, match="option mask_name"):
        Naming.parse(pattern)
