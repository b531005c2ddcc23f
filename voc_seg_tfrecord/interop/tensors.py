"""Tensors that `tf.io.serialize_tensor` wrote, read without TensorFlow."""

import functools
import math
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
import numpy as np

_DTYPES = {4: np.uint8, 3: np.int32, 9: np.int64}  # by TensorFlow's numbers


def pixels(data: bytes) -> np.ndarray | None:
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
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="tensor.proto", package="tensors")
    dim = file.message_type.add(name="Dim")
    dim.field.add(name="size", number=1, type=field.TYPE_INT64, label=field.LABEL_OPTIONAL)
    shape = file.message_type.add(name="Shape")
    shape.field.add(
        name="dim",
        number=2,
        type=field.TYPE_MESSAGE,
        label=field.LABEL_REPEATED,
        type_name=".tensors.Dim",
    )
    tensor = file.message_type.add(name="Tensor")
    tensor.field.add(name="dtype", number=1, type=field.TYPE_INT32, label=field.LABEL_OPTIONAL)
    tensor.field.add(
        name="tensor_shape",
        number=2,
        type=field.TYPE_MESSAGE,
        label=field.LABEL_OPTIONAL,
        type_name=".tensors.Shape",
    )
    tensor.field.add(
        name="tensor_content", number=4, type=field.TYPE_BYTES, label=field.LABEL_OPTIONAL
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensors.Tensor"))
