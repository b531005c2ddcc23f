"""Arrays in memory as the items of a build."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import itertools
import pathlib
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError, ImageError, MaskError
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import bands, pillow


@dataclasses.dataclass(frozen=True, eq=False)
class ArrayItem:
    """One example in memory.

    Attributes:
      id: the example's key.
      filename: the image's name.
      image: uint8 `[H, W]`, `[H, W, 1]` or `[H, W, 3]`.
      mask: integers `[H, W]` or `[H, W, 1]`, None where there is a label.
      label: class index of the whole image, None where there is a mask.
    """

    id: str
    filename: str
    image: np.ndarray
    mask: np.ndarray | None
    label: int | None

    def read(self) -> RawExample:
        """Returns the example with its image as a PNG."""
        where = f"{self.filename}, mask"
        return RawExample(
            image=File(pillow.encode_png(_image(self.image, self.filename)), self.filename),
            filename=self.filename,
            mask=None if self.mask is None else bands.as_file(_mask(self.mask, where), where),
            label=self.label,
        )


_NOTHING = object()
"""Stands for the image or the mask that one of two iterables lacks at its end."""


def array_items(
    images: Iterable[np.ndarray],
    masks: Iterable[np.ndarray] | None,
    labels: Iterable[int] | None,
    filenames: Iterable[str] | None,
) -> Iterator[ArrayItem]:
    """Yields an item for each image; see `from_arrays`.

    Raises:
      ConfigError: at the first image without a mask, label or name, the reverse, or a name twice.
    """
    if labels is None:
        rows = _match_targets(images, () if masks is None else masks, "masks")
    else:
        rows = _match_targets(images, labels, "labels")
    filename_by_key: dict[str, str] = {}
    for (image, target), filename in _match_filenames(rows, filenames):
        key = pathlib.PurePosixPath(filename).with_suffix("").as_posix()
        if key in filename_by_key:
            raise _same_key(filename_by_key[key], filename)
        filename_by_key[key] = filename
        if labels is None:
            yield ArrayItem(key, filename, image, target, None)
        else:
            yield ArrayItem(key, filename, image, None, int(target))


def _match_targets(
    images: Iterable[np.ndarray], targets: Iterable[Any], kind: str
) -> Iterator[tuple[np.ndarray, Any]]:
    """Yields each image with its mask or label, which `kind` names."""
    rows: Iterator[Any] = itertools.zip_longest(images, targets, fillvalue=_NOTHING)
    for image, target in rows:
        if image is _NOTHING:
            raise _wrong_number(f"more {kind} than images", kind)
        if target is _NOTHING:
            raise _wrong_number(f"fewer {kind} than images", kind)
        yield image, target


def _match_filenames(
    rows: Iterable[tuple[np.ndarray, Any]], filenames: Iterable[str] | None
) -> Iterator[tuple[tuple[np.ndarray, Any], str]]:
    """Yields each row with its file name; by default `00000000.png` and so on."""
    if filenames is None:
        for number, row in enumerate(rows):
            yield row, f"{number:08}.png"
        return
    names = iter(filenames)
    for row in rows:
        name = next(names, None)
        if name is None:
            raise _wrong_number("fewer filenames than images", "filenames")
        yield row, str(name)
    if next(names, None) is not None:
        raise _wrong_number("more filenames than images", "filenames")


def _wrong_number(found: str, kind: str) -> ConfigError:
    return ConfigError(
        "from_arrays",
        found=found,
        expected=f"as many {kind} as images",
        remedy="give one for each image",
    )


def _same_key(first: str, second: str) -> ConfigError:
    found = f"the name {second!r} twice"
    if first != second:
        found = f"the names {first!r} and {second!r}, which differ in their endings only"
    return ConfigError(
        "from_arrays",
        found=found,
        expected="names that differ without their endings, because they are the ids",
        remedy="rename one of the two",
    )


def copy_if_refilled(arrays: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
    """Returns arrays that nobody writes into later.

    An iterator may fill one array again and again, as readers of videos do, and examples are
    encoded after the next ones were drawn. What a list or an array holds stays.
    """
    if _can_be_read_twice(arrays):
        return arrays
    return map(_copy, arrays)


def _can_be_read_twice(arrays: Iterable[np.ndarray]) -> bool:
    """Says whether arrays come from a list or an array, and not from an iterator."""
    return hasattr(arrays, "__len__") and hasattr(arrays, "__getitem__")


def _copy(array: Any) -> Any:
    """Returns a copy of an array of any kind; what is none is refused later, by its name."""
    if isinstance(array, np.ndarray):
        return array.copy()  # of a masked array with its mask
    if hasattr(array, "__array__"):
        return np.array(array)
    return array


def read_255_as_second_class(
    masks: Iterable[np.ndarray], class_names: Sequence[str]
) -> tuple[Iterable[np.ndarray], bool]:
    """Reads 255 as the second of two classes if the masks hold only 0 and 255.

    As void it would leave this class without pixels.

    Args:
      masks: integers `[H, W]` or `[H, W, 1]` each.
      class_names: the two classes.

    Returns:
      The masks, in which 255 became 1 if it is the second class; and whether it is.

    Raises:
      MaskError: if the masks hold nothing but 255; or, when the last mask of an iterator is drawn,
        if they held only 0 and 255, as the first ones are written by then.
    """
    if not _can_be_read_twice(masks):
        return _check_that_255_is_void(masks), False
    kinds: set[int] = set()
    for mask in masks:
        kinds |= _kinds_of_values(mask)
        if _OTHER in kinds:
            return masks, False
    if kinds == {VOID}:
        raise MaskError(
            "from_arrays, masks",
            found=f"only the value {VOID}, of two classes",
            expected="masks that tell whether it is void or the second class",
            remedy=f"make it 1 if it is {class_names[1]}, or leave out what is all void",
        )
    if kinds != {0, VOID}:
        return masks, False
    return ((np.asanyarray(mask) == VOID).astype(np.uint8) for mask in masks), True


def _check_that_255_is_void(masks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yields the masks of an iterator; raises at the end if 255 may be the second class."""
    kinds: set[int] = set()
    for mask in masks:
        if _OTHER not in kinds:
            kinds |= _kinds_of_values(mask)
        yield mask
    if VOID in kinds and _OTHER not in kinds:
        raise MaskError(
            "from_arrays, masks",
            found=f"only the values 0 and {VOID}, of two classes, in masks from an iterator",
            expected=f"{VOID} as void beside both classes",
            remedy=f"give the masks as a list or an array, in which {VOID} is the second class "
            "then, or make it 1 yourself",
        )


