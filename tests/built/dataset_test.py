import pytest
from support.building import build

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.built.dataset import open_built


@pytest.mark.parametrize("name", ["voc_seg_tfrecord/sample", "voc_seg_tfrecord/sample:1.0.0"])
def test_a_dataset_is_found_by_its_name(tmp_path, name):
    build(tmp_path, "sample")
    assert open_built(name, tmp_path).info.splits["train"].num_examples == 3


def test_a_dataset_is_found_by_its_version_folder(tmp_path):
    folder = build(tmp_path, "sample").data_dir
    assert open_built(folder).info.splits["train"].num_examples == 3


def test_a_dataset_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match="voc_seg_tfrecord/nothing: no such dataset"):
        open_built("voc_seg_tfrecord/nothing", tmp_path)
