"""Takes docs/images/report.png: examples on the sample's report page, in the system's Chromium.

Run it as `python docs/make_screenshot.py [FILE]`. It needs playwright and Chromium. Fonts differ
from machine to machine, so no test compares the picture.
"""

import os
import pathlib
import shutil
import sys
import tempfile

from PIL import Image
from playwright.sync_api import sync_playwright

import voc_seg_tfrecord
from voc_seg_tfrecord import report

SIZE = {"width": 1000, "height": 480}


def take(page: pathlib.Path, out: pathlib.Path) -> None:
    """Saves what a window of 1000 x 480 pixels shows of a page's examples."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=browser, args=arguments).new_page(
            viewport=SIZE
        )
        window.goto(page.as_uri())
        window.evaluate("document.querySelectorAll('#examples h3')[1].scrollIntoView()")
        window.wait_for_timeout(500)  # thumbnails are decoded when they come into sight
        window.screenshot(path=out)
    with Image.open(out) as taken:
        smaller = taken.convert("RGB").quantize(128)
    smaller.save(out, optimize=True)


if __name__ == "__main__":
    images = pathlib.Path(__file__).parent / "images"
    with tempfile.TemporaryDirectory() as folder:
        builder = voc_seg_tfrecord.Builder(data_dir=folder, config="sample")
        builder.download_and_prepare()
        written = pathlib.Path(folder) / "report.html"
        report.write(builder, written)
        take(written, pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else images / "report.png")
