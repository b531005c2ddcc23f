"""Runs `tfds build voc_seg_tfrecord`, here or in a process of its own."""

import contextlib
import os
import subprocess
import sys

from support.paths import REPOSITORY

COMMAND = (sys.executable, "-m", "tensorflow_datasets.scripts.cli.main", "build")
COMMAND += ("voc_seg_tfrecord",)


def tfds_command(*words: str | os.PathLike) -> None:
    """Runs a command of `tfds` in this process; saves the 8 s that a new one starts for."""
    from tensorflow_datasets.scripts.cli import main

    main._parse_flags(["tfds", *map(str, words)]).execute()


def tfds_build(*words: str | os.PathLike) -> None:
    """Builds in this process, in the repository's root.

    Args:
      *words: further arguments of `tfds build`.

    Raises:
      VocSegError: what the builder raised.
    """
    with contextlib.chdir(REPOSITORY):
        tfds_command(*COMMAND[-2:], *words)


def tfds_build_process(
    *words: str | os.PathLike, check: bool = True, **environment: str
) -> subprocess.CompletedProcess:
    """Builds in a process of its own, as a user does, in the repository's root.

    Args:
      *words: further arguments of `tfds build`.
      check: whether a status other than 0 raises CalledProcessError.
      **environment: environment variables beside those of this process.

    Returns:
      The ended process with `returncode`, and the texts `stdout` and `stderr`.
    """
    return subprocess.run(
        [*COMMAND, *words],
        check=check,
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
