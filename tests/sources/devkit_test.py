import dataclasses
import hashlib

from etils import epath
import pytest

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, SourceError
from voc_seg_tfrecord.core.releases import RELEASES, Archive
from voc_seg_tfrecord.sources.devkit import find_release, open_trees
from voc_seg_tfrecord.sources.fetcher import NotDownloaded, find_archive

DATA = b"an archive"
ARCHIVE = Archive("a.tar", (hashlib.sha256(DATA).hexdigest(),), ())


class Folder:
    """A fetcher of a folder alone, or of none."""

    def __init__(self, manual_dir=None):
        self.manual_dir = manual_dir and epath.Path(manual_dir)
        self.verified = []

    def download(self, archive):
        raise NotDownloaded(f"{archive.filename} is nowhere")


def find(fetcher):
    return find_archive(RELEASES["2012"], ARCHIVE, fetcher, what="VOC2012", tree="its tree")


def test_the_archive_in_the_manual_folder_wins_over_a_download(tmp_path):
    (tmp_path / "a.tar").write_bytes(DATA)
    fetcher = Folder(tmp_path)
    assert find(fetcher) == tmp_path / "a.tar"
    assert fetcher.verified == [{"filename": "a.tar", "sha256": ARCHIVE.sha256s[0]}]


@pytest.mark.parametrize("given", [True, False])
def test_an_archive_that_is_not_in_the_manual_folder_is_downloaded(tmp_path, given):
    words = r"(?s)neither its tree nor a\.tar in .*a\.tar is nowhere"
    with pytest.raises(SourceError, match=words):
        find(Folder(tmp_path if given else None))


def test_another_file_under_an_archives_name_is_refused_with_both_hashes(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"x")
    fetcher = Folder(tmp_path)
    with pytest.raises(SourceError, match="1 bytes, sha256 ") as caught:
        find(fetcher)
    assert ARCHIVE.sha256s[0] in str(caught.value)
    assert fetcher.verified == []


def test_a_split_that_no_archive_has_is_refused_before_any_is_downloaded(tmp_path):
    config = VocSegConfig(name="part", release="2012", strict=False, splits={"test": "test"})
    with pytest.raises(ConfigError, match=r"the split test, which no archive of VOC2012 has"):
        open_trees(RELEASES["2012"], config, Folder(tmp_path))


@pytest.mark.parametrize(
    ("name", "filename"),
    [
        ("train", "VOCtrainval_06-Nov-2007.tar"),
        ("trainval", "VOCtrainval_06-Nov-2007.tar"),
        ("test", "VOCtest_06-Nov-2007.tar"),
    ],
)
def test_a_split_of_the_users_own_needs_the_archive_of_its_list_alone(tmp_path, name, filename):
    release = RELEASES["2007"]
    archives = [dataclasses.replace(one, sha256s=ARCHIVE.sha256s) for one in release.archives]
    config = VocSegConfig(name="part", release="2007", strict=False, splits={"mine": name})
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / filename).write_bytes(DATA)
    (tmp_path / "unpacked" / "VOCdevkit" / "VOC2007" / "ImageSets" / "Segmentation").mkdir(
        parents=True
    )
    (tmp_path / "unpacked" / "VOCdevkit" / "VOC2007" / "JPEGImages").mkdir()
    fetcher = Folder(tmp_path / "manual")
    fetcher.extract = lambda _: tmp_path / "unpacked"
    opened = open_trees(dataclasses.replace(release, archives=tuple(archives)), config, fetcher)
    assert [*opened] == ["mine"]
    assert [archive["filename"] for archive in fetcher.verified] == [filename]


@pytest.mark.parametrize("below", [".", "VOCdevkit", "VOCdevkit/VOC2012"])
def test_a_release_is_found_at_every_height_and_by_its_year(devkit, below):
    assert find_release(epath.Path(devkit) / below, "2012").name == "VOC2012"
    (devkit / "VOCdevkit" / "VOC2007" / "JPEGImages").mkdir(parents=True)
    assert find_release(epath.Path(devkit), "2007").name == "VOC2007"
    assert find_release(epath.Path(devkit) / "VOCdevkit" / "VOC2007" / "JPEGImages", "2012") is None


def test_the_root_of_the_2011_archive_is_found(devkit):
    (devkit / "TrainVal").mkdir()
    (devkit / "VOCdevkit").rename(devkit / "TrainVal" / "VOCdevkit")
    root = devkit / "TrainVal" / "VOCdevkit"
    (root / "VOC2012").rename(root / "VOC2011")
    assert find_release(epath.Path(devkit), "2011").name == "VOC2011"
