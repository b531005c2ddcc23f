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


def holes_and_void(data_dir: pathlib.Path, count: int = 6, **options):
    """Builds a dataset of blobs with holes, islands in holes, single pixels and void.

    `road` never occurs, and background is not the first class.
    """
    rng = np.random.default_rng(0)
    images = []
    masks = []
    for _ in range(count):
        height, width = rng.integers(12, 40, 2)
        coarse = rng.choice(
            [0, 1, 3, 255], ((height + 3) // 4, (width + 3) // 4), p=[0.4, 0.3, 0.2, 0.1]
        )
        mask = np.kron(coarse, np.ones((4, 4))).astype(np.uint8)[:height, :width]
        is_noise = rng.random((height, width)) < 0.1
        mask[is_noise] = rng.choice([0, 1, 3], int(is_noise.sum()))
        masks.append(mask)
        images.append(rng.integers(0, 256, (height, width, 3), np.uint8))
    names = ["crack", "background", "road", "hole: deep"]
    names_of_files = [f"place/{number}.png" for number in range(count)]
    return from_arrays(
        images,
        masks,
        filenames=names_of_files,
        name="holes",
        class_names=names,
        splits={"train": 0.5, "validation": 0.5},
        data_dir=data_dir,
        **options,
    )
