import types
import warnings

import pytest

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading import dataset
from voc_seg_tfrecord.reading.metadata import palette

OWN = [[n, 0, 255 - n] for n in range(256)]


@pytest.mark.parametrize(
    ("metadata", "colors"), [({"palette": OWN}, OWN), ({}, voc_palette()), (None, voc_palette())]
)
def test_the_colors_of_classes_are_the_datasets_own_or_vocs(metadata, colors):
    builder = types.SimpleNamespace(info=types.SimpleNamespace(metadata=metadata))
    assert (palette(builder) == colors).all()


def test_a_lack_of_threads_is_no_damage(sample, monkeypatch):
    def no_more(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(dataset.tfds, "builder_from_directory", no_more)
    with pytest.raises(RuntimeError, match="new thread"):
        dataset.open_built(str(sample.data_path))


def test_a_warning_of_tfds_is_no_damage(sample, monkeypatch):
    opened = dataset.tfds.builder_from_directory

    def warning(folder):
        warnings.warn("a warning of TFDS", stacklevel=1)
        return opened(folder)

    monkeypatch.setattr(dataset.tfds, "builder_from_directory", warning)
    assert dataset.open_built(str(sample.data_path)).info.splits


def test_what_is_no_dataset_is_told_what_to_give():
    with pytest.raises(ConfigError, match=r"dataset: a list\n.*a builder of TFDS"):
        dataset.as_builder([])
