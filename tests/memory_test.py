"""Images at the limit take less than 2.1 GB: here smaller ones, and as much less memory."""

import measuring
import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.encoding import encoded

pytestmark = pytest.mark.slow

LIMIT = 2.1e9 / 178_956_970  # bytes per pixel
LOADED = 200e6  # what is loaded takes, beside the pixels


def peak(*words):
    """Runs a command; returns the most memory that its process had."""
    return measuring.run_command("-m", "voc_seg_tfrecord", *words)["MiB"] * 2**20


def write_tree(root, image, mask):
    drawing.put(root, "JPEGImages/one.png", image)
    drawing.put(root, "SegmentationClass/one.png", mask)
    drawing.put(root, "labelmap.csv", "id,name\n0,background\n1,a\n")
    drawing.put_lists(root, train=["one"])
    return root


def test_a_mask_of_a_million_specks_is_checked_in_bounded_memory(tmp_path):
    mask = np.zeros((4200, 4200), np.uint8)
    mask[1::5, 1::4] = 1
    image = encoded(Image.new("RGB", mask.shape))
    tree = write_tree(tmp_path / "tree", image, encoded(Image.fromarray(mask)))
    assert peak("check", tree) < LOADED + LIMIT * mask.size


def test_an_image_of_noise_is_built_and_read_in_bounded_memory(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 16, (4200, 4200, 3), dtype=np.uint8)
    mask = np.zeros(pixels.shape[:2], np.uint8)
    mask[1000:3000] = 1
    image = encoded(Image.fromarray(pixels), compress_level=1)
    tree = write_tree(tmp_path / "tree", image, encoded(Image.fromarray(mask)))
    data = "--data_dir", tmp_path / "data"
    peaks = {
        "build": peak("build", tree, "--name", "noise", *data),
        "preview": peak("preview", "noise", "--out", tmp_path / "a.png", *data),
        "source": peak("verify", "noise", "--source", tree, *data),
    }
    assert max(peaks.values()) < LOADED + LIMIT * mask.size, peaks
