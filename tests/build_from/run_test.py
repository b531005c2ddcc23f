import pytest

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig
from voc_seg_tfrecord.build_from.run import build_source, check_name, spelled_out
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.examples.source import Source
from voc_seg_tfrecord.masks.rule import index_rule


@pytest.mark.parametrize("name", ["2012", "sample", "a/b", "a b", ""])
def test_a_name_that_is_taken_or_impossible_is_refused(name):
    with pytest.raises(ConfigError, match="choose another name"):
        check_name(name)


def test_voc_stands_for_vocs_names():
    assert spelled_out(["voc"]) == list(VOC_CLASSES)
    assert spelled_out(["a", "voc"]) == ["a", "voc"]


def test_a_dataset_that_exists_is_not_replaced_without_a_word(tmp_path):
    config = VocSegConfig(name="mine")
    (tmp_path / "voc_seg_tfrecord" / "mine" / "1.0.0").mkdir(parents=True)
    source = Source({}, config.example_spec(index_rule(21)))
    with pytest.raises(ConfigError, match="exists already"):
        build_source(source, config, data_dir=tmp_path)
