"""Which of two sets of images is painted, if few of them can be compared."""

from etils import epath
import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.folder.files.painted import ComparedImages, find_painted_set


def write_images(root, count):
    """Writes photos, copies that are painted a little, and masks."""
    rng = np.random.default_rng(0)
    for number in range(count):
        mask = np.zeros((40, 40), np.uint8)
        mask[10:30, 10:30] = 1
        photo = rng.integers(40, 120, (40, 40, 3), dtype=np.uint8)
        mixed = photo * 0.85 + 255 * 0.15
        copy = np.where(mask[..., None] == 1, mixed, photo).astype(np.uint8)
        for folder, pixels in (("photos", photo), ("copies", copy), ("masks", mask)):
            (root / folder).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(root / folder / f"{number}.png")


@pytest.mark.parametrize(("readable", "painted"), [(6, 1), (4, 1), (3, None)])
def test_a_faint_copy_is_recognized_by_more_than_three_readable_images(tmp_path, readable, painted):
    write_images(tmp_path, readable)
    images = []
    for number in range(6):
        paths = (f"{folder}/{number}.png" for folder in ("photos", "copies", "masks"))
        images.append(ComparedImages(*paths))
    assert find_painted_set(epath.Path(tmp_path), images) == painted
