"""Datasets and names for tests of what is published: cards and exports."""

import pathlib

import numpy as np

from voc_seg_tfrecord.build_from.run import from_arrays

ODD_NAMES = [
    *("no", "off", "null", "~", "a: b", "- c", "---", "+", "1.", "2) x", "# h", "<script>alert(1)"),
    *("a|b", "`c`", "**b**", "_i_", "[x](y)", "![i](j)", "&amp;", "\\", "\\|", "$x$", "~~s~~"),
    *("Bäume", "木", "🌳", "1", "  two  blanks", '"quoted"', "'", "{{ 7 * 7 }}", "{% raw %}", "=="),
]
"""Names of classes that mean something else in YAML, Markdown, HTML or a template."""


def odd_names(data_dir: pathlib.Path, **options):
    """Builds a dataset whose classes have these names, one image for each class."""
    masks = [np.full((4, 5), number, np.uint8) for number in range(len(ODD_NAMES))]
    images = [np.full((4, 5, 3), number, np.uint8) for number in range(len(ODD_NAMES))]
    return from_arrays(images, masks, name="x", class_names=ODD_NAMES, data_dir=data_dir, **options)
