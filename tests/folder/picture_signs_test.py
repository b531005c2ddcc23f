"""The signs of an image: what changes them and what does not, and which images have none."""

import numpy as np
from PIL import Image
import pytest
from support import pictures

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.folder.picture_signs import (
    ORIENTATIONS,
    compute_signs,
    pack_signs,
    unpack_signs,
)
from voc_seg_tfrecord.formats.stills import as_still


def signs_of(pixels):
    return compute_signs(as_still(np.ascontiguousarray(pixels), "image", ImageError))


def different_bits(one, other):
    return int((unpack_signs(one) != unpack_signs(other)).sum())


@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=lambda orientation: orientation.name)
@pytest.mark.parametrize("seed", range(3))
def test_turned_signs_are_those_of_the_turned_image(orientation, seed):
    photo = pictures.draw_photo(seed)
    turned = signs_of(orientation.apply_to_pixels(photo))
    assert different_bits(orientation.apply_to_signs(signs_of(photo)[np.newaxis])[0], turned) <= 8


@pytest.mark.parametrize(
    ("number", "way"),
    [
        (1, Image.Transpose.FLIP_LEFT_RIGHT),
        (2, Image.Transpose.FLIP_TOP_BOTTOM),
        (3, Image.Transpose.ROTATE_180),
        (4, Image.Transpose.TRANSPOSE),
        (5, Image.Transpose.ROTATE_270),  # Pillow turns counterclockwise
        (6, Image.Transpose.ROTATE_90),
        (7, Image.Transpose.TRANSVERSE),
    ],
)
def test_orientations_are_called_by_their_names(number, way):
    photo = pictures.draw_photo(0)
    turned = np.asarray(Image.fromarray(photo).transpose(way))
    assert (ORIENTATIONS[number].apply_to_pixels(photo) == turned).all()


def test_signs_fill_all_bits_but_the_first():
    bits = np.array([unpack_signs(signs_of(pictures.draw_photo(seed))) for seed in range(60)])
    assert not bits[:, 0].any()
    assert (bits[:, 1:].any(0) & ~bits[:, 1:].all(0)).all()
    assert (pack_signs(bits[0]) == signs_of(pictures.draw_photo(0))).all()


@pytest.mark.parametrize("name", pictures.draw_images_without_structure())
def test_an_image_without_structure_has_no_signs(name):
    assert signs_of(pictures.draw_images_without_structure()[name]) is None


def test_a_faint_image_has_the_signs_of_a_strong_one():
    photo = pictures.draw_photo(0)
    faint = (photo / 8 + 100).astype(np.uint8)
    assert different_bits(signs_of(faint), signs_of(photo)) <= 24
