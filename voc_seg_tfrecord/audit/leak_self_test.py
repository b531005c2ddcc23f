"""Measures on a user's own images which copies `leaks` finds.

Some images are changed in each of the ways of `formats.pillow_changes`, and searched for among all
images of both sides: whole pictures by signs, crops by keypoints. Which images are changed follows
from the hashes of their files alone, so the same images are chosen on every machine.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools
import hashlib

import numpy as np

from voc_seg_tfrecord.audit.leak_parts import stack_keypoints
from voc_seg_tfrecord.audit.leaks import Side
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images, picture_signs
from voc_seg_tfrecord.formats.pillow_changes import CHANGES, CROPS
from voc_seg_tfrecord.quality import keypoints, near_duplicates, shared_parts

MAX_IMAGES = 200
"""Images that are changed, at most."""

SEED = 0
"""Stands before the hash of a file where images are chosen."""


@dataclasses.dataclass(frozen=True)
class ChangeResult:
    """How many images were found after one change.

    Attributes:
      change: what was done, a name in `pillow_changes.CHANGES` or `pillow_changes.CROPS`.
      copies: how many images were changed.
      found: of how many copies the image was found, at any level; of crops, by at least 4
        keypoints that agree.
      same_picture: of how many it was found as the same picture; 0 of crops.
      others: pairs of a copy and another image, which its own image does not match.
    """

    change: str
    copies: int
    found: int
    same_picture: int
    others: int


@dataclasses.dataclass(frozen=True)
class SelfTest:
    """What was found of images that were changed.

    Attributes:
      seed: see `SEED`.
      images: how many images were changed.
      searched: among how many images each copy was searched for.
      changes: one result for each change; empty if no side has images at hand.
    """

    seed: int
    images: int
    searched: int
    changes: Sequence[ChangeResult]


@dataclasses.dataclass(frozen=True)
class _ChosenImage:
    """An image to change.

    Attributes:
      side: the number of its side.
      image_id: its id there.
      number: its number among the images of all sides that have signs.
      rank: images with the smallest ranks are chosen.
    """

    side: int
    image_id: str
    number: int
    rank: str


@dataclasses.dataclass(frozen=True, eq=False)
class _ComparedCopies:
    """The copies of an image, as far as they are compared.

    Attributes:
      signs: of the whole picture by its change, uint8 `[32]`; None if it has none.
      keypoints: of each crop, uint8 `[24, 9]`; empty if parts are not sought.
    """

    signs: Mapping[str, np.ndarray | None]
    keypoints: Mapping[str, np.ndarray]


def run_self_test(sides: Sequence[Side], *, parts: bool = False) -> SelfTest:
    """Changes images of the sides that have images at hand, and searches for them in all sides.

    Args:
      sides: all sides.
      parts: whether to crop images, too, and to search for the crops by keypoints.
    """
    chosen = _choose_images(sides)
    copies = _change_images(sides, chosen, parts=parts)
    signs = np.concatenate([side.signs for side in sides])
    results = []
    if chosen:
        results += _search_pictures(signs, chosen, copies)
    if chosen and parts:
        results += _search_crops(sides, chosen, copies)
    return SelfTest(SEED, len(chosen), len(signs), results)


def _search_pictures(
    signs: np.ndarray, chosen: Sequence[_ChosenImage], copies: Sequence[_ComparedCopies]
) -> list[ChangeResult]:
    """Searches for changed pictures by their signs, among those of all images, `[N, 32]`."""
    originals = np.array([image.number for image in chosen], np.int64)
    matches_of_originals = _matching_numbers(signs, signs[originals])
    results = []
    for change in CHANGES:
        signs_of_copies = [one.signs[change] for one in copies]
        results.append(_search(change, signs, signs_of_copies, originals, matches_of_originals))
    return results


def _search_crops(
    sides: Sequence[Side], chosen: Sequence[_ChosenImage], copies: Sequence[_ComparedCopies]
) -> list[ChangeResult]:
    """Searches for crops by their keypoints, among those of all images."""
    packed = np.concatenate([stack_keypoints(side) for side in sides])
    numbers = _number_images_with_keypoints(sides)
    originals = [numbers[image.side, image.image_id] for image in chosen]
    queries = [packed[number] for number in originals]
    for change in CROPS:
        queries += [one.keypoints[change] for one in copies]
    matches = _matching_parts(packed, np.stack(queries))
    matches_of_originals = matches[: len(chosen)]
    results = []
    for place, change in enumerate(CROPS, start=1):
        matches_of_crops = matches[place * len(chosen) : (place + 1) * len(chosen)]
        found = 0
        others = 0
        for original, of_crop, of_original in zip(
            originals, matches_of_crops, matches_of_originals, strict=True
        ):
            found += original in of_crop
            others += len(of_crop - of_original - {original})
        results.append(ChangeResult(change, len(chosen), found, 0, others))
    return results


def _number_images_with_keypoints(sides: Sequence[Side]) -> dict[tuple[int, str], int]:
    """Returns the number of each image among all that have keypoints, by its side and id."""
    images = []
    for side_number, side in enumerate(sides):
        images += [(side_number, image_id) for image_id in side.keypoints_by_id]
    return {image: number for number, image in enumerate(images)}


def _matching_parts(packed: np.ndarray, queries: np.ndarray) -> list[set[int]]:
    """Returns for each query the numbers of the images that share a part with it.

    Args:
      packed: the keypoints of all images, uint8 `[N, 24, 9]`.
      queries: uint8 `[M, 24, 9]`.
    """
    numbers: list[set[int]] = [set() for _ in range(len(queries))]
    for part in shared_parts.find_between(queries, packed):
        if part.agreements >= shared_parts.MIN_AGREEMENTS:
            numbers[part.first].add(part.second)
    return numbers


def _choose_images(sides: Sequence[Side]) -> list[_ChosenImage]:
    """Returns the images to change; the same for the same files."""
    candidates = []
    number = 0
    for side_number, side in enumerate(sides):
        for image_id in side.signs_by_id:
            if side.read_files is not None:
                text = f"{SEED} {side.sha256_by_id[image_id]}"
                rank = hashlib.sha256(text.encode()).hexdigest()
                candidates.append(_ChosenImage(side_number, image_id, number, rank))
            number += 1
    candidates.sort(key=lambda image: (image.rank, image.side, image.image_id))
    return candidates[:MAX_IMAGES]


def _change_images(
    sides: Sequence[Side], chosen: Sequence[_ChosenImage], *, parts: bool
) -> list[_ComparedCopies]:
    """Returns the copies of each chosen image."""
    files: dict[tuple[int, str], File] = {}
    for number, side in enumerate(sides):
        ids = {image.image_id for image in chosen if image.side == number}
        if ids and side.read_files is not None:
            for image_id, file in side.read_files(ids):
                files[number, image_id] = file
    in_order = [files[image.side, image.image_id] for image in chosen]
    change_one = functools.partial(_change_image, parts=parts)
    return [copies for _, copies in ordered_map(change_one, in_order)]


def _change_image(file: File, *, parts: bool) -> _ComparedCopies:
    pixels = images.decode_rgb(file)
    signs_by_change: dict[str, np.ndarray | None] = {}
    for name, change in CHANGES.items():
        copy = File(change(pixels), f"{file.where}, {name}")
        try:
            still = images.decode(copy, side=picture_signs.MIN_SIDE_PX)
            signs_by_change[name] = picture_signs.compute_signs(still)
        except VocSegError:  # a copy of double size may be too large
            signs_by_change[name] = None
    keypoints_by_crop: dict[str, np.ndarray] = {}
    if parts:
        for name, crop in CROPS.items():
            copy = File(crop(pixels), f"{file.where}, {name}")
            still = images.decode(copy, side=picture_signs.MIN_SIDE_PX)
            keypoints_by_crop[name] = keypoints.describe(still.gray(still.height, still.width))
    return _ComparedCopies(signs_by_change, keypoints_by_crop)


def _search(
    change: str,
    signs: np.ndarray,
    copies: Sequence[np.ndarray | None],
    originals: np.ndarray,
    matches_of_originals: Sequence[Collection[int]],
) -> ChangeResult:
    """Searches for the copies that one change made.

    Args:
      change: its name.
      signs: of all images, uint8 `[N, 32]`.
      copies: the signs of each copy.
      originals: the number of the image of each copy, int64 `[M]`.
      matches_of_originals: the numbers of the images that each image of a copy matches.
    """
    places = np.array([place for place, copy in enumerate(copies) if copy is not None], np.int64)
    with_signs = [copy for copy in copies if copy is not None]
    found: set[int] = set()
    same_picture: set[int] = set()
    others: set[tuple[int, int]] = set()
    queries = np.array(with_signs, np.uint8).reshape(-1, picture_signs.SIGN_BYTES)
    for matches in near_duplicates.find_matches(signs, queries):
        for number, query, bits, _ in matches.as_rows():
            place = int(places[query])
            if number == originals[place]:
                found.add(place)
                if near_duplicates.level_of(bits) == near_duplicates.SAME_PICTURE:
                    same_picture.add(place)
            elif number not in matches_of_originals[place]:
                others.add((number, place))
    return ChangeResult(change, len(copies), len(found), len(same_picture), len(others))


def _matching_numbers(signs: np.ndarray, queries: np.ndarray) -> list[set[int]]:
    """Returns for each query, uint8 `[M, 32]`, the numbers of the images that it matches."""
    numbers: list[set[int]] = [set() for _ in range(len(queries))]
    for matches in near_duplicates.find_matches(signs, queries):
        for number, query, _, _ in matches.as_rows():
            numbers[query].add(number)
    return numbers
