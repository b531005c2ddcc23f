"""How many bands the images of a set have."""

from collections.abc import Iterable
import dataclasses
import itertools

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, Item
from voc_seg_tfrecord.formats import band_files, mask_samples

_MAX_TRIED_IMAGES = 8


def count_bands(items: Iterable[Item]) -> int:
    """Returns how many bands the first image has that can be read; 0 if there are no items.

    Raises:
      VocSegError: about the first image, if none of the first 8 can be read.
    """
    problems: list[VocSegError] = []
    for item in itertools.islice(items, _MAX_TRIED_IMAGES):
        try:
            raw = item.read()
            mask_size = mask_samples.size_of(raw.mask) if raw.mask else None
            return int(band_files.read(raw.image, mask_size).shape[2])
        except VocSegError as error:
            problems.append(error)
        except OSError as error:  # the file was there when the tree was listed
            problems.append(storage.storage_error(error, item.id))
    if problems:
        raise problems[0]
    return 0


def with_band_count(spec: ExampleSpec, items: Iterable[Item]) -> ExampleSpec:
    """Returns a spec by which all images must have as many bands as the first.

    If the spec keeps no bands, or no image can be read, it stays as it is: `make_example` reports
    images that cannot be read. Without items the count is 0, which means any number.
    """
    if spec.bands is None:
        return spec
    try:
        count = count_bands(items)
    except VocSegError:
        return spec
    return dataclasses.replace(spec, bands=dataclasses.replace(spec.bands, count=count))
