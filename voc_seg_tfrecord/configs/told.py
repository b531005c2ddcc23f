"""What a config tells of itself: that which differs from the defaults."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from voc_seg_tfrecord.wording import brief

if TYPE_CHECKING:
    from voc_seg_tfrecord.configs.config import VocSegConfig

_SHOWN = 3  # names of classes in a line


def fields(config: VocSegConfig) -> dict[str, object]:
    """Returns name and release, and the fields that differ from their defaults."""
    # What a release has by default differs from what own data has.
    default = type(config)(name=config.name, release=config.release)
    names = [field.name for field in dataclasses.fields(config)]
    changed = {n: getattr(config, n) for n in names if getattr(config, n) != getattr(default, n)}
    release = {"release": config.release} if config.release else {}
    return {"name": config.name, **release, **changed}


def line(config: VocSegConfig) -> str:
    """Returns the config in a short line, without its description."""
    said = fields(config)
    said.pop("description", None)
    if "class_names" in said and len(config.class_names) > _SHOWN:
        said["class_names"] = brief.several(config.class_names, _SHOWN)
    return brief.line(config, *(f"{name}={value!r}" for name, value in said.items()))


def table(config: VocSegConfig) -> str:
    """Returns the config as a table for a notebook."""
    rows = ((name, str(value)) for name, value in fields(config).items())
    return brief.table(f"config {config.name}", ("field", "value"), rows)
