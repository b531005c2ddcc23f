import os
import subprocess
import sys

import pytest
from support.paths import REPOSITORY


@pytest.mark.slow  # tests/staging has the short form: one process, killed once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_a_killed_command_leaves_nothing_half_and_the_next_run_is_whole():
    script = REPOSITORY / "tests" / "fuzz" / "kills.py"
    commands = ["build", "build --workers", "one worker", "export voc"]
    few = ["--kills", "2", "--pairs", "40"]
    done = subprocess.run(
        [sys.executable, script, *few, *commands], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") == 1 + len(commands)
