"""Plants copies of images, and measures how many are found, and how many different images are.

    python benchmarks/leaks.py [FOLDER ...] [--drawn 500] [--seed 0] [--max_copied 300] [--parts]

Each FOLDER is searched for image files. Beside them, charts, textures and smooth photos are drawn,
so many of each. Of each kind, images without structure are left out; up to `--max_copied` others
are changed in each way, and searched for among all images of their kind. Prints a table of recall,
of how many pairs of different files of the kind are found, and of the CPU time of an entry beside
that of decoding. Pairs of two kinds are false, and are listed, unless folders share images. With
--parts, images are also cropped, and a second table has the recall of crops. Nothing is written.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import itertools
import pathlib
import time

import numpy as np
from picture_changes import CHANGES, CROPS
from PIL import Image, ImageDraw, ImageFilter

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.formats import images, pillow
from voc_seg_tfrecord.formats.stills import Still
from voc_seg_tfrecord.quality import keypoints, near_duplicates, shared_parts

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp"})
DRAWN_SIZE = (375, 500)  # height, width
SHOWN_FALSE_PAIRS = 10

Pixels = np.ndarray
"""An image, uint8 `[H, W, 3]`."""


def draw_chart(rng: np.random.Generator) -> Pixels:
    """Draws bars or a curve in a frame that all charts share."""
    height, width = DRAWN_SIZE
    chart = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(chart)
    pen.line([(40, 20), (40, height - 40), (width - 20, height - 40)], "black", 2)
    tops = rng.integers(30, height - 50, 9).tolist()
    places = np.linspace(55, width - 60, len(tops)).astype(int).tolist()
    color = tuple(rng.integers(0, 200, 3).tolist())
    if rng.random() < 0.5:
        pen.line(list(zip(places, tops, strict=True)), color, 4)
        return np.asarray(chart)
    for place, top in zip(places, tops, strict=True):
        pen.rectangle([place, top, place + 30, height - 41], color)
    return np.asarray(chart)


def draw_texture(rng: np.random.Generator) -> Pixels:
    """Draws faint, smoothed noise with a crack, as concrete has."""
    noise = Image.fromarray(rng.integers(0, 256, DRAWN_SIZE, np.uint8))
    texture = noise.filter(ImageFilter.GaussianBlur(float(rng.uniform(1, 4))))
    pen = ImageDraw.Draw(texture)
    xs = np.linspace(0, DRAWN_SIZE[1], 12).astype(int).tolist()
    ys = (DRAWN_SIZE[0] / 2 + np.cumsum(rng.normal(0, 20, 12))).astype(int).tolist()
    pen.line(list(zip(xs, ys, strict=True)), 60, int(rng.integers(1, 5)))
    gray = np.asarray(texture) // 2 + 80
    return np.repeat(gray.astype(np.uint8)[..., np.newaxis], 3, 2)


def draw_smooth(rng: np.random.Generator) -> Pixels:
    """Draws an image of a few smooth, random colors."""
    coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8))
    return np.asarray(coarse.resize(DRAWN_SIZE[::-1], Image.Resampling.BICUBIC))


DRAWINGS: Mapping[str, Callable[[np.random.Generator], Pixels]] = {
    "drawn charts": draw_chart,
    "drawn textures": draw_texture,
    "drawn smooth images": draw_smooth,
}


@dataclasses.dataclass
class Kind:
    """Images of one kind.

    Attributes:
      name: for the table.
      names: of the images that have signs.
      signs: of these images, uint8 `[32]` each.
      without_signs: how many images have too little structure.
      copies: by the change, the number of the image and the signs of its copy, or None.
      seconds_of_decoding: CPU seconds.
      seconds_of_signs: CPU seconds beyond decoding.
      keypoints: of these images, `KEYPOINT` `[24]` each; empty if parts are not sought.
      crops: by the crop, the number of the image and the keypoints of its crop.
      seconds_of_keypoints: CPU seconds beyond decoding.
    """

    name: str
    names: list[str] = dataclasses.field(default_factory=list)
    signs: list[np.ndarray] = dataclasses.field(default_factory=list)
    without_signs: int = 0
    copies: dict[str, list[tuple[int, np.ndarray | None]]] = dataclasses.field(default_factory=dict)
    seconds_of_decoding: float = 0.0
    seconds_of_signs: float = 0.0
    keypoints: list[np.ndarray] = dataclasses.field(default_factory=list)
    crops: dict[str, list[tuple[int, np.ndarray]]] = dataclasses.field(default_factory=dict)
    seconds_of_keypoints: float = 0.0


def list_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Returns the image files in a folder, sorted; masks and label images are left out."""
    files = []
    for path in sorted(folder.rglob("*")):
        words = " ".join(path.parts).lower()
        is_mask = any(word in words for word in ("mask", "segmentation", "label", "gt"))
        if path.suffix.lower() in SUFFIXES and path.is_file() and not is_mask:
            files.append(path)
    return files


