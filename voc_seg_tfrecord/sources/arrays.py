"""Arrays in memory as the items of a build, and what 255 means in masks of two classes.

Programs write a mask of two classes as black and white. In such masks 255 is the second class, and
as void it would leave this class without pixels.
"""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import enum
import itertools
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError, ImageError, MaskError
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import bands, pillow

_NOTHING = object()
"""Stands for the image or the target that one of two iterables lacks at its end."""


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
        mask = None
        if self.mask is not None:
            mask = bands.as_file(_check_mask(self.mask, where), where)
        image = pillow.encode_png(_check_image(self.image, self.filename))
        return RawExample(
            image=File(image, self.filename),
            filename=self.filename,
            mask=mask,
            label=self.label,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _ImageWithTarget:
    """An image with its target: its mask, or its label."""

    image: np.ndarray
    target: Any


def array_items(
    images: Iterable[np.ndarray],
    masks: Iterable[np.ndarray] | None,
    labels: Iterable[int] | None,
    filenames: Iterable[str] | None,
) -> Iterator[ArrayItem]:
    """Yields an item for each image; see `from_arrays`.

    Raises:
      ConfigError: at the first image without a mask, label or name, the reverse, a name twice, or
        a label that is no whole number.
    """
    if labels is None:
        rows = _match_targets(images, () if masks is None else masks, "masks")
    else:
        rows = _match_targets(images, labels, "labels")
    filename_by_id: dict[str, str] = {}
    for filename, row in _match_filenames(rows, filenames):
        item_id = id_of_file(filename)
        if item_id in filename_by_id:
            raise _same_id_error(filename_by_id[item_id], filename)
        filename_by_id[item_id] = filename
        if labels is None:
            yield ArrayItem(item_id, filename, row.image, row.target, None)
        else:
            label = _parse_label(row.target, filename)
            yield ArrayItem(item_id, filename, row.image, None, label)


def _match_targets(
    images: Iterable[np.ndarray], targets: Iterable[Any], noun: str
) -> Iterator[_ImageWithTarget]:
    """Yields each image with its target.

    Args:
      images: the images.
      targets: their masks or labels.
      noun: `masks` or `labels`.
    """
    rows: Iterator[Any] = itertools.zip_longest(images, targets, fillvalue=_NOTHING)
    for image, target in rows:
        if image is _NOTHING:
            raise _wrong_number_error(f"more {noun} than images", noun)
        if target is _NOTHING:
            raise _wrong_number_error(f"fewer {noun} than images", noun)
        yield _ImageWithTarget(image, target)


def _match_filenames(
    rows: Iterable[_ImageWithTarget], filenames: Iterable[str] | None
) -> Iterator[tuple[str, _ImageWithTarget]]:
    """Yields the file name of each row, and the row; by default `00000000.png` and so on."""
    if filenames is None:
        for number, row in enumerate(rows):
            yield f"{number:08}.png", row
        return
    names = iter(filenames)
    for row in rows:
        name = next(names, None)
        if name is None:
            raise _wrong_number_error("fewer filenames than images", "filenames")
        yield str(name), row
    if next(names, None) is not None:
        raise _wrong_number_error("more filenames than images", "filenames")


def _wrong_number_error(found: str, noun: str) -> ConfigError:
    return ConfigError(
        "from_arrays",
        found=found,
        expected=f"as many {noun} as images",
        remedy="give one for each image",
    )


def _same_id_error(first: str, second: str) -> ConfigError:
    found = f"the name {second!r} twice"
    if first != second:
        found = f"the names {first!r} and {second!r}, which differ in their endings only"
    return ConfigError(
        "from_arrays",
        found=found,
        expected="names that differ even without their endings, because they are the ids",
        remedy="rename one of the two",
    )


def _parse_label(label: Any, filename: str) -> int:
    """Returns a label as an integer. An array of one number counts, and so does 3.0.

    Raises:
      ConfigError: if it is no whole number, such as 0.5 or a one-hot vector.
    """
    array = np.asarray(label)
    is_number = array.size == 1 and array.dtype.kind in "iubf"
    if is_number and float(array.item()).is_integer():
        return int(array.item())
    found = f"the label {label!r:.40}"
    if array.size != 1:
        found = f"a label of shape {list(array.shape)}"
    raise ConfigError(
        f"from_arrays, {filename}",
        found=found,
        expected="one class index for each image, such as 0, 1 or 2",
        remedy="for one-hot labels or scores take .argmax(-1) first",
    )


def copy_if_refilled(arrays: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
    """Returns arrays that nobody writes into later.

    An iterator may fill one array again and again, as readers of videos do, and examples are
    encoded after the next ones were read. What a list or an array holds stays.
    """
    if can_be_read_twice(arrays):
        return arrays
    return map(_copy, arrays)


def can_be_read_twice(arrays: Iterable[np.ndarray]) -> bool:
    """Says whether arrays come from a list or an array, and not from an iterator."""
    return hasattr(arrays, "__len__") and hasattr(arrays, "__getitem__")


def _copy(array: Any) -> Any:
    """Returns a copy of an array of any kind; what is none is refused later, by its name."""
    if isinstance(array, np.ndarray):
        return array.copy()  # of a masked array with its mask
    if hasattr(array, "__array__"):
        return np.array(array)
    return array


def _check_image(image: np.ndarray, where: str) -> np.ndarray:
    """Returns an image as uint8 `[H, W]` or `[H, W, 3]`.

    Raises:
      ImageError: if it has another dtype or shape, masked values or no pixels.
    """
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


def _check_mask(mask: np.ndarray, where: str) -> np.ndarray:
    """Returns a mask whose masked pixels are void.

    Raises:
      MaskError: if it does not hold integers.
    """
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


@dataclasses.dataclass(frozen=True, eq=False)
class MasksOfTwoClasses:
    """Masks whose value 255 has a meaning.

    Attributes:
      masks: integers `[H, W]` or `[H, W, 1]` each; 255 is void.
      was_255_second_class: whether 255 was the second class before, and is 1 now.
    """

    masks: Iterable[np.ndarray]
    was_255_second_class: bool = False


def read_255_as_second_class(
    masks: Iterable[np.ndarray], class_names: Sequence[str]
) -> MasksOfTwoClasses:
    """Finds out what 255 means in masks of two classes.

    | values in all masks | a list or an array | an iterator |
    | --- | --- | --- |
    | 0 and 255 | 255 becomes 1 | an error after the last mask |
    | 255 | an error | an error after the last mask |
    | others | 255 is void | 255 is void |

    With an iterator, the first masks are already written when the error is raised.

    Args:
      masks: integers `[H, W]` or `[H, W, 1]` each.
      class_names: the two classes.

    Raises:
      MaskError: if the masks hold nothing but 255; or, when the last mask of an iterator is read,
        if they hold no value but 0 and 255.
    """
    if not can_be_read_twice(masks):
        return MasksOfTwoClasses(_check_that_255_is_void(masks))
    values = _ValueKinds(0)
    for mask in masks:
        values |= _find_values(mask)
        if _ValueKinds.OTHER in values:
            return MasksOfTwoClasses(masks)
    if _ValueKinds.VOID not in values:
        return MasksOfTwoClasses(masks)
    if _ValueKinds.ZERO not in values:
        raise only_255_error("from_arrays, masks", class_names)
    return MasksOfTwoClasses(map(_make_255_the_second_class, masks), was_255_second_class=True)


def only_255_error(where: str, class_names: Sequence[str]) -> MaskError:
    """Returns the error about masks of two classes that hold nothing but 255."""
    return MaskError(
        where,
        found=f"masks of two classes with the value {VOID} alone, which may be void or "
        f"{class_names[1]}",
        expected="masks that also have the value 0 or 1",
        remedy=f"if {VOID} is {class_names[1]}, write 1 in its place; if it is void, leave these "
        "masks out",
    )


def _make_255_the_second_class(mask: np.ndarray) -> np.ndarray:
    """Returns a mask of 0 and 255 as uint8 0 and 1; masked pixels stay masked."""
    return (np.asanyarray(mask) == VOID).astype(np.uint8)


def _check_that_255_is_void(masks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yields the masks of an iterator; raises at the end if 255 may be the second class."""
    values = _ValueKinds(0)
    for mask in masks:
        if _ValueKinds.OTHER not in values:
            values |= _find_values(mask)
        yield mask
    if _ValueKinds.VOID in values and _ValueKinds.OTHER not in values:
        found = f"the values 0 and {VOID}" if _ValueKinds.ZERO in values else f"the value {VOID}"
        raise MaskError(
            "from_arrays, masks",
            found=f"only {found} in masks of two classes from an iterator",
            expected=f"both classes, 0 and 1, if {VOID} is void",
            remedy=f"if {VOID} is the second class, write 1 in its place, or give the masks as a "
            "list or an array",
        )


class _ValueKinds(enum.Flag):
    """Which values masks have: 0, 255, and any other one."""

    ZERO = enum.auto()
    VOID = enum.auto()
    OTHER = enum.auto()


def _find_values(mask: np.ndarray) -> _ValueKinds:
    """Returns which values a mask has; masked pixels do not count."""
    array = np.ma.compressed(mask) if np.ma.is_masked(mask) else np.asarray(mask)
    if array.dtype.kind not in "iu":
        return _ValueKinds.OTHER
    is_zero = array == 0
    is_void = array == VOID
    values = _ValueKinds(0)
    if is_zero.any():
        values |= _ValueKinds.ZERO
    if is_void.any():
        values |= _ValueKinds.VOID
    if not (is_zero | is_void).all():
        values |= _ValueKinds.OTHER
    return values
