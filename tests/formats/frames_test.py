import struct
import tracemalloc

from etils import epath
import pytest
from support import handwritten

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.sources.records.files import read_records


@pytest.fixture
def records(tmp_path):
    made = [{"number": n, "text": b"x" * n} for n in range(3)]
    return epath.Path(handwritten.write(tmp_path / "a.tfrecord", made))


def head(length):
    """A head with the right checksum: that of a record whose data are the length's bytes."""
    claimed = struct.pack("<Q", length)
    return claimed + frames.frame(claimed)[-frames.TAIL :]


def test_the_frames_are_those_of_tensorflow(records):
    data = records.read_bytes()
    assert b"".join(frames.frame(record) for _, record in frames.read(records)) == data
    assert len(list(frames.read(records))) == 3


@pytest.mark.parametrize("length", [10 << 30, 1 << 40, 1 << 62, (1 << 64) - 1, (1 << 64) - 12])
def test_a_record_that_claims_more_than_its_file_holds_takes_no_memory(records, length):
    whole = records.stat().length
    records.write_bytes(records.read_bytes() + head(length) + b"some data")
    reading = read_records(records, "a file")
    assert len([next(reading) for _ in range(3)]) == 3
    with pytest.raises(
        RecordError, match=f"a file, record 3: .*at byte {whole}: a record of {length} bytes"
    ):
        next(reading)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data + b"\0" * 5, "record 3: .*: 5 bytes, too few"),
        (lambda data: data + b"\0" * 40, "record 3: .*length does not match"),
        (lambda data: b"\1" + data[1:], "record 0: .*length does not match"),
        (lambda data: data[:-1], "record 2: .*a record of"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "record 2: .*data does not match"),
    ],
)
def test_broken_frames_are_named_with_the_number_of_the_record(records, spoil, words):
    records.write_bytes(spoil(records.read_bytes()))
    with pytest.raises(RecordError, match=words):
        list(read_records(records, "a file"))


def test_a_record_that_was_read_is_not_kept(tmp_path):
    """It may be large, and others are made of it while the next one is not yet asked for."""
    path = epath.Path(tmp_path / "x.tfrecord")
    path.write_bytes(frames.frame(bytes(10_000_000)))
    tracemalloc.start()
    records = frames.read(path)
    assert len(next(records)[1]) == 10_000_000
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
