"""Runs `tfds build voc_seg_tfrecord` in a process of its own, as a user does."""

import os
import subprocess
import sys

from support.paths import REPOSITORY

COMMAND = (sys.executable, "-m", "tensorflow_datasets.scripts.cli.main", "build")
COMMAND += ("voc_seg_tfrecord",)


def tfds_build(
    *words: str | os.PathLike, check: bool = True, **environment: str
) -> subprocess.CompletedProcess:
    """Builds, in the repository's root.

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
