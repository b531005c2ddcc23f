"""Classes of the masks and the classes that a dataset is to have: merged, dropped, reordered.

A map is applied to the table by which masks are read anyway, see `rule.MaskRule`. So no pixel is
looked at twice, and every mask is the source's mask put through one table of 256 values.

The rules of `--map_classes` are written like `car,bus=vehicle; tree=void; *=background`. They are
read in two steps: text becomes rules that name each class of the masks once, and then the new names
get their meaning, void and background among them.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import re

from voc_seg_tfrecord.base.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.base.names import VOID, background_index, plain, unprintable
from voc_seg_tfrecord.formats.class_files import is_void_name

_VOID = "void"


@dataclasses.dataclass(frozen=True)
class ClassMap:
    """What becomes of each class of the masks.

    Attributes:
      source_names: the classes of the masks, in mask order, names that mean void among them.
      class_names: the classes that the dataset has, in order: background first, then as the
        rules name them.
      table: by source class, its new index, or 255 where it becomes void.
      background: name of the new class that is background; empty where there is none.
      fill: what an image without any mask is filled with: the class that the source's
        background becomes; None where neither side has a background.
    """

    source_names: tuple[str, ...]
    class_names: tuple[str, ...]
    table: tuple[int, ...]
    background: str
    fill: int | None

    def index(self, source: int) -> int:
        """Returns what becomes of a class index of the source; void stays void."""
        return VOID if source == VOID else self.table[source]

    def object_class(self, name: str) -> str | None:
        """Returns the class of an object; None if it becomes void or background."""
        index = self.table[self.source_names.index(name)]
        new = None if index == VOID else self.class_names[index]
        return None if new == self.background else new

    def names(self) -> dict[str, str]:
        """Returns the new class of each class of the source by name; `void` where it is void."""
        new = {VOID: _VOID, **dict(enumerate(self.class_names))}
        return {n: new[i] for n, i in zip(self.source_names, self.table, strict=True)}

    def describe(self) -> str:
        """Returns the map in words: `0 background from sky; 1 vehicle from car, bus`."""
        parts = []
        for index, name in [*enumerate(self.class_names), (VOID, _VOID)]:
            from_ = [n for n, i in zip(self.source_names, self.table, strict=True) if i == index]
            number = "" if index == VOID else f"{index} "
            if from_ and from_ != [name]:
                parts.append(f"{number}{name} from {listed(from_)}")
            elif from_:
                parts.append(f"{number}{name}")
        return "; ".join(parts)


def without_void(
    source_names: Sequence[str], *, background: str = "", void: Collection[object] = ()
) -> ClassMap:
    """Returns the map in which names that mean void are no classes, and the others stay."""
    new_of = {name: None if is_void_name(name, void) else name for name in source_names}
    class_names = tuple(name for name in source_names if new_of[name] is not None)
    return _class_map(tuple(source_names), class_names, new_of, background, class_names)


def parse(
    text: str,
    source_names: Sequence[str],
    *,
    background: str = "",
    void: Collection[object] = (),
) -> ClassMap:
    """Reads the rules of `--map_classes`.

    Rules are separated by `;`. Each has classes of the masks, separated by commas, then `=` and
    the new class. `*` is every class that no rule names, and `*=*` keeps each of them. The new
    class `void`, or a name that means void, is void. A class of the masks whose name means void
    is void without a rule, and `*` does not cover it. A name that holds a comma, a semicolon, `=`
    or `*` stands in double quotes.

    Args:
      text: the rules.
      source_names: the classes of the masks, in mask order.
      background: name of the class, old or new, that is background, if its name does not say so.
      void: what means void in the masks; names among it mean void here too.

    Raises:
      ConfigError: if a class is unknown, mapped twice or not at all; if a name that means void
        is mapped to something else; if a new name is 255, belongs to a
        class that becomes something else, or differs from another only in its spelling; or if
        no class is left.
    """
    voids = {_VOID, *(word.casefold() for word in void if isinstance(word, str))}
    nothing = [name for name in source_names if is_void_name(name, void)]
    new_of: dict[str, str | None] = dict.fromkeys(nothing)
    order: list[str] = []
    for sources, target in read_rules(text, source_names, nothing):
        if target is not None and target.casefold() in voids:
            _check_void(sources, target, source_names)
            new_of |= dict.fromkeys(sources)
            continue
        if target == str(VOID) and target not in source_names:
            raise rule_error(
                f"the new class {target!r}, which would be a class of this name, and not void",
                "the name of a class, or void",
                f"write void in place of {target} if these pixels are void",
            )
        if contradicted := [name for name in sources if name in nothing]:
            raise rule_error(
                f"the new class {target!r} for {contradicted[0]!r}, which means void",
                f"void for {contradicted[0]!r}",
                "change map_classes, or say with --void what means void",
            )
        for source in sources:
            new_of[source] = source if target is None else target
        order += [target] if target is not None else sources
    _check_new_names(new_of, source_names)
    class_names = _ordered(list(dict.fromkeys(order)), new_of, background)
    if not class_names:
        raise rule_error("a map that leaves no class", "at least one class that is not void")
    kept = [name for name in source_names if name not in nothing]
    return _class_map(tuple(source_names), class_names, new_of, background, kept)


def _class_map(
    source_names: tuple[str, ...],
    class_names: tuple[str, ...],
    new_of: Mapping[str, str | None],
    background: str,
    kept: Sequence[str],
) -> ClassMap:
    """Returns the map; `kept` are the classes of the masks whose names do not mean void."""
    index: dict[str | None, int] = {None: VOID}
    index |= {name: i for i, name in enumerate(class_names)}
    table = tuple(index[new_of[name]] for name in source_names)
    new = background_index(class_names, _new_background(class_names, new_of, background))
    # If the user named the new background alone, its name decides, not that of an old one.
    new_named = background and background not in source_names
    old = None if new_named else background_index(kept, background)
    return ClassMap(
        source_names,
        class_names,
        table,
        "" if new is None else class_names[new],
        new if old is None else table[source_names.index(kept[old])],
    )


def _new_background(
    class_names: Sequence[str], new_of: Mapping[str, str | None], background: str
) -> str:
    """Returns the name of the new background, if the user named either the old or the new one."""
    if not background or background in class_names:
        return background
    return new_of.get(background) or ""


def _ordered(
    names: list[str], new_of: Mapping[str, str | None], background: str
) -> tuple[str, ...]:
    """Returns the new names with background first, where every reader of VOC expects it."""
    first = background_index(names, _new_background(names, new_of, background))
    if first:
        names.insert(0, names.pop(first))
    return tuple(names)


def _check_void(sources: Sequence[str], target: str, source_names: Sequence[str]) -> None:
    """Checks that the masks have no class that is called as void is, and is another thing."""
    same = [n for n in source_names if n.casefold() == target.casefold() and n not in sources]
    if same:
        raise rule_error(
            f"the new class {target!r}, which means void, beside a class {same[0]!r}",
            "one meaning for each name",
            f"map {same[0]} to void too, or give it another name",
        )


def _check_new_names(new_of: Mapping[str, str | None], source_names: Sequence[str]) -> None:
    """Checks that no pixels get a name, in any spelling, by which others go or went."""
    names = dict.fromkeys([*filter(None, new_of.values()), *source_names])
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(plain(name) or name, []).append(name)
    for source, new in new_of.items():
        if new is None or new == source:
            continue
        for other in spelled[plain(new) or new]:
            became = new_of[other] if other in source_names else other
            if became != new:
                became = _VOID if became is None else became
                raise rule_error(
                    f"the new name {new!r} for {source}, while there is {other!r}"
                    + (f", which becomes {became!r}" if other in source_names else ""),
                    "new names that nothing else is called, in any spelling",
                    "choose another name",
                )


_REST = "*"
_FORM = (
    "rules such as 'car,bus=vehicle; tree=void; *=background', in which * is every class that no "
    "rule names"
)
_PART = re.compile(r'\s*(?:"([^"]*)"|([^",;=]+)|([,;=]))\s*')
_SHOWN = 6

Rule = tuple[list[str], str | None]
"""Names of classes and their new class; None keeps each."""


def listed(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are: `car, bus and 3 more`."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def rule_error(found: str, expected: str, remedy: str = "change map_classes") -> ConfigError:
    """Returns the error that the option's rules are wrong."""
    return ConfigError("option map_classes", found=found, expected=expected, remedy=remedy)


def read_rules(
    text: str, source_names: Sequence[str], void_names: Sequence[str] = ()
) -> list[Rule]:
    """Reads rules; `parse` says how they are written.

    Returns:
      The rules in their order, with `*` written out. Together they name each class once, except
      `void_names`, which are void if no rule names them.

    Raises:
      ConfigError: if the text is no rules, or if a class is unknown, mapped twice or not at all.
    """
    rules = _rules(text)
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
            "add '; *=*' to keep the others, '; *=void' to leave them out of losses and metrics, "
            "or '; *=background'",
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
        words = _split(sides[0], ",")
        if len(sides) != 2 or any(len(word) != 1 for word in (*words, sides[1])):
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
