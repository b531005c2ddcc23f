"""Writes examples as Parquet files that Hugging Face's `datasets` loads.

The files are named as the `datasets` library names them, so that it finds the splits by itself.
An example is read only with its complete row group, so row groups are small enough for streaming.
"""

import collections
from collections.abc import Iterator, Sequence
import itertools
import re
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.exports import columns
from voc_seg_tfrecord.exports.columns import Column
from voc_seg_tfrecord.exports.writers import Record, Split, rotated
from voc_seg_tfrecord.reading import dataset

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "data"
"""The folder of the files, below that of the export."""

_SHARD_BYTES = 500_000_000  # of one file, about: what `datasets` makes of a split that it writes
GROUP_BYTES, GROUP_ROWS = 100_000_000, 1000
"""How much a row group may hold at most, unless one example is larger."""

_SPLIT = re.compile(r"\w+(\.\w+)*")


def check_split(split: str, where: str) -> None:
    """Raises a `ConfigError` if `datasets` does not take the name of a split."""
    if not _SPLIT.fullmatch(split) or split == "all":
        raise ConfigError(
            f"{where}, split {split}",
            found="a name that Hugging Face's datasets does not take",
            expected="letters, digits and underscores, and not `all`",
            remedy="build it with another name of the split, such as --splits my_split=my-list",
        )


def write_colored(split: Split) -> list[str]:
    """Writes a split, with masks as palette PNGs in the dataset's colours; see `write`."""
    return write(split, dataset.palette(split.builder).tobytes())


def write(split: Split, palette: bytes | None = None) -> list[str]:
    """Writes a split. Each file has as many examples, in their order.

    With the RGB bytes of 256 entries masks become palette PNGs. Returns what differs from the
    dataset, in sentences.
    """
    info = split.builder.info
    examples = info.splits[split.name].num_examples
    shards = split.num_shards or -(-info.splits[split.name].num_bytes // _SHARD_BYTES)
    shards = max(1, min(shards, examples))  # `datasets` fails on a file without rows
    described = columns.columns(info.features, info.full_name, palette)
    folder = split.folder / FOLDER
    folder.mkdir(exist_ok=True)
    records = split.records()
    turned = 0
    for number in range(shards):
        start, stop = (examples * n // shards for n in (number, number + 1))
        path = folder / f"{split.name}-{number:05}-of-{shards:05}.parquet"
        turned += _write_file(itertools.islice(records, stop - start), path, described)
    collections.deque(records, maxlen=0)  # reading raises if there are more records, or fewer
    return rotated(split, turned)


def _write_file(
    records: Iterator[tuple[str, Record]], path: epath.Path, described: Sequence[Column]
) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = columns.schema(described)
    turned = 0
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, schema, write_page_index=True, **_options(described)) as writer,
    ):
        for table, count in _row_groups(records, described, schema):
            writer.write_table(table)
            turned += count
            del table  # while the next one is made
    pa.default_memory_pool().release_unused()  # or Arrow keeps what the largest group took
    return turned


def _row_groups(
    records: Iterator[tuple[str, Record]], described: Sequence[Column], schema: "pa.Schema"
) -> Iterator[tuple["pa.Table", int]]:
    """Yields each row group, and how many of its images lost metadata."""
    import pyarrow as pa

    images = [column.name for column in described if column.is_image]
    rows: list[dict[str, Any]] = []
    size = turned = 0
    for where, record in records:
        row = {column.name: column.value(record, where) for column in described}
        length = sum(len(row[name][columns.BYTES]) for name in images)
        if rows and (size + length > GROUP_BYTES or len(rows) == GROUP_ROWS):
            yield pa.Table.from_pylist(rows, schema), turned
            rows, size, turned = [], 0, 0
        rows.append(row)
        size += length
        turned += row[IMAGE][columns.BYTES] is not record[IMAGE][0]
        del row, record  # while a table is written
    if rows:
        yield pa.Table.from_pylist(rows, schema), turned


def _options(described: Sequence[Column]) -> dict[str, Any]:
    """Returns how columns are stored, as `datasets` does: encoded images are not compressed."""
    leaves = {leaf: c.is_image for c in described for leaf in _leaves(c.name, c.type)}
    others = [leaf for leaf, is_image in leaves.items() if not is_image]
    return {
        "compression": {leaf: "none" if image else "snappy" for leaf, image in leaves.items()},
        "use_dictionary": others,
        "write_statistics": others,
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
