"""The templates of cards and pages."""

from collections.abc import Callable
import pathlib
from typing import Any


def load_templates(folder: pathlib.Path, *, autoescape: bool, **filters: Callable[..., str]) -> Any:
    """Returns Jinja's environment of a folder's templates, in which an unknown name is an error."""
    import jinja2  # of cards and pages only

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= filters
    return environment
