"""What a few files show, where the names of folders leave several readings of them.

It is asked seldom: sizes of images and masks, whether files are the same, and whether labels are
painted into an image.
"""

from collections.abc import Iterable, Mapping, Sequence
import functools
import itertools
import math

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.readings import SAMPLE, Reading, few, parts_of_all
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks import stored

_COLORS = 64  # distinct colours of a mask; photos have more
NO_IMAGE = 100  # bytes, in which no format has more than a few pixels
_COPIED = 50  # images at most that are looked for under other names,
_LOOKED_THROUGH = 5000  # among so many at most
_CORRELATED = 0.9  # at least, of a photo and what it was mixed with
_RELATED = 0.6  # at least, of two sensors that saw the same
_MOST_SAMPLES = 1 << 24  # of an image that is compared in full
_NOISE = 14  # levels between a photo and its JPEG, as a mean over a few pixels


def sizes_agree(image: epath.Path, mask: epath.Path) -> bool:
    """Says whether an image and a mask may belong together by their size, rotated or not.

    What cannot be read may, so that whoever reads it says what is wrong with it.
    """
    try:
        size = pillow.read_size(File.read(image, ImageError), ImageError)
        return sorted(size) == sorted(stored.size_of(File.read(mask, MaskError)))
    except VocSegError:
        return True


def are_same(first: epath.Path, other: epath.Path) -> bool:
    """Says whether two files have the same bytes."""
    try:
        if first.stat().length != other.stat().length:
            return False
        return File.read(first, ImageError).data == File.read(other, ImageError).data
    except (OSError, VocSegError):  # a link to nowhere, a named pipe
        return False


def length(path: epath.Path) -> int:
    """Returns how many bytes a file has; -1 if it leads nowhere."""
    try:
        return int(path.stat().length)
    except OSError:
        return -1


def show_same(first: epath.Path, other: epath.Path, *, mirrored: bool = False) -> bool:
    """Says whether two images look alike: one is a smaller copy of the other, or saved again."""
    try:
        image, small = _small(first), _small(other)
    except VocSegError:
        return False
    views = [small, small[:, ::-1], small[::-1], small[::-1, ::-1]] if mirrored else [small]
    return min(float(np.abs(image - view).mean()) for view in views) < _NOISE


def _small(path: epath.Path) -> np.ndarray:
    """Returns an image squeezed to a few pixels, float `[8, 8, 3]`."""
    still = pillow.decode(File.read(path, ImageError), ImageError, side=8)
    return still.resized(8, 8).rgb().astype(np.float64)


