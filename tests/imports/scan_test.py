from etils import epath
import numpy as np
import pytest
from support import handwritten

from voc_seg_tfrecord.base.errors import ConfigError, RecordError
from voc_seg_tfrecord.imports import layouts
from voc_seg_tfrecord.imports.scan import scan_records


def scanned(path, keys=None):
    return scan_records([path], epath.Path(path.parent), keys)


def test_a_scan_gathers_the_mask_values_and_the_records_that_cannot_be_used(tmp_path):
    (image, mask), (other, _) = handwritten.pairs(2)
    wrong = handwritten.raw(other, mask[:3])
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, mask), wrong])
    scan = scanned(path)
    assert scan.name == "raw with label_raw"
    assert scan.values == set(np.unique(mask).tolist())
    (problem,) = scan.problems
    assert str(problem).startswith(f"{path}, record 1: ")


def test_an_unknown_layout_lists_the_known_ones_one_per_line(tmp_path):
    path = handwritten.write(tmp_path / "a.tfrecord", [{"pixels": b"abc"}])
    with pytest.raises(RecordError, match="features pixels, which match no known") as caught:
        scanned(path)
    lines = str(caught.value).splitlines()
    assert lines[1] == "  expected: the features of one of these layouts:"
    assert [line.strip().partition(":")[0] for line in lines[2:-1]] == list(layouts.KNOWN)


@pytest.mark.parametrize("keys", [{"mask": "seg"}, {"image": "img", "picture": "x"}])
def test_keys_without_an_image_or_with_an_unknown_part_are_a_wrong_call(tmp_path, keys):
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*handwritten.pairs(1)[0])])
    with pytest.raises(ConfigError, match="expected: image=KEY and others of channels, "):
        scanned(path, keys)


def test_an_error_about_a_name_keeps_the_number_of_the_record(tmp_path):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    made[0]["height"] = 0
    scan = scanned(handwritten.write(tmp_path / "a.tfrecord", made))
    assert [found.number for found in scan.records] == [1, 2]
