import contextlib
import errno
import itertools
import linecache
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from etils import epath
import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.core import signals, staging
from voc_seg_tfrecord.core.errors import ConfigError, StorageError


def make(folder, text, **options):
    with staging.staged_folder(folder, **options) as temporary:
        temporary.mkdir()
        (temporary / "file").write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_and_a_file_appear_only_when_they_are_complete(tmp_path):
    with staging.staged_folder(tmp_path / "made") as temporary:
        temporary.mkdir()
        assert "made" not in names(tmp_path)
    (tmp_path / "sheet.png").write_text("old")
    with staging.staged_file(tmp_path / "sheet.png") as made:
        made.write_text("new")
        assert (tmp_path / "sheet.png").read_text() == "old"
    assert (tmp_path / "sheet.png").read_text() == "new"
    assert names(tmp_path) == ["made", "sheet.png"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, signals.Terminated])
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("stage", ["folder", "file"])
def test_of_what_was_not_completed_nothing_stays_and_the_old_does(tmp_path, stage, error, there):
    place = tmp_path / "made"
    if there:
        make(place, "old") if stage == "folder" else place.write_text("old")

    staged = staging.staged_file(place)
    if stage == "folder":
        staged = staging.staged_folder(place, replace=there)

    def fail():
        with staged as made:
            made.write_text("half") if stage == "file" else (made / "a").mkdir(parents=True)
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == (["made"] if there else [])
    old = place / "file" if stage == "folder" else place
    assert not there or old.read_text() == "old"


@pytest.fixture(params=["exchanged", "moved twice"])
def way(request, monkeypatch):
    """Lets a folder be replaced in one step, and in two as where there is no exchange."""
    if request.param == "moved twice":
        monkeypatch.setattr(staging, "_exchange", lambda *_: False)


@pytest.mark.usefixtures("way")
def test_a_folder_that_is_replaced_stays_until_the_new_one_is_complete(tmp_path):
    make(tmp_path / "made", "old")
    with staging.staged_folder(tmp_path / "made", replace=True) as temporary:
        temporary.mkdir()
        assert (tmp_path / "made/file").read_text() == "old"
        (temporary / "file").write_text("new")
    assert (tmp_path / "made/file").read_text() == "new"
    assert names(tmp_path) == ["made"]


@pytest.fixture
def rename_to_made_fails(monkeypatch):
    """Lets no unfinished folder be moved to `made`, as if the disk were full."""
    monkeypatch.setattr(staging, "_exchange", lambda *_: False)
    local_path = type(epath.Path())
    rename = local_path.rename

    def fail(path, target):
        if path.name.startswith("incomplete.") and epath.Path(target).name == "made":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return rename(path, target)

    monkeypatch.setattr(local_path, "rename", fail)


@pytest.mark.usefixtures("rename_to_made_fails")
def test_a_folder_stays_if_the_new_one_cannot_be_moved_to_its_path(tmp_path):
    make(tmp_path / "made", "old")
    with pytest.raises(OSError, match=os.strerror(errno.EDQUOT)):
        make(tmp_path / "made", "new", replace=True)
    assert (tmp_path / "made/file").read_text() == "old"
    assert names(tmp_path) == ["made"]


KILLED_BETWEEN_RENAMES = """
    temporary.mkdir()
    staging._exchange = lambda *_: False
    path = type(temporary)
    rename = path.rename
    path.rename = lambda *paths: (rename(*paths), os.kill(os.getpid(), 9))
"""


@pytest.mark.slow
def test_a_folder_stays_under_another_name_if_the_process_is_killed_between_two_renames(tmp_path):
    make(tmp_path / "made", "old")
    process, _ = start(
        f"staged_folder({str(tmp_path / 'made')!r}, replace=True)", KILLED_BETWEEN_RENAMES
    )
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    make(tmp_path / "made", "new")
    made, replaced = names(tmp_path)
    assert (made, replaced.split(".")[0]) == ("made", "replaced")
    assert (tmp_path / replaced / "file").read_text() == "old"