def read_files(folder: pathlib.Path) -> Iterator[tuple[str, File]]:
    """Yields the name and the file of the images in a folder; equal files come once."""
    contents = set()
    for path in list_files(folder):
        data = path.read_bytes()
        if data not in contents:
            contents.add(data)
            yield str(path.relative_to(folder)), File(data, str(path))


def draw_files(name: str, count: int, seed: int) -> Iterator[tuple[str, File]]:
    """Yields the name and the file of drawn images."""
    for number in range(count):
        pixels = DRAWINGS[name](np.random.default_rng([seed, number]))
        yield f"{name} {number}", File(pillow.encode_jpeg(pixels, 92), name)


def compute_signs(data: bytes) -> np.ndarray | None:
    """Returns the signs of a changed image."""
    still = images.decode(File(data, "copy"), side=picture_signs.MIN_SIDE_PX)
    return picture_signs.compute_signs(still)


def describe_parts(still: Still) -> np.ndarray:
    """Returns the keypoints of a decoded image."""
    return keypoints.describe(still.gray(still.height, still.width))


def read_kind(
    name: str, files: Iterator[tuple[str, File]], max_copied: int, *, parts: bool
) -> Kind:
    """Computes the signs of the images of a kind, and of their copies; with `parts`, keypoints."""
    kind = Kind(name)
    kind.copies = {change: [] for change in CHANGES}
    kind.crops = {crop: [] for crop in CROPS}
    for image_name, file in files:
        try:
            start = time.process_time()
            still = images.decode(file, side=picture_signs.MIN_SIDE_PX)
            decoded = time.process_time()
            signs = picture_signs.compute_signs(still)
            kind.seconds_of_signs += time.process_time() - decoded
            kind.seconds_of_decoding += decoded - start
        except VocSegError:
            continue
        if signs is None:
            kind.without_signs += 1
            continue
        number = len(kind.names)
        kind.names.append(image_name)
        kind.signs.append(signs)
        if parts:
            start = time.process_time()
            kind.keypoints.append(describe_parts(still))
            kind.seconds_of_keypoints += time.process_time() - start
        if number >= max_copied:
            continue
        try:
            pixels = pillow.decode(file, ImageError).rgb()
        except VocSegError:
            continue
        for change, change_and_encode in CHANGES.items():
            kind.copies[change].append((number, compute_signs(change_and_encode(pixels))))
        if parts:
            for crop, crop_and_encode in CROPS.items():
                file = File(crop_and_encode(pixels), "crop")
                still = images.decode(file, side=picture_signs.MIN_SIDE_PX)
                kind.crops[crop].append((number, describe_parts(still)))
    return kind


def measure_recall(kind: Kind, change: str, signs: np.ndarray) -> float:
    """Returns the share of copies whose image is found among all images of the kind."""
    copies = kind.copies[change]
    with_signs = [(number, of_copy) for number, of_copy in copies if of_copy is not None]
    if not with_signs:
        return 0.0
    found: set[tuple[int, int]] = set()
    for matches in near_duplicates.find_matches(signs, np.array([one for _, one in with_signs])):
        found.update(zip(matches.first.tolist(), matches.second.tolist(), strict=True))
    hits = sum((number, place) in found for place, (number, _) in enumerate(with_signs))
    return hits / len(copies)


def measure_recall_of_crops(kind: Kind, crop: str) -> float:
    """Returns the share of crops whose image is found by 4 keypoints among all of the kind."""
    crops = kind.crops[crop]
    if not crops:
        return 0.0
    queries = np.stack([packed for _, packed in crops])
    found: set[tuple[int, int]] = set()
    for part in shared_parts.find_between(queries, np.stack(kind.keypoints)):
        if part.agreements >= shared_parts.MIN_AGREEMENTS:
            found.add((part.second, part.first))
    hits = sum((number, place) in found for place, (number, _) in enumerate(crops))
    return hits / len(crops)


@dataclasses.dataclass(frozen=True)
class FoundPairs:
    """Pairs of different files that are found.

    Attributes:
      count_by_kind: how many pairs of one kind; frames of a film and copies are among them.
      across_kinds: a line for each pair of two kinds, which is false.
    """

    count_by_kind: Mapping[str, int]
    across_kinds: Sequence[str]


