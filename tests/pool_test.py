import json
import signal
import subprocess
import threading
import time

import pytest
from support.paths import REPOSITORY
from support.tfds_build import COMMAND

from voc_seg_tfrecord import pool


def test_results_come_in_the_order_of_the_items():
    def slow_for_even(n):
        time.sleep(0.002 if n % 2 == 0 else 0)
        return n * n

    assert list(pool.ordered_map(slow_for_even, range(50))) == [(n, n * n) for n in range(50)]


def test_no_more_items_are_drawn_than_may_wait():
    drawn = []
    results = pool.ordered_map(str, (drawn.append(n) or n for n in range(1000)))
    for _ in range(10):
        next(results)
    assert len(drawn) <= pool.AHEAD + 10


def test_an_error_comes_at_its_items_turn():
    def fail_at_three(n):
        if n == 3:
            raise RuntimeError("three")
        return n

    results = pool.ordered_map(fail_at_three, range(10))
    assert [next(results)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="three"):
        next(results)


def test_stopping_early_drops_what_has_not_begun():
    begun = []
    gate = threading.Event()

    def wait(n):
        begun.append(n)
        if n:
            gate.wait(5)
        return n

    results = pool.ordered_map(wait, range(1000))
    next(results)
    results.close()
    gate.set()
    assert len(begun) <= pool.THREADS + 1


def test_ctrl_c_ends_a_build_and_leaves_no_folder(root, tmp_path):
    ids = [f"2007_{number:06}" for number in range(2, 5000)]
    for name in ("JPEGImages/2007_000001.jpg", "SegmentationClass/2007_000001.png"):
        for image_id in ids:
            (root / name.replace("2007_000001", image_id)).hardlink_to(root / name)
    (root / "ImageSets/Segmentation/train.txt").write_text("\n".join(ids))
    build = subprocess.Popen(
        [
            *COMMAND,
            *("--data_dir", tmp_path / "data", "--manual_dir", root),
            *("--config", json.dumps({"name": "own"})),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with build:
        told = b""
        while b"Generating train examples" not in told:
            told += (more := build.stderr.read1())
            assert more, told.decode()
        build.send_signal(signal.SIGINT)
        _, rest = build.communicate(timeout=60)
    assert build.returncode != 0
    assert b"KeyboardInterrupt" in rest
    assert not any((tmp_path / "data" / "voc_seg_tfrecord" / "own").iterdir())


def test_calls_that_write_have_ended_when_an_error_comes_out():
    ended = []

    def write(item):
        if item == 0:
            raise ValueError("the first")
        time.sleep(0.2)
        ended.append(item)

    with pytest.raises(ValueError, match="the first"):
        list(pool.ordered_map(write, range(pool.THREADS), writes=True))
    before = list(ended)
    time.sleep(0.4)
    assert ended == before
