"""Finds near-duplicates: images that show the same picture, though their files differ.

Images are compared by their signs (`formats.picture_signs`), as they are, mirrored and turned by
right angles. What is found has one of two levels:

    signs that differ    level                      what it is
    at most 8 of 255     same picture               encoded again, scaled, a little brighter
    at most 48           same picture or neighbor   that, or the next frame of a film, the next
                                                    slice of a volume, or a chart of the same form

Different photos of VOC differ in 100 or more, drawn documents in 65 or more, and round fields of
view on black in 50 or more. Cropped copies are not found. A build compares only bytes: with signs,
a build of 500 images of VOC's size took 1.5 times the CPU time.

Not all pairs are compared. Two images are candidates if all signs of a set of 20 are equal. There
are four rounds of 12 sets. The sets of a round have no sign in common, so every pair with at most
11 different signs has an equal set. Of pairs with 24 different signs, 99 % have one; with 48, half.
Where many images have an equal set, as in a film, each is compared with the 64 that have most in
common with it.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.folder.picture_signs import (
    ORIENTATIONS,
    SIGNS,
    Orientation,
    unpack_signs,
)
from voc_seg_tfrecord.reading.epoch_order import concatenate_ranges

SAME_PICTURE = "same picture"
"""The level of images that differ in at most `MAX_BITS_OF_SAME_PICTURE`."""

SAME_PICTURE_OR_NEIGHBOR = "same picture or neighbor"
"""The level of images that differ in more, and at most in `MAX_BITS_OF_NEIGHBOR`."""

MAX_BITS_OF_SAME_PICTURE = 8
MAX_BITS_OF_NEIGHBOR = 48

CONSTANTS: Mapping[str, int] = {
    "max_bits_of_same_picture": MAX_BITS_OF_SAME_PICTURE,
    "max_bits_of_neighbor": MAX_BITS_OF_NEIGHBOR,
}
"""What the level of a pair depends on, for files that state levels."""

_KEY_BITS = 20
_SETS_PER_ROUND = SIGNS // _KEY_BITS
_STEPS_OF_ROUNDS = (1, 19, 58, 113)
"""A round takes every n-th sign, so each puts other signs together. None has a divisor of 255."""

_WORD_BITS = 64  # of which the first `_KEY_BITS` are the key
_MAX_CANDIDATES_PER_KEY = 64  # of one image
_MAX_CANDIDATES_AT_ONCE = 1 << 20
_UPRIGHT = 0  # the number of the orientation in which an image is as it is


@dataclasses.dataclass(frozen=True, eq=False)
class PictureMatches:
    """Pairs of images whose signs are close.

    Attributes:
      first: the number of one image of each pair, int64 `[M]`.
      second: the number of the other image, int64 `[M]`.
      bits: how many signs differ, int64 `[M]`.
      orientation: the number in `ORIENTATIONS` of what turns the first image into the second,
        int64 `[M]`.
    """

    first: np.ndarray
    second: np.ndarray
    bits: np.ndarray
    orientation: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def as_rows(self) -> list[tuple[int, int, int, int]]:
        """Returns first, second, bits and orientation of each pair."""
        columns = (self.first, self.second, self.bits, self.orientation)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def take(self, index: np.ndarray) -> "PictureMatches":
        """Returns some of the pairs, by their numbers or by a bool `[M]`."""
        return PictureMatches(
            self.first[index], self.second[index], self.bits[index], self.orientation[index]
        )


def level_of(bits: int) -> str:
    """Returns the level of a pair of images of which so many signs differ."""
    return SAME_PICTURE if bits <= MAX_BITS_OF_SAME_PICTURE else SAME_PICTURE_OR_NEIGHBOR


def join_matches(parts: Sequence[PictureMatches]) -> PictureMatches:
    """Returns the pairs of several `PictureMatches`, one after the other."""
    nothing = np.zeros(0, np.int64)
    return PictureMatches(
        np.concatenate([nothing, *(part.first for part in parts)]),
        np.concatenate([nothing, *(part.second for part in parts)]),
        np.concatenate([nothing, *(part.bits for part in parts)]),
        np.concatenate([nothing, *(part.orientation for part in parts)]),
    )


def find_nearest(first: np.ndarray, second: np.ndarray) -> PictureMatches:
    """Returns each image of either side with the image of the other that is nearest to it.

    An image without a match is in no pair. Pairs are in the order of their second images.

    Args:
      first: the signs of the images of one side, uint8 `[N, 32]`.
      second: the signs of those of the other side, uint8 `[M, 32]`.
    """
    max_pairs_in_memory = 4 * (len(first) + len(second)) + _MAX_CANDIDATES_AT_ONCE
    parts: list[PictureMatches] = []
    for matches in find_matches(first, second):
        parts.append(matches)
        if sum(map(len, parts)) > max_pairs_in_memory:
            parts = [_keep_nearest(join_matches(parts))]
    return _keep_nearest(join_matches(parts))


def _keep_nearest(matches: PictureMatches) -> PictureMatches:
    """Returns the pairs that are the nearest one of their first or of their second image."""
    order = np.lexsort((matches.orientation, matches.first, matches.bits, matches.second))
    matches = matches.take(order)
    is_nearest_of_second = _is_first_of_run(matches.second)
    by_first = np.lexsort((matches.orientation, matches.second, matches.bits, matches.first))
    is_nearest_of_first = np.zeros(len(matches), bool)
    is_nearest_of_first[by_first] = _is_first_of_run(matches.first[by_first])
    return matches.take(is_nearest_of_first | is_nearest_of_second)


def _is_first_of_run(values: np.ndarray) -> np.ndarray:
    """Returns which values `[N]` differ from the one before, bool `[N]`."""
    return np.diff(values, prepend=-1) != 0


@dataclasses.dataclass(frozen=True)
class NearDuplicates:
    """The near-duplicates among some images.

    Attributes:
      same_upright_pairs: numbers of two images that are the same picture, neither mirrored nor
        turned; the smaller number first.
      same_pictures: groups of images that pairs of the level `SAME_PICTURE` connect.
      neighbors: groups of images that pairs of the level `SAME_PICTURE_OR_NEIGHBOR` connect. Of
        each group of `same_pictures`, its first image stands for all.
    """

    same_upright_pairs: Sequence[tuple[int, int]] = ()
    same_pictures: Sequence[Sequence[int]] = ()
    neighbors: Sequence[Sequence[int]] = ()

    def renumbered(self, numbers: Sequence[int]) -> "NearDuplicates":
        """Returns the same with `numbers[n]` in place of each number n."""
        return NearDuplicates(
            [(numbers[first], numbers[second]) for first, second in self.same_upright_pairs],
            [[numbers[number] for number in group] for group in self.same_pictures],
            [[numbers[number] for number in group] for group in self.neighbors],
        )


def find_near_duplicates(signs: np.ndarray, max_pairs: int) -> NearDuplicates:
    """Finds the near-duplicates among some images.

    A film of N frames has up to N * (N - 1) / 2 pairs. So only the first `max_pairs` pairs are
    returned, in the order in which they are found. Groups are complete.

    Args:
      signs: the signs of the images, uint8 `[N, 32]`.
      max_pairs: how many pairs are returned at most.
    """
    same_picture_of = np.arange(len(signs))  # a group is named after its first image
    neighbor_of = np.arange(len(signs))
    pairs: dict[tuple[int, int], None] = {}
    for matches in find_matches(signs, signs):
        matches = matches.take(matches.first < matches.second)
        is_same_picture = matches.bits <= MAX_BITS_OF_SAME_PICTURE
        same = matches.take(is_same_picture)
        if len(pairs) < max_pairs:
            upright = same.take(same.orientation == _UPRIGHT)
            pairs.update(
                dict.fromkeys(zip(upright.first.tolist(), upright.second.tolist(), strict=True))
            )
        _merge_groups(same_picture_of, same.first, same.second)
        _merge_groups(neighbor_of, matches.first, matches.second)
    is_first_of_picture = same_picture_of == np.arange(len(signs))
    return NearDuplicates(
        sorted(list(pairs)[:max_pairs]),
        _members_of_groups(same_picture_of, np.arange(len(signs))),
        _members_of_groups(neighbor_of, np.flatnonzero(is_first_of_picture)),
    )


def _merge_groups(group_of: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Gives the images of each pair one group, named after its smallest number, in place.

    Args:
      group_of: the group of each image, int64 `[N]`, where each group's own number is in it.
      first: the number of one image of each pair, int64 `[M]`.
      second: the number of the other image, int64 `[M]`.
    """
    while True:
        first_group = group_of[first]
        second_group = group_of[second]
        is_between_groups = first_group != second_group
        if not is_between_groups.any():
            return
        first, second = first[is_between_groups], second[is_between_groups]
        smaller = np.minimum(first_group, second_group)[is_between_groups]
        larger = np.maximum(first_group, second_group)[is_between_groups]
        np.minimum.at(group_of, larger, smaller)
        _point_to_last_names(group_of)


