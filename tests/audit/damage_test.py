"""A damaged dataset is noticed: flipped bytes and lost records, by each command that reads."""

import contextlib
import hashlib
import json
import pathlib
import random
import shutil

from etils import epath
import pytest
from support.building import build
from support.scoring import write_predictions
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading.dataset import open_built

FLIPS = 12
SPLIT = "train"
SHARD = "voc_seg_tfrecord-train.tfrecord-00000-of-00001"
FILES = [SHARD, "dataset_info.json", "features.json", "metadata.json"]


@pytest.fixture
def folder(sample, tmp_path):
    """A copy of the sample that a test may damage."""
    return pathlib.Path(shutil.copytree(sample.data_dir, tmp_path / "copy"))


@pytest.fixture(scope="module")
def predictions(sample, tmp_path_factory):
    """Predictions for the sample, of which the commands below make no complaint."""
    folder = write_predictions(sample, tmp_path_factory.mktemp("damage") / "predictions")
    for line in command_lines(sample.data_dir, folder, folder.parent).values():
        assert cli.main(line) == 0, line
    return folder


@pytest.fixture
def commands(folder, predictions, tmp_path):
    """The command lines that read the copy; each is right while the copy is whole."""
    return command_lines(folder, predictions, tmp_path)


def command_lines(folder, predictions, out):
    lines = {
        "verify": ["verify", folder],
        "stats": ["stats", folder],
        "leaks": ["leaks", folder, folder],
        "preview": ["preview", f"{folder}@{SPLIT}", "--out", out / "sheet.png"],
        "export": ["export", folder, "--layout", "raw", "--out", out / "out"],
        "evaluate": ["evaluate", f"{folder}@{SPLIT}", "--predictions", predictions],
    }
    return {name: [str(word) for word in line] for name, line in lines.items()}


@pytest.mark.slow
def test_every_command_notices_a_flipped_byte_in_any_file(folder, commands, capsys):
    rng = random.Random(0)
    for name in FILES:
        whole = (folder / name).read_bytes()
        for flip in range(FLIPS):
            data = bytearray(whole)
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
            (folder / name).write_bytes(data)
            # Verify sees each; the others share how they open and read, so they take turns.
            turn = [*commands][1 + flip % (len(commands) - 1)]
            for command in ("verify", turn):
                assert cli.main(commands[command]) == 1, (name, flip, command)
                said = "".join(capsys.readouterr())
                assert "error: " in said or "fault" in said
                assert name in said or SPLIT in said
        (folder / name).write_bytes(whole)


@pytest.mark.slow
def test_a_shard_cut_at_the_end_of_a_record_is_noticed(folder, commands, capsys):
    records = list(tf.data.TFRecordDataset(str(folder / SHARD)).as_numpy_iterator())
    with tf.io.TFRecordWriter(str(folder / SHARD)) as writer:
        for record in records[:-1]:
            writer.write(record)
    for command in ("verify", "stats", "leaks", "evaluate", "export"):
        assert cli.main(commands[command]) == 1, command
        said = "".join(capsys.readouterr())
        assert "shards of" in said or "2 records" in said, command


