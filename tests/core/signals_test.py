import signal
import threading

import pytest

from voc_seg_tfrecord.core.signals import STOPPING_SIGNALS, DelayedSignals, Terminated


@pytest.fixture
def came():
    """Which signals a handler of the caller's own has got."""
    got = []
    before = [
        signal.signal(number, lambda number, _: got.append(number)) for number in STOPPING_SIGNALS
    ]
    yield got
    for number, handler in zip(STOPPING_SIGNALS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING_SIGNALS)
def test_a_signal_waits_until_the_end_and_goes_to_the_handler_of_the_caller(came, number):
    with DelayedSignals():
        signal.raise_signal(number)
        assert came == []
    assert came == [number]


def test_what_has_come_is_let_through_and_what_comes_later_does_not_wait(came):
    with DelayedSignals() as held:
        signal.raise_signal(signal.SIGTERM)
        held.let_through()
        assert came == [signal.SIGTERM]
        signal.raise_signal(signal.SIGINT)
        assert came == [signal.SIGTERM, signal.SIGINT]


def test_sigterm_is_an_exception_where_it_would_end_the_process_on_the_spot():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with pytest.raises(Terminated) as caught, DelayedSignals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_ctrl_c_is_what_python_makes_of_it():
    with pytest.raises(KeyboardInterrupt), DelayedSignals():
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with DelayedSignals() as held:
            held.let_through()
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_blocks_within_blocks_let_through_what_the_outer_one_lets_through(came):
    with DelayedSignals() as outer:
        with DelayedSignals() as inner:
            inner.let_through()
            signal.raise_signal(signal.SIGINT)
            assert came == []
        outer.let_through()
        assert came == [signal.SIGINT]


def test_a_thread_that_gets_no_signals_changes_no_handler():
    seen = []

    def hold():
        with DelayedSignals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
