"""A real browser: the system's Chromium, driven by Playwright, one for all tests of a module.

Playwright runs an event loop in this thread, with which `asyncio.run` fails. So conftest.py closes
the browser after each module.
"""

from collections.abc import Iterator
import contextlib
import os
import pathlib
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")

_open = contextlib.ExitStack()
_started: list = []  # the browser


@contextlib.contextmanager
def opened(page: pathlib.Path, **options) -> Iterator:
    """Yields a page in a new window, with what it did in `noise`, and closes the window.

    Skips the test where no browser is installed.

    Args:
      page: the file.
      **options: of `playwright`'s `new_page`, such as `viewport` or `color_scheme`.
    """
    window = _browser().new_page(**options)
    try:
        window.noise = noise = []
        window.on("console", lambda message: noise.append(message.text))
        window.on("pageerror", lambda error: noise.append(str(error)))
        window.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
        window.on("request", lambda request: noise.extend(_loads(request.url)))
        window.goto(page.as_uri())
        yield window
    finally:
        window.close()


def close() -> None:
    """Closes the browser, if one is open."""
    _open.close()


def _browser():
    """Returns the open browser, or a new one; `new_page` makes a profile of its own in it."""
    if not _started:
        executable = next(filter(None, map(shutil.which, NAMES)), None)
        if executable is None:
            pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
        from playwright.sync_api import sync_playwright

        playwright = _open.enter_context(sync_playwright())
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        _started.append(browser)
        _open.callback(_started.clear)
        _open.callback(browser.close)
    return _started[0]


def _loads(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:")) else [url]
