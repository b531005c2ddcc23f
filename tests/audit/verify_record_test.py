import numpy as np
from PIL import Image
import pytest
from support import doctoring
from support.building import build
from support.building import records as stored

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.audit import fingerprint, records, verify_record


@pytest.fixture(scope="module")
def serialized(tmp_path_factory):
    return stored(build(tmp_path_factory.mktemp("data"), "sample"), "train")[0]


def problems(record):
    return list(verify_record.examine(VOC_CLASSES, 0, "train", None, record).problems)


def test_a_record_as_it_was_built_has_no_problem_and_its_digests(serialized):
    record = records.parse(serialized)
    found = verify_record.examine(VOC_CLASSES, 0, "train", None, record)
    assert found.problems == ()
    assert found.id == "2007_000001"
    assert found.digests.image == fingerprint.image_digest("2007_000001", record.bytes("image"))
    assert len(found.digests.mask) == len(found.digests.instances) == 32


def changed(serialized, name, value):
    record = records.parse(serialized)
    record.features[name].bytes_list.value[0] = value
    return record


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("image", b"", "image: "),
        ("image", b"<html>", "image: "),
        ("segmentation_mask", b"", "segmentation_mask: "),
        ("instance_mask", b"\x89PNG", "instance_mask: "),
    ],
)
def test_bytes_that_cannot_be_decoded_are_a_problem_of_their_feature(
    serialized, name, value, problem
):
    (found,) = problems(changed(serialized, name, value))
    assert found.startswith(problem)


def test_a_mask_of_another_size_and_a_value_that_is_no_class_are_named(serialized):
    mask = np.full((5, 7), 21, np.uint8)
    record = changed(
        serialized, "segmentation_mask", doctoring.encoded(Image.fromarray(mask), "PNG")
    )
    found = "\n".join(problems(record))
    assert "segmentation_mask: height and width (5, 7), the image has (48, 64)" in found
    assert "segmentation_mask: values [21], there are 21 classes" in found