def find_pairs(kinds: Sequence[Kind]) -> FoundPairs:
    """Returns the pairs of different files that are found among all images."""
    kind_of = [kind.name for kind in kinds for _ in kind.names]
    names = _name_images(kinds)
    signs = np.array([one for kind in kinds for one in kind.signs], np.uint8).reshape(-1, 32)
    bits_of_pair = {}
    for matches in near_duplicates.find_matches(signs, signs):
        for first, second, bits, _ in matches.as_rows():
            if first < second:
                bits_of_pair[first, second] = bits
    count_by_kind = dict.fromkeys(kind_of, 0)
    across_kinds = []
    for (first, second), bits in sorted(bits_of_pair.items()):
        if kind_of[first] == kind_of[second]:
            count_by_kind[kind_of[first]] += 1
        else:
            across_kinds.append(f"{names[first]} ~ {names[second]}: {bits} bits")
    return FoundPairs(count_by_kind, across_kinds)


def _name_images(kinds: Sequence[Kind]) -> list[str]:
    return [f"{kind.name}: {name}" for kind in kinds for name in kind.names]


def find_pairs_of_parts(kinds: Sequence[Kind]) -> FoundPairs:
    """Returns the pairs of different files that share a part by 4 keypoints, as `find_pairs`."""
    kind_of = [kind.name for kind in kinds for _ in kind.names]
    names = _name_images(kinds)
    count_by_kind = dict.fromkeys(kind_of, 0)
    across_kinds = []
    packed = np.stack([one for kind in kinds for one in kind.keypoints])
    for part in shared_parts.find_between(packed, packed):
        if part.first >= part.second:  # each pair comes twice, and each image with itself
            continue
        if part.agreements < shared_parts.MIN_AGREEMENTS:
            continue
        if kind_of[part.first] == kind_of[part.second]:
            count_by_kind[kind_of[part.first]] += 1
        else:
            across_kinds.append(
                f"{names[part.first]} ~ {names[part.second]}: {part.agreements} keypoints"
            )
    return FoundPairs(count_by_kind, across_kinds)


def count_pairs_across(kinds: Sequence[Kind]) -> int:
    """Returns how many pairs of images of two kinds there are."""
    pairs = itertools.combinations(kinds, 2)
    return sum(len(first.names) * len(second.names) for first, second in pairs)


def main(argv: Sequence[str] | None = None) -> None:
    """Parses the command line, plants, searches, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--drawn", type=int, default=500, help="drawn images of each kind (500)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn images (0)")
    parser.add_argument("--max_copied", type=int, default=300, help="copied images of a kind (300)")
    parser.add_argument("--parts", action="store_true", help="also crop; needs OpenCV")
    args = parser.parse_args(argv)
    sources = [(folder.name, read_files(folder)) for folder in args.folders]
    sources += [(name, draw_files(name, args.drawn, args.seed)) for name in DRAWINGS]
    kinds = [read_kind(name, files, args.max_copied, parts=args.parts) for name, files in sources]
    kinds = [kind for kind in kinds if kind.names]
    print_pictures(kinds)
    if args.parts:
        print_parts(kinds)


def print_pictures(kinds: Sequence[Kind]) -> None:
    """Prints what is found by signs."""
    pairs = find_pairs(kinds)
    changes = " | ".join(CHANGES)
    print(f"| kind | images | no signs | {changes} | pairs | decoding ms | signs ms |")
    print("|---" * (len(CHANGES) + 6) + "|")
    for kind in kinds:
        signs = np.array(kind.signs)
        recalls = [f"{measure_recall(kind, change, signs):.3f}" for change in CHANGES]
        count = len(kind.names) + kind.without_signs
        decoding = 1000 * kind.seconds_of_decoding / count
        entry = 1000 * kind.seconds_of_signs / count
        found = pairs.count_by_kind[kind.name]
        times = f"{decoding:.2f}", f"{entry:.2f}"
        cells = [kind.name, count, kind.without_signs, *recalls, found, *times]
        print("|", " | ".join(map(str, cells)), "|")
    print_pairs_across(kinds, pairs)


def print_parts(kinds: Sequence[Kind]) -> None:
    """Prints what is found by keypoints."""
    pairs = find_pairs_of_parts(kinds)
    print(f"\n| kind | images | {' | '.join(CROPS)} | pairs | keypoints ms |")
    print("|---" * (len(CROPS) + 4) + "|")
    for kind in kinds:
        recalls = [f"{measure_recall_of_crops(kind, crop):.3f}" for crop in CROPS]
        entry = 1000 * kind.seconds_of_keypoints / len(kind.names)
        found = pairs.count_by_kind[kind.name]
        cells = [kind.name, len(kind.names), *recalls, found, f"{entry:.2f}"]
        print("|", " | ".join(map(str, cells)), "|")
    print_pairs_across(kinds, pairs)


def print_pairs_across(kinds: Sequence[Kind], pairs: FoundPairs) -> None:
    """Prints the pairs of two kinds, which are false."""
    total = count_pairs_across(kinds)
    print(f"\n{len(pairs.across_kinds)} of {total:,} pairs of two kinds are found")
    for line in pairs.across_kinds[:SHOWN_FALSE_PAIRS]:
        print(f"  {line}")


if __name__ == "__main__":
    main()
