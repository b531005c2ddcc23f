import numpy as np

from voc_seg_tfrecord.stats.places import GRID, Places, Together, points_of


def test_a_point_is_the_pixel_in_the_middle_of_its_cell():
    mask = np.zeros((64, 96), np.uint8)
    mask[1::2, 1::3] = 7  # the middle of 2 x 3 pixels, of which the lower one is taken
    assert (points_of(mask) == 7).all()


def test_a_mask_smaller_than_the_grid_is_stretched():
    points = points_of(np.array([[1, 2]], np.uint8))
    assert (points[:, : GRID // 2] == 1).all()
    assert (points[:, GRID // 2 :] == 2).all()


def test_each_image_adds_one_to_one_class_at_every_point():
    places = Places()
    places.add(np.full((GRID, GRID), 255, np.uint8))
    places.add(np.tri(GRID, dtype=np.uint8))
    assert (places.counts.sum(0) == 2).all()
    assert places.counts[255].sum() == GRID * GRID
    assert places.counts[1, -1, 0] == 1
    assert places.counts[1, 0, -1] == 0


def test_images_that_have_two_classes_are_counted_both_ways():
    together = Together()
    together.add(np.array([0, 3, 255]))
    together.add(np.array([0, 3]))
    together.add(np.array([5]))
    assert together.counts[0, 3] == together.counts[3, 0] == 2
    assert together.counts[0, 0] == 2
    assert together.counts[255, 0] == 1
    assert together.counts[5].sum() == 1
