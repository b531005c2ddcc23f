import hashlib
import subprocess

from etils import epath
import pytest
from support.building import build, records
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import ConfigError, RecordError
from voc_seg_tfrecord.built.find import INFO
from voc_seg_tfrecord.exports import copies


@pytest.fixture
def built(tmp_path):
    return build(tmp_path / "built", "sample")


def copy(builder, target, **options):
    return copies.copy(builder.data_path, epath.Path(target), last=INFO, **options)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != copies.MANIFEST}


def test_a_copy_has_every_byte_and_tfds_reads_it(built, tmp_path):
    copied = copy(built, tmp_path / "to" / built.info.full_name)
    assert contents(epath.Path(copied.folder)) == contents(built.data_path)
    assert copied.files == len(contents(built.data_path))
    assert copied.bytes == sum(map(len, contents(built.data_path).values()))
    theirs = tfds.builder(f"voc_seg_tfrecord/{built.builder_config.name}", data_dir=tmp_path / "to")
    assert records(theirs, "train") == records(built, "train")


def test_sha256sum_accepts_the_digests_of_a_copy(built, tmp_path):
    copy(built, tmp_path / "copy")
    done = subprocess.run(["sha256sum", "-c", copies.MANIFEST], cwd=tmp_path / "copy")
    assert done.returncode == 0
    lines = (tmp_path / "copy" / copies.MANIFEST).read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == sorted(contents(built.data_path))


def test_a_folder_that_is_not_empty_is_replaced_only_if_that_is_said(built, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"(?s)other files: mine\.txt\n.*--overwrite"):
        copy(built, tmp_path / "copy")
    assert (tmp_path / "copy" / "mine.txt").read_text() == "mine"
    copy(built, tmp_path / "copy", overwrite=True)
    assert contents(tmp_path / "copy") == contents(built.data_path)


@pytest.mark.parametrize("below", ["", "copy"])
def test_a_dataset_is_not_copied_into_itself(built, below):
    with pytest.raises(ConfigError, match="the dataset itself, or a folder in it"):
        copy(built, built.data_path / below, overwrite=True)
    assert (built.data_path / INFO).exists()


def test_a_file_that_was_changed_in_a_copy_is_not_copied_on(built, tmp_path):
    copy(built, tmp_path / "copy")
    shard = next((tmp_path / "copy").glob("*train*"))
    digest = hashlib.sha256(shard.read_bytes()).hexdigest()
    shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    with pytest.raises(RecordError, match=f"(?s)train.*expected: the sha256 {digest}") as caught:
        copies.copy(epath.Path(tmp_path / "copy"), epath.Path(tmp_path / "on"), last=INFO)
    assert caught.value.kind == "damaged copy"
    assert not (tmp_path / "on").exists()


def test_what_does_not_arrive_as_it_was_sent_is_no_dataset(built, tmp_path, monkeypatch):
    digest = storage.digest_of
    monkeypatch.setattr(
        copies,
        "digest_of",
        lambda path: digest(path) if built.data_path in path.parents else ("0" * 64, 1),
    )
    with pytest.raises(RecordError, match="run the command again"):
        copy(built, tmp_path / "copy")
    assert list(tmp_path.glob("*copy*")) == []


def test_a_dataset_that_lacks_a_shard_is_not_copied(built, tmp_path):
    with pytest.raises(RecordError, match=r"train-9: no such file, the first of 1"):
        copy(built, tmp_path / "copy", needed=[INFO, "train-9"])