_OTHER = 1
"""Stands for all values but 0 and 255."""


def _kinds_of_values(mask: np.ndarray) -> set[int]:
    """Returns which of 0, 255 and other values a mask has; masked pixels do not count."""
    array = np.ma.compressed(mask) if np.ma.is_masked(mask) else np.asarray(mask)
    if array.dtype.kind not in "iu":
        return {_OTHER}
    is_void = array == VOID
    is_zero = array == 0
    kinds = set[int]()
    if is_zero.any():
        kinds.add(0)
    if is_void.any():
        kinds.add(VOID)
    if not (is_void | is_zero).all():
        kinds.add(_OTHER)
    return kinds


def _image(image: np.ndarray, where: str) -> np.ndarray:
    if np.ma.is_masked(image):
        raise ImageError(
            where,
            found=f"a masked array with {np.ma.getmaskarray(image).sum()} masked values",
            expected="an image that has all of its pixels",
            remedy="fill them with .filled(0), and make their pixels void (255) in the mask",
        )
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)):
        raise ImageError(
            where,
            found=f"an array {array.dtype}{list(array.shape)}",
            expected="uint8 [H, W], [H, W, 1] or [H, W, 3]",
            remedy="scale to 0..255 and convert with .astype('uint8'); channels are the last axis",
        )
    if not array.size:
        raise ImageError(
            where,
            found=f"an image without pixels, {list(array.shape)}",
            expected="at least one pixel",
            remedy="leave it out",
        )
    return np.ascontiguousarray(array)


def _mask(mask: np.ndarray, where: str) -> np.ndarray:
    array = np.asarray(mask)
    if array.dtype.kind not in "iub":
        raise MaskError(
            where,
            found=f"an array {array.dtype}{list(array.shape)}",
            expected="integers [H, W], one class index per pixel",
            remedy="convert with .astype('uint8'); for one-hot masks take .argmax(-1) first",
        )
    if np.ma.is_masked(mask):
        array = array.astype(np.int64)  # which holds 255 too
        array[np.ma.getmaskarray(mask)] = VOID
    return array
