"""Examples of a built dataset by their number, as NumPy arrays, without TensorFlow.

A source may be copied by a fork at any moment, used in several threads, and pickled: a pickle holds
names and numbers, and no index. Whoever unpickles it opens the dataset again, and notices if it has
other records by then.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import functools
import itertools
import operator
import os
from typing import Any, overload

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    RecordError,
    VocSegError,
    counted,
    did_you_mean,
)
from voc_seg_tfrecord.core.names import IMAGE, TILE_IMAGE_ID
from voc_seg_tfrecord.core.storage import PathLike, is_bucket
from voc_seg_tfrecord.core.wanted_ids import IdList, check_present, ids_in
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import places
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.records import Record, parse
from voc_seg_tfrecord.reading.trust import Field, fields_of

Example = dict[str, Any]
"""Feature names and arrays, numbers, bytes, or dictionaries of arrays."""


def data_source(
    name: BuiltDataset,
    split: Any = None,
    data_dir: PathLike | None = None,
    *,
    ids: IdList | None = None,
    partial: bool = False,
    features: Collection[str] | None = None,
    decode: bool = True,
    cache_dir: PathLike | None = None,
) -> Any:
    """Opens a built dataset for reading by number, as `tfds.data_source` does, but its TFRecords.

    Args:
      name: a built dataset: its name, such as `voc_seg_tfrecord/cracks`, with or without a
        version, the path of its folder, or its builder.
      split: as everywhere in TFDS: `train`, `train[:10%]`, `train+validation`. A list of them
        returns a list. None, the default, returns a dictionary of all splits.
      data_dir: the folder of all datasets; TFDS's default if not given.
      ids: the name of a list of papers, such as `semi_1_16`, or image ids; only these are in the
        source. Tiles are if their image is.
      partial: whether the split may lack ids of the list (False).
      features: which features an example has; all by default. What is left out costs nothing.
      decode: whether images and masks are decoded (True); else they are the bytes of their files.
      cache_dir: a folder on a disk; the shards of a dataset in a bucket are copied there, each
        once.

    Returns:
      A `DataSource`; a list or a dictionary of them.

    Raises:
      ConfigError: if there is no such dataset, split or feature, ids are missing, or records of
        this format cannot be read by number.
      RecordError: if a shard is missing, truncated or damaged.
    """
    builder = as_builder(name, data_dir)

    def source(part: Any) -> DataSource:
        whole = DataSource(builder, part, features=features, decode=decode, cache_dir=cache_dir)
        return whole if ids is None else whole.only(ids, partial=partial)

    if split is None:
        return {part: source(part) for part in builder.info.splits}
    return [source(part) for part in split] if isinstance(split, list | tuple) else source(split)


class DataSource:
    """Examples by number: a dictionary of NumPy arrays for each.

    It is a sequence as PyTorch's loaders, Grain and Hugging Face's `datasets` take them. Images are
    uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`, and all features are what `tfds.load` gives as
    NumPy, except that JPEGs are decoded as Pillow does it: TensorFlow's faster transform differs
    by a few units of 255. Arrays may be written to. The order is that of the files.

    Attributes:
      features: the features of an example, as TFDS describes them.
      class_names: the names of the dataset's classes.
    """

    def __init__(
        self,
        builder: tfds.core.DatasetBuilder,
        split: Any,
        *,
        features: Collection[str] | None = None,
        decode: bool = True,
        cache_dir: PathLike | None = None,
    ):
        """Opens a split of a built dataset; `data_source` says what the arguments are."""
        self._folder = os.fspath(builder.data_path)
        if not is_bucket(self._folder):
            self._folder = os.path.abspath(self._folder)  # noqa: PTH100 - a pickle may go elsewhere
        self._split = split
        self._wanted = _chosen(builder, features)
        self._decode = decode
        self._cache_dir = cache_dir and os.fspath(cache_dir)
        self._open(builder)
        self._numbers: Sequence[int] | np.ndarray = range(len(self._shards))
        self._seal = self._shards.seal

    def _open(self, builder: tfds.core.DatasetBuilder) -> None:
        self._shards = places.Shards.of(builder, self._split, self._cache_dir)
        datasets.check_unchanged(builder)  # it may have been replaced before its shards were read
        self.features = {name: builder.info.features[name] for name in self._wanted}
        self.class_names = datasets.class_names(builder)
        self._name = builder.info.full_name
        fields = fields_of(builder.info.features)
        self._values = {name: _value_of(name, fields, self._decode) for name in self.features}
        if IMAGE in self.features and datasets.bands_of(builder):
            self._values[IMAGE] = lambda record: (
                _writable(record.bands()) if self._decode else record.bytes(IMAGE)
            )

    def __getstate__(self) -> dict[str, Any]:
        names = ("_folder", "_split", "_wanted", "_decode", "_cache_dir", "_numbers", "_seal")
        return {name: self.__dict__[name] for name in names}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)

    def __getattr__(self, name: str) -> Any:
        # Only of what `_open` has yet to set, in a process that this came to as a pickle.
        if name.startswith("__") or "_seal" not in self.__dict__:
            raise AttributeError(name)
        if name not in ("_shards", "features", "class_names", "_name", "_values"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        self._open(datasets.open_built(self._folder))
        if self._shards.seal != self._seal:
            raise places.changed(self._shards.other_than(self._seal) or self._folder)
        return self.__dict__[name]

    def __repr__(self) -> str:
        return display.brief_line(
            self, f"{self._name}@{self._split}", counted(len(self), "example")
        )

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Example]:
        return map(self._example, map(int, self._numbers))

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> "DataSource": ...

    @overload
    def __getitem__(self, index: Sequence[int]) -> list[Example]: ...

    def __getitem__(self, index: Any) -> Any:
        """Returns an example; a list of examples by a list of numbers; or by a slice a source."""
        if isinstance(index, slice):
            return self._selected(self._numbers[index])
        if isinstance(index, Collection) or np.ndim(index):
            return self.__getitems__(index)
        return self._example(self._number(index))

    def __getitems__(self, indices: Collection[int]) -> list[Example]:
        """Returns several examples, as PyTorch's loaders ask for them."""
        return [self._example(number) for number in list(map(self._number, indices))]

    def _number(self, index: Any) -> int:
        if isinstance(index, bool | np.bool_):
            raise TypeError("examples have numbers; of a mask of bools take np.flatnonzero")
        return int(self._numbers[operator.index(index)])

    def _example(self, number: int) -> Example:
        record = parse(self._shards.read(number))
        try:
            return {name: value(record) for name, value in self._values.items()}
        except (ValueError, TypeError, OverflowError) as error:
            if isinstance(error, VocSegError):
                raise
            raise RecordError(
                f"{self._name}@{self._split}, {record.id}",
                found=" ".join(str(error).split())[:200],
                expected="values of the features that features.json describes",
                remedy="run `voc-seg-tfrecord verify` to find all faults, or build it again",
            ) from None

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """The image id of each example; all records are read once to know them."""
        return tuple(record.id for record in self._records())

    def _records(self) -> Iterator[Record]:
        return (parse(self._shards.read(int(number))) for number in self._numbers)

    def only(self, wanted: IdList, *, partial: bool = False) -> "DataSource":
        """Returns the examples whose ids are in a list; the same as `ids` of `data_source`."""
        return self.divided(wanted, partial=partial)[0]

    def divided(
        self, wanted: IdList, *, partial: bool = False
    ) -> tuple["DataSource", "DataSource"]:
        """Returns the examples whose ids are in a list, and all others."""
        chosen_ids = ids_in(wanted)
        ids_of_records = [(r.id, r.bytes(TILE_IMAGE_ID).decode() or r.id) for r in self._records()]
        there = set(itertools.chain.from_iterable(ids_of_records))
        check_present(chosen_ids, there, f"{self._name}@{self._split}", partial=partial)
        inside = np.array([not chosen_ids.isdisjoint(both) for both in ids_of_records], bool)
        numbers = np.array(self._numbers, np.int64)
        return self._selected(numbers[inside]), self._selected(numbers[~inside])

    def without(self, features: Collection[str]) -> "DataSource":
        """Returns the same examples without some of their features."""
        part = self._selected(self._numbers)
        part._wanted = tuple(name for name in self._wanted if name not in features)
        part.features = {name: self.features[name] for name in part._wanted}
        part._values = {name: self._values[name] for name in part._wanted}
        return part

    def shard(self, rank: int, count: int) -> "DataSource":
        """Returns the part of one of several processes: every `count`-th example from `rank` on.

        All parts together have each example once. Their lengths differ by one where `count` does
        not divide the length.
        """
        if not 0 <= operator.index(rank) < operator.index(count):
            raise ConfigError(
                "rank, count",
                found=f"{rank}, {count}",
                expected="a rank of 0 or more that is below the count",
            )
        return self[rank::count]

    def _selected(self, numbers: Sequence[int] | np.ndarray) -> "DataSource":
        part = object.__new__(DataSource)
        part.__dict__.update({k: v for k, v in self.__dict__.items() if k != "ids"})
        part._numbers = numbers
        return part


def _chosen(builder: tfds.core.DatasetBuilder, features: Collection[str] | None) -> tuple[str, ...]:
    there = sorted(builder.info.features)
    if isinstance(features, str):
        features = [features]
    for name in features or ():
        if name not in there:
            raise ConfigError(
                builder.info.full_name,
                found=f"no feature {name}{did_you_mean(name, there)}",
                expected=f"some of {', '.join(there)}",
            )
    return tuple(there if features is None else features)


def _value_of(name: str, fields: Mapping[str, Field], decode: bool) -> Callable[[Record], Any]:
    """Returns what makes the value of a feature of a record."""
    if name not in fields:
        columns = {
            path.removeprefix(f"{name}/"): _value_of(path, fields, decode)
            for path, field in fields.items()
            if field.sequence == name
        }
        return lambda record: {key: column(record) for key, column in columns.items()}
    field = fields[name]
    if field.sequence:
        return lambda r: np.array(r.values(name), field.np_dtype).reshape(-1, *field.shape)
    if not field.is_image:
        return functools.partial(_scalar, name, field)
    if not decode:
        return lambda record: record.bytes(name)
    if field.shape[2] == 3:
        return lambda record: _writable(record.image(name))
    return lambda record: _writable(record.pixels(name)[..., np.newaxis])


def _writable(array: np.ndarray) -> np.ndarray:
    return array if array.flags.writeable else array.copy()


def _scalar(name: str, field: Field, record: Record) -> Any:
    values = record.values(name)
    if len(values) != 1:
        raise RecordError(
            f"{record.id}, {name}",
            found=f"{len(values)} values",
            expected="one, as the dataset's features say",
            remedy="build the dataset again",
        )
    return values[0] if field.np_dtype.kind == "O" else field.np_dtype.type(values[0])
