"""Compares the images and masks of a set, and names those that may be labelled wrong.

Nothing of this stops a build. Each rule says what would prove it wrong: a class that is often as
small, masks of which many are all background, a set in which few masks fit their images.
"""

import bisect
import collections
from collections.abc import Iterable, Iterator, Sequence
import dataclasses
from typing import Any, NamedTuple

import numpy as np

from voc_seg_tfrecord.core.errors import VocSegError, counted, several
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.quality import alike, looks
from voc_seg_tfrecord.quality.evidence import Box as Box
from voc_seg_tfrecord.quality.evidence import Evidence, Region
from voc_seg_tfrecord.quality.fit import WAYS, judge

STOPS, LEFT_OUT, IGNORED = "stops", "left out", "ignored"
"""What a build does about a finding."""

SAME, ALIKE = "same image twice", "images that look alike"
OTHER_MASK, ALIKE_OTHER_MASK = "same image, other mask", "image that looks alike, other mask"
SAME_IN_TWO_SPLITS = "same image in two splits"
ALIKE_IN_TWO_SPLITS = "images that look alike in two splits"
"""Kinds of findings about copies."""

STRANGER = "class that others of its look have not"
"""The kind of the finding that a region looks like another class."""

NO_LOOKS = f"Install scikit-learn, and {STRANGER!r} is looked for too."
"""What is said where it cannot be looked for."""

ALL_MASKS = "masks of the set"
"""The kind of the finding that is about all masks at once."""

_EMPTY = 0.1  # of a set's masks may be all background without being named
_ENOUGH = 8  # images with a class, from which its sizes are known
_OUTLIER = 4.5  # deviations from the median, of the logarithm of a region's odds
_MANY = 0.2  # of a set's masks, from which a fault is how the tool draws
_NONE = 1 << 62  # pixels, in place of those of a region that is not there
_OTHER_MASK = 0.4  # of what is foreground in either mask
_COMPARED = 20_000  # pairs that look alike whose masks are compared; a film has far more
_SAME_EDGES = 25  # of 255, by which the edges of one photo differ where its masks do


@dataclasses.dataclass(frozen=True)
class Fix:
    """What would put a label right, to be drawn beside what is there.

    Attributes:
      way: one of `fit.WAYS` that is taken back; or `another image`, which the mask fits; or
        `another mask`, which the image has elsewhere.
      right, down: by how many pixels the mask is shifted.
      image: id of the other image or mask.
    """

    way: str
    right: int = 0
    down: int = 0
    image: str = ""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One fact about a set that its owner should know.

    Attributes:
      kind: the sort of finding.
      where: the file, list or ids.
      message: what was found, in full.
      effect: what a build does about it: `stops`, `left out` or `ignored`.
      ids: the images that it is about, if `where` is none of them.
      split: the split of the image that it is about.
      box: left, top, width and height of what is wrong, in pixels.
      score: how likely a label is wrong, 0 to 1; 0 if this is not about labels.
      remedy: what to do.
      detail: what was found, without the name of the image and without advice.
      fix: what would put the label right, where that is known.
      suggested: the class that a region looks like.
      beside: what it is to be compared with: class, image id and box of regions of other images,
        first of the class that it looks like, then of its own.
    """

    kind: str
    where: str
    message: str
    effect: str = STOPS
    ids: tuple[str, ...] = ()
    split: str = ""
    box: Box | None = None
    score: float = 0.0
    remedy: str = ""
    detail: str = ""
    fix: Fix | None = None
    suggested: str = ""
    beside: tuple[tuple[str, str, Box], ...] = ()

    @property
    def place(self) -> str:
        """The box, if an image may have several findings of the kind; else nothing."""
        return ",".join(map(str, self.box or ())) if self.suggested else ""


def finding_of(error: VocSegError) -> Finding:
    """Returns an error as a finding."""
    return Finding(
        error.kind, error.where, str(error), remedy=error.remedy, detail=str(error.found)
    )


def as_dict(finding: Finding) -> dict[str, Any]:
    """Returns a finding as plain data, which can be written as JSON."""
    return dataclasses.asdict(finding) | {"score": round(finding.score, 3)}


def suspicious_first(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings about labels, the most likely ones first."""
    about_labels = (finding for finding in findings if finding.score)
    return sorted(about_labels, key=lambda f: (-f.score, f.kind, f.where))


