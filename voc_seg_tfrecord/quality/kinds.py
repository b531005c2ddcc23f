"""The kinds of findings about labels: one table for the rules, the pages and the guide."""

from collections.abc import Mapping
import dataclasses

from voc_seg_tfrecord.quality.finding import ALL_MASKS


@dataclasses.dataclass(frozen=True)
class LabelErrorKind:
    """A kind of findings about labels.

    Attributes:
      name: as in `Finding.kind`.
      text: what is found; a template for `str.format`.
      remedy: what to do about one finding; a template, too.
      score: how likely the label is wrong, 0 to 1; None if the rule measures it.
      meaning: what the kind is, and what to do about it, for pages.
      exceptions: what is not reported, for the guide; may be empty.
    """

    name: str
    text: str
    remedy: str
    score: float | None
    meaning: str
    exceptions: str = ""


MISFIT = LabelErrorKind(
    name="mask does not fit its image",
    text="the mask may be {fault}: {evidence}",
    remedy="check whether the mask is {fault}; if so, correct it or draw it again",
    score=None,
    meaning="The borders of the mask fit the edges of its image clearly better if the mask is "
    "mirrored, flipped, rotated by 180 degrees or shifted; or they fit another image. The second "
    "picture shows the correction. If it is right, apply it or draw the mask again.",
    exceptions="there are fewer than 8 masks, objects are small, or masks fit their images badly "
    "in general",
)
MISLABELED_REGION = LabelErrorKind(
    name="region that looks like another class",
    text="the region labeled {own} at x={left}, y={top} looks like {suggested} in other images",
    remedy="check whether it is {suggested}; if so, give it that class",
    score=None,
    meaning="In other images, regions that look like this one have another class. The card shows "
    "three of them beside three of its own class. If they are right, give the region their class.",
    exceptions="it has fewer than 64 pixels, the class has fewer than 30 regions, or appearance "
    "does not separate the classes",
)
COMMON_FAULT = LabelErrorKind(
    name=ALL_MASKS,
    text="{note}",
    remedy="look at some of them; if the note is right, correct all masks in the same way",
    score=0.99,
    meaning="All masks are mirrored, flipped, rotated or shifted in the same way, belong to the "
    "previous or next image, or fit no image.",
)
SOFT_BORDERS = dataclasses.replace(
    COMMON_FAULT, remedy="look at some of them; soft borders need no correction", score=0.1
)
SAME_IMAGE_OTHER_MASK = LabelErrorKind(
    name="same image, other mask",
    text="the same image as {other}, whose mask differs",
    remedy="keep the mask that is right, and remove the other image",
    score=0.9,
    meaning="Two images have the same bytes, and their masks differ in more than 40 % of "
    "their foreground. Keep the mask that is right, and remove the other image.",
)
SAME_PICTURE_OTHER_MASK = LabelErrorKind(
    name="same picture, other mask",
    text="the same picture as {other}, whose mask differs",
    remedy="check whether they are one photo; if so, keep the mask that is right",
    score=0.4,
    meaning="Two files show the same picture, and their masks differ in more than 40 % of "
    "their foreground. Check whether both are one photo.",
    exceptions="the object moved, as in a film, or a copy is mirrored or rotated",
)
ALL_VOID = LabelErrorKind(
    name="all void",
    text="the mask is only {content} ({similar} of {total} masks)",
    remedy="draw what the image shows, or leave the image out",
    score=0.6,
    meaning="A network learns nothing from a mask that is only void. Draw what the image shows, "
    "or remove the image.",
)
ALL_BACKGROUND = LabelErrorKind(
    name="all background",
    text=ALL_VOID.text,
    remedy="check whether the image shows a class; if so, draw it",
    score=0.6,
    meaning="The mask is only background, unlike most masks of the set. If the image shows a "
    "class, draw it.",
    exceptions="more than a tenth of the masks have only background",
)
ONE_CLASS = LabelErrorKind(
    name="one class everywhere",
    text=ALL_VOID.text,
    remedy="check whether it does; if not, draw it again",
    score=0.6,
    meaning="Every pixel of the mask has one class. Check whether the whole image shows it.",
    exceptions="more than a fifth of the masks have only one class",
)
SPECK = LabelErrorKind(
    name="speck",
    text="{regions}; other masks have no region this small",
    remedy="check whether these pixels were set by accident; if so, erase them",
    score=0.4,
    meaning="A region of at most 16 pixels, far smaller than in other masks. Erase it if it was "
    "drawn by accident.",
    exceptions="more than 5 % of the masks with this class have specks, or void surrounds it",
)
UNUSUAL_SIZE = LabelErrorKind(
    name="unusual size",
    text="the largest region of {name} has {pixels}, {share:.2%} of the image, far {comparison} "
    "than in other masks",
    remedy="check whether the region is what its class says",
    score=None,
    meaning="The largest region of a class is far larger or smaller than in other masks. Check its "
    "class.",
    exceptions="8 or fewer masks have the class",
)
PINHOLE = LabelErrorKind(
    name="hole of one pixel",
    text="{pixels} inside one class, the first at x={right}, y={down}",
    remedy="fill it, unless it is intended",
    score=0.3,
    meaning="A pixel differs from its four neighbors, which all have the same class. Fill it, "
    "unless it is intended.",
    exceptions="a fifth of the masks have such holes",
)
SAME_IMAGE = LabelErrorKind(
    name="same image twice",
    text="same bytes",
    remedy="keep one of them, unless this is intended",
    score=0.1,
    meaning="Images with the same bytes. Keep one, unless this is intended.",
)
SAME_IMAGE_IN_TWO_SPLITS = LabelErrorKind(
    name="same image in two splits",
    text=SAME_IMAGE.text,
    remedy="keep them in one split",
    score=0.2,
    meaning="A score on one split is not valid if the other split has the image too. Keep the "
    "copies in one split.",
)
SAME_PICTURE = LabelErrorKind(
    name="same picture twice",
    text="the same picture, in files that differ",
    remedy=SAME_IMAGE.remedy,
    score=0.1,
    meaning="One picture, encoded again, scaled, mirrored or rotated. Keep one, unless this is "
    "intended.",
)
SAME_PICTURE_IN_TWO_SPLITS = LabelErrorKind(
    name="same picture in two splits",
    text=SAME_PICTURE.text,
    remedy=SAME_IMAGE_IN_TWO_SPLITS.remedy,
    score=0.2,
    meaning="A score on one split is not valid if the other split has the picture too, encoded "
    "again, scaled, mirrored or rotated. Keep the copies in one split.",
)
NEIGHBORS = LabelErrorKind(
    name="same picture or neighbor",
    text="the same picture, or neighbors such as frames of one film",
    remedy=SAME_IMAGE.remedy,
    score=0.1,
    meaning="One picture, or frames of one film or slices of one volume. Keep one, unless this is "
    "intended.",
)
NEIGHBORS_IN_TWO_SPLITS = LabelErrorKind(
    name="same picture or neighbor in two splits",
    text=NEIGHBORS.text,
    remedy=SAME_IMAGE_IN_TWO_SPLITS.remedy,
    score=0.2,
    meaning="A score on one split is less reliable if the other has the next frame of the film or "
    "slice of the volume. Keep them in one split.",
)

COPIES = (
    SAME_IMAGE,
    SAME_IMAGE_IN_TWO_SPLITS,
    SAME_PICTURE,
    SAME_PICTURE_IN_TWO_SPLITS,
    NEIGHBORS,
    NEIGHBORS_IN_TWO_SPLITS,
)
"""The kinds that say how alike images are. The guide has a sentence about all of them."""

KINDS = (
    MISFIT,
    MISLABELED_REGION,
    COMMON_FAULT,
    SAME_IMAGE_OTHER_MASK,
    SAME_PICTURE_OTHER_MASK,
    *COPIES,
    ALL_VOID,
    ALL_BACKGROUND,
    ONE_CLASS,
    SPECK,
    UNUSUAL_SIZE,
    PINHOLE,
)
"""All kinds, in the order of the guide."""

MEANINGS: Mapping[str, str] = {kind.name: kind.meaning for kind in KINDS}
"""What each kind means, by its name."""
