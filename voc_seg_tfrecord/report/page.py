"""Turns a template and what it shows into one page that needs no other file.

The page forbids itself everything but its own style sheet and script, by their hashes, and images
that stand in it. So even a name that got past the escaping could neither run nor load anything.
"""

import base64
from collections.abc import Iterable
import hashlib
import pathlib
from typing import Any

import numpy as np

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import counted
from voc_seg_tfrecord.base.names import VOID

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def render(name: str, colors: np.ndarray, labels: Iterable[int], **shown: Any) -> str:
    """Returns the page of a template, in which all text is escaped.

    The colours are of the mask values, uint8 `[256, 3]`, the labels those of classes on the page.
    """
    import markupsafe  # which Jinja2 brings

    environment = wording.templates(
        _TEMPLATES, autoescape=True, number="{:,}".format, percent=_percent, amount=counted
    )
    # `.c15{--class:#c08080}` for each class.
    of_classes = [f".c{n}{{--class:{hex_color(colors[n])}}}" for n in sorted({*labels, VOID})]
    style = (_TEMPLATES / "page.css").read_text() + "".join(of_classes) + "\n"
    script = (_TEMPLATES / "page.js").read_text()
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_sha256(style)}'; script-src '{_sha256(script)}'"
    )
    return environment.get_template(f"{name}.html").render(
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        policy=policy,
        void=VOID,
        **shown,
    )


def hex_color(color: np.ndarray) -> str:
    """Returns red, green and blue as `#rrggbb`."""
    return "#{:02x}{:02x}{:02x}".format(*map(int, color))


def _sha256(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _percent(value: float) -> str:
    if not value:
        return "0 %"
    if value < 0.0001:
        return "<0.01 %"
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"
