"""Chooses between the shapes that several annotators drew on one image file.

Example: `anna/0001.json` and `ben/0001.json` have different shapes of `images/0001.jpg`. The image
is one file, so the dataset can have one mask of it. The option `prefer` says whose.
"""

from collections.abc import Mapping, Sequence

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.preference import (
    NO_PREFERENCE,
    SHARED_IMAGES,
    list_preferences,
    parse_preference,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.shape_matches import DrawingsByAnnotator, MatchedShapes
from voc_seg_tfrecord.folder.question import Alternative, QuestionError


def choose_drawings(where: epath.Path, matched: MatchedShapes, prefer: str) -> list[str]:
    """Takes the shapes of the preferred annotator for each image that several drew, in place.

    Args:
      where: the folder.
      matched: the shapes of the images; those of other annotators leave its splits, too.
      prefer: the option.

    Returns:
      A note, if several annotators drew an image.

    Raises:
      QuestionError: if the user has to say whose shapes count.
      ConfigError: if the user wants all, which an image file cannot have.
    """
    rivals = matched.rivals_by_path
    if not rivals:
        return []
    first_path = min(rivals)
    if prefer == NO_PREFERENCE:
        raise ConfigError(
            "option prefer",
            found=f"{NO_PREFERENCE}, and shapes of {' and '.join(rivals[first_path])} on the one "
            f"file {first_path}",
            expected="a folder, because an image file has one mask",
            remedy="name a folder; to keep the masks of all, put a copy of the images into each "
            "folder",
        )
    order = parse_preference(prefer)
    undecided = {
        path: drawings for path, drawings in rivals.items() if drawings.keys().isdisjoint(order)
    }
    if undecided:
        raise _ask_which(where, undecided, order)
    for path, drawings in rivals.items():
        annotator = next(name for name in order if name in drawings)
        matched.take(path, annotator)
    return [
        f"{counted(len(rivals), 'image')} with shapes of several annotators, such as "
        f"{first_path}. Those of {' before '.join(order)} count."
    ]


def _ask_which(
    where: epath.Path, undecided: Mapping[str, DrawingsByAnnotator], order: Sequence[str]
) -> QuestionError:
    """Returns the question whose shapes count, beside those that the user prefers."""
    preferences = list_preferences([*undecided.values()], order)
    alternatives = [
        Alternative(f"the shapes of {name}", {"prefer": prefer})
        for name, prefer in preferences.items()
    ]
    first_path = min(undecided)
    check = command("voc-seg-tfrecord", "check", where, prefer=min(preferences))
    return QuestionError(
        where,
        alternatives,
        task=f"choose the shapes of {counted(len(undecided), 'image')} that several annotators "
        f"drew, such as {first_path}, by {' and by '.join(undecided[first_path])}",
        expected=f"shapes of one annotator for each image. {check} lists how far they agree, the "
        "worst first",
        kind=SHARED_IMAGES,
    )
