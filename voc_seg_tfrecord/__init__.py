"""Pascal-VOC-layout segmentation data in TensorFlow Datasets.

Importing the package registers the dataset, so that `tfds.load('voc_seg_tfrecord')` and
`tfds build voc_seg_tfrecord --imports voc_seg_tfrecord` find it. TensorFlow itself is not
imported. The public modules `arrays`, `evaluation`, `leaks`, `pipeline`, `report`, `splits`,
`stats`, `torch` and `verify`, and the functions `builder_from_tree`, `data_source`,
`find_label_errors`, `from_arrays`, `import_records` and `preview`, are imported when they are first
asked for.
"""

# First, because Ctrl-C may come during any other import.
from voc_seg_tfrecord.commands import process as _process  # noqa: F401

# isort: split
import importlib
from typing import TYPE_CHECKING

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.names import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.core.requirements import package_version
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

__all__ = [
    "VOC_CLASSES",
    "VOID",
    "Builder",
    "VocSegConfig",
    "VocSegError",
    "builder_from_tree",
    "data_source",
    "from_arrays",
    "voc_palette",
]

# Some of these import TensorFlow, and most processes need few of them. Those that load much are not
# in `__all__`, because `import *` would load them.
if TYPE_CHECKING:
    from voc_seg_tfrecord import arrays as arrays
    from voc_seg_tfrecord import evaluation as evaluation
    from voc_seg_tfrecord import pipeline as pipeline
    from voc_seg_tfrecord import report as report
    from voc_seg_tfrecord import splits as splits
    from voc_seg_tfrecord import stats as stats
    from voc_seg_tfrecord import torch as torch
    from voc_seg_tfrecord.audit import leaks as leaks
    from voc_seg_tfrecord.audit import verify as verify
    from voc_seg_tfrecord.build_from.run import from_arrays as from_arrays
    from voc_seg_tfrecord.build_from.tfrecords import import_records as import_records
    from voc_seg_tfrecord.build_from.tree import builder_from_tree as builder_from_tree
    from voc_seg_tfrecord.reading.data_source import data_source as data_source
    from voc_seg_tfrecord.report.label_errors import find_label_errors as find_label_errors
    from voc_seg_tfrecord.report.preview import preview as preview

# The public names are those of `__all__` and of these two tables.
_MODULES = {
    "arrays": "arrays",
    "evaluation": "evaluation",
    "leaks": "audit.leaks",
    "pipeline": "pipeline",
    "report": "report",
    "splits": "splits",
    "stats": "stats",
    "torch": "torch",
    "verify": "audit.verify",
}
"""Where each public module is that is imported when it is first asked for."""

_FUNCTIONS = {
    "builder_from_tree": "build_from.tree",
    "data_source": "reading.data_source",
    "find_label_errors": "report.label_errors",
    "from_arrays": "build_from.run",
    "import_records": "build_from.tfrecords",
    "preview": "report.preview",
}
"""The module of each public function that is imported when it is first asked for."""

__version__: str  # read when it is first asked for

if not TYPE_CHECKING:  # a type checker would believe that every name is there

    def __getattr__(name):
        if name == "__version__":
            return package_version()
        if name in _MODULES:
            return importlib.import_module(f"{__name__}.{_MODULES[name]}")
        if name in _FUNCTIONS:
            return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_FUNCTIONS, "__version__"})
