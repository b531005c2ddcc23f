import types

import pytest

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.built.dataset import palette

OWN = [[n, 0, 255 - n] for n in range(256)]


@pytest.mark.parametrize(
    ("metadata", "colors"), [({"palette": OWN}, OWN), ({}, voc_palette()), (None, voc_palette())]
)
def test_the_colours_of_classes_are_the_datasets_own_or_vocs(metadata, colors):
    builder = types.SimpleNamespace(info=types.SimpleNamespace(metadata=metadata))
    assert (palette(builder) == colors).all()
