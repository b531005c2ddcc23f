"""A user's code with mistakes: each line that says `wrong` has one that type checkers must report.

It is never run. tests/types_test.py compares what mypy and pyright report with these lines. What
only pyright reports has to do with TFDS, which mypy knows nothing of, or with arrays.
"""

import numpy as np

import voc_seg_tfrecord
from voc_seg_tfrecord import Builder, VocSegConfig, arrays, evaluation, pipeline, stats, verify


def mistakes(builder: Builder) -> None:
    voc_seg_tfrecord.builder_from_tree(3, name="cracks")  # wrong: no path
    voc_seg_tfrecord.builder_from_tree("/data")  # wrong: no name
    made: int = voc_seg_tfrecord.builder_from_tree("/data", name="a")  # wrong to pyright: a Builder
    voc_seg_tfrecord.from_arrays(made, name="a", class_names=["b"])  # wrong: no arrays
    voc_seg_tfrecord.verifies()  # wrong: no such name
    voc_seg_tfrecord.stats.conpute(builder)  # wrong: no such function
    VocSegConfig(name="a", tile="512")  # wrong: a text
    VocSegConfig(name="a", missing_mask="color")  # wrong: no such choice
    VocSegConfig(name="a", clas_names=["b"])  # wrong to pyright: no such field
    builder.builder_config.name = 3  # wrong: no text
    pipeline.training_batches(builder, "train", batch_size=3)  # wrong: no size
    pipeline.read(builder, "train", balance="pixels")  # wrong: no such choice
    arrays.random_flip({}, 0)  # wrong: no generator
    stats.compute(builder, progress="no")  # wrong: a text
    stats.compute(builder)["train"].pixel()  # wrong: no such attribute
    verify.verify(builder).faults[0].mask()  # wrong: no such attribute
    evaluation.evaluate(builder, "train", None)  # wrong: no path
    evaluation.Confusion(21)  # wrong: no names
    mask, scores = np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.float32)
    evaluation.Confusion(["a"]).update(mask, scores)  # wrong: no integers
    evaluation.keras_metric("21")  # wrong: a text
