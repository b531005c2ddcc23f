"""Runs commands one after another in one process, each as `python -m voc_seg_tfrecord` runs it.

A script for any interpreter that has the package. Standard input has the words of the commands, as
JSON. For each it prints a line of JSON: its status, and what the process wrote to standard output
and standard error meanwhile, libraries in C++ included.
"""

import json
import os
import runpy
import sys
import tempfile


def main() -> None:
    """Runs the commands."""
    with os.fdopen(os.dup(1), "w") as answers:
        for words in json.load(sys.stdin):
            print(json.dumps(_run(words)), file=answers, flush=True)


def _run(words: list[str]) -> tuple[int, str, str]:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        os.dup2(output.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        sys.argv = ["voc-seg-tfrecord", *words]
        try:
            runpy.run_module("voc_seg_tfrecord", run_name="__main__")
        except SystemExit as ended:
            status = int(ended.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        return status, *(_text(stream) for stream in (output, errors))


def _text(stream) -> str:
    stream.seek(0)
    return stream.read().decode()


if __name__ == "__main__":
    main()
