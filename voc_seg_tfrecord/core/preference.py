"""The option `prefer`: whose mask counts of an image that several annotators drew."""

NO_PREFERENCE = "none"
"""Said in place of a folder: all masks are kept."""

SHARED_IMAGES = "images in several exports"
"""The kind of the question which mask of an image counts."""


def parse_preference(prefer: str) -> list[str]:
    """Returns the folders that the option names, the preferred one first; none if it names none.

    `none/` is a folder of this name.
    """
    if prefer in ("", NO_PREFERENCE):
        return []
    return [name.strip().rstrip("/") for name in prefer.split(",")]
