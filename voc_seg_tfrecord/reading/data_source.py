"""Examples of a built dataset by their number, as NumPy arrays, without TensorFlow.

A source may be copied by a fork at any moment, used in several threads, and pickled: a pickle holds
names, numbers and a snapshot of the dataset, and no index. Whoever unpickles it opens the dataset
again, and notices if it is another one by then.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import dataclasses
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
)
from voc_seg_tfrecord.core.named_lists import IdList, check_present, ids_in
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.core.storage import PathLike, is_bucket
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.dataset_files import Snapshot
from voc_seg_tfrecord.reading.fields import Field, fields_of
from voc_seg_tfrecord.reading.record_index import RecordIndex
from voc_seg_tfrecord.reading.records import Record, parse

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
    """Opens the TFRecords of a built dataset for random access, like `tfds.data_source`.

    Args:
      name: the built dataset: its name, such as `voc_seg_tfrecord/cracks` or
        `voc_seg_tfrecord/cracks:1.0.0`, the path of its folder, or its builder.
      split: a split as in TFDS: `train`, `train[:10%]`, `train+validation`. A list of splits gives
        a list of sources. None, the default, gives a dictionary of all splits.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.
      ids: the name of a published list, such as `semi_1_16`, or image ids; the source has only
        these. A tile belongs to it if its image does.
      partial: whether ids of the list may be missing (False).
      features: the features of an example; all by default. Other features are not decoded.
      decode: whether to decode images and masks (True); if not, they are the bytes of PNG and JPEG
        files.
      cache_dir: for a dataset in a bucket: a folder on a disk, into which each shard is copied
        once.

    Returns:
      A `DataSource`, or a list or dictionary of them; see `split`.

    Raises:
      ConfigError: if the dataset, the split, a feature or an id is missing, or the file format has
        no random access.
      RecordError: if a shard is missing, truncated or damaged.
    """
    builder = as_builder(name, data_dir)

    def open_split(one_split: Any) -> DataSource:
        source = DataSource(
            builder, one_split, features=features, decode=decode, cache_dir=cache_dir
        )
        if ids is None:
            return source
        return source.only(ids, partial=partial)

    if split is None:
        return {split_name: open_split(split_name) for split_name in builder.info.splits}
    if isinstance(split, list | tuple):
        return [open_split(one_split) for one_split in split]
    return open_split(split)


class DataSource:
    """A sequence of examples, each a dictionary of NumPy arrays, in the order of the files.

    `source[0]` is an example, `source[[0, 2]]` a list of examples, and `source[:10]` a source.
    PyTorch's loaders, Grain and Hugging Face's `datasets` take it. Images are uint8 `[H, W, 3]`,
    masks uint8 `[H, W, 1]`, and all features are what `tfds.load` gives as NumPy, except that
    JPEGs are decoded as by Pillow: TensorFlow's faster transform differs by a few units of 255.
    Arrays may be written to.
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
        folder = os.fspath(builder.data_path)
        if not is_bucket(folder):
            folder = os.path.abspath(folder)  # noqa: PTH100 - a pickle may go elsewhere
        self._request = _Request(
            folder,
            split,
            features=_choose_features(builder, features),
            decode=decode,
            cache_dir=None if cache_dir is None else os.fspath(cache_dir),
            snapshot=Snapshot.take(builder),
        )
        self._opened_split: _OpenedSplit | None = _open_split(builder, self._request)
        # The number of each example's record in the split's index, in the order of this source.
        self._record_numbers: Sequence[int] | np.ndarray = range(len(self._opened_split.index))

    @property
    def features(self) -> dict[str, Any]:
        """The features of an example by name, as TFDS describes them."""
        return self._split.features

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the dataset's classes."""
        return self._split.class_names

    @property
    def _split(self) -> "_OpenedSplit":
        """The split; it is opened again in a process to which this came as a pickle.

        Raises:
          RecordError: if a build has replaced the dataset since it was opened first.
        """
        if self._opened_split is None:
            builder = datasets.open_built(self._request.folder)
            self._opened_split = _open_split(builder, self._request)
        return self._opened_split

    def __getstate__(self) -> dict[str, Any]:
        return {
            "_request": self._request,
            "_record_numbers": self._record_numbers,
            "_opened_split": None,
        }

    def __repr__(self) -> str:
        return display.brief_line(self, self._split.name, counted(len(self), "example"))

    def __len__(self) -> int:
        return len(self._record_numbers)

    def __iter__(self) -> Iterator[Example]:
        return map(self._example, map(int, self._record_numbers))

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> "DataSource": ...

    @overload
    def __getitem__(self, index: Sequence[int]) -> list[Example]: ...

    def __getitem__(self, index: Any) -> Any:
        """Returns an example; a list of examples by a list of numbers; or by a slice a source."""
        if isinstance(index, slice):
            return self._copy(record_numbers=self._record_numbers[index])
        if isinstance(index, Collection) or np.ndim(index):
            return self.__getitems__(index)
        return self._example(self._record_number(index))

    def __getitems__(self, indices: Collection[int]) -> list[Example]:
        """Returns several examples, as PyTorch's loaders ask for them."""
        # All are checked before one is read.
        record_numbers = [self._record_number(index) for index in indices]
        return [self._example(record_number) for record_number in record_numbers]

    def _record_number(self, index: Any) -> int:
        """Returns the number of the record of an example of this source."""
        if isinstance(index, bool | np.bool_):
            raise TypeError(
                "examples have numbers; to select by a boolean mask, use np.flatnonzero(mask)"
            )
        return int(self._record_numbers[operator.index(index)])

    def _example(self, record_number: int) -> Example:
        opened = self._split
        record = parse(opened.index.read(record_number))
        try:
            return {name: read_value(record) for name, read_value in opened.readers.items()}
        except (ValueError, TypeError, OverflowError) as error:
            if isinstance(error, VocSegError):
                raise
            raise RecordError(
                f"{opened.name}, {record.id}",
                found=" ".join(str(error).split())[:200],
                expected="values of the features that features.json describes",
                remedy="run `voc-seg-tfrecord verify` to find all faults, or build it again",
            ) from None

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """The image id of each example; all records are read once to know them."""
        return tuple(record.id for record in self._records())

    def _records(self) -> Iterator[Record]:
        index = self._split.index
        return (parse(index.read(int(number))) for number in self._record_numbers)

    def only(self, wanted: IdList, *, partial: bool = False) -> "DataSource":
        """Returns the examples whose ids are in a list; the same as `ids` of `data_source`."""
        return self.divided(wanted, partial=partial)[0]

    def divided(
        self, wanted: IdList, *, partial: bool = False
    ) -> tuple["DataSource", "DataSource"]:
        """Returns the examples whose ids are in a list, and all others."""
        wanted_ids = ids_in(wanted)
        # Of a tile, both its own id and that of the image it was cut from.
        ids_of_records = [(record.id, record.image_id) for record in self._records()]
        present_ids = set(itertools.chain.from_iterable(ids_of_records))
        check_present(wanted_ids, present_ids, self._split.name, partial=partial)
        is_wanted = np.array([not wanted_ids.isdisjoint(ids) for ids in ids_of_records], bool)
        numbers = np.array(self._record_numbers, np.int64)
        return (
            self._copy(record_numbers=numbers[is_wanted]),
            self._copy(record_numbers=numbers[~is_wanted]),
        )

    def without(self, features: Collection[str]) -> "DataSource":
        """Returns the same examples without some of their features."""
        remaining = tuple(name for name in self._request.features if name not in features)
        return self._copy(
            request=dataclasses.replace(self._request, features=remaining),
            opened_split=self._split.only(remaining),
        )

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

    def _copy(
        self,
        *,
        record_numbers: Sequence[int] | np.ndarray | None = None,
        request: "_Request | None" = None,
        opened_split: "_OpenedSplit | None" = None,
    ) -> "DataSource":
        """Returns a source of the same dataset; what is given takes the place of what this has."""
        copy = object.__new__(DataSource)
        copy._request = self._request if request is None else request
        copy._opened_split = self._opened_split if opened_split is None else opened_split
        copy._record_numbers = self._record_numbers if record_numbers is None else record_numbers
        return copy


