import io
import threading

import numpy as np
from PIL import Image
import pytest
from support.png_writer import write_png

from voc_seg_tfrecord.formats import turns
from voc_seg_tfrecord.formats.file import File


def jpeg():
    buffer = io.BytesIO()
    Image.new("RGB", (7, 5)).save(buffer, "JPEG")
    return File(buffer.getvalue(), "a.jpg")


MASK = File(write_png(np.zeros((5, 7), int), color=0), "a.png")


def most_at_once(files):
    """Returns how many of three threads were decoding at once."""
    inside, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3)

    def decode():
        nonlocal inside, most
        together.wait()
        with turns.taken(*files):
            with lock:
                inside += 1
                most = max(most, inside)
            threading.Event().wait(0.05)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=decode) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return most


@pytest.mark.parametrize("files", [(jpeg(), None), (MASK,)], ids=["image", "mask"])
def test_large_files_are_decoded_one_at_a_time_and_others_side_by_side(files, monkeypatch):
    assert most_at_once(files) > 1
    monkeypatch.setattr(turns, "LARGE", 34)
    assert most_at_once(files) == 1


def test_a_file_without_a_header_is_left_to_the_decoder(monkeypatch):
    monkeypatch.setattr(turns, "LARGE", 0)
    with turns.taken(File(b"\xff\xd8", "a.jpg"), File(b"", "a.png")):
        pass
