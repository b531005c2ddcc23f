"""Writes YAML in which each text is read again as it was, by PyYAML and by what follows it."""

from collections.abc import Mapping
import math
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Writes YAML; texts with other line ends in quotes, as PyYAML loses them otherwise."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_Dumper.add_representer(str, _Dumper.represent_str)


def dump(fields: Mapping[str, Any]) -> str:
    """Returns fields as YAML, in their order, with each text on one line."""
    options: dict[str, Any] = {"allow_unicode": True, "sort_keys": False, "width": math.inf}
    text: str = yaml.dump(dict(fields), Dumper=_Dumper, **options)
    return text
