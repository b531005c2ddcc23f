import contextlib
import signal

import pytest

from voc_seg_tfrecord.commands import cli, list_
from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.signals import STOPPING_SIGNALS


@pytest.fixture
def command(monkeypatch):
    """Runs the command line with something else in place of one of its commands."""

    def running(run):
        monkeypatch.setattr(list_, "run", run)
        return cli.main(["list"])

    return running


STATUS = [
    (signal.SIGINT, 130, "Ctrl-C"),
    (signal.SIGTERM, 143, "SIGTERM"),
    (signal.SIGHUP, 129, "SIGHUP"),
]


@pytest.mark.parametrize(("number", "status", "name"), STATUS)
def test_a_signal_ends_a_command_with_its_status_and_one_line(command, capfd, number, status, name):
    assert command(lambda _: signal.raise_signal(number)) == status
    assert capfd.readouterr().err == f"\nstopped by {name}; nothing unfinished is left\n"


@pytest.mark.parametrize(
    "error",
    [
        ImportError("initialization failed"),
        RecordError("dataset_info.json", found="damaged", expected="a dataset"),
    ],
)
def test_a_signal_that_has_become_another_error_is_still_told_as_one(command, capfd, error):
    def run(_):
        with contextlib.suppress(KeyboardInterrupt):  # as C++ does that asks for a type
            signal.raise_signal(signal.SIGINT)
        raise error

    assert command(run) == 130
    assert capfd.readouterr().err == "\nstopped by Ctrl-C; nothing unfinished is left\n"


def test_an_error_without_a_signal_stays_what_it_is(command):
    def run(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command(run)


def test_what_was_there_before_a_command_is_there_after_it(command):
    before = [signal.getsignal(number) for number in STOPPING_SIGNALS]
    assert command(lambda _: 0) == 0
    command(lambda _: signal.raise_signal(signal.SIGTERM))
    assert [signal.getsignal(number) for number in STOPPING_SIGNALS] == before


def test_a_handler_of_the_callers_own_stays(command):
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        assert command(lambda _: signal.raise_signal(signal.SIGTERM) or 0) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]
