"""The option `prefer`: whose mask counts of an image that several annotators drew."""

from collections.abc import Collection, Sequence

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


def list_preferences(
    annotators_of_images: Sequence[Collection[str]], order: Sequence[str]
) -> dict[str, str]:
    """Returns values of the option that decide about all images, by the annotator who comes first.

    Example: with `anna, ben` on one image and `ben, cara` on another, these are `anna,ben`, `ben`
    and `cara,anna`.

    Args:
      annotators_of_images: who drew each image that is undecided.
      order: whom the user prefers already; they stay in front.
    """
    annotators = {name for names in annotators_of_images for name in names}
    preferences: dict[str, str] = {}
    for first in sorted(annotators):
        completed = [first]
        for names in annotators_of_images:
            if set(names).isdisjoint(completed):
                completed.append(min(names))
        preferences[first] = ",".join([*order, *completed])
    return preferences
