import importlib.metadata
import re
import runpy

import numpy as np
from PIL import Image
import pytest
from support.paths import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
# Not compared: it shows a page in a browser, and each version of a browser draws letters anew.
SCREENSHOT = "report.png"
# These two draw the letters.
DRAWS = ("pillow", "matplotlib")


def pinned(package):
    text = (REPOSITORY / "constraints.txt").read_text()
    return re.search(rf"^{package}==(\S+)$", text, re.M | re.I)[1]


@pytest.fixture(scope="module")
def drawn(sample):
    script = runpy.run_path(str(REPOSITORY / "docs" / "make_pictures.py"))
    return dict(script["pictures"](sample))


@pytest.mark.slow
def test_every_picture_of_the_docs_comes_out_of_a_script_and_is_shown(drawn):
    committed = {path.name for path in IMAGES.iterdir()}
    assert committed == {*drawn, SCREENSHOT}
    assert f'"{SCREENSHOT}"' in (REPOSITORY / "docs" / "make_screenshot.py").read_text()
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    text = "".join(page.read_text() for page in pages)
    assert all(f"images/{name})" in text for name in committed)


@pytest.mark.slow
def test_the_script_draws_the_committed_pictures_to_the_pixel(drawn):
    for package in DRAWS:
        if importlib.metadata.version(package) != pinned(package):
            pytest.skip(f"another version of {package} draws letters a little differently")
    for name, picture in drawn.items():
        with Image.open(IMAGES / name) as committed:
            assert committed.size == picture.size
            assert (np.asarray(committed.convert("RGB")) == np.asarray(picture)).all(), name
