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

VIEWPORT = {"width": 1280, "height": 800}

_open = contextlib.ExitStack()
_started: list = []  # the browser, and then the window that tests share


@contextlib.contextmanager
def opened(page: pathlib.Path, viewport: dict = VIEWPORT, **options) -> Iterator:
    """Yields a window that shows a page, with what the page did in `noise`.

    Skips the test where no browser is installed.

    Args:
      page: the file.
      viewport: the window's size.
      **options: of `playwright`'s `new_page`, such as `color_scheme`. They need a new window,
        which takes as long as showing the page.
    """
    window = _window(**options)
    window.noise = []
    window.set_viewport_size(viewport)
    window.mouse.move(0, 0)
    window.goto(page.as_uri())
    try:
        yield window
    finally:
        if options:
            window.close()
        else:
            window.emulate_media(media="screen")
            window.evaluate("localStorage.clear()")
            window.goto("about:blank")


def close() -> None:
    """Closes the browser, if one is open."""
    _open.close()


def _window(**options):
    """Returns a window with a profile of its own, or without options the one that tests share."""
    browser = _browser()
    if not options and len(_started) > 1:
        return _started[1]
    window = browser.new_page(**options)
    window.on("console", lambda message: window.noise.append(message.text))
    window.on("pageerror", lambda error: window.noise.append(str(error)))
    window.on("dialog", lambda dialog: (window.noise.append(dialog.message), dialog.dismiss()))
    window.on("request", lambda request: window.noise.extend(_loads(request.url)))
    if not options:
        _started.append(window)
    return window


def _browser():
    """Returns the open browser, or a new one."""
    if not _started:
        executable = next(filter(None, map(shutil.which, NAMES)), None)
        if executable is None:
            pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
        sync_api = pytest.importorskip("playwright.sync_api")
        playwright = _open.enter_context(sync_api.sync_playwright())
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        _started.append(browser)
        _open.callback(_started.clear)
        _open.callback(browser.close)
    return _started[0]


def _loads(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:", "about:")) else [url]
