"""Says in plain words what Python's own errors say about data that a user wrote."""

import re

_SENTENCES = (
    (r"invalid literal for int\(\) with base \d+: (.*)", r"\1, which is no whole number"),
    (r"could not convert string to float: (.*)", r"\1, which is no number"),
    (r"Exceeds the limit \((\d+) digits\).*", r"a number of more than \1 digits"),
    (r"maximum recursion depth exceeded.*", "too many lists or objects within each other"),
    (r"not enough values to unpack \(expected (\d+), got (\d+)\)", r"\2 values, not \1"),
    (r"too many values to unpack \(expected (\d+).*\)", r"more than \1 values"),
    (r"(?:list|string|tuple) index out of range", "too few values"),
    (r"(?:list|string|tuple) indices must be integers.*", "a list or text, not an object"),
    (r"'(?:int|float|bool|NoneType)' object is not .*", "a single value, not a list or object"),
    (r"'(?:\w+)' object has no attribute '(?:\w+)'", "a value of another kind"),
    (r"(?:int|float)\(\) argument must be .* not '(\w+)'", r"a \1, which is no number"),
)  # fmt: skip
"""The messages of Python that a wrong value causes, and what to say in their place."""


def plain_reason(error: Exception) -> str:
    """Returns what an error says, without the words of a programmer.

    Example: `'x', which is no whole number` for `invalid literal for int() with base 10: 'x'`.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    for pattern, sentence in _SENTENCES:
        match = re.fullmatch(pattern, text)
        if match:
            return match.expand(sentence)
    return text
