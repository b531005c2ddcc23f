"""Which values or colours the masks of a tree hold, for a user who has to name them."""

from collections.abc import Iterable

from etils import epath

from voc_seg_tfrecord.errors import MaskError, VocSegError
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.lookup import count_colors, count_values
from voc_seg_tfrecord.masks.stored import Samples, read_samples
from voc_seg_tfrecord.masks.used import Seen
from voc_seg_tfrecord.pool import ordered_map
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN = 12


def seen_values(tree: VocTree) -> tuple[str, dict[Color, Seen]]:
    """Returns what all masks of a tree hold: nothing if none can be read.

    Returns:
      The values, most images first, such as `0 in 5 masks, 814 pixels`; for palettes with the
      value's colour. And the colours of RGB masks.
    """
    where = tree.root / tree.layout.masks
    seen: dict[str | Color, Seen] = {}
    for path, counts in ordered_map(_counts, [where / name for name in tree.masks.values()]):
        for value, count in counts:
            seen.setdefault(value, Seen()).add(str(path), count)
    colors = {key: found for key, found in seen.items() if isinstance(key, tuple)}
    values = {key: found for key, found in seen.items() if isinstance(key, str)}
    order = sorted(values, key=lambda key: (-values[key].masks, -values[key].pixels, key))
    lines = [f"{key} in {values[key].masks} masks, {values[key].pixels} pixels" for key in order]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n    ".join([*lines[:_SHOWN], *more]), colors


def _counts(path: epath.Path) -> list[tuple[str | Color, int]]:
    try:
        samples = read_samples(File.read(path, MaskError))
    except VocSegError:  # the build names it
        return []
    return list(_named(samples))


def _named(samples: Samples) -> Iterable[tuple[str | Color, int]]:
    if samples.kind == "rgb":
        colors, counts = count_colors(samples.values)
        for packed, count in zip(colors.tolist(), counts.tolist(), strict=True):
            yield (packed >> 16, packed >> 8 & 255, packed & 255), count
        return
    palette = [] if samples.palette is None else samples.palette.tolist()
    for value, count in count_values(samples.values).items():
        color = ",".join(map(str, palette[value])) if value < len(palette) else ""
        yield f"value {value}" + (f" (colour {color})" if color else ""), count
