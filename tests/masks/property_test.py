"""Properties that must hold for anything that Pillow or a text editor can write."""

import pathlib

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
import pytest
from support.encoding import decoded
from support.png_writer import write_png

from voc_seg_tfrecord import VocSegError, voc_palette
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import parse_ids
from voc_seg_tfrecord.masks import read
from voc_seg_tfrecord.masks.rule import index_rule

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=40)


@given(st.data(), st.sampled_from([1, 2, 4, 8]), st.booleans(), st.sampled_from([0, 3]))
@settings(max_examples=60, deadline=None)
def test_any_index_array_comes_back_equal(data, depth, interlaced, color):
    values = data.draw(hnp.arrays(np.int64, SHAPES, elements=st.integers(0, (1 << depth) - 1)))
    palette = voc_palette()[: 1 << depth] if color == 3 else None
    png = write_png(values, depth=depth, color=color, palette=palette, interlaced=interlaced)
    mask = read.read_mask(File(png, "m.png"), index_rule(255))
    stored = decoded(mask.png)
    assert (stored == values).all()


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_ids_inside_the_tree_or_an_error(data):
    try:
        ids = parse_ids(data, "list.txt", {"a", "b"})
    except VocSegError:
        return
    assert ids
    for image_id in ids:
        path = pathlib.PurePosixPath(image_id.replace("\\", "/"))
        assert not path.is_absolute()
        assert ".." not in path.parts


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@given(st.binary(max_size=300))
@settings(max_examples=120, deadline=None)
def test_any_bytes_are_a_mask_or_an_error(data):
    for prefix in (b"", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY", b"BM", b"GIF89a", b"II*\0"):
        with pytest.raises(VocSegError):
            read.read_mask(File(prefix + data, "m.png"), index_rule(255))
