"""Names of the copies that Roboflow makes of a photo: `cat_jpg.rf.0a1b` and `cat_jpg.rf.77fe`.

Mostly they are augmented: mirrored, turned, blurred. What stands behind `.rf.` is a hash.
"""

import re

HASH_OF_ROBOFLOW = r"\.rf\.\w+"
"""A pattern of what Roboflow appends to the name of a photo."""

_HASH_AT_END = re.compile(f"{HASH_OF_ROBOFLOW}$")


def has_roboflow_hash(name: str) -> bool:
    """Says whether a name is that of a copy that Roboflow made."""
    return _HASH_AT_END.search(name) is not None


def without_roboflow_hash(name: str) -> str:
    """Returns the name of the photo that Roboflow made a copy of; other names as they are."""
    return _HASH_AT_END.sub("", name)
