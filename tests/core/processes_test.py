from collections.abc import Callable
import contextlib
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import ImageError, VocSegError

TESTS = str(REPOSITORY / "tests")


@pytest.fixture(autouse=True)
def _workers_find_the_tests(monkeypatch):
    monkeypatch.syspath_prepend(TESTS)


def done(tasks, workers=2, notes=None):
    from support.worker_tasks import Work

    notes = [] if notes is None else notes
    results = processes.unordered_map(Work(), tasks, workers=workers, note=notes.append)
    with contextlib.closing(results):
        return dict(results)


def test_every_task_is_done_once_and_told_with_its_number():
    notes = []
    found = done([("double", n) for n in range(5)], notes=notes)
    assert found == {n: 2 * n for n in range(5)}
    assert sum(notes) == 5


def test_without_a_task_no_process_is_started(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_context", None)
    assert done([]) == {}


@pytest.mark.parametrize(
    ("task", "kind", "words"),
    [
        (("raise", ImageError("a.jpg", found="x")), ImageError, "a.jpg: x"),
        pytest.param(
            ("raise", OSError(28, "No space left", "f")),
            OSError,
            "No space left",
            marks=pytest.mark.slow,
        ),
        (("lambda", 0), RuntimeError, "cannot be sent"),
        (
            ("kill", signal.SIGKILL),
            VocSegError,
            "ended by signal 9 ",
        ),
        pytest.param(
            ("kill", signal.SIGRTMIN + 3),
            VocSegError,
            "ended by signal 37 ",
            marks=pytest.mark.slow,
        ),
        pytest.param(("exit", 3), VocSegError, "ended with status 3", marks=pytest.mark.slow),
    ],
)
def test_what_ends_a_task_ends_all_of_them(task, kind, words):
    with pytest.raises(kind, match=words):
        done([("double", 1), task, ("double", 2)])


def test_no_process_outlives_an_early_end():
    from support.worker_tasks import Work

    results = processes.unordered_map(
        Work(), [("pid", 0), ("sleep", 60)], workers=2, note=lambda _: None
    )
    _, pid = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def wait_until(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Waits until something holds; says whether it does, at the latest after some seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(found)


@pytest.mark.slow  # waits
def test_processes_end_amid_a_task_when_the_one_that_started_them_is_killed(tmp_path):
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from voc_seg_tfrecord.core import processes\n"
        "from support.worker_tasks import Work\n"
        "list(processes.unordered_map(Work(), [('say pid', sys.argv[1])] * 2, workers=1, "
        "note=print))"
    )
    place = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", code, place, str(REPOSITORY), TESTS])
    assert wait_until(lambda: place.exists() and place.read_text())
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not pathlib.Path("/proc", place.read_text()).exists())


def squares(monkeypatch, numbers, worth=1):
    from support.worker_tasks import square

    monkeypatch.setattr(processes, "MIN_ITEMS_PER_PROCESS", worth)
    monkeypatch.setattr(processes.threads, "USED_CORES", 2)
    return processes.ordered_map(square, iter(numbers), count=len(numbers))


def test_many_items_come_in_their_order_from_two_processes(monkeypatch):
    found = list(squares(monkeypatch, range(90)))
    assert [(item, result[0]) for item, result in found] == [(n, n**2) for n in range(90)]
    pids = {result[1] for _, result in found}
    assert len(pids) == 2
    assert os.getpid() not in pids


@pytest.mark.slow
def test_few_items_are_ahead_of_one_that_takes_long(monkeypatch):
    from support.worker_tasks import take_long_for_0

    monkeypatch.setattr(processes, "MIN_ITEMS_PER_PROCESS", 1)
    monkeypatch.setattr(processes.threads, "USED_CORES", 2)
    drawn = []
    numbers = (drawn.append(number) or number for number in range(20_000))
    results = processes.ordered_map(take_long_for_0, numbers, count=20_000)
    assert next(results) == (0, 0)
    assert len(drawn) < 2000
    assert [number for number, _ in results] == [*range(1, 20_000)]


def test_few_items_start_no_process(monkeypatch):
    found = list(squares(monkeypatch, range(90), worth=46))
    assert {result[1] for _, result in found} == {os.getpid()}


def test_of_many_items_the_first_that_fails_raises_when_its_turn_comes(monkeypatch):
    numbers = [*range(50), 100, *range(20), 101, 102]
    found = []
    with pytest.raises(ValueError, match=r"^100 is too large"):
        found.extend(item for item, _ in squares(monkeypatch, numbers))
    assert found == list(range(50))


@pytest.mark.slow
def test_one_worker_is_in_turn_at_a_time(tmp_path):
    from support.worker_tasks import alone

    path = str(tmp_path / "there")
    results = processes.unordered_map(alone, [path] * 20, workers=3, note=lambda _: None)
    with contextlib.closing(results):
        assert dict(results) == dict.fromkeys(range(20), True)


@pytest.mark.parametrize("task", [lambda: 0, threading.Lock()])
def test_a_task_that_cannot_be_pickled_is_an_error_and_nothing_hangs(task):
    def hangs(*_):
        pytest.fail("it waits for ever")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(60)
    try:
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError), match="pickle"):
            list(processes.unordered_map(print, [task], workers=1, note=print))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