def find(
    evidence: Sequence[Evidence], names: Sequence[str], background: int | None
) -> list[Finding]:
    """Returns what may be wrong with the labels of a set, the most likely first, and notes."""
    masks = [e for e in evidence if e.thumbnail is not None]
    copies = _copies(evidence)
    sizes = list(_sizes(masks, names, background))
    others = [f for f in _uniform(masks, names, background) if f.ids not in {s.ids for s in sizes}]
    strangers, notes = _strangers(evidence, names, copies)
    in_masks = [*_misfits(masks), *others, *sizes, *_specks(masks, names), *_holes(masks)]
    return [*suspicious_first([*strangers, *in_masks, *_duplicates(evidence, copies)]), *notes]


def _about(
    evidence: Evidence,
    kind: str,
    score: float,
    text: str,
    remedy: str,
    box: Box | None = None,
    fix: Fix | None = None,
) -> Finding:
    return Finding(
        kind,
        evidence.id,
        f"{_named(evidence)}: {text}",
        IGNORED,
        (evidence.id,),
        evidence.split,
        box,
        score,
        remedy,
        text.partition(": put right,")[0],
        fix,
    )


def _misfits(masks: Sequence[Evidence]) -> Iterator[Finding]:
    judged = judge([evidence.fit for evidence in masks])
    for text in judged.notes:
        score = 0.99
        remedy = "look at some of them; if the note is right, put all masks right in the same way"
        if not judged.tells:
            score, remedy = 0.1, "look at some of them; soft borders need no correction"
        yield Finding(ALL_MASKS, "all masks", text, IGNORED, score=score, remedy=remedy)
    for number, (score, how, image) in judged.suspects.items():
        evidence, shifted = masks[number], how.startswith(WAYS[-1])
        fix = Fix(
            WAYS[-1] if shifted else how, *(evidence.fit.shift if evidence.fit and shifted else ())
        )
        text = f"the mask may be {how}: put right, its borders would lie on edges of the image"
        if image is not None:
            text = f"the mask may be {how}: it fits {_named(masks[image])} better"
            fix = Fix("another image", image=masks[image].id)
        yield _about(
            evidence,
            "mask does not fit its image",
            score,
            text,
            f"look whether the mask is {how}; if so, put it right or draw it again",
            (0, 0, *evidence.size[::-1]),
            fix,
        )


def find_strangers(
    evidence: Sequence[Evidence], names: Sequence[str]
) -> tuple[list[Finding], list[Finding]]:
    """Returns regions that look like another class, and the note on classes of no known look."""
    return _strangers(evidence, names, _copies(evidence))


def _strangers(
    evidence: Sequence[Evidence], names: Sequence[str], copies: "_Copies"
) -> tuple[list[Finding], list[Finding]]:
    ids, together = [e.id for e in evidence], [*copies.same, *copies.close]
    compared = looks.compare([e.regions for e in evidence], ids, together)
    found = []
    for suspect in compared.suspects:
        of, region = evidence[suspect.image], evidence[suspect.image].regions[suspect.region]
        own, suggested = names[region.label], names[suspect.suggested]
        x, y = region.box[:2]
        finding = _about(
            of,
            STRANGER,
            suspect.score,
            f"the region of {own} at x={x}, y={y} looks like {suggested} in other images",
            f"look whether it is {suggested}; if so, give it that class",
            region.box,
        )
        beside = (
            (name, evidence[image].id, evidence[image].regions[number].box)
            for name, places in ((suggested, suspect.like), (own, suspect.own))
            for image, number in places
        )
        found.append(dataclasses.replace(finding, suggested=suggested, beside=tuple(beside)))
    reasons = [f"{names[a]} is like {names[b]}" for a, b in compared.confused]
    if len(compared.few) < len({region.label for e in evidence for region in e.regions}):
        few = sorted(compared.few, key=lambda row: (-row[1], row[0]))
        reasons += [f"{names[of]} has {counted(number, 'region')}" for of, number in few]
    text = ""
    if compared.together:
        text = "By their names all images belong together, so none is compared with others."
    elif reasons:
        text = "A wrong class is not looked for where looks do not tell "
        text += f"({looks.FEWEST} regions are needed): {several(reasons, 8)}."
    elif sum(e.fit is not None for e in evidence) >= looks.FEWEST and not looks.is_there():
        text = NO_LOOKS
    return found, [Finding("note", STRANGER, text, IGNORED)] if text else []


