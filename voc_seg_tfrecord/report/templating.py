"""Fills the template of a page: one HTML file with its own style sheet and script.

The page forbids itself everything but its own style sheet and script, by their hashes, and images
that stand in it. So even a name that got past the escaping could neither run nor load anything.
"""

import base64
from collections.abc import Iterable, Sequence
import hashlib
import pathlib
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.exports.card import load_templates

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def fill_template(name: str, colors: np.ndarray, labels: Iterable[int], **variables: Any) -> str:
    """Returns the page of a template, in which all text is escaped.

    Args:
      name: of the template, without its ending.
      colors: of the mask values, uint8 `[N, 3]`, N at least 256.
      labels: the mask values whose colors are on the page.
      **variables: those of the template.
    """
    import markupsafe  # which Jinja2 brings

    style = (_TEMPLATES / "page.css").read_text() + _color_rules(colors, labels) + "\n"
    script = (_TEMPLATES / "page.js").read_text()
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_source_hash(style)}'; script-src '{_source_hash(script)}'"
    )
    environment = load_templates(
        _TEMPLATES,
        autoescape=True,
        number=_format_number,
        percent=_format_percent,
        amount=counted,
    )
    return environment.get_template(f"{name}.html").render(
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        policy=policy,
        void=VOID,
        **variables,
    )


def _color_rules(colors: np.ndarray, labels: Iterable[int]) -> str:
    """Returns a rule of the style sheet for each label and void: `.c15{--class:#c08080}`."""
    values = sorted({*labels, VOID})
    return "".join(f".c{value}{{--class:{hex_color(colors[value])}}}" for value in values)


def hex_color(color: np.ndarray) -> str:
    """Returns red, green and blue as `#rrggbb`."""
    red, green, blue = (int(channel) for channel in color)
    return f"#{red:02x}{green:02x}{blue:02x}"


def name_all_values(class_names: Sequence[str], word: str) -> list[str]:
    """Returns the names of the 256 mask values: `class 7`, by the word, where no class has one."""
    unnamed = [f"{word} {value}" for value in range(len(class_names), VOID)]
    return [*class_names, *unnamed, "void"]


def _source_hash(text: str) -> str:
    """Returns the hash of a style sheet or script, as a content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _format_number(number: int) -> str:
    return f"{number:,}"


def _format_percent(share: float) -> str:
    """Returns a share in percent, with two digits below ten percent."""
    if not share:
        return "0 %"
    if share < 0.0001:
        return "<0.01 %"
    if share < 0.1:
        return f"{100 * share:.2f} %"
    return f"{100 * share:.1f} %"
