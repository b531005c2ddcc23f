"""Runs tutorials/tour.ipynb in a fresh kernel and keeps what its cells show.

Run it as `python docs/run_notebook.py [FILE]`; without FILE the notebook itself is written.
Datasets, settings and caches of the kernel are in a folder that is removed afterwards.
"""

import os
import pathlib
import site
import sys
import tempfile
from unittest import mock

import nbformat

NOTEBOOK = pathlib.Path(__file__).parent / "tutorials" / "tour.ipynb"
_FOLDERS = (
    "TFDS_DATA_DIR",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "KERAS_HOME",
    "MPLCONFIGDIR",
)
_SECONDS = 300  # for one cell, on a slow machine


def run(folder: pathlib.Path) -> nbformat.NotebookNode:
    """Runs the notebook.

    Args:
      folder: an empty folder for all that the kernel writes.

    Returns:
      The notebook with its outputs, and without times and versions, so that it changes only if
      what it shows does.

    Raises:
      CellExecutionError: if a cell raises an error.
    """
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    kernel = ExecutePreprocessor(timeout=_SECONDS, kernel_name="python3", record_timing=False)
    settings = {name: str(folder / name.lower()) for name in _FOLDERS}
    packages = {"PYTHONUSERBASE": site.getuserbase()}  # which are else looked for in HOME
    with mock.patch.dict(os.environ, {"HOME": str(folder), **settings, **packages}):
        kernel.preprocess(notebook, {"metadata": {"path": str(NOTEBOOK.parent)}})
    notebook.metadata = {"kernelspec": {**_KERNEL}, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if "outputs" in cell:  # TensorFlow's libraries tell the time on standard error
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return notebook


_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(run(pathlib.Path(folder)), out)
