import base64
import io
import os
import re
import runpy

import numpy as np
from PIL import Image
import pytest
from support.paths import REPOSITORY

nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.slow

NOTEBOOK = REPOSITORY / "docs" / "tutorials" / "tour.ipynb"
SHEET, LOSS, SCORE, PREDICTIONS = 5, 7, 9, 11  # the cells that show something


@pytest.fixture(scope="module")
def committed():
    return nbformat.read(NOTEBOOK, as_version=4)


def text(notebook, cell):
    return "".join(out.text for out in notebook.cells[cell].outputs)


def picture(notebook, cell):
    (data,) = (o.data["image/png"] for o in notebook.cells[cell].outputs if "data" in o)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def test_it_runs_to_a_picture_of_predictions_and_the_committed_one_shows_the_same(
    committed, tmp_path, monkeypatch
):
    path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)  # the kernel imports this checkout
    monkeypatch.setenv("HOME", "/nowhere")
    ran = runpy.run_path(str(REPOSITORY / "docs/run_notebook.py"))["run"](tmp_path)
    losses = [float(loss) for loss in text(ran, LOSS).split()[1:]]
    assert losses[-1] < losses[0] / 4
    assert float(re.search(r"mIoU: ([\d.]+)", text(ran, SCORE))[1]) > 0.5
    assert picture(ran, PREDICTIONS).shape[0] > 300
    assert [c.source for c in committed.cells] == [c.source for c in ran.cells]
    for old, new in zip(committed.cells, ran.cells, strict=True):
        kinds = [[o.output_type for o in c.get("outputs", [])] for c in (old, new)]
        assert kinds[0] == kinds[1]
    assert (picture(committed, SHEET) == picture(ran, SHEET)).all()
    shown = [o for cell in ran.cells for o in cell.get("outputs", []) if "data" in o]
    assert sum("image/png" in o.data for o in shown) == 2


def test_the_committed_notebook_is_small_and_names_no_folder_of_a_machine():
    assert NOTEBOOK.stat().st_size < 300_000
    plain = re.sub(r'"image/png": "[^"]*"', "", NOTEBOOK.read_text())
    assert "/tmp" not in plain
    assert "/home" not in plain
    assert "/work" not in plain


def test_its_links_lead_to_files(committed):
    prose = "".join(c.source for c in committed.cells if c.cell_type == "markdown")
    links = re.findall(r"\]\(([^)]+)\)", prose)
    assert len(links) > 3
    assert all((NOTEBOOK.parent / link).resolve().exists() for link in links)
