"""Runs Python in a process of its own."""

import os
import pathlib
import subprocess
import sys

from support.paths import REPOSITORY


def run_python(
    *words: object, cwd: pathlib.Path = REPOSITORY, standard_input: str = "", **environment: str
) -> str:
    """Returns what Python prints, with these words behind its name.

    Args:
      *words: such as `-c` and code, or `-m` and a module.
      cwd: where it runs, and where it finds modules.
      standard_input: what it reads.
      **environment: variables beside those of this process.
    """
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        input=standard_input,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd)} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
