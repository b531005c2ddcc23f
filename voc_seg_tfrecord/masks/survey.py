"""Looks at the masks of a set and notes what they use; `decide` judges it.

A mask with VOC's own palette is recognised by the palette's bytes and is not decoded.
"""

from collections.abc import Collection, Iterable, Sized
import dataclasses

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.errors import MaskError, VocSegError
from voc_seg_tfrecord.formats import png, turns
from voc_seg_tfrecord.formats.class_files import VOID_COLOR
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.lookup import count_colors, count_values
from voc_seg_tfrecord.masks.stored import Samples, read_samples
from voc_seg_tfrecord.masks.used import VOC_NUMBERS, Seen, Shared, Survey
from voc_seg_tfrecord.pool import ordered_map

_MOST_COLORS = 1 << 16
"""How many colours of a mask are kept, the most frequent ones; one with more is a photo."""


def survey(
    paths: Iterable[epath.PathLike],
    total: int | None = None,
    *,
    all_colors: bool = False,
    void: Collection[Color] = (),
) -> Survey:
    """Looks at every mask of a set. Damaged masks are skipped; the build names them.

    Args:
      paths: the masks.
      total: how many there are, if `paths` does not tell; only to show how far it is.
      all_colors: whether masks with VOC's palette have to be decoded like any other.
      void: colours that are known to be void.

    Returns:
      The values and colours in use.
    """
    found = Survey()
    known = {*VOC_NUMBERS, *void}
    for path, used in tqdm(
        ordered_map(lambda p: _look(p, all_colors), paths, ahead=1),
        total=len(paths) if total is None and isinstance(paths, Sized) else total,
        desc="Looking at masks...",
        unit=" masks",
        leave=False,
    ):
        found.examined += 1
        _add(found, str(path), used, known)
    return found


@dataclasses.dataclass(frozen=True)
class _Look:
    """What one mask uses, without its pixels."""

    kind: str  # palette, grey, rgb, voc or damaged
    values: tuple[int, ...] = ()
    palette: tuple[Color, ...] = ()
    colors: tuple[tuple[Color, int], ...] = ()


def _look(path: epath.PathLike, all_colors: bool) -> _Look:
    try:
        file = File.read(path, MaskError)
        is_png = kind_of(file.data) is Kind.PNG
        if is_png and not all_colors and png.has_palette(file.data, _VOC_BYTES):
            return _Look("voc")
        with turns.taken(file):
            return _used(read_samples(file))
    except VocSegError:
        return _Look("damaged")


def _used(samples: Samples) -> _Look:
    if samples.kind == "rgb":
        return _Look("rgb", colors=_count_colors(samples))
    values = tuple(count_values(samples.values))
    palette = () if samples.palette is None else map(tuple, samples.palette.tolist())
    return _Look(samples.kind, values, tuple(palette))


def _count_colors(samples: Samples) -> tuple[tuple[Color, int], ...]:
    colors, counts = count_colors(samples.values)
    most = np.sort(np.argsort(-counts.astype(np.int64))[:_MOST_COLORS])
    colors, counts = colors[most], counts[most]
    split = [(p >> 16, p >> 8 & 255, p & 255) for p in colors.tolist()]
    return tuple(zip(split, counts.tolist(), strict=True))


def _add(found: Survey, path: str, used: _Look, known: Collection[Color]) -> None:
    if used.kind == "damaged":
        found.damaged += 1
    elif used.kind == "voc":
        found.voc += 1
        found.void.add(path)
    elif used.kind == "rgb":
        _add_colors(found, path, used, known)
    else:
        if used.kind == "grey":
            found.greys.update(used.values)
        else:
            _add_palette(found, path, used)
        _add_void(found, path, used)


def _add_colors(found: Survey, path: str, used: _Look, known: Collection[Color]) -> None:
    found.rgb.add(path)
    for color, pixels in used.colors:
        found.colors.setdefault(color, Seen()).add(path, pixels)
    if not {color for color, _ in used.colors} <= known:
        found.strange.add(path)


def _add_palette(found: Survey, path: str, used: _Look) -> None:
    palette = used.palette
    classes = [value for value in used.values if value < VOID]
    if classes and classes[-1] >= len(classes):
        found.gaps.add(path)
    lowest_used: dict[Color, int] = {}
    for value in used.values:
        color = palette[value] if value < len(palette) else None
        found.pairs.setdefault((value, color), Seen()).add(path)
        if color is None:
            continue
        both_used = color in lowest_used
        lower = lowest_used.setdefault(color, palette.index(color))
        if lower < value:
            shared = Shared(lower, value, color, both_used)
            found.shared.setdefault(shared, Seen()).add(path)
        if not both_used:
            lowest_used[color] = value


def _add_void(found: Survey, path: str, used: _Look) -> None:
    """Notes what a mask tells of 255: void, or perhaps the foreground."""
    if VOID not in used.values:
        return
    if set(used.values) - {0, VOID} or used.palette[VOID : VOID + 1] == (VOID_COLOR,):
        found.void.add(path)
    elif used.kind == "grey":
        found.binary_greys.add(path)
    else:
        found.binary_palettes.add(path)


_VOC_BYTES = voc_palette().tobytes()
