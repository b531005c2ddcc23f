"""Refuses YAML that takes without end to read: it is long, deep, or refers to parts of itself."""

import yaml

_MAX_CHARACTERS = 1 << 20
"""A YAML of this length takes a second to read."""

_MAX_DEPTH = 100
"""Lists and objects within each other; libyaml takes the square of their number in time."""

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads all scalars as texts, by libyaml where PyYAML has it."""


class EndlessYamlError(ValueError):
    """A YAML is too long, too deep, or has aliases; its words say which."""


def check_yaml(text: str | bytes) -> None:
    """Checks that a YAML is short, is flat, and has no aliases.

    By aliases a few bytes may stand for gigabytes.

    Raises:
      EndlessYamlError: if it is not.
      yaml.YAMLError: if it is no YAML.
    """
    if len(text) > _MAX_CHARACTERS:
        raise EndlessYamlError(f"YAML of {len(text):,} characters, more than {_MAX_CHARACTERS:,}")
    depth = 0
    for event in yaml.parse(text, LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise EndlessYamlError("YAML with aliases (*)")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise EndlessYamlError(f"YAML of more than {_MAX_DEPTH} lists within each other")
