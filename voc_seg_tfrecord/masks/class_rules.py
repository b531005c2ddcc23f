"""The rules of `--map_classes` as they are written: `car,bus=vehicle; tree=void; *=background`.

Here text becomes rules that name each class of the masks once. What the new names mean, void and
background among them, is known to `class_map` alone.
"""

from collections.abc import Sequence
import dataclasses
import re

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import plain, unprintable
from voc_seg_tfrecord.wording.near_names import did_you_mean

_REST = "*"
_FORM = (
    "rules such as 'car,bus=vehicle; tree=void; *=background', in which * is every class that no "
    "rule names"
)
_PART = re.compile(r'\s*(?:"([^"]*)"|([^",;=]+)|([,;=]))\s*')
_SHOWN = 6

Rule = tuple[list[str], str | None]
"""Names of classes and their new class; None keeps each."""


def read_rules(
    text: str, source_names: Sequence[str], void_names: Sequence[str] = ()
) -> list[Rule]:
    """Reads rules; `class_map.parse` says how they are written.

    Args:
      text: the rules.
      source_names: the classes of the masks, in mask order.
      void_names: those of them that are void if no rule names them.

    Returns:
      The rules in their order, with `*` written out. Together they name each class once, except
      those that are void anyway.

    Raises:
      ConfigError: if the text is no rules, or if a class is unknown, mapped twice or not at all.
    """
    return _with_rest(_rules(text), source_names, void_names)


def listed(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are: `car, bus and 3 more`."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def rule_error(found: str, expected: str, remedy: str = "change map_classes") -> ConfigError:
    """Returns the error that the option's rules are wrong."""
    return ConfigError("option map_classes", found=found, expected=expected, remedy=remedy)


def _with_rest(
    rules: list[tuple[list[str | None], str | None]],
    source_names: Sequence[str],
    void_names: Sequence[str],
) -> list[Rule]:
    """Returns the rules with `*` written out, each class named once."""
    said = [name for sources, _ in rules for name in sources if name is not None]
    for name in said:
        if name not in source_names:
            alike = [n for n in source_names if plain(n) == plain(name)]
            near = did_you_mean(name, source_names)
            hint = f", but {alike[0]!r} is one" if alike else near
            shown = ", ".join(source_names[:12]) + (", ..." if len(source_names) > 12 else "")
            raise rule_error(f"{name!r}, which is no class{hint}", f"some of {shown}")
        if said.count(name) > 1:
            raise rule_error(f"the class {name!r} in two places", "each class once")
    rest = [name for name in source_names if name not in said and name not in void_names]
    stars = [target for sources, target in rules if None in sources]
    if len(stars) > 1:
        raise rule_error("* in two places", "* once")
    if rest and not stars:
        raise rule_error(
            f"no rule for {listed(rest)}",
            "a rule for each class",
            "add *=* to keep the others, *=void to leave them out of losses and metrics, or "
            "*=background",
        )
    return [
        ([name for s in sources for name in (rest if s is None else [s])], target)
        for sources, target in rules
    ]


def _rules(text: str) -> list[tuple[list[str | None], str | None]]:
    """Reads the rules; `*` is None on either side."""
    rules = []
    for rule in _split(_parts(text), ";"):
        if not rule:  # behind the last semicolon
            continue
        sides = _split(rule, "=")
        if len(sides) != 2 or len(sides[1]) != 1:
            raise rule_error(f"{_joined(rule)!r}, which is no rule", _FORM)
        words = _split(sides[0], ",")
        if any(len(word) != 1 for word in words):
            raise rule_error(f"{_joined(rule)!r}, which is no rule", _FORM)
        sources, target = [word[0].name for word in words], sides[1][0].name
        if target is None and sources != [None]:
            raise rule_error(f"{_joined(rule)!r}", "*=* alone; * as new class keeps all others")
        rules.append((sources, target))
    if not rules:
        raise rule_error("no rule", _FORM)
    return rules


@dataclasses.dataclass(frozen=True)
class _Part:
    text: str
    sign: str = ""  # one of , ; =
    quoted: bool = False

    @property
    def name(self) -> str | None:
        return None if self.text == _REST and not self.quoted else self.text


def _parts(text: str) -> list[_Part]:
    parts, position = [], 0
    while position < len(text):
        found = _PART.match(text, position)
        if not found:
            raise rule_error(repr(text[position:]), _FORM, "close the double quotes")
        quoted, name, sign = found.groups()
        word = (quoted if quoted is not None else name or "").strip()
        if not sign and (not word or unprintable(word)):
            if word or quoted is not None:
                raise rule_error(f"the name {word!r}", "a name without control characters")
        else:
            parts.append(_Part(word, sign or "", quoted is not None))
        position = found.end()
    return parts


def _split(parts: Sequence[_Part], sign: str) -> list[list[_Part]]:
    groups: list[list[_Part]] = [[]]
    for part in parts:
        if part.sign == sign:
            groups.append([])
        else:
            groups[-1].append(part)
    return groups


def _joined(parts: Sequence[_Part]) -> str:
    return "".join(part.sign or part.text for part in parts)
