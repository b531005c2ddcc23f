"""Writes examples as Parquet files that Hugging Face's `datasets` loads.

The files are named as the `datasets` library names them, so that it finds the splits by itself.
An example is read only with its complete row group, so row groups are small enough for streaming.
"""

import collections
from collections.abc import Iterator, Sequence
import itertools
import math
import re
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.exports import columns
from voc_seg_tfrecord.exports.columns import Column, ColumnContent
from voc_seg_tfrecord.exports.writers import ExportedSplit, Record, describe_lost_metadata
from voc_seg_tfrecord.reading import metadata

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "data"
"""The folder of the files, below that of the export."""

_SHARD_BYTES = 500_000_000
"""Size of one file, about: `datasets` makes files of this size of a split that it writes."""

MAX_GROUP_BYTES = 100_000_000
"""How many bytes a row group may hold at most, unless one example is larger."""

MAX_GROUP_ROWS = 1000
"""How many examples a row group may hold at most."""

_SPLIT_NAME = re.compile(r"\w+(\.\w+)*")


def check_split(split: str, where: str) -> None:
    """Raises a `ConfigError` if `datasets` does not take the name of a split."""
    if not _SPLIT_NAME.fullmatch(split) or split == "all":
        raise ConfigError(
            f"{where}, split {split}",
            found="a name that Hugging Face's datasets does not take",
            expected="letters, digits and underscores, and not `all`",
            remedy="build it with another name of the split, such as --splits my_split=my-list",
        )


def write_colored(split: ExportedSplit) -> list[str]:
    """Writes a split, with masks as palette PNGs in the dataset's colors; see `write`."""
    return write(split, metadata.palette(split.builder).tobytes())


def write(split: ExportedSplit, palette: bytes | None = None) -> list[str]:
    """Writes a split: its examples in order, in files of the same number of examples, or one more.

    Args:
      split: the split.
      palette: RGB bytes of 256 entries, if masks become palette PNGs.

    Returns:
      What differs from the dataset, in sentences.
    """
    info = split.builder.info
    examples = info.splits[split.name].num_examples
    num_shards = split.num_shards or math.ceil(info.splits[split.name].num_bytes / _SHARD_BYTES)
    num_shards = max(1, min(num_shards, examples))  # `datasets` fails on a file without rows
    table_columns = columns.make_columns(info.features, info.full_name, palette)
    folder = split.folder / FOLDER
    folder.mkdir(exist_ok=True)
    records = split.records()
    images_without_metadata = 0
    for shard in range(num_shards):
        start = examples * shard // num_shards
        stop = examples * (shard + 1) // num_shards
        path = folder / f"{split.name}-{shard:05}-of-{num_shards:05}.parquet"
        records_of_shard = itertools.islice(records, stop - start)
        images_without_metadata += _write_file(records_of_shard, path, table_columns)
    collections.deque(records, maxlen=0)  # reading raises if there are more records, or fewer
    return describe_lost_metadata(split, images_without_metadata)


def _write_file(
    records: Iterator[tuple[str, Record]], path: epath.Path, table_columns: Sequence[Column]
) -> int:
    """Writes a file; returns how many of its images lost metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = columns.make_schema(table_columns)
    options = _storage_options(table_columns)
    images_without_metadata = 0
    group: list[dict[str, Any]] = []
    group_bytes = 0
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, schema, write_page_index=True, **options) as writer,
    ):
        for where, record in records:
            row = {column.name: column.make_value(record, where) for column in table_columns}
            row_bytes = sum(column.file_bytes(row[column.name]) for column in table_columns)
            is_full = group_bytes + row_bytes > MAX_GROUP_BYTES or len(group) == MAX_GROUP_ROWS
            if group and is_full:
                writer.write_table(pa.Table.from_pylist(group, schema))
                group = []
                group_bytes = 0
            group.append(row)
            group_bytes += row_bytes
            images_without_metadata += _has_lost_metadata(row, record)
            del row, record  # their memory, while the next one is read
        if group:
            writer.write_table(pa.Table.from_pylist(group, schema))
    pa.default_memory_pool().release_unused()  # or Arrow keeps what the largest group took
    return images_without_metadata


def _has_lost_metadata(row: dict[str, Any], record: Record) -> bool:
    """Says whether a row has another file of the image than its record."""
    image = row[IMAGE]
    is_array = isinstance(image, bytes)
    return not is_array and image[columns.BYTES] != record[IMAGE][0]


def _storage_options(table_columns: Sequence[Column]) -> dict[str, Any]:
    """Returns how columns are stored, as `datasets` does: encoded images are not compressed.

    Arrays are compressed, and have neither a dictionary nor statistics.
    """
    compression = {}
    compressed = []
    for column in table_columns:
        for leaf in _leaves(column.name, column.type):
            if column.content is ColumnContent.IMAGE:
                compression[leaf] = "none"
            elif column.content is ColumnContent.ARRAY:
                compression[leaf] = "zstd"
            else:
                compression[leaf] = "snappy"
                compressed.append(leaf)
    return {
        "compression": compression,
        "use_dictionary": compressed,
        "write_statistics": compressed,
    }


def _leaves(path: str, kind: "pa.DataType") -> Iterator[str]:
    """Yields the paths by which Parquet names the parts of a column."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    else:
        yield path