def looks_drawn(path: epath.Path) -> bool:
    """Says whether a file has few colours or values, as masks and drawings of them have."""
    try:
        samples = stored.read_samples(File.read(path, MaskError))
    except VocSegError:
        return False
    height, width = samples.values.shape[:2]
    if samples.kind == "rgb":
        occurring = len(stored.counts_by_color(samples.values)[0])
    else:
        occurring = len(stored.counts_by_value(samples.values))
    return occurring <= min(_COLORS, height * width // 4)


def painted_one(triples: Sequence[tuple[epath.Path, epath.Path, epath.Path]]) -> int | None:
    """Tells in which of two sets of images the labels are painted: 0, 1, or None of them.

    Such images are the same outside of the labels, up to what JPEG and noise change, or whole
    images were mixed with those of labels. Where they differ, the pixels of a label are more alike
    in all painted images together, because they were mixed with one colour.

    Args:
      triples: of a few masks the first set's image, the second one's, and the mask.
    """
    of_label: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}
    for *images, mask in triples:
        try:
            files = [File.read(path, ImageError) for path in images]
            image, other = (pillow.decode(file, ImageError).rgb() for file in files)
            labels = stored.read_samples(File.read(mask, MaskError)).values
        except VocSegError:
            continue
        if not image.shape[:2] == other.shape[:2] == labels.shape[:2]:
            continue
        step = math.isqrt(image.size // _MOST_SAMPLES) + 1  # of large images, some of the pixels
        image, other, labels = (array[::step, ::step] for array in (image, other, labels))
        image, other = image.astype(np.float64), other.astype(np.float64)
        if labels.ndim == 3:
            labels = labels.astype(np.int64) @ (1 << 16, 1 << 8, 1)
        for label in np.unique(labels):
            both = of_label.setdefault(int(label), ([], []))
            both[0].append(image[labels == label])
            both[1].append(other[labels == label])
    pixels = [(np.concatenate(image), np.concatenate(other)) for image, other in of_label.values()]
    unlike = [(a, b) for a, b in pixels if np.median(np.abs(a - b).mean(-1)) >= _NOISE]
    if not unlike or (len(unlike) == len(pixels) and not _are_mixed(pixels)):
        return None
    painted = [np.abs(a - b).mean(-1) >= _NOISE for a, b in unlike]  # of contours not all pixels
    spread = [
        sum(float(both[n][where].std(0).sum()) for both, where in zip(unlike, painted, strict=True))
        for n in (0, 1)
    ]
    sure = 0.9 if len(triples) > 3 else 0.75
    return None if min(spread) > sure * max(spread) else int(spread[1] < spread[0])


def _are_mixed(pixels: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Says whether of each label one set's pixels are the other's mixed with a colour of its own.

    Args:
      pixels: of each label the pixels in both sets, float `[N, 3]`.
    """
    first, other = (np.concatenate([both[n] - both[n].mean(0) for both in pixels]) for n in (0, 1))
    squares = float((first * first).sum()), float((other * other).sum())
    if float((first * other).sum()) <= _CORRELATED * (squares[0] * squares[1]) ** 0.5:
        return False
    share = (squares[1] / squares[0]) ** 0.5
    colors = [both[1].mean(0) - share * both[0].mean(0) for both in pixels]
    return float(np.ptp(colors, 0).max()) > _NOISE


class Looks:
    """Compares the files of readings, a few of each, below the folder that was listed."""

    def __init__(self, root: epath.Path):
        self.root = root

    def path(self, files: FileSet, stem: str) -> epath.Path:
        """Returns the path of a file of a set."""
        return self.root / files.path(stem)

    def _masks_drawn(self, reading: Reading) -> bool:
        """Says whether all of a few masks look as masks do."""
        return self._drawn(reading.masks, tuple(few([*reading.pairs.values()])))

    def _images_drawn(self, reading: Reading) -> bool:
        """Says whether all of a few images look as masks do."""
        return self._drawn(reading.images, tuple(few([*reading.pairs])))

    @functools.cache  # noqa: B019
    def _drawn(self, files: FileSet, stems: Sequence[str]) -> bool:
        return all(looks_drawn(self.path(files, stem)) for stem in stems)

    def _sizes_agree(self, reading: Reading) -> bool:
        """Says whether a few images and masks have the same sizes."""
        agree = [
            sizes_agree(self.path(reading.images, s), self.path(reading.masks, reading.pairs[s]))
            for s in few([*reading.pairs])
        ]
        return 2 * sum(agree) >= len(agree)

    def _unpainted(self, readings: list[Reading]) -> list[Reading]:
        """Leaves out images in which the labels are painted, beside the same ones without."""
        painted = set()
        for reading, other in itertools.combinations(readings, 2):
            of_mask = {mask: stem for stem, mask in reading.pairs.items()}
            shared = [s for s, mask in other.pairs.items() if mask in of_mask]
            files = [
                (
                    self.path(reading.images, of_mask[other.pairs[s]]),
                    self.path(other.images, s),
                    self.path(reading.masks, other.pairs[s]),
                )
                for s in few(shared)
            ]
            if (which := painted_one(files)) is not None:
                painted.add(id((reading, other)[which]))
        return [r for r in readings if id(r) not in painted] or readings

    def _show_same_scenes(self, reading: Reading, other: Reading) -> bool:
        """Says whether images of the same masks may show the same, maybe by another sensor.

        Beside what all images of a set show, such as sky above a road, what is bright in one is
        bright in the other, or dark. So it is where nothing can be compared.
        """
        of_mask = {mask: stem for stem, mask in reading.pairs.items()}
        shared = few([s for s, mask in other.pairs.items() if mask in of_mask], 2 * SAMPLE)
        if not shared:
            return True
        stems = [((reading.images, of_mask[other.pairs[s]]), (other.images, s)) for s in shared]
        try:
            pixels = np.array(
                [[_small(self.path(*of)).mean(-1).ravel() for of in both] for both in stems]
            )
        except VocSegError:
            return True
        pixels -= pixels.mean(-1, keepdims=True)
        pixels /= np.maximum(pixels.std(-1, keepdims=True), 1)
        first, second = np.moveaxis(pixels - pixels.mean(0), 1, 0)
        squares = float((first * first).sum() * (second * second).sum())
        return abs(float((first * second).sum())) >= _RELATED * squares**0.5

    def _first_of_same(self, readings: list[Reading]) -> list[Reading]:
        """Returns one of readings whose images are all the same, else all of them.

        Splits that have all of these images come before a folder that has all.
        """
        order = sorted(
            readings, key=lambda r: (r.distance, r.images.folder, sorted(r.images.names))
        )
        first = parts_of_all(order) or order[:1]
        of_mask = {mask: self.path(r.images, s) for r in first for s, mask in r.pairs.items()}
        are_all_same = all(
            mask in of_mask and are_same(of_mask[mask], self.path(other.images, stem))
            for other in order
            if other not in first
            for stem, mask in other.pairs.items()
        )
        return first if are_all_same else readings

    def _same(self, sets: tuple[FileSet, FileSet], stems: Iterable[tuple[str, str]]) -> bool:
        """Says whether all of these files of two sets have the same bytes."""
        return all(
            are_same(self.path(sets[0], one), self.path(sets[1], other)) for one, other in stems
        )

    def _originals(
        self, reading: Reading, others: Sequence[Reading]
    ) -> dict[str, tuple[Reading, str]]:
        """Returns the same image of another reading for each labelled image; none if one has none.

        It has the same name; that of one of a few, such as `sample1.jpg`, may have any.
        """
        originals: dict[str, tuple[Reading, str]] = {}
        for stem in reading.pairs:
            same = (
                (o, other)
                for o in others
                if o.images.folder != reading.images.folder
                for other in self._perhaps_same(reading, stem, o)
                if self._same((reading.images, o.images), [(stem, other)])
            )
            if (of := next(same, None)) is None:
                return {}
            originals[stem] = of
        return originals

    def _perhaps_same(self, reading: Reading, stem: str, other: Reading) -> Sequence[str]:
        if stem in other.pairs:
            return [stem]
        if len(reading.pairs) > _COPIED or len(other.pairs) > _LOOKED_THROUGH:
            return []
        of_length = self._by_length(other)
        return of_length.get(length(self.path(reading.images, stem)), [])

    @functools.cache  # noqa: B019 - a chooser lives as long as one choice
    def _by_length(self, reading: Reading) -> dict[int, list[str]]:
        """Returns the labelled images of a reading by how long their files are."""
        stems: dict[int, list[str]] = {}
        for stem in reading.pairs:
            stems.setdefault(length(self.path(reading.images, stem)), []).append(stem)
        return {length: of_length for length, of_length in stems.items() if length > NO_IMAGE}

    def _are_copies(self, reading: Reading, originals: Mapping[str, tuple[Reading, str]]) -> bool:
        """Says whether the masks of copied images are copies too."""
        return bool(originals) and all(
            self._same((reading.masks, of.masks), [(reading.pairs[s], of.pairs[other])])
            for s, (of, other) in originals.items()
        )

    def _alike(self, sets: tuple[FileSet, FileSet], stems: Iterable[tuple[str, str]]) -> bool:
        """Says whether all of these images of two sets look alike."""
        return all(show_same(self.path(sets[0], a), self.path(sets[1], b)) for a, b in stems)