@dataclasses.dataclass(frozen=True)
class _Request:
    """What a source was opened for, by which another process opens it again.

    Attributes:
      folder: of the dataset.
      split: as everywhere in TFDS.
      features: the names of the features that an example has.
      decode: whether images and masks are decoded.
      cache_dir: the folder for copies of files in a bucket.
      snapshot: of the dataset, as it was opened first.
    """

    folder: str
    split: Any
    features: tuple[str, ...]
    decode: bool
    cache_dir: str | None
    snapshot: Snapshot


@dataclasses.dataclass(frozen=True)
class _OpenedSplit:
    """A split that is open for reading.

    Attributes:
      name: of dataset and split, for errors.
      index: reads its records.
      features: of an example, as TFDS describes them.
      class_names: of the dataset, in mask order.
      readers: what makes the value of each feature of a record.
    """

    name: str
    index: RecordIndex
    features: dict[str, Any]
    class_names: tuple[str, ...]
    readers: Mapping[str, "_ValueReader"]

    def only(self, names: Collection[str]) -> "_OpenedSplit":
        """Returns the split with some of the features."""
        return dataclasses.replace(
            self,
            features={name: self.features[name] for name in names},
            readers={name: self.readers[name] for name in names},
        )


_ValueReader = Callable[[Record], Any]
"""Makes the value of one feature of a record."""


