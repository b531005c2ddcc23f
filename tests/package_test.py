import subprocess
import sys

import voc_seg_tfrecord

HEAVY = ("tensorflow", "apache_beam", "scipy", "keras", "requests")


def run(code):
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return result.stdout.strip()


def test_importing_registers_the_dataset_and_loads_nothing_heavy():
    code = (
        "import sys, voc_seg_tfrecord, tensorflow_datasets as tfds\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])\n"
        "print(tfds.builder_cls('voc_seg_tfrecord') is voc_seg_tfrecord.Builder)\n"
    )
    assert run(code).splitlines() == ["[]", "True"]


def test_every_public_name_is_there():
    assert all(hasattr(voc_seg_tfrecord, name) for name in voc_seg_tfrecord.__all__)