def _uniform(
    masks: Sequence[Evidence], names: Sequence[str], background: int | None
) -> Iterator[Finding]:
    """Yields masks that are void or background to the last pixel, or one other class."""
    void = [evidence for evidence in masks if not evidence.labels]
    single = [evidence for evidence in masks if len(evidence.labels) == 1]
    empty = [evidence for evidence in single if evidence.labels == (background,)]
    filled = [
        evidence
        for evidence in single
        if evidence.labels != (background,) and not evidence.has_void
    ]
    for uniform, most, kind, remedy in (
        (void, 1, "all void", "draw what the image shows, or leave the image out"),
        (empty, _EMPTY, "all background", "look whether the image shows a class; if so, draw it"),
        (filled, _MANY, "one class everywhere", "look whether it does; if not, draw it again"),
    ):
        if len(uniform) > max(1, most * len(masks)):
            continue
        for evidence in uniform:
            what = names[evidence.labels[0]] if evidence.labels else "void"
            text = f"the mask is {what} everywhere, as {len(uniform)} of {len(masks)} masks are"
            yield _about(evidence, kind, 0.6, text, remedy, (0, 0, *evidence.size[::-1]))


def _specks(masks: Sequence[Evidence], names: Sequence[str]) -> Iterator[Finding]:
    """Yields tiny regions of classes of which hardly any other mask has one so small."""
    smallest: dict[int, list[int]] = collections.defaultdict(list)
    for evidence in masks:
        for region in evidence.smallest:
            smallest[region.label].append(region.pixels)
    for of_class in smallest.values():
        of_class.sort()
    everywhere = sorted(min(r.pixels for r in e.smallest) for e in masks if e.smallest)
    alone = sorted(evidence.smallest_alone or _NONE for evidence in masks)
    for evidence in masks:
        single = {(*place, 1, 1) for place in evidence.holes}  # these have a finding of their own
        regions = (r for r in evidence.specks if r.box not in single)
        specks = []
        for r in regions:
            # A class of few masks is compared with the smallest regions of all classes.
            of_class = smallest[r.label] if len(smallest[r.label]) > _ENOUGH else everywhere
            if _is_rare(r, of_class) or (r.alone and _is_rare(r, alone)):
                specks.append(r)
        if specks:
            labels = dict.fromkeys(names[r.label] for r in specks)
            first, size = specks[0], counted(max(r.pixels for r in specks), "pixel")
            what, which = f"a region of {size}", ""
            if len(specks) > 1:
                what, which = f"{len(specks)} regions of at most {size}", "the first "
            yield _about(
                evidence,
                "speck",
                0.4,
                f"{what} of {several(labels)}, {which}at x={first.box[0]}, y={first.box[1]}; other "
                "masks have none so small",
                "look whether these pixels were set by accident; if so, erase them",
                first.box,
            )


def _is_rare(region: Region, smallest: Sequence[int]) -> bool:
    """Says whether hardly any other mask has a region about as small; one each, ascending."""
    similar = bisect.bisect_right(smallest, 4 * region.pixels) - 1
    return len(smallest) > _ENOUGH and similar <= 0.05 * len(smallest)


def _sizes(
    masks: Sequence[Evidence], names: Sequence[str], background: int | None
) -> Iterator[Finding]:
    """Yields regions far larger or smaller than the largest of the class in other masks."""
    by_class: dict[int, list[tuple[float, Evidence, Region]]] = collections.defaultdict(list)
    for evidence in masks:
        area = evidence.size[0] * evidence.size[1]
        for region in evidence.largest:
            odds = (region.pixels + 1) / (area - region.pixels + 1)
            by_class[region.label].append((float(np.log(odds)), evidence, region))
    for label, rows in by_class.items():
        if len(rows) <= _ENOUGH or label == background:
            continue
        logarithms = np.array([row[0] for row in rows])
        middle = np.median(logarithms)
        spread = max(0.5, 1.4826 * float(np.median(np.abs(logarithms - middle))))
        for value, evidence, region in rows:
            if abs(value - middle) > _OUTLIER * spread:
                than = "larger" if value > middle else "smaller"
                share = region.pixels / (evidence.size[0] * evidence.size[1])
                yield _about(
                    evidence,
                    "unusual size",
                    min(0.5, 0.05 * float(abs(value - middle)) / spread),
                    f"the largest region of {names[label]} has {counted(region.pixels, 'pixel')}, "
                    f"{share:.2%} of the image, far {than} than in other masks",
                    "look whether the region is what its class says",
                    region.box,
                )


