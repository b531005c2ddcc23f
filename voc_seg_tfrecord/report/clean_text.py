"""Makes names fit for a page, whatever characters they hold."""

import unicodedata

_REPLACEMENT = "\ufffd"
_NO_CHARACTERS = "\ufffe\uffff"
_CONTROL_AND_SURROGATE = ("Cc", "Cs")


def clean(name: str, max_characters: int = 0) -> str:
    """Returns a name without characters that XML cannot hold, cut to a length if it is given."""
    plain = "".join(_REPLACEMENT if _is_refused(character) else character for character in name)
    if not max_characters or len(plain) <= max_characters:
        return plain
    return plain[: max_characters - 1] + "…"


def _is_refused(character: str) -> bool:
    is_control = unicodedata.category(character) in _CONTROL_AND_SURROGATE
    return is_control or character in _NO_CHARACTERS
