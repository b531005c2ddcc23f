"""Commands that a message shows to paste into a shell: how they are quoted, and paths in them."""

import os
import re
import shlex


def command(*words: object, **options: object) -> str:
    """Returns a command, or a part of one, that a shell takes as it is meant.

    `command("voc-seg-tfrecord", "verify", folder, data_dir=data_dir)` is
    `voc-seg-tfrecord verify cracks --data_dir '/my data'`; `command(masks="a b")` is
    `--masks 'a b'`. A word that needs no quotes has none.

    Args:
      *words: the program and what comes before the options. A path that looks like an option or
        like a home folder gets `./` before it.
      **options: in this order. One that is None or False is left out, True is the bare option,
        and a list is several words behind one option.
    """
    parts = [_quoted_word(word) for word in words]
    for name, value in options.items():
        if value is None or value is False:
            continue
        if value is True:
            parts.append(f"--{name}")
        elif isinstance(value, list | tuple):
            parts += [f"--{name}", *map(_quoted_word, value)]
        elif str(value).startswith("-"):  # after a blank it would look like an option
            parts.append(f"--{name}={_quoted(value)}")
        else:
            parts.append(f"--{name} {_quoted(value)}")
    return " ".join(parts)


def _quoted_word(word: object) -> str:
    """Returns a word of a shell that stands before the options."""
    if isinstance(word, os.PathLike):
        path = os.fspath(word)
        looks_like_something_else = path.startswith(("-", "~"))
        if looks_like_something_else:
            return _quoted(f"./{path}")
    return _quoted(word)


def _quoted(word: object) -> str:
    """Returns one word of a shell. What cannot be printed is escaped as Bash and Zsh do it."""
    text = str(word)
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogateescape")  # names that are not UTF-8 keep their bytes
    return f"$'{''.join(_escaped(byte) for byte in data)}'"


def _escaped(byte: int) -> str:
    """Returns a byte inside `$'...'`."""
    is_plain = 32 <= byte < 127 and byte not in b"\\'"
    return chr(byte) if is_plain else f"\\x{byte:02x}"


_NOT_IN_PATH = r"(?<![\w/.-])"
_END_OF_FOLDER = r"(?=[/\s'\",:;)\]]|$|\.(?:\s|$))"
"""What stands behind a folder's path, and is no part of the folder's name."""

_WORD_OF_SHELL = re.compile(
    r"""
    \$'(?:[^'\\]|\\.)*'                  # $'a\x07b'
    | (?<!\w)'[^']*'(?:"'"'[^']*')*        # 'a b', or 'it'"'"'s'; no apostrophe of a sentence
    | [^\s'"=]*[^\s'"=.,:;)\]]             # a.png, without the marks of a sentence behind it
    """,
    re.VERBOSE,
)


def rename_path(text: str, old: str, new: str) -> str:
    """Replaces a folder's path in a text, also where it begins a longer path.

    `/d/a` becomes `/c` in `/d/a/m.png`, and `/d/ab/m.png` stays.
    """
    pattern = f"{_NOT_IN_PATH}{re.escape(old)}{_END_OF_FOLDER}"
    return re.sub(pattern, lambda _: new, text)


def rename_quoted_path(text: str, old: str, new: str) -> str:
    """Replaces a folder's path in the words of commands, which `command` has quoted.

    `rm '/tmp/a b/m.png'` becomes `rm /c/m.png`, if `/tmp/a b` is now `/c`.
    """

    def rename(match: re.Match[str]) -> str:
        path = _unquoted(match[0])
        if path == old or path.startswith(f"{old}/"):
            return _quoted(new + path.removeprefix(old))
        return match[0]

    return _WORD_OF_SHELL.sub(rename, text)


def _unquoted(word: str) -> str:
    """Returns the text of a word that `_quoted` made."""
    if word.startswith("$'"):
        data = word[2:-1].encode().decode("unicode_escape").encode("latin-1")
        return data.decode("utf-8", "surrogateescape")
    if word.startswith("'"):
        return shlex.split(word)[0]
    return word
