import tracemalloc

import numpy as np
import pytest

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.masks import read, stored
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.stored import Samples

RNG = np.random.default_rng(3)


@pytest.fixture(params=[1 << 20, 10], ids=["at once", "by rows"], autouse=True)
def pieces(request, monkeypatch):
    monkeypatch.setattr(stored, "_PIXELS", request.param)
    monkeypatch.setattr(stored, "_SORTED", request.param)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "i8", "?"])
def test_values_are_counted_and_mapped_as_one_by_one(dtype):
    values = RNG.integers(-3 if dtype[0] == "i" else 0, 9, (13, 7)).astype(dtype)
    listed = values.astype(int).ravel().tolist()
    counts = stored.counts_by_value(values)
    assert counts == {value: listed.count(value) for value in sorted(set(listed))}
    classes = {value: VOID if value < 0 else value * 2 for value in range(-3, 300)}
    classes = {value: index % 256 for value, index in classes.items()}
    found = stored.map_values(values, classes)
    assert found.dtype == np.uint8
    assert found.ravel().tolist() == [classes[value] for value in listed]


def test_colours_are_counted_and_mapped_as_one_by_one():
    known = np.array([0, 0x010203, 0xFFFFFF])
    classes = np.array([7, 0, VOID], np.uint8)
    packed = np.append(known, [5, 0xFFFFFE])[RNG.integers(0, 5, (13, 7))]
    colors = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], -1).astype(np.uint8)
    occurring, times = (array.tolist() for array in stored.counts_by_color(colors))
    assert occurring == np.unique(packed).tolist()
    assert times == [int((packed == color).sum()) for color in occurring]
    mapped, (unknown, counts) = stored.map_colors(colors, known, classes)
    assert dict(zip(unknown.tolist(), counts.tolist(), strict=True)) == {
        color: int((packed == color).sum()) for color in (5, 0xFFFFFE)
    }
    for color, index in zip(known, classes, strict=True):
        assert (mapped[packed == color] == index).all()


def test_colours_of_a_large_mask_become_classes_in_a_few_bytes_per_pixel(monkeypatch):
    monkeypatch.setattr(stored, "_PIXELS", 1 << 20)
    colors = np.full((4000, 4000, 3), 9, np.uint8)
    rule = MaskRule({0: 0}, {(9, 9, 9): 1})
    tracemalloc.start()
    try:
        read.class_indices(Samples("rgb", colors), rule, "m.png")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * 4000 * 4000