def _holes(masks: Sequence[Evidence]) -> Iterator[Finding]:
    with_holes = [evidence for evidence in masks if evidence.holes]
    if len(with_holes) > max(1, _MANY * len(masks)):
        return  # how the tool draws
    for evidence in with_holes:
        x, y = evidence.holes[0]
        yield _about(
            evidence,
            "hole of one pixel",
            0.3,
            f"{counted(len(evidence.holes), 'single pixel')} inside one class, the first at x={x}, "
            f"y={y}",
            "fill it, unless it is meant",
            (x, y, 1, 1),
        )


class _Copies(NamedTuple):
    """Numbers of images: groups of the same, pairs and groups of those that look alike."""

    same: list[list[int]]
    pairs: list[tuple[int, int]]
    close: list[list[int]]


def _copies(evidence: Sequence[Evidence]) -> _Copies:
    of_hash: dict[str, list[int]] = collections.defaultdict(list)
    for number, example in enumerate(evidence):
        of_hash[example.image_sha256].append(number)
    same = [numbers for numbers in of_hash.values() if len(numbers) > 1]
    first_of_each = [numbers[0] for numbers in of_hash.values()]
    squeezed = np.array([evidence[n].look for n in first_of_each], np.uint8)
    pairs, groups = alike.group(squeezed.reshape(-1, alike.HEIGHT, alike.WIDTH), _COMPARED)
    pairs = [(first_of_each[a], first_of_each[b]) for a, b in pairs]
    return _Copies(same, pairs, [[first_of_each[n] for n in numbers] for numbers in groups])


def _duplicates(evidence: Sequence[Evidence], copies: _Copies) -> Iterator[Finding]:
    """Yields images that are the same or look alike, and those of them whose masks differ."""
    same = [(first, number) for first, *others in copies.same for number in others]
    for first, second in same + copies.pairs:
        yield from _contradictions(evidence[first], evidence[second])
    for copies_of, kinds, why in (
        (copies.same, (SAME, SAME_IN_TWO_SPLITS), "same bytes"),
        (copies.close, (ALIKE, ALIKE_IN_TWO_SPLITS), "they look alike, though their files differ"),
    ):
        for numbers in copies_of:
            yield _group([evidence[n] for n in numbers], kinds, why)


def _contradictions(first: Evidence, second: Evidence) -> Iterator[Finding]:
    """Yields what is wrong if two images of one photo have masks that cannot both be right."""
    if first.thumbnail is None or second.thumbnail is None:
        return
    ours, theirs = first.thumbnail, second.thumbnail
    common = np.bincount(ours.ravel(), minlength=256).argmax()  # the background, as a rule
    known = (ours != VOID) & (theirs != VOID) & ((ours != common) | (theirs != common))
    differ = (ours != theirs) & known
    if np.count_nonzero(differ) <= _OTHER_MASK * np.count_nonzero(known):
        return
    same = first.image_sha256 == second.image_sha256
    if not same:
        if first.fit is None or second.fit is None:
            return
        # Frames of one film look alike too; in them, what is labelled has moved.
        moved = np.abs(first.fit.edges.astype(int) - second.fit.edges)[differ.ravel()].mean()
        if moved > _SAME_EDGES:
            return
    are, is_like = ("are the same", "the same image as") if same else ("look alike", "looks like")
    yield Finding(
        OTHER_MASK if same else ALIKE_OTHER_MASK,
        second.id,
        f"{_named(first)} and {_named(second)}: the images {are}, and their masks differ",
        IGNORED,
        (first.id, second.id),
        second.split,
        (0, 0, *second.size[::-1]),
        0.9 if same else 0.4,
        "keep the mask that is right, and remove the other image"
        if same
        else "look whether they are one photo; if so, keep the mask that is right",
        f"{is_like} {_named(first)}, whose mask differs",
        Fix("another mask", image=first.id),
    )


def _group(group: Sequence[Evidence], kinds: tuple[str, str], why: str) -> Finding:
    """Returns the finding about images of which there is more than one copy."""
    splits = dict.fromkeys(example.split for example in group)
    shared = len(splits) > 1
    text = " and ".join(map(_named, group[:3]))
    more = f" and {len(group) - 3} more" if len(group) > 3 else ""
    return Finding(
        kinds[shared],
        text + more,
        f"{text}{more}: {why}",
        IGNORED,
        tuple(example.id for example in group),
        ", ".join(splits),
        None,
        0.2 if shared else 0.1,
        "keep them in one split" if shared else "keep one of them, unless this is meant",
        f"{text}{more}",
    )


def _named(example: Evidence) -> str:
    return f"{example.id} ({example.split})" if example.split else example.id
