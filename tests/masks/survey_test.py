import io

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.masks import survey as surveying
from voc_seg_tfrecord.masks.survey import Survey, survey


@pytest.fixture
def put(tmp_path):
    def write(*masks):
        paths = [epath.Path(tmp_path / f"{number}.png") for number in range(len(masks))]
        for path, data in zip(paths, masks, strict=True):
            path.write_bytes(data)
        return paths

    return write


def rgb(*colors):
    buffer = io.BytesIO()
    Image.fromarray(np.array([colors], np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


VOC = write_png(np.array([[0, 1, 255]]), palette=voc_palette())


def test_palette_entries_in_use_are_noted_with_a_mask_that_uses_them(put):
    palette = np.array([(0, 0, 0), (9, 9, 9), (8, 8, 8)])
    paths = put(write_png(np.array([[0, 2]]), palette=palette))
    assert survey(paths).pairs == {
        (0, (0, 0, 0)): str(paths[0]),
        (2, (8, 8, 8)): str(paths[0]),
    }


def test_a_value_beyond_the_palettes_end_has_no_colour(put):
    paths = put(write_png(np.array([[0, 3]]), palette=np.array([(0, 0, 0), (9, 9, 9)])))
    assert (3, None) in survey(paths).pairs


def test_colours_of_rgb_masks_are_noted(put):
    assert survey(put(rgb((1, 2, 3), (4, 5, 6)))).colors == {(1, 2, 3), (4, 5, 6)}


def test_a_mask_with_vocs_palette_is_not_decoded_unless_asked(put, monkeypatch):
    paths = put(VOC, VOC)
    decoded = []
    read_samples = surveying.read_samples
    monkeypatch.setattr(
        surveying, "read_samples", lambda *args: decoded.append(args) or read_samples(*args)
    )
    found = survey(paths)
    assert (found.voc, found.examined, decoded) == (2, 2, [])
    assert {index for index, _ in survey(paths, all_colors=True).pairs} == {0, 1, 255}
    assert len(decoded) == 2


@pytest.mark.parametrize(
    ("masks", "binary"),
    [
        ([write_png(np.array([[0, 255]]), color=0)], True),
        ([write_png(np.array([[0, 0]]), color=0)], False),
        ([write_png(np.array([[0, 1, 255]]), color=0)], False),
        ([write_png(np.array([[0, 255]]), color=0), VOC], False),
    ],
)
def test_a_set_is_binary_if_0_and_255_are_its_only_values(put, masks, binary):
    assert survey(put(*masks)).looks_binary is binary


def test_a_damaged_mask_counts_and_uses_nothing(put):
    found = survey(put(b"", VOC[:60]))
    assert found == Survey(examined=2)
