import pytest
from support.python import run_python

import voc_seg_tfrecord

HEAVY = ("tensorflow", "torch", "apache_beam", "scipy", "keras", "requests", "matplotlib", "jinja2")


@pytest.mark.slow
def test_importing_registers_the_dataset_and_loads_nothing_heavy_nor_does_listing_the_names():
    code = (
        "import sys\n"
        "from voc_seg_tfrecord import *\n"
        "import voc_seg_tfrecord, tensorflow_datasets as tfds; dir(voc_seg_tfrecord)\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])\n"
        "print(tfds.builder_cls('voc_seg_tfrecord') is voc_seg_tfrecord.Builder)\n"
    )
    assert run_python("-c", code).splitlines() == ["[]", "True"]


def test_every_public_name_is_there_and_listed():
    names = {*voc_seg_tfrecord.__all__, *voc_seg_tfrecord._MODULES, *voc_seg_tfrecord._FUNCTIONS}
    assert all(hasattr(voc_seg_tfrecord, name) for name in names - {"torch"})  # not installed here
    assert names <= set(dir(voc_seg_tfrecord))


@pytest.mark.slow
def test_without_pytorch_the_error_of_its_module_says_how_to_install_it():
    code = "import sys; sys.modules['torch'] = None\nfrom voc_seg_tfrecord import torch"
    program = f"try:\n    exec({code!r})\nexcept ImportError as error:\n    print(error)"
    assert "pip install 'torch>=2.4', or use voc_seg_tfrecord.arrays" in run_python("-c", program)


def test_an_unknown_name_is_an_attribute_error():
    name = "verifies"
    with pytest.raises(AttributeError, match="'voc_seg_tfrecord' has no attribute 'verifies'"):
        getattr(voc_seg_tfrecord, name)