def test_the_slower_of_two_processes_is_told_and_overwrites_nothing(tmp_path):
    slower = pytest.raises(ConfigError, match="another process wrote at the same time")
    with slower, staging.staged_folder(tmp_path / "made") as slow:
        slow.mkdir()
        make(tmp_path / "made", "fast")
    assert (tmp_path / "made/file").read_text() == "fast"
    assert names(tmp_path) == ["made"]


BESIDE = "incomplete.ABC123_incomplete.{}_made"  # the folder in which TFDS itself works


@pytest.mark.parametrize("error", [ValueError, None])
def test_folders_that_were_made_for_nothing_are_removed_again(tmp_path, error):
    with contextlib.suppress(ValueError), staging.staged_folder(tmp_path / "a/b/made") as made:
        if error:
            raise error
        made.mkdir()
    assert names(tmp_path) == ([] if error else ["a"])


def test_a_planted_link_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / f"incomplete.{os.getpid()}.file").symlink_to("precious")
    (tmp_path / "file").symlink_to("precious")
    with staging.staged_file(tmp_path / "file") as made:
        assert made.parent.stat().mode & 0o777 == 0o700
        made.write_text("new")
    assert (tmp_path / "precious").read_text() == "old"
    assert (tmp_path / "file").read_text() == "new"


def test_a_folder_of_locks_that_are_links_and_pipes_stays_as_it_is(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "incomplete.0123456789ab.lock").symlink_to("precious")
    os.mkfifo(tmp_path / "incomplete.0123456789ac.lock")
    make(tmp_path / "made", "new")
    assert (tmp_path / "precious").read_text() == "old"


def test_a_folder_in_which_no_new_file_can_be_opened_is_an_error(tmp_path, monkeypatch):
    open_descriptor = os.open

    def refuse_to_read(path, flags, *mode, **options):
        if str(path).endswith(".lock") and not flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_descriptor(path, flags, *mode, **options)

    monkeypatch.setattr(os, "open", refuse_to_read)
    with pytest.raises(StorageError, match="no lock file can be made in this folder"):
        make(tmp_path / "made", "new")
    assert names(tmp_path) == []


@pytest.mark.slow
def test_a_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, _ = start("temporary_folder()", "print(flush=True); sys.stdin.read()")
    process.kill()
    process.communicate()
    assert len(names(tmp_path)) == 2
    with staging.temporary_folder():
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == []


MAKING = """
    temporary.mkdir()
    pathlib.Path(temporary.parent, "incomplete.ABC123_" + temporary.name).mkdir()
    print(temporary.name.split(".")[1].split("_")[0], flush=True)
    sys.stdin.read()
"""


def start(call, doing=MAKING):
    """Returns a process that is making a folder, and the token in the names."""
    imports = "import os, pathlib, sys\nfrom voc_seg_tfrecord.core import staging"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{imports}\nwith staging.{call} as temporary:{doing}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    return process, process.stdout.readline().strip()


@pytest.fixture
def process_and_token(tmp_path):
    return start(f"staged_folder({str(tmp_path / 'made')!r})")


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed_by_the_next_run(tmp_path, process_and_token):
    process, token = process_and_token
    process.kill()
    process.communicate()
    left = {f"incomplete.{token}.lock", f"incomplete.{token}_made", BESIDE.format(token)}
    assert set(names(tmp_path)) == left
    make(tmp_path / "made", "new")
    assert names(tmp_path) == ["made"]


@pytest.mark.slow
def test_what_a_running_process_is_making_stays(tmp_path, process_and_token):
    process, token = process_and_token
    make(tmp_path / "other", "new")
    assert f"incomplete.{token}_made" in names(tmp_path)
    assert BESIDE.format(token) in names(tmp_path)
    process.communicate("")
    assert process.returncode == 0
    assert names(tmp_path) == ["made", "other"]


@pytest.mark.slow
def test_sigterm_ends_a_process_as_ctrl_c_does(tmp_path, process_and_token):
    process, _ = process_and_token
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    assert names(tmp_path) == []


