"""Which values or colours the masks of a tree hold, for a user who has to name them."""

import collections
from collections.abc import Iterable

from etils import epath

from voc_seg_tfrecord.errors import MaskError, VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.lookup import count_colors, count_values
from voc_seg_tfrecord.masks.stored import Samples, read_samples
from voc_seg_tfrecord.pool import ordered_map
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN = 12


def seen_values(tree: VocTree) -> str:
    """Returns what all masks of a tree hold, most images first: empty if none can be read.

    Such as `0 in 5 masks, 814 pixels`; for palettes with the value's colour.
    """
    where = tree.root / tree.layout.masks
    images: collections.Counter[str] = collections.Counter()
    pixels: collections.Counter[str] = collections.Counter()
    for _, counts in ordered_map(_counts, [where / name for name in tree.masks.values()]):
        for value, count in counts:
            images[value] += 1
            pixels[value] += count
    order = sorted(images, key=lambda value: (-images[value], -pixels[value], value))
    lines = [f"{value} in {images[value]} masks, {pixels[value]} pixels" for value in order]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n    ".join([*lines[:_SHOWN], *more])


def _counts(path: epath.Path) -> list[tuple[str, int]]:
    try:
        samples = read_samples(File.read(path, MaskError))
    except VocSegError:  # the build names it
        return []
    return list(_named(samples))


def _named(samples: Samples) -> Iterable[tuple[str, int]]:
    if samples.kind == "rgb":
        colors, counts = count_colors(samples.values)
        for packed, count in zip(colors.tolist(), counts.tolist(), strict=True):
            yield f"colour {packed >> 16},{packed >> 8 & 255},{packed & 255}", count
        return
    palette = [] if samples.palette is None else samples.palette.tolist()
    for value, count in count_values(samples.values).items():
        color = ",".join(map(str, palette[value])) if value < len(palette) else ""
        yield f"value {value}" + (f" (colour {color})" if color else ""), count
