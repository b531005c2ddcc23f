import pytest
from support.building import build
from support.drawing import write_small_tree

from voc_seg_tfrecord import VocSegConfig


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A dataset of 14 examples in train, `000` to `013`."""
    tree = write_small_tree(tmp_path_factory.mktemp("tree"), 14)
    return build(tmp_path_factory.mktemp("data"), VocSegConfig(name="small"), tree)
