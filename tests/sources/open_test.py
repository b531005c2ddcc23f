import dataclasses
import functools
import hashlib
import http.server
import pathlib
import tarfile
import threading

import pytest
from support import drawing
from support.building import build, version_folders
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import checksums
from tensorflow_datasets.core.utils import Size

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import SplitError
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.sources import fetcher
from voc_seg_tfrecord.sources.fetcher import Fetcher

PART = VocSegConfig(name="part", release="2012", strict=False)
NAME = "VOCtrainval.tar"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files; below /cut/ only the first half of them."""

    def log_message(self, *args):
        del args

    def copyfile(self, source, outputfile):
        if self.path.startswith("/cut/"):
            data = source.read()
            outputfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            super().copyfile(source, outputfile)


@pytest.fixture
def served(tmp_path):
    """A folder that an HTTP server on loopback serves, and its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def make_archive(path, top="VOCdevkit"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as tar:
        tar.add(DUMMY_DATA / "VOCdevkit", top)
    return path.read_bytes()


def replace_archives(monkeypatch, name, *archives):
    row = dataclasses.replace(releases.RELEASES[name], archives=archives)
    monkeypatch.setitem(releases.RELEASES, name, row)


@pytest.fixture
def archive(served, monkeypatch):
    """Makes 2012's archive one of dummy_data at the addresses given; returns its bytes."""
    folder, address = served
    data = make_archive(folder / "good" / NAME)
    monkeypatch.setattr(fetcher, "_PAUSE_SECONDS", 0)

    def register(*folders, sha256=None, size=None):
        urls = tuple(f if f.startswith("http") else f"{address}/{f}/{NAME}" for f in folders)
        sha256 = sha256 or hashlib.sha256(data).hexdigest()
        only = releases.Archive(NAME, (sha256,), urls, ("train", "validation"))
        replace_archives(monkeypatch, "2012", only)
        info = checksums.UrlInfo(Size(size or len(data)), sha256, NAME)
        monkeypatch.setattr(voc_seg_tfrecord.Builder, "url_infos", dict.fromkeys(urls, info))
        return data

    return register


def put(folder, name, data):
    path = folder / name / NAME
    path.parent.mkdir()
    path.write_bytes(data)


def built(tmp_path, manual_dir=None):
    builder = build(tmp_path / "data", PART, manual_dir)
    return {name: split.num_examples for name, split in builder.info.splits.items()}


def fails(tmp_path, manual_dir=None):
    """Returns the one error of a build."""
    with pytest.raises(voc_seg_tfrecord.VocSegError) as caught:
        build(tmp_path / "data", PART, manual_dir)
    assert version_folders(tmp_path / "data") == []
    assert f"get {NAME} from" in str(caught.value)
    return str(caught.value)


BOTH = {"train": 3, "validation": 2}


def test_a_good_archive_is_downloaded_and_kept(archive, served, tmp_path):
    archive("good")
    assert built(tmp_path) == BOTH
    (served[0] / "good" / NAME).unlink()
    (tmp_path / "data" / "voc_seg_tfrecord").rename(tmp_path / "gone")
    assert built(tmp_path) == BOTH


@pytest.mark.parametrize(
    ("place", "change", "said"),
    [
        ("large", lambda data: data + b"x", " instead of the archive's "),
        ("changed", lambda data: data[:-1] + b"x", "has wrong checksum"),
        ("nowhere", None, f"/nowhere/{NAME}: HTTP 404"),
        ("page", lambda _: b"<html>moved</html>", "18 bytes (text/html)"),
    ],
)
def test_what_is_not_the_archive_is_refused_and_not_kept(
    archive, served, tmp_path, place, change, said
):
    data = archive(f"{place}/index.html?" if place == "page" else place)
    if change:
        put(served[0], place, change(data))
    if place == "page":
        (served[0] / place / NAME).rename(served[0] / place / "index.html")
    assert said in fails(tmp_path)
    assert not [path for path in (tmp_path / "data/downloads").rglob("*") if path.is_file()]


def test_the_mirror_is_asked_when_the_first_address_is_down(archive, tmp_path):
    archive(f"http://127.0.0.1:9/{NAME}", "good")
    assert built(tmp_path) == BOTH


def test_a_connection_cut_half_way_is_told_and_the_mirror_asked(archive, served, tmp_path):
    data = archive("cut")
    put(served[0], "cut", data)
    assert f"/cut/{NAME}: " in fails(tmp_path)
    archive("cut", "good")
    assert built(tmp_path) == BOTH


def recorded(tmp_path):
    builder = tfds.builder_from_directory(tmp_path / "data/voc_seg_tfrecord/part/1.0.0")
    return builder.info.metadata.get("archives")


def test_the_verified_archive_is_recorded_if_downloaded_or_in_the_manual_folder(
    archive, served, tmp_path
):
    data = archive("good")
    expected = [{"filename": NAME, "sha256": hashlib.sha256(data).hexdigest()}]
    built(tmp_path)
    assert recorded(tmp_path) == expected
    (tmp_path / "data" / "voc_seg_tfrecord").rename(tmp_path / "gone")
    built(tmp_path, served[0] / "good")
    assert recorded(tmp_path) == expected


def test_an_unpacked_tree_records_no_archive(devkit, tmp_path):
    built(tmp_path, devkit)
    assert recorded(tmp_path) is None


def test_images_are_decoded_unless_they_come_out_of_a_verified_archive(
    archive, served, devkit, tmp_path, monkeypatch
):
    archive("good")
    decoded = []
    monkeypatch.setattr(images, "check_readable", lambda file, *_: decoded.append(file.where))
    built(tmp_path)
    (tmp_path / "data" / "voc_seg_tfrecord").rename(tmp_path / "gone")
    built(tmp_path, served[0] / "good")
    assert decoded == []
    (tmp_path / "data" / "voc_seg_tfrecord").rename(tmp_path / "gone too")
    built(tmp_path, devkit)
    assert decoded


def test_an_archive_of_something_else_is_refused(archive, served, tmp_path):
    data = make_archive(served[0] / "other" / NAME, "photos")
    archive(sha256=hashlib.sha256(data).hexdigest())
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="an archive without VOC2012"):
        build(tmp_path / "data", PART, served[0] / "other")


