import os

from fuzz import strict_png
import numpy as np
import pytest
from support.paths import REPOSITORY
from support.png_writer import write_png
from support.python import run_python

KINDS = [
    "masks",
    "streams",
    "jpeg",
    "photos",
    "png",
    "other",
    "hand",
    "lists",
    "classfiles",
    "annotations",
    "npy",
    "sbd",
    "configs",
]
WHOLES = ["archives", "options", "datasets"]  # a hundred times slower
STRANGERS = ["descriptions", "records", "trees"]
SCRIPT = REPOSITORY / "tests" / "fuzz" / "run.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "inputs"), [(KINDS, 200), (WHOLES, 20), (STRANGERS, 20)])
def test_no_made_input_is_taken_wrongly_or_raises_a_foreign_error(kinds, inputs):
    printed = run_python(SCRIPT, *kinds, "--inputs", inputs)
    assert printed.count("equal") == len(kinds)  # of each kind some are accepted


@pytest.mark.parametrize(
    ("color", "depth"), [(c, d) for c, depths in strict_png.DEPTHS.items() for d in depths]
)
def test_the_strict_reader_reads_what_the_writer_wrote(color, depth):
    shape = (5, 7, strict_png.CHANNELS[color])
    samples = np.random.default_rng(0).integers(0, 1 << depth, shape)
    palette = np.zeros((1 << depth, 3)) if color == 3 else None
    data = write_png(samples, depth=depth, color=color, palette=palette)
    assert np.array_equal(strict_png.read(data), samples)
