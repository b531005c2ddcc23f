import gc
import os
import pathlib
import shutil
import signal
import sys
import time

import hypothesis
import pytest
from support.paths import DUMMY_DATA

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Where this is set, as in many containers, each process that a test starts would compile the
# package again, which takes longer than what it does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A command in the background (`&`, `nohup`, many CI runners) starts with SIGINT ignored, and so
# would every process that a test starts. A handler of Python's is the default in its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# A machine may be busy, so no example has a deadline.
hypothesis.settings.register_profile("without deadlines", deadline=None)
hypothesis.settings.load_profile("without deadlines")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: one worker per core, four at most, because each takes 1 to 2 GB of memory."""
    return min(4, os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keeps the tests of a module in one worker as far as it can, for the fixtures of modules."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


MIN_TESTS_OF_SUITE = 5000
"""A run of so many tests is one of the suite; one of fewer is of what somebody works on."""

MAX_FAST_CASES = 4
"""How many cases of a test are fast if the suite is run; the others are slow."""


def spread_out(cases: list, max_cases: int) -> list:
    """Returns at most so many cases, from the first on at equal distances."""
    if len(cases) <= max_cases:
        return cases
    return [cases[len(cases) * place // max_cases] for place in range(max_cases)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Makes cases slow of tests that have many.

    Of a test with the marker `slow_but_first`, these are all but the first; of any other, all but
    `MAX_FAST_CASES` if the suite is run, so that a room has all of its tests where somebody works
    on it.
    """
    cases_by_test = {}
    for item in items:
        cases_by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    is_suite = len(items) >= MIN_TESTS_OF_SUITE
    for cases in cases_by_test.values():
        fast_cases = cases
        if cases[0].get_closest_marker("slow_but_first"):
            fast_cases = cases[:1]
        elif is_suite:
            fast_cases = spread_out(cases, MAX_FAST_CASES)
        for case in cases:
            if case not in fast_cases:
                case.add_marker("slow")


MAX_CPU_SECONDS = 1
"""What a test that is not slow may take."""

TOLERANCE = 2
"""A test fails above so many times that, as machines are noisy; see `pytest_pyfunc_call`."""

QUIET_LOOP_SECONDS = 0.06
"""The CPU time of `loop_seconds` on a quiet machine; a busy one may take several times as much."""


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of the processes that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def loop_seconds() -> float:
    """Returns the CPU time of a fixed amount of work."""
    start = time.process_time()
    sum(range(3_000_000))
    return time.process_time() - start


def run_again(test) -> float | None:
    """Returns the CPU time of a test that ran already; None if it cannot run twice.

    The first test of a process that traces a function of TensorFlow, or draws text with Hypothesis,
    pays for all that do so after it.
    """
    arguments = {name: test.funcargs[name] for name in test._fixtureinfo.argnames}
    start = cpu_seconds()
    try:
        test.obj(**arguments)
    except Exception:
        return None
    return cpu_seconds() - start


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Fails a test that takes long and is not slow, where `VOC_SEG_TIME_TESTS` is set.

    A test that imports a library pays for all tests of its process that come after it, so it is
    not judged.
    """
    if not os.environ.get("VOC_SEG_TIME_TESTS") or pyfuncitem.get_closest_marker("slow"):
        return (yield)
    modules, start = len(sys.modules), cpu_seconds()
    result = yield
    seconds = cpu_seconds() - start
    if seconds <= MAX_CPU_SECONDS or len(sys.modules) >= modules + 10:
        return result
    seconds_again = run_again(pyfuncitem)
    if seconds_again is not None:
        seconds = seconds_again
    seconds /= max(1, loop_seconds() / QUIET_LOOP_SECONDS)
    if seconds > TOLERANCE * MAX_CPU_SECONDS:
        pytest.fail(
            f"{pyfuncitem.nodeid} takes {seconds:.1f} s of CPU time, more than {MAX_CPU_SECONDS}: "
            "do less of the same in it, share a dataset, or mark it as slow"
        )
    return result


def pytest_collection_finish() -> None:
    """Spares the garbage collector what is imported, such as TensorFlow: it never goes."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def browser_of_a_module():
    """Closes the browser that the tests of a module opened."""
    yield
    if "support.browser" in sys.modules:
        sys.modules["support.browser"].close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The builder of the sample, built once for all tests: change only copies of it."""
    from support.building import build  # imports TensorFlow, which reads the variable above

    return build(tmp_path_factory.mktemp("sample"), "sample")


@pytest.fixture
def two_seconds():
    """Fails a test that takes more than two seconds of CPU time, in a pattern too."""

    def fail(*_):
        pytest.fail("two seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.fixture
def devkit(tmp_path):
    """A copy of dummy_data that a test may break."""
    return pathlib.Path(shutil.copytree(DUMMY_DATA, tmp_path / "devkit"))


@pytest.fixture
def root(devkit):
    """The VOC2012 folder in the copy."""
    return devkit / "VOCdevkit" / "VOC2012"


@pytest.fixture
def cvat(tmp_path):
    """An export of CVAT, in the folder `export`."""
    from support import exports

    exports.cvat(tmp_path / "export")
    return tmp_path / "export"


@pytest.fixture(scope="session")
def real_data():
    """The folder of real pairs, exports and odd files, where the machine has one."""
    folder = os.environ.get("VOC_SEG_REAL_DATA")
    if not folder:
        pytest.skip("VOC_SEG_REAL_DATA is not set")
    return pathlib.Path(folder)