def _open_split(builder: tfds.core.DatasetBuilder, request: _Request) -> _OpenedSplit:
    """Opens a split of a dataset.

    Raises:
      RecordError: if a build has replaced the dataset since its snapshot was taken.
    """
    keep_freed_memory()  # arrays of images come and go
    index = RecordIndex.open(builder, request.split, request.snapshot, request.cache_dir)
    fields = fields_of(builder.info.features)
    has_bands = bool(metadata.bands_of(builder))
    readers: dict[str, _ValueReader] = {}
    for name in request.features:
        if name == IMAGE and has_bands:
            readers[name] = functools.partial(_read_bands, request.decode)
        else:
            readers[name] = _value_reader(name, fields, request.decode)
    return _OpenedSplit(
        name=f"{builder.info.full_name}@{request.split}",
        index=index,
        features={name: builder.info.features[name] for name in request.features},
        class_names=metadata.class_names(builder),
        readers=readers,
    )


def _choose_features(
    builder: tfds.core.DatasetBuilder, features: Collection[str] | None
) -> tuple[str, ...]:
    """Returns the names of the wanted features, all by default."""
    if features is None:
        return tuple(sorted(builder.info.features))
    wanted = (features,) if isinstance(features, str) else tuple(features)
    metadata.check_feature_names(builder, wanted)
    return wanted


def _value_reader(name: str, fields: Mapping[str, Field], decode: bool) -> _ValueReader:
    """Returns what makes the value of a feature of a record.

    Args:
      name: of the feature.
      fields: what a record holds, by path.
      decode: whether images and masks are decoded.
    """
    if name not in fields:  # a sequence of dictionaries, such as `objects`
        columns = {}
        for path, field in fields.items():
            if field.sequence == name:
                columns[path.removeprefix(f"{name}/")] = _value_reader(path, fields, decode)
        return functools.partial(_read_columns, columns)
    field = fields[name]
    if field.sequence:
        return functools.partial(_read_sequence, name, field)
    if not field.is_image:
        return functools.partial(_read_scalar, name, field)
    if not decode:
        return functools.partial(_read_bytes, name)
    if field.shape[2] == 3:
        return functools.partial(_read_image, name)
    return functools.partial(_read_mask, name)


def _read_columns(columns: Mapping[str, _ValueReader], record: Record) -> dict[str, Any]:
    return {key: read_column(record) for key, read_column in columns.items()}


def _read_sequence(name: str, field: Field, record: Record) -> np.ndarray:
    return np.array(record.values(name), field.np_dtype).reshape(-1, *field.shape)


def _read_bytes(name: str, record: Record) -> bytes:
    return record.bytes(name)


def _read_image(name: str, record: Record) -> np.ndarray:
    return _writable(record.image(name))


def _read_mask(name: str, record: Record) -> np.ndarray:
    return _writable(record.pixels(name)[..., np.newaxis])


def _read_bands(decode: bool, record: Record) -> np.ndarray | bytes:
    return _writable(record.bands()) if decode else record.bytes(IMAGE)


def _writable(array: np.ndarray) -> np.ndarray:
    return array if array.flags.writeable else array.copy()


def _read_scalar(name: str, field: Field, record: Record) -> Any:
    values = record.values(name)
    if len(values) != 1:
        raise RecordError(
            f"{record.id}, {name}",
            found=f"{len(values)} values",
            expected="one, by the dataset's features",
            remedy="build the dataset again",
        )
    return values[0] if field.np_dtype.kind == "O" else field.np_dtype.type(values[0])


_LARGEST_KEPT_BYTES = 31 << 20
"""Bytes of a block from which glibc learns; of 32 MB and more it learns nothing.

glibc gives freed memory at the end of its heap back to the system if it is more than twice the
largest block that was mapped and freed before. A decoded image is such a block, so that, as chance
will have it, each one is given back, and its pages are cleared again for the next one: a third of
the time of decoding it.
"""


def keep_freed_memory() -> None:
    """Lets glibc keep up to 62 MB of freed memory for later arrays; other C libraries ignore it.

    Memory of a process that is forked later is kept, too.
    """
    # This block is mapped and freed. None of its pages is ever written to.
    np.empty(_LARGEST_KEPT_BYTES, np.uint8)