def test_a_split_whose_reading_stopped_has_no_fingerprint(folder, commands, capsys):
    shard = folder / SHARD
    shard.write_bytes(shard.read_bytes()[:-9])
    assert cli.main([*commands["verify"], "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["fingerprint"] is None
    assert (document["splits"][SPLIT]["images"], document["splits"][SPLIT]["ids"]) == ("", "")
    assert document["splits"]["validation"]["images"]
    cli.main(commands["verify"])
    printed = capsys.readouterr().out
    assert "fingerprint   none, because reading stopped\n" in printed
    assert "sizes, labels and mask values of 3 of 6 examples\n" in printed


def test_a_missing_shard_is_one_fault(folder, commands, capsys):
    (folder / SHARD).unlink()
    assert cli.main(commands["verify"]) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].endswith(": 1 fault")
    assert printed.count("no such file") == 1


def shard_of_validation(folder):
    return (folder / SHARD.replace(SPLIT, "validation")).read_bytes()


def doubled_record(folder):
    return b"".join(map(frames.frame, [*frame_list(folder), frame_list(folder)[0]]))


def lost_record(folder):
    return b"".join(map(frames.frame, frame_list(folder)[1:]))


def frame_list(folder):
    return [record for _, record in frames.read(epath.Path(folder / SHARD))]


@pytest.mark.parametrize("has_sums", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.parametrize("damage", [shard_of_validation, doubled_record, lost_record])
def test_a_shard_that_is_not_the_one_that_was_built_is_noticed_before_its_first_record(
    folder, commands, capsys, tmp_path, damage, has_sums
):
    commands["report"] = ["report", str(folder), "--out", str(tmp_path / "page.html")]
    (folder / SHARD).write_bytes(damage(folder))
    if not has_sums:
        (folder / "SHA256SUMS").unlink()
    for command, words in commands.items():
        assert cli.main(words) == 1, command
        said = "".join(capsys.readouterr())
        sha256 = command == "verify" and has_sums
        assert ("the file's sha256 is" if sha256 else "dataset_info.json says 5392") in said


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", FILES[1:])
def test_a_damaged_file_of_a_dataset_without_digests_is_an_error_of_ours(folder, name):
    (folder / "SHA256SUMS").unlink()
    rng = random.Random(0)
    whole = (folder / name).read_bytes()
    for _ in range(100):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        (folder / name).write_bytes(data)
        with contextlib.suppress(RecordError):  # what can still be read is not noticed
            open_built(str(folder))


def test_digests_that_are_damaged_themselves_are_noticed(folder):
    sums = folder / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"features", b"featurez"))
    with pytest.raises(RecordError, match=r"featurez\.json: no such file"):
        open_built(str(folder))


@pytest.mark.parametrize(
    ("kept", "found"),
    [(0, "an empty file"), (1, "1 files, and not features"), (-1, ".* and not voc_")],
)
def test_an_empty_or_shortened_list_of_digests_is_refused(folder, kept, found):
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(sums.read_text().splitlines(keepends=True)[:kept]))
    with pytest.raises(RecordError, match=f"SHA256SUMS: {found}"):
        open_built(str(folder))


def test_sha256sum_accepts_the_digests_of_all_files(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    digests = {name: digest for digest, name in (line.split("  ") for line in lines)}
    others = [path for path in folder.iterdir() if path.name != "SHA256SUMS"]
    assert digests == {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in others}


def test_verify_names_a_shard_of_another_build_with_the_same_records(folder, capsys):
    shard = folder / SHARD
    records = list(tf.data.TFRecordDataset(str(shard)).as_numpy_iterator())
    with tf.io.TFRecordWriter(str(shard)) as writer:
        for record in reversed(records):
            writer.write(record)
    assert cli.main(["verify", str(folder)]) == 1
    assert f"{SPLIT}: {SHARD}: the file's sha256 is " in capsys.readouterr().out


def test_verify_says_that_a_dataset_has_no_digests(folder, capsys):
    (folder / "SHA256SUMS").unlink()
    assert cli.main(["verify", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "sha256 of the files not checked: the dataset has no SHA256SUMS\n" in printed
    assert "sha256 of every file" not in printed


def test_an_update_of_the_info_keeps_the_digests_of_shards(tmp_path, capsys):
    builder = build(tmp_path, "sample")
    shard = builder.data_path / SHARD
    shard.write_bytes(shard.read_bytes() + shard.read_bytes())
    mode = tfds.download.GenerateMode.UPDATE_DATASET_INFO
    config = tfds.download.DownloadConfig(download_mode=mode)
    builder.download_and_prepare(download_config=config)
    assert cli.main(["verify", str(builder.data_path)]) == 1
    assert f"{SHARD}: the file's sha256 is " in capsys.readouterr().out


def test_a_damaged_file_of_class_names_is_noticed_without_digests_too(folder):
    (folder / "SHA256SUMS").unlink()
    for name in ("labels.labels.txt", "segmentation_mask.labels.txt", "metadata.json"):
        whole = (folder / name).read_text()
        (folder / name).write_text(whole.replace("aeroplane", "aeroplant"))
        with pytest.raises(RecordError, match=r"are not those of metadata\.json"):
            open_built(str(folder))
        (folder / name).write_text(whole)
    (folder / "metadata.json").write_text("{")
    with pytest.raises(RecordError, match="a damaged dataset_info"):
        open_built(str(folder))


def test_a_folder_in_place_of_a_shard_is_a_fault(folder, capsys):
    (folder / SHARD).unlink()
    (folder / SHARD).mkdir()
    assert cli.main(["verify", str(folder)]) == 1
    assert "Is a directory" in "".join(capsys.readouterr())
