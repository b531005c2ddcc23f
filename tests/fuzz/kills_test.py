import os

import pytest
from support.paths import REPOSITORY
from support.python import run_python


@pytest.mark.slow  # tests/staging has the short form: one process, killed once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_a_killed_command_leaves_nothing_half_and_the_next_run_is_whole():
    script = REPOSITORY / "tests" / "fuzz" / "kills.py"
    commands = ["build", "build --workers", "one worker", "export voc", "evaluate"]
    few = ["--kills", "2", "--pairs", "40"]
    assert run_python(script, *few, *commands).count("\n") == 1 + len(commands)
