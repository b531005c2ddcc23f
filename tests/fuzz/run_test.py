import os

import pytest
from support.paths import REPOSITORY
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
SLOW_KINDS = ["archives", "options", "trees", "datasets", "descriptions", "records"]
SCRIPT = REPOSITORY / "tests" / "fuzz" / "run.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "inputs"), [(KINDS, 200), (SLOW_KINDS, 20)])
def test_no_made_input_is_taken_wrongly_or_raises_a_foreign_error(kinds, inputs):
    printed = run_python(SCRIPT, *kinds, "--inputs", inputs)
    assert printed.count("equal") == len(kinds)  # of each kind some are accepted
