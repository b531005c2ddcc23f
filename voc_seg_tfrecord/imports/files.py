"""Finds, unpacks and reads TFRecord files that other code wrote, serialized tensors among them."""

from collections.abc import Iterator, Sequence
import functools
import gzip
import math
from typing import Any, BinaryIO
import zlib

from etils import epath
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
import numpy as np
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import RecordError, SourceError
from voc_seg_tfrecord.formats import frames

Value = bytes | int | float
Record = dict[str, list[Value]]


def find_files(names: Sequence[epath.PathLike]) -> list[epath.Path]:
    """Returns the files that names, folders and patterns match, sorted.

    Raises:
      SourceError: if a name matches no file.
    """
    files: list[epath.Path] = []
    for name in names:
        path = epath.Path(name).expanduser()
        paths = [path] if path.is_file() else []
        if path.is_dir():
            paths = [p for p in path.iterdir() if p.is_file() and "tfrecord" in p.name]
        elif not paths and "*" in path.name:
            paths = list(path.parent.glob(path.name))
        if not paths:
            raise SourceError(
                path,
                found="no such file",
                expected="a TFRecord file, or a folder of files named *tfrecord*",
                remedy="check the path",
            )
        files += sorted(paths)
    return files


def unpacked(path: epath.Path, folder: epath.Path) -> epath.Path:
    """Returns an uncompressed copy of a gzip file; the path itself for other files.

    Raises:
      RecordError: if the compressed file is truncated or damaged.
      SourceError: if the copy cannot be written.
    """
    with _opened(path) as file:
        if file.read(2) != b"\x1f\x8b":
            return path
    copy = folder / f"{len(list(folder.iterdir()))}-{path.name}"
    try:
        with _opened(path) as packed, gzip.open(packed) as file, copy.open("wb") as out:
            left = storage.most_unpacked(storage.size(path))
            while left > 0 and (piece := file.read(1 << 20)):
                left -= out.write(piece)
            if left <= 0:
                raise RecordError(
                    path,
                    found=f"a gzip file that unpacks to more than {out.tell()} bytes, more than "
                    "100 times its size",
                    expected="TFRecords, which hardly get smaller by packing",
                    remedy="unpack it yourself with gunzip if you trust it, and name that file",
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordError(
            path,
            found=f"a gzip file that is damaged: {error}",
            expected="a complete gzip file",
            remedy="copy it again",
        ) from None
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be unpacked into {folder}: {error.strerror or error}",
            expected="a folder for temporary files with room for the unpacked file",
            remedy="set TMPDIR to a folder that has more room",
        ) from None
    return copy


def _opened(path: epath.Path) -> BinaryIO:
    try:
        return storage.open_file(path)
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be read: {error.strerror or error}",
            expected="a regular file that can be read",
            remedy="check the path",
        ) from None


def read_records(path: epath.Path, where: object) -> Iterator[tuple[int, bytes]]:
    """Yields the offset and the bytes of each record of an uncompressed file.

    Yields:
      The offset of the record's data in the file, and the data, whose checksum was verified.

    Raises:
      RecordError: naming the file and the number, from 0, of the first damaged record.
    """
    number = 0
    try:
        for record in frames.read(path):
            yield record
            number += 1
    except frames.FrameError as error:
        raise _damaged(where, number, error) from None


def _damaged(where: object, number: int, error: frames.FrameError) -> RecordError:
    return RecordError(
        f"{where}, record {number}",
        found=str(error),
        expected="a TFRecord file whose checksums match",
        remedy="copy the file again; the records before this one can be saved with "
        f"tf.data.TFRecordDataset(...).take({number})",
    )


def parse(serialized: bytes, where: object) -> Record:
    """Returns the features of a serialized `tf.train.Example`.

    Raises:
      RecordError: if it is not a `tf.train.Example` with features.
    """
    try:
        example = tf_example_pb2.Example.FromString(serialized)
    except DecodeError:
        example = tf_example_pb2.Example()
    if not example.features.feature:
        raise RecordError(
            where,
            found=f"{len(serialized)} bytes that are not a tf.train.Example",
            expected="a serialized tf.train.Example",
            remedy="import only files written with tf.io.TFRecordWriter of examples",
        )
    return {name: _values(feature) for name, feature in example.features.feature.items()}


def _values(feature: Any) -> list[Value]:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value) if kind else []


_DTYPES = {4: np.uint8, 3: np.int32, 9: np.int64}  # by TensorFlow's numbers


def tensor_pixels(data: bytes) -> np.ndarray | None:
    """Returns the array of a serialised tensor; None if the bytes are not one.

    `tf.io.serialize_tensor` writes all values as one string of bytes, so nothing larger than
    the record itself is made of it, whatever shape it claims.

    Args:
      data: a serialised `TensorProto`.

    Returns:
      uint8 `[H, W]` or `[H, W, C]`, of a tensor of uint8, int32 or int64 with values of 0 to 255.
    """
    try:
        tensor = _message().FromString(data)
    except DecodeError:
        return None
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    dtype = _DTYPES.get(tensor.dtype)
    if dtype is None or len(shape) not in (2, 3) or min(shape) < 1:
        return None
    if math.prod(shape) * np.dtype(dtype).itemsize != len(tensor.tensor_content):
        return None
    array = np.frombuffer(tensor.tensor_content, dtype).reshape(shape)
    return array.astype(np.uint8) if array.min() >= 0 and array.max() <= 255 else None


@functools.cache
def _message() -> Any:
    """Returns the class of `TensorProto` with the fields that `serialize_tensor` writes.

    References:
      tensorflow/core/framework/tensor.proto and tensor_shape.proto.
    """
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="tensor.proto", package="tensors")
    dim, shape, tensor = (file.message_type.add(name=name) for name in ("Dim", "Shape", "Tensor"))
    optional, many, message = kinds.LABEL_OPTIONAL, kinds.LABEL_REPEATED, kinds.TYPE_MESSAGE
    for owner, name, number, label, kind, of in (
        (dim, "size", 1, optional, kinds.TYPE_INT64, None),
        (shape, "dim", 2, many, message, ".tensors.Dim"),
        (tensor, "dtype", 1, optional, kinds.TYPE_INT32, None),
        (tensor, "tensor_shape", 2, optional, message, ".tensors.Shape"),
        (tensor, "tensor_content", 4, optional, kinds.TYPE_BYTES, None),
    ):
        owner.field.add(name=name, number=number, label=label, type=kind, type_name=of)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensors.Tensor"))