def member(name, **fields):
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


HOSTILE = {
    "traversal": member("../../../escaped"),
    "deep traversal": member("VOCdevkit/../../../../escaped"),
    "absolute": member("/tmp/voc_seg_escaped"),
    "link out": member("VOCdevkit/escaped", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "hard link out": member("VOCdevkit/escaped", type=tarfile.LNKTYPE, linkname="../../etc/passwd"),
    "device": member("VOCdevkit/escaped", type=tarfile.CHRTYPE, devmajor=1, devminor=5),
    "pipe": member("VOCdevkit/escaped", type=tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("bad", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_writes_no_file_of_its_own_choice(bad, archive, tmp_path):
    folder = tmp_path / "manual"
    make_archive(folder / NAME)
    with tarfile.open(folder / NAME, "a") as tar:
        tar.addfile(bad)
    archive(sha256=hashlib.sha256((folder / NAME).read_bytes()).hexdigest())
    assert built(tmp_path, folder) == BOTH
    assert not list(tmp_path.rglob("*escaped*"))
    assert not pathlib.Path("/tmp/voc_seg_escaped").exists()


def test_an_archive_in_the_manual_folder_is_checked_before_it_is_unpacked(
    archive, tmp_path, monkeypatch
):
    monkeypatch.setattr(Fetcher, "extract", lambda *_: pytest.fail("unpacked"))
    data = archive()
    put(tmp_path, "manual", data + b"x")
    with pytest.raises(voc_seg_tfrecord.VocSegError, match=r"VOCtrainval\.tar: .* bytes, sha256"):
        build(tmp_path / "data", PART, tmp_path / "manual")


def test_a_tree_wins_over_an_archive_beside_it(archive, devkit, tmp_path):
    archive()
    (devkit / NAME).write_bytes(b"not even looked at")
    assert built(tmp_path, devkit) == BOTH | {"test": 1}


@pytest.mark.parametrize("year", ["2008", "2009", "2011"])
def test_a_year_that_cannot_be_registered_says_what_to_put_where(year, tmp_path):
    with pytest.raises(voc_seg_tfrecord.VocSegError) as caught:
        build(tmp_path / "data", year)
    (archive,) = releases.RELEASES[year].archives
    assert f"get {archive.filename} from" in str(caught.value)
    assert archive.sha256s[0] in str(caught.value)


def test_trainval_and_test_of_2007_may_lie_in_two_places(devkit, root, tmp_path, monkeypatch):
    old = root.rename(root.parent / "VOC2007")
    test = tmp_path / "test" / "VOCdevkit" / "VOC2007"
    (test / "ImageSets").mkdir(parents=True)
    for name in ("JPEGImages", "SegmentationClass", "SegmentationObject", "Annotations"):
        (test / name).symlink_to(old / name)
    lists = test / "ImageSets" / "Segmentation"
    lists.mkdir()
    (old / "ImageSets/Segmentation/test.txt").rename(lists / "test.txt")
    with tarfile.open(devkit / "VOCtest.tar", "w", dereference=True) as tar:
        tar.add(test.parent, "VOCdevkit")
    sha256 = hashlib.sha256((devkit / "VOCtest.tar").read_bytes()).hexdigest()
    trainval, _ = releases.RELEASES["2007"].archives
    own = releases.Archive("VOCtest.tar", (sha256,), (), ("test",))
    replace_archives(monkeypatch, "2007", trainval, own)
    config = VocSegConfig(name="strict_2007", release="2007")
    monkeypatch.setattr(releases, "check_ids", lambda *_: None)
    builder = build(tmp_path / "data", config, devkit)
    assert {s: i.num_examples for s, i in builder.info.splits.items()} == BOTH | {"test": 1}


def test_own_data_needs_a_manual_folder(tmp_path):
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="--manual_dir is missing or empty"):
        build(tmp_path / "data", VocSegConfig(name="mine"))


def test_two_trees_in_the_manual_folder_are_named(devkit, root, tmp_path):
    drawing.put_pair(root.parent / "VOC2007", "a")
    words = r"2 ways (?s:.*)VOC2012(?s:.*)not possible: masks in VOCdevkit/VOC2007/.*: no such file"
    with pytest.raises(voc_seg_tfrecord.VocSegError, match=words):
        build(tmp_path / "data", VocSegConfig(name="mine"), pathlib.Path(devkit))


def test_beside_missing_images_each_other_missing_file_keeps_its_advice(tmp_path):
    root = tmp_path / "set"
    for image_id in "abcd":
        drawing.put_image(root, f"JPEGImages/{image_id}.jpg")
        for folder in ("SegmentationClass", "SegmentationObject"):
            drawing.put_mask(root, f"{folder}/{image_id}.png", drawing.truth(image_id))
    drawing.put_lists(root, train=["a", "b", "c", "d"])
    (root / "JPEGImages/a.jpg").unlink()
    (root / "SegmentationObject/b.png").unlink()
    with pytest.raises(SplitError) as raised:
        voc_seg_tfrecord.builder_from_tree(
            root, name="set", class_names=["background", "disc", "cup"], instance_mask=True
        )
    remedies = [problem.remedy for problem in raised.value.problems]
    assert remedies[0] == ""  # the remedy of the split says what to do about images
    assert "no --instance_masks" in remedies[1]
