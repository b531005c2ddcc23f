import numpy as np
import pytest
from support.encoding import rgb_mask, write_masks
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.folder import mask_survey as masks_survey
from voc_seg_tfrecord.folder.mask_survey import Occurrence, Survey, survey
from voc_seg_tfrecord.formats import mask_samples as surveying


@pytest.fixture
def put(tmp_path):
    return lambda *masks: write_masks(tmp_path, masks)


VOC = write_png(np.array([[0, 1, 255]]), palette=voc_palette())


def test_palette_entries_in_use_are_noted_with_a_mask_that_uses_them(put):
    palette = np.array([(0, 0, 0), (9, 9, 9), (8, 8, 8)])
    paths = put(write_png(np.array([[0, 2, 3]]), palette=palette))
    assert survey(paths).pixels == {
        ("palette", 0, (0, 0, 0)): Occurrence(1, str(paths[0]), 1),
        ("palette", 2, (8, 8, 8)): Occurrence(1, str(paths[0]), 1),
        ("palette", 3, None): Occurrence(1, str(paths[0]), 1),
    }


def test_colors_of_rgb_masks_are_noted_with_their_pixels_and_grays_with_both(put):
    paths = put(rgb_mask((0, 0, 0), (4, 5, 6), (4, 5, 6)), rgb_mask((0, 0, 0), (7, 7, 7)))
    found = survey(paths)
    assert found.pixels["rgb", None, (4, 5, 6)] == Occurrence(1, str(paths[0]), 2)
    assert found.pixels["equal", 7, (7, 7, 7)] == Occurrence(1, str(paths[1]), 1)
    assert found.values == {0: 1, 7: 1}
    assert found.colors == {(0, 0, 0): 2, (4, 5, 6): 2, (7, 7, 7): 1}
    assert [{p.kind for p in pixels} for pixels in found.masks_by_pixels] == [{"rgb"}, {"equal"}]


def test_a_mask_with_vocs_palette_is_not_decoded_unless_asked(put, monkeypatch):
    paths = put(VOC, VOC)
    decoded = []
    read_samples = surveying.read_samples
    monkeypatch.setattr(
        masks_survey, "read_samples", lambda *args: decoded.append(args) or read_samples(*args)
    )
    found = survey(paths)
    assert (found.voc.masks, found.examined, decoded) == (2, 2, [])
    assert survey(paths, all_colors=True).values == {0: 2, 1: 2, 255: 2}
    assert len(decoded) == 2


@pytest.mark.parametrize(
    ("mask", "binary", "void"),
    [
        (write_png(np.array([[0, 255]]), color=0), 1, 0),
        (write_png(np.array([[255, 255]]), color=0), 1, 0),
        (write_png(np.array([[0, 0]]), color=0), 0, 0),
        (write_png(np.array([[0, 1, 255]]), color=0), 0, 1),
        (write_png(np.array([[0, 255]]), palette=np.array([(1, 1, 1)] * 256)), 1, 0),
        (write_png(np.array([[0, 255]]), palette=voc_palette()), 0, 1),
        (rgb_mask((0, 0, 0), (255, 255, 255)), 1, 0),
    ],
)
def test_masks_of_0_and_255_and_masks_that_show_void_are_counted(put, mask, binary, void):
    found = survey(put(mask), all_colors=True)
    assert (found.binary.masks, found.void.masks) == (binary, void)


def test_a_damaged_mask_counts_and_uses_nothing(put):
    found = survey(put(b"", VOC[:60]))
    assert found == Survey(examined=2, damaged=2)
