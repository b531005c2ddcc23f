import json
import signal
import subprocess
import threading

import pytest
from support.building import COMMAND
from support.paths import REPOSITORY

from voc_seg_tfrecord.core import threads


def test_results_come_in_the_order_of_the_items():
    second = threading.Event()

    def first_after_second(n):
        second.set() if n == 1 else second.wait(60)
        return n * n

    results = threads.ordered_map(first_after_second, range(50))
    assert list(results) == [(n, n * n) for n in range(50)]


def test_no_more_items_are_drawn_than_may_wait():
    drawn = []
    results = threads.ordered_map(str, (drawn.append(n) or n for n in range(1000)))
    for _ in range(10):
        next(results)
    assert len(drawn) <= threads.MAX_GROUPS_AHEAD + 10


def test_small_items_are_taken_together():
    threads_of_items = dict(
        threads.ordered_map(lambda _: threading.get_ident(), range(96), group_items=16)
    )
    for start in range(0, 96, 16):
        assert len({threads_of_items[start + n] for n in range(16)}) == 1


@pytest.mark.parametrize("group_items", [1, 16])
@pytest.mark.parametrize("number", [3, 100])
def test_an_error_comes_at_its_items_turn(number, group_items):
    def fail(n):
        if n == number:
            raise RuntimeError("it failed")
        return n

    results = threads.ordered_map(fail, range(1000), group_items=group_items)
    assert [next(results)[0] for _ in range(number)] == list(range(number))
    with pytest.raises(RuntimeError, match="it failed"):
        next(results)


def test_stopping_early_drops_what_has_not_begun():
    begun = []
    gate = threading.Event()

    def wait(n):
        begun.append(n)
        if n:
            gate.wait(60)
        return n

    results = threads.ordered_map(wait, range(1000))
    next(results)
    results.close()
    gate.set()
    assert len(begun) <= threads.THREADS + 1


@pytest.mark.slow  # a process of its own, which imports TensorFlow
def test_ctrl_c_ends_a_build_and_leaves_no_folder(root, tmp_path):
    ids = [f"2007_{number:06}" for number in range(2, 2000)]
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
        printed = b""
        while b"Generating examples" not in printed:
            printed += (more := build.stderr.read1())
            assert more, printed.decode()
        build.send_signal(signal.SIGINT)
        _, rest = build.communicate(timeout=300)
    assert build.returncode != 0
    assert b"KeyboardInterrupt" in rest
    assert not [*tmp_path.glob("data/voc_seg_tfrecord/own/*")]
