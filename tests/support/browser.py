"""A real browser: the system's Chromium, driven by Playwright."""

from collections.abc import Iterator
import contextlib
import os
import pathlib
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def opened(page: pathlib.Path, **options) -> Iterator:
    """Yields a page in a new window, with what it did in `noise`, and closes the browser.

    Skips the test where no browser is installed.

    Args:
      page: the file.
      **options: of `playwright`'s `new_page`, such as `viewport` or `color_scheme`.
    """
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        try:
            window = browser.new_page(**options)
            window.noise = noise = []
            window.on("console", lambda message: noise.append(message.text))
            window.on("pageerror", lambda error: noise.append(str(error)))
            window.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
            window.on("request", lambda request: noise.extend(_loads(request.url)))
            window.goto(page.as_uri())
            yield window
        finally:
            browser.close()


def _loads(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:")) else [url]
