import json
import signal
import subprocess
import threading

import pytest
from support.building import COMMAND
from support.paths import REPOSITORY

from voc_seg_tfrecord.core import threads


class Clock:
    """Stands for `time` in the pool; moves only when a test says so, on a busy machine too."""

    def __init__(self):
        self.now, self.worked, self.lock = 0.0, 0.0, threading.Lock()

    def perf_counter(self):
        return self.now

    def thread_time(self):
        return self.worked

    def take(self, seconds):
        with self.lock:
            self.now += seconds
            self.worked += seconds

    def wait(self, seconds):
        with self.lock:
            self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(threads, "time", clock)
    return clock


def test_results_come_in_the_order_of_the_items(clock):
    second = threading.Event()

    def first_after_second(n):
        clock.take(1)  # so that each is taken alone
        second.set() if n == 1 else second.wait(60)
        return n * n

    results = threads.ordered_map(first_after_second, range(50))
    assert list(results) == [(n, n * n) for n in range(50)]


def test_no_more_items_are_drawn_than_may_wait():
    drawn = []
    results = threads.ordered_map(str, (drawn.append(n) or n for n in range(1000)))
    for _ in range(10):
        next(results)
    assert len(drawn) <= threads.MAX_GROUPS_AHEAD * threads.MAX_GROUP_ITEMS + 10


def test_small_items_are_taken_together_and_long_ones_alone(monkeypatch, clock):
    taken = groups_of(monkeypatch)
    assert len(list(threads.ordered_map(str, range(400), ahead=1))) == 400
    assert max(taken) == threads.MAX_GROUP_ITEMS
    taken.clear()
    list(threads.ordered_map(lambda _: clock.take(0.03), range(8)))
    assert taken == [1] * 8


def test_what_takes_long_to_draw_is_taken_alone(monkeypatch, clock):
    taken = groups_of(monkeypatch)
    list(threads.ordered_map(str, (clock.take(0.03) or n for n in range(8))))
    assert taken == [1] * 8


def groups_of(monkeypatch):
    """Returns a list that is told how many items each thread takes at a time."""
    taken = []
    original = threads.map_group
    monkeypatch.setattr(
        threads,
        "map_group",
        lambda f, group: taken.append(len(group)) or original(f, group),
    )
    return taken


@pytest.mark.parametrize(
    ("least", "items", "seconds", "worked", "ahead"),
    [
        (1, 1, 0.02, 0.0001, threads.THREADS),  # they wait for files
        (1, 1, 0.004, 0.002, threads.USED_CORES),  # they decode
        (1, 16, 0.003, 0.003, 1),  # they wait for Python's lock
        (threads.MAX_GROUPS_AHEAD, 1, 0.0001, 0.0001, threads.MAX_GROUPS_AHEAD),
    ],
)
def test_as_many_groups_are_ahead_as_calls_of_their_kind_want(least, items, seconds, worked, ahead):
    pace = threads._Pace(least)
    pace.groups_ahead = 3 if least == 1 else least
    for _ in range(10):
        done = threads.GroupResults([0] * items, seconds=seconds, computing_seconds=worked)
        pace.follow(done, drawing_seconds=0)
    assert pace.groups_ahead == ahead


def test_items_that_wait_are_waited_for_side_by_side(clock):
    together = threading.Barrier(threads.THREADS)
    few = 10 * threads.THREADS  # after so many that wait there is a thread for each

    def wait(n):
        return clock.wait(0.02) if n < few else together.wait(60)

    list(threads.ordered_map(wait, range(few + threads.THREADS), ahead=1))
    assert not together.broken


@pytest.mark.parametrize("number", [3, 100])  # alone, and amid a group
def test_an_error_comes_at_its_items_turn(number):
    def fail(n):
        if n == number:
            raise RuntimeError("it failed")
        return n

    results = threads.ordered_map(fail, range(1000))
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
