import threading

from etils import epath
import numpy as np
from PIL import ImageFile
import pytest
from support.png_writer import write_png

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.report.lenient_decoding import decode_image, decode_stored_mask

NOISE = np.random.default_rng(0).integers(0, 256, (100, 100)).astype(np.uint8)


@pytest.fixture
def truncated(tmp_path):
    """A PNG whose lower half is missing."""
    path = epath.Path(tmp_path / "truncated.png")
    data = write_png(NOISE, color=0)
    path.write_bytes(data[: len(data) // 2])
    return path


def test_indices_of_16_bits_are_shown_as_they_are_stored(tmp_path):
    path = epath.Path(tmp_path / "mask.png")
    path.write_bytes(write_png(np.array([[0, 1, 2], [20, 255, 26_001]]), depth=16, color=0))
    mask = decode_stored_mask(path)
    assert mask.values.tolist() == [[0, 1, 2], [20, 255, 255]]
    assert mask.values.dtype == np.uint8
    assert mask.palette is None


def test_a_truncated_image_and_mask_are_shown_as_far_as_they_go(truncated):
    for side in (None, 10):
        image = decode_image(truncated, side=side)
        assert image.size == (100, 100)
        assert (image.pixels[:40, :, 0] == NOISE[:40]).all()
    assert (decode_stored_mask(truncated).values[:40] == NOISE[:40]).all()


def test_no_other_thread_accepts_a_truncated_file_meanwhile(truncated, monkeypatch):
    file = File(truncated.read_bytes(), "truncated.png")
    load = ImageFile.ImageFile.load
    has_begun = threading.Event()
    refusals = []

    def decode_strictly():
        has_begun.wait()
        with pytest.raises(MaskError, match="truncated"):
            pillow.decode(file, MaskError)
        refusals.append(file)

    other_thread = threading.Thread(target=decode_strictly)

    def load_slowly(image):
        if ImageFile.LOAD_TRUNCATED_IMAGES and not has_begun.is_set():
            has_begun.set()
            other_thread.join(timeout=0.2)  # without a lock it would be done in this time
        return load(image)

    monkeypatch.setattr(ImageFile.ImageFile, "load", load_slowly)
    other_thread.start()
    assert decode_image(truncated, side=None).pixels is not None
    other_thread.join()
    assert len(refusals) == 1
