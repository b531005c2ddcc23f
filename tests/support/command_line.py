"""Runs commands of `voc-seg-tfrecord` in this process."""

import contextlib
import dataclasses
import io

from voc_seg_tfrecord.commands import cli


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
      status: its exit status.
      output: what it wrote to standard output.
      errors: what it wrote to standard error.
    """

    status: object
    output: str
    errors: str

    @property
    def text(self) -> str:
        """All that it wrote."""
        return self.output + self.errors


def run_command(*words: object) -> Ended:
    """Runs a command; a call that argparse refuses, or `--help`, ends with its status too."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status: object = cli.main([str(word) for word in words])
        except SystemExit as ended:
            status = ended.code
    return Ended(status, output.getvalue(), errors.getvalue())
