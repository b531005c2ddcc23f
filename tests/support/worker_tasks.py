"""Tasks for workers, which import this module."""

import os
import pathlib
import time

from voc_seg_tfrecord.core import processes


def square(number):
    """Returns the square of a number, below 100."""
    if number >= 100:
        raise ValueError(f"{number} is too large")
    return number**2, os.getpid()


def take_long_for_0(number):
    """Returns a number, after a second if it is 0."""
    if number == 0:
        time.sleep(1)
    return number


def alone(path, _):
    """Says whether no other process was in turn while this one was, for a while."""
    with processes.in_turn():
        mine = pathlib.Path(path)
        try:
            mine.mkdir()
        except FileExistsError:
            return False
        time.sleep(0.05)
        mine.rmdir()
    return True


class Work:
    """Does a task, which is a word and a value."""

    def __call__(self, task, note):
        """Does it."""
        print("what is printed does not get among the answers")
        note(1)
        return getattr(self, "_" + task[0].replace(" ", "_"))(task[1], note)

    def _double(self, value, _):
        return 2 * value

    def _raise(self, value, _):
        raise value

    def _lambda(self, *_):
        class Own(Exception):  # noqa: N818 - it cannot be pickled, here
            pass

        raise Own("cannot be sent")

    def _kill(self, value, _):
        os.write(2, b"my words")
        os.kill(os.getpid(), value)

    def _exit(self, value, _):
        os._exit(value)

    def _pid(self, *_):
        return os.getpid()

    def _sleep(self, value, _):
        time.sleep(value)

    def _say_pid(self, value, _):
        pathlib.Path(value).write_text(str(os.getpid()))
        time.sleep(60)


def read_all(source):
    """Returns the sum of each mask of a data source."""
    return [int(example["segmentation_mask"].sum()) for example in source]
