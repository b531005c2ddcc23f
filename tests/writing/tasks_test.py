"""Tasks that an engine runs for a build."""

import itertools
import pathlib

import pytest

from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.tasks import ShardCutter, ShardTask

resource = pytest.importorskip("resource")  # which Windows does not have

CHUNKS = 200
RECORDS_PER_CHUNK = 3


@pytest.fixture
def few_files():
    """Lets this process open half as many more files as there are chunks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_files = {int(path.name) for path in pathlib.Path("/dev/fd").iterdir()}
    free = (number for number in itertools.count() if number not in open_files)
    *_, last_free = itertools.islice(free, CHUNKS // 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (last_free + 1, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_files")
def test_a_shard_is_cut_from_more_chunks_than_a_process_may_open(tmp_path):
    for chunk in range(CHUNKS):
        content = "".join(f"<{chunk}/{number}>" for number in range(RECORDS_PER_CHUNK))
        (tmp_path / f"{chunk}").write_text(content)
    expected = [
        f"<{chunk}/{number}>".encode()
        for number in range(RECORDS_PER_CHUNK)
        for chunk in range(CHUNKS)
    ]
    places = []
    for record in expected:
        chunk = int(record[1:].partition(b"/")[0])
        places.append((chunk, (tmp_path / f"{chunk}").read_bytes().index(record), len(record)))
    cut_records = []
    shard = tmp_path / "shard"
    chunks = [str(tmp_path / f"{chunk}") for chunk in range(CHUNKS)]
    ShardCutter()(ShardTask(str(shard), chunks, places), cut_records.append)
    assert sum(cut_records) == len(expected)
    assert [data for _, data in frames.read(shard)] == expected
