"""Turns a template and what it shows into one page that needs no other file.

The page forbids itself everything but its own style sheet and script, by their hashes, and images
that stand in it. So even a name that got past the escaping could neither run nor load anything.
"""

import base64
from collections.abc import Iterable, Mapping
import hashlib
import pathlib
from typing import Any

from etils import epath
import numpy as np

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.base.storage import PathLike

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def render(name: str, colors: np.ndarray, labels: Iterable[int], **shown: Any) -> str:
    """Returns a page.

    Args:
      name: of the template, without `.html`.
      colors: of the mask values, uint8 `[256, 3]`.
      labels: classes that are on the page.
      **shown: what the template shows. All text is escaped.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": _number, "percent": _percent, "amount": _amount}
    style = (_TEMPLATES / "page.css").read_text() + _class_colors(colors, [*labels, VOID])
    script = (_TEMPLATES / "page.js").read_text()
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_sha256(style)}'; script-src '{_sha256(script)}'"
    )
    page = environment.get_template(f"{name}.html").render(
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        policy=policy,
        void=VOID,
        **shown,
    )
    # Half a surrogate pair, as in file names that are no UTF-8, cannot be written.
    return page.encode("utf-8", "replace").decode()


def check_out(out: PathLike, option: str = "--out") -> epath.Path:
    """Returns the path of a page to write; `option` is for errors.

    Raises:
      ConfigError: if it is a folder, or if its folder is not there or cannot be written.
    """
    path = epath.Path(out).expanduser()
    if path.is_dir():
        raise ConfigError(
            f"{option} {path}",
            found="a folder",
            expected="the name of the file to write",
            remedy=f"name a file such as '{path / 'report.html'}'",
        )
    if not path.parent.is_dir():
        raise ConfigError(
            f"{option} {path}",
            found=f"no folder {path.parent}",
            expected="a file in a folder that exists",
            remedy="make the folder, or name another one",
        )
    return path


def save(page: str, path: epath.Path) -> None:
    """Writes a page, which appears under its name only when it is complete.

    Raises:
      ConfigError: if it cannot be written.
    """
    try:
        with staging.staged_file(path) as incomplete:
            incomplete.write_bytes(page.encode())
    except OSError as error:
        raise ConfigError(
            path,
            found=f"it cannot be written: {error.strerror or error}",
            expected="a file in a folder that can be written, on a disk that is not full",
            remedy="name another file",
        ) from None


def hex_color(color: np.ndarray) -> str:
    """Returns red, green and blue as `#rrggbb`."""
    return "#{:02x}{:02x}{:02x}".format(*map(int, color))


def _class_colors(colors: np.ndarray, labels: Iterable[int]) -> str:
    """Returns a rule for each class: `.c15 { --class: #c08080 }`."""
    rules = (f".c{label}{{--class:{hex_color(colors[label])}}}" for label in sorted({*labels}))
    return "".join(rules) + "\n"


def _sha256(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _number(value: int) -> str:
    return f"{value:,}"


def _percent(value: float) -> str:
    if not value:
        return "0 %"
    if value < 0.0001:
        return "<0.01 %"
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"


def _amount(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def json_lines(value: Mapping[str, Any]) -> str:
    """Returns plain data as JSON of several lines."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)