def _point_to_last_names(group_of: np.ndarray) -> None:
    """Replaces the name of each group that was merged by the name of what it is now, in place."""
    while True:
        names = group_of[group_of]
        if (names == group_of).all():
            return
        group_of[:] = names


def _members_of_groups(group_of: np.ndarray, numbers: np.ndarray) -> list[list[int]]:
    """Returns the images of each group that has several of those with the given numbers."""
    order = numbers[np.argsort(group_of[numbers], kind="stable")]
    starts = np.flatnonzero(_is_first_of_run(group_of[order]))
    members = np.split(order, starts[1:])
    return [of_group.tolist() for of_group in members if len(of_group) > 1]


def find_matches(first: np.ndarray, second: np.ndarray) -> Iterator[PictureMatches]:
    """Yields pairs of one image of each side whose signs are close; a pair may come repeatedly.

    Args:
      first: the signs of the images of one side, uint8 `[N, 32]`.
      second: the signs of those of the other side, uint8 `[M, 32]`.
    """
    if not len(first) or not len(second):
        return
    words_of_second = _as_words(second)
    turned_words = [_as_words(orientation.apply_to_signs(first)) for orientation in ORIENTATIONS]
    rows_of_first = {
        is_transposed: _bits_as_rows(first, is_transposed=is_transposed)
        for is_transposed in (False, True)
    }
    rows_of_second = _bits_as_rows(second, is_transposed=False)
    for positions in _list_key_positions():
        sorted_side = _sort_by_key(_pack_words(rows_of_second[positions]))
        packed = {
            is_transposed: _pack_words(rows[positions])
            for is_transposed, rows in rows_of_first.items()
        }
        for number, orientation in enumerate(ORIENTATIONS):
            changed = _pack_words(orientation.changed_bits()[positions, np.newaxis])
            keyed = packed[orientation.is_transposed] ^ changed
            for queries, candidates in sorted_side.find_candidates(keyed):
                differing = turned_words[number][queries] ^ words_of_second[candidates]
                bits = np.bitwise_count(differing).sum(1, dtype=np.int64)
                is_close = bits <= MAX_BITS_OF_NEIGHBOR
                bits = bits[is_close]
                yield PictureMatches(
                    queries[is_close], candidates[is_close], bits, np.full_like(bits, number)
                )


