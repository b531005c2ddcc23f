"""The front matter of a dataset card: YAML in the terms of Hugging Face.

References:
  https://github.com/huggingface/hub-docs/blob/main/datasetcard.md
"""

from collections.abc import Mapping, Sequence
import json
import re
from typing import Any

_SIZES = {
    1_000: "n<1K",
    10_000: "1K<n<10K",
    100_000: "10K<n<100K",
    1_000_000: "100K<n<1M",
    10_000_000: "1M<n<10M",
}
_MORE = "10M<n<100M"

# The licences of data among those that Hugging Face knows.
_LICENSES = frozenset(
    {
        *("apache-2.0", "mit", "unlicense", "wtfpl", "mpl-2.0", "bsd-2-clause", "bsd-3-clause"),
        *("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "agpl-3.0", "cc0-1.0", "pddl", "odbl"),
        *("odc-by", "etalab-2.0", "cdla-sharing-1.0", "cdla-permissive-1.0"),
        *("cdla-permissive-2.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
        *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0"),
        *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0"),
        *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    }
)
_LONGEST_NAME = 80  # of a licence; a longer text is the licence itself

# What JSON leaves as it is, and YAML does not read, or reads as the end of a line.
_NOT_IN_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def size_category(examples: int) -> str:
    """Returns the category of a number of examples."""
    return next((name for limit, name in _SIZES.items() if examples < limit), _MORE)


def license_fields(text: str | None) -> dict[str, str]:
    """Returns the fields that tell a licence; none if nobody told one."""
    if not text:
        return {}
    known = "-".join(text.casefold().split())
    if known in _LICENSES:
        return {"license": known}
    named = {"license_name": text} if len(text) <= _LONGEST_NAME and "\n" not in text else {}
    return {"license": "other", **named}


def write(fields: Mapping[str, Any]) -> str:
    """Returns YAML between two lines of `---`.

    Every text is in quotes, so that `no` stays a word and `---` no line. Values are JSON, which is
    YAML too; lists of dictionaries are written one per line, for people who read it.
    """
    return "\n".join(["---", *_lines(fields, ""), "---"]) + "\n"


def _lines(fields: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in fields.items():
        if isinstance(value, Sequence) and not isinstance(value, str):
            lines.append(f"{indent}{key}:")
            for one in value:
                if isinstance(one, Mapping):
                    first, *rest = _lines(one, f"{indent}  ")
                    lines += [f"{indent}- {first.strip()}", *rest]
                else:
                    lines.append(f"{indent}- {_scalar(one)}")
        else:
            lines.append(f"{indent}{key}: {_scalar(value)}")
    return lines


def _scalar(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