@pytest.fixture(params=[errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def no_locks(request, monkeypatch):
    """Lets the file system have no locks."""

    def fail(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(staging.fcntl, "flock", fail)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_what_another_run_is_making_stays(tmp_path):
    with staging.temporary_folder(tmp_path) as first:
        (first / "file").write_text("first")
        with staging.temporary_folder(tmp_path):
            pass
        assert (first / "file").read_text() == "first"
    assert names(tmp_path) == []


@pytest.mark.usefixtures("no_locks")
def test_without_locks_of_the_file_system_a_folder_is_made_as_in_a_bucket(tmp_path):
    (tmp_path / "incomplete.0123456789ab.lock").touch()
    make(tmp_path / "made", "new")
    assert names(tmp_path) == ["incomplete.0123456789ab.lock", "made"]
    assert (tmp_path / "made" / "file").read_text() == "new"


def test_folders_of_other_programs_and_of_the_user_stay(tmp_path):
    mine = ("incomplete.mine", "incomplete.ABC123_1.0.0", "incomplete.txt", "keep")
    for name in (*mine, "incomplete.0123456789ab_thesis"):
        (tmp_path / name).mkdir()
    before = names(tmp_path)
    make(tmp_path / "made", "new")
    assert names(tmp_path) == sorted([*before, "made"])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path, there):
    if there:
        make(tmp_path / "far" / "old", "old")
    (tmp_path / "made").symlink_to(tmp_path / "far" / "old")
    make(tmp_path / "made", "new", replace=True)
    assert not (tmp_path / "made").is_symlink()
    assert (tmp_path / "made/file").read_text() == "new"
    assert names(tmp_path) == (["far", "made"] if there else ["made"])
    assert not there or (tmp_path / "far/old/file").read_text() == "old"


FILES = {"a/b.txt": b"1", "a/c.txt": b"2", "d": b"3"}


def test_files_appear_together_in_a_new_folder_and_in_one_that_is_there(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine").write_text("mine")
    for folder in ("new", "old"):
        staging.write_files(epath.Path(tmp_path / folder), FILES)
        found = {name: (tmp_path / folder / name).read_bytes() for name in FILES}
        assert found == FILES
    assert names(tmp_path / "new") == ["a", "d"]
    assert names(tmp_path / "old") == ["a", "d", "mine"]


@pytest.mark.parametrize("there", [True, False])
def test_of_files_that_cannot_all_be_written_none_is_there(tmp_path, there):
    if there:
        (tmp_path / "out").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        staging.write_files(epath.Path(tmp_path / "out"), {"a": b"1", "b/c": b"2", "b": b"3"})
    assert names(tmp_path) == (["out"] if there else [])
    assert not there or names(tmp_path / "out") == []


def test_of_files_that_cannot_all_be_moved_none_is_there(tmp_path):
    (tmp_path / "b").write_text("mine")
    with pytest.raises(FileExistsError):
        staging.write_files(epath.Path(tmp_path), {"a": b"1", "b": b"2", "c": b"3"})
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "mine"


@pytest.mark.parametrize("bucket", [False, True])
def test_an_unfinished_folder_without_a_lock_is_removed_but_not_in_a_bucket(
    tmp_path, monkeypatch, bucket
):
    if bucket:  # which has no locks
        monkeypatch.setattr(staging, "fcntl", None)
    (tmp_path / "incomplete.0123456789ab_made").mkdir()
    make(tmp_path / "made", "new")
    assert names(tmp_path) == ["incomplete.0123456789ab_made"] * bucket + ["made"]


class RefusedError(Exception):
    pass


def write(folder, replace, fails):
    with staging.staged_folder(folder, replace=replace) as temporary:
        temporary.mkdir()
        (temporary / "file").write_text("new")
        if fails:
            raise RefusedError


def replace_file(folder, *_):
    folder.mkdir(exist_ok=True)
    with staging.staged_file(folder / "file") as made:
        made.write_text("new")


def unpack(*_):
    with staging.temporary_folder() as temporary:
        (temporary / "file").write_text("new")


def is_thrown_into(frame):
    """Says whether a generator goes on with an exception: then no signal is handled first."""
    line = linecache.getline(frame.f_back.f_code.co_filename, frame.f_back.f_lineno)
    return "gen.throw(" in line


def disturbed(call, number, step):
    """Calls with a signal at the n-th moment at which Python handles signals in this room's code.

    Python handles them when a function begins and when one of C has returned, which are the moments
    that a profiler is told of.

    Returns:
      What was raised, and whether there was such a moment.
    """
    rooms = {module.__file__ for module in (staging, signals, contextlib)}
    steps = itertools.count()
    raised, came = None, []

    def profiler(frame, event, _):
        ours = event in ("call", "c_return") and frame.f_code.co_filename in rooms
        if ours and not is_thrown_into(frame) and next(steps) == step:
            came.append(number)
            signal.raise_signal(number)

    try:
        sys.setprofile(profiler)
        call()
    except (KeyboardInterrupt, SystemExit, RefusedError) as error:
        raised = type(error)
    finally:
        sys.setprofile(None)
    return raised, bool(came)


@pytest.fixture
def terminable():
    """Lets SIGTERM and SIGHUP raise an exception in this process, as it does in a command."""

    def stop(*_):
        raise signals.Terminated

    before = {n: signal.signal(n, stop) for n in signals.STOPPING_SIGNALS if n != signal.SIGINT}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.slow_but_first
@pytest.mark.usefixtures("terminable")
@pytest.mark.parametrize("number", signals.STOPPING_SIGNALS)
@pytest.mark.parametrize(
    ("call", "replace", "fails"),
    [
        (write, False, False),
        (write, True, False),
        (write, True, True),
        (replace_file, True, False),
        (unpack, False, False),
    ],
)
def test_whenever_a_signal_comes_it_is_raised_and_nothing_unfinished_is_left(
    tmp_path, monkeypatch, number, call, replace, fails
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    handlers = [signal.getsignal(n) for n in signals.STOPPING_SIGNALS]
    step, came = 0, True
    while came:
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        if replace:
            make(tmp_path / "made", "old")
        raised, came = disturbed(lambda: call(tmp_path / "made", replace, fails), number, step)
        step += 1
        assert names(tmp_path) in ([["made"]] if replace else [["made"], []]), step
        assert [signal.getsignal(n) for n in signals.STOPPING_SIGNALS] == handlers, step
        if came:
            assert raised is not None, step
    assert step > 10


def test_a_signal_that_comes_while_old_data_is_removed_waits_for_its_end(tmp_path, monkeypatch):
    make(tmp_path / "made", "old")
    remove = shutil.rmtree

    def disturbed(path, **options):
        signal.raise_signal(signal.SIGINT)
        remove(path, **options)

    monkeypatch.setattr(type(epath.Path()), "rmtree", disturbed)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "made", "new", replace=True)
    assert (tmp_path / "made/file").read_text() == "new"
    assert names(tmp_path) == ["made"]


def test_a_thread_may_make_a_folder(tmp_path):
    thread = threading.Thread(target=make, args=(tmp_path / "made", "new"))
    thread.start()
    thread.join()
    assert names(tmp_path) == ["made"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a folder"),
        ("a.gif", "the ending '.gif'"),
        (".png", "no ending"),
        ("no/a.png", "no folder"),
    ],
)
def test_the_place_of_a_file_is_checked_before_it_is_written(tmp_path, name, message):
    with pytest.raises(ConfigError, match=rf"--out {tmp_path}.*: {message}"):
        staging.check_output_file(tmp_path / name, "--out", (".png",))
    assert staging.check_output_file(tmp_path / "a.PNG", "--out", (".png",)).name == "a.PNG"


def test_an_object_store_needs_no_folder_for_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(staging, "is_bucket", lambda _: True)
    assert staging.check_output_file(tmp_path / "no" / "a.png", "--out").name == "a.png"
