"""Buffers that are used again when nobody holds them."""

import gc

import numpy as np
import pytest

from voc_seg_tfrecord.core.lent_buffers import LentBuffers


def lent_buffers(count):
    return LentBuffers([np.zeros(8, np.uint8) for _ in range(count)])


def lend_all(buffers):
    lent = []
    while (number := buffers.reserve()) is not None:
        lent.append(buffers.lend(number))
    return lent


def test_a_lent_buffer_is_free_again_when_it_is_garbage():
    buffers = lent_buffers(2)
    lent = lend_all(buffers)
    assert len(lent) == 2
    assert not np.shares_memory(*lent)
    del lent[0]
    gc.collect()
    assert len(lend_all(buffers)) == 1


VIEWS = {
    "a slice": lambda lent: lent[2:],
    "a slice of a slice": lambda lent: lent[2:][1:],
    "another dtype and shape": lambda lent: lent.view(np.uint16).reshape(2, 2).T,
    "a memoryview": memoryview,
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("make_view", VIEWS.values(), ids=VIEWS)
def test_a_lent_buffer_is_held_by_a_view_alone(make_view):
    buffers = lent_buffers(1)
    (lent,) = lend_all(buffers)
    view = make_view(lent)
    del lent
    gc.collect()
    assert buffers.reserve() is None
    del view
    gc.collect()
    assert buffers.reserve() == 0


def test_a_reserved_buffer_that_is_not_lent_is_freed_by_who_knows_that_nobody_writes_to_it():
    buffers = lent_buffers(2)
    buffers.reserve()
    (lent,) = lend_all(buffers)
    buffers.free_reserved()
    assert len(lend_all(buffers)) == 1
    assert lent.size == 8


def test_without_buffers_there_is_none_to_reserve():
    assert lent_buffers(0).reserve() is None
    assert lent_buffers(0).byte_count == 0


def test_a_reserved_buffer_that_was_not_written_to_is_free_again():
    buffers = lent_buffers(1)
    number = buffers.reserve()
    assert buffers.reserve() is None
    buffers.free(number)
    assert buffers.reserve() == number
