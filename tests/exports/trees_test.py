import numpy as np
import pytest
from support.building import examples

from voc_seg_tfrecord.build_from.run import from_arrays
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.exports.export import export


@pytest.mark.parametrize(
    "names",
    [["soil_bg"], ["soil_bg", "crop"], ["a,b", 'c "d"', "e;f"], ["#a", "1"], ["crop", "bg"]],
)
def test_an_export_built_again_has_the_same_classes_at_the_same_numbers(tmp_path, names):
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (20, 24, 3), np.uint8) for _ in range(2)]
    masks = [rng.integers(0, len(names), (20, 24)).astype(np.uint8) for _ in range(2)]
    one = from_arrays(images, masks, name="one", class_names=names, data_dir=tmp_path / "data")
    export(one, tmp_path / "tree", layout="voc")
    two = builder_from_tree(
        tmp_path / "tree", name="two", data_dir=tmp_path / "data", verbose=False
    )
    assert two.info.features["segmentation_mask"].names == names
    found = sorted(
        e["segmentation_mask"][..., 0].tobytes() for e in examples(two, "train").values()
    )
    assert found == sorted(mask.tobytes() for mask in masks)