def _as_words(signs: np.ndarray) -> np.ndarray:
    """Returns uint8 `[N, 32]` as uint64 `[N, 4]`, whose bits can be counted fast."""
    return np.ascontiguousarray(signs).view(np.uint64)


def _bits_as_rows(signs: np.ndarray, *, is_transposed: bool) -> np.ndarray:
    """Returns the bits of signs, uint8 `[256, N]`; of the transposed images if that is asked."""
    if is_transposed:
        signs = _TRANSPOSED.apply_to_signs(signs)
    return np.ascontiguousarray(unpack_signs(signs).T)


_TRANSPOSED = Orientation("", is_transposed=True, is_flipped=False, is_mirrored=False)


def _list_key_positions() -> Iterator[np.ndarray]:
    """Yields for each key the positions of the bits of its words, int64 `[64]`."""
    for step in _STEPS_OF_ROUNDS:
        order = 1 + np.arange(SIGNS) * step % SIGNS  # bit 0 is not used
        for number in range(_SETS_PER_ROUND):
            yield np.roll(order, -number * _KEY_BITS)[:_WORD_BITS]


def _pack_words(rows: np.ndarray) -> np.ndarray:
    """Returns bits in rows, bool or uint8 `[64, N]`, as uint64 `[N]`; the first bit is highest."""
    packed = np.packbits(rows, axis=0)
    return np.ascontiguousarray(packed.T).view(">u8")[:, 0].astype(np.uint64)


@dataclasses.dataclass(frozen=True, eq=False)
class _SortedSide:
    """The images of one side, sorted by the words of one key.

    The first bits of a word are the key. Further bits put images beside each other that have more
    in common, so that of many images with one key the most similar ones are compared.

    Attributes:
      words: uint64 `[N]`, ascending.
      keys: of these words, uint32 `[N]`.
      numbers: the number of each image, int64 `[N]`.
    """

    words: np.ndarray
    keys: np.ndarray
    numbers: np.ndarray

    def find_candidates(self, queries: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yields numbers of queries, int64 `[M]`, and of images with their keys, int64 `[M]`.

        Args:
          queries: words of the images of the other side, uint64 `[K]`.
        """
        keys = _key_of(queries)
        starts = np.searchsorted(self.keys, keys)
        first_keys = self.keys.take(starts, mode="clip")
        numbers = np.flatnonzero(first_keys == keys)  # of the queries that have candidates
        starts = starts[numbers]
        counts = np.searchsorted(self.keys, keys[numbers], "right") - starts
        has_many = counts > _MAX_CANDIDATES_PER_KEY
        if has_many.any():
            nearest = np.searchsorted(self.words, queries[numbers[has_many]])
            last_start = starts[has_many] + counts[has_many] - _MAX_CANDIDATES_PER_KEY
            first_of_window = nearest - _MAX_CANDIDATES_PER_KEY // 2
            starts[has_many] = np.clip(first_of_window, starts[has_many], last_start)
            counts[has_many] = _MAX_CANDIDATES_PER_KEY
        queries_at_once = _MAX_CANDIDATES_AT_ONCE // _MAX_CANDIDATES_PER_KEY
        for begin in range(0, len(numbers), queries_at_once):
            part = slice(begin, begin + queries_at_once)
            places = concatenate_ranges(starts[part], counts[part])
            yield np.repeat(numbers[part], counts[part]), self.numbers[places]


def _sort_by_key(words: np.ndarray) -> _SortedSide:
    """Sorts the words of a side, uint64 `[N]`."""
    order = np.argsort(words, kind="stable")
    return _SortedSide(words[order], _key_of(words[order]), order)


def _key_of(words: np.ndarray) -> np.ndarray:
    """Returns the keys of words, uint32 `[N]`."""
    return (words >> np.uint64(_WORD_BITS - _KEY_BITS)).astype(np.uint32)
