import dataclasses
import importlib
import re

from etils import epath
import pytest

from voc_seg_tfrecord.core import config as configs
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.releases import RELEASES

PACKAGE = releases.FACTS.parent.parent


def test_every_address_is_registered_with_its_archives_hash_and_every_registered_one_is_used():
    rows = (releases.facts_folder("checksums") / "checksums.tsv").read_text().splitlines()
    registered = {url: (sha, name) for url, _, sha, name in (row.split("\t") for row in rows)}
    archives = [archive for release in RELEASES.values() for archive in release.archives]
    for archive in archives:
        for url in archive.urls:
            sha256, filename = registered[url]
            assert sha256 in archive.sha256s
            assert filename == archive.filename
            assert url.endswith(filename)
    assert {url for archive in archives for url in archive.urls} == set(registered)


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_a_row_names_a_reader_entries_of_the_bibliography_and_pinned_splits(release):
    reader = importlib.import_module(f"voc_seg_tfrecord.sources.{release.reader}")
    assert callable(reader.open_trees)
    entries = re.findall(r"^@\w+{(.*),$", (PACKAGE / "CITATIONS.bib").read_text(), re.M)
    assert set(release.citations) <= set(entries)
    pinned = {split for name, split in releases.official_splits() if name == release.name}
    assert pinned == set(release.list_by_split)


def test_every_row_is_a_config_with_the_features_of_its_row():
    official = {config.name: config for config in configs.BUILDER_CONFIGS if config.release}
    assert list(official) == list(RELEASES)
    for name, release in RELEASES.items():
        config = official[name]
        assert (config.instance_mask, config.objects) == (release.instances, release.objects)
        assert config.description == release.description


def test_trainaug_is_2012_with_sbds_masks_and_says_whose_a_mask_is():
    voc, trainaug = RELEASES["2012"], RELEASES["2012_aug"]
    assert (trainaug.year, trainaug.page) == (voc.year, voc.page)
    assert trainaug.archives[:1] == voc.archives
    assert list(trainaug.mask_sources) == ["voc", "sbd"]
    assert not voc.mask_sources


def test_a_release_has_the_splits_that_its_archives_hold():
    of_2007 = RELEASES["2007"]
    assert of_2007.list_by_split == {"train": "train", "validation": "val", "test": "test"}
    without_test = dataclasses.replace(of_2007, archives=of_2007.archives[:1])
    assert without_test.list_by_split == {"train": "train", "validation": "val"}


@pytest.mark.parametrize(
    ("config", "train", "validation"),
    [
        ("2007", 209, 213),
        ("2008", 511, 512),
        ("2009", 749, 750),
        ("2010", 964, 964),
        ("2011", 1112, 1111),
        ("2012", 1464, 1449),
    ],
)
def test_the_official_counts_are_pinned(config, train, validation):
    assert releases.official_splits()[config, "train"].counts[0] == train
    assert releases.official_splits()[config, "validation"].counts[0] == validation


def test_the_test_split_of_2007_is_pinned():
    assert releases.official_splits()["2007", "test"].counts[0] == 210


@pytest.mark.parametrize("split", ["train", "validation"])
def test_2012_has_all_hashes(split):
    row = releases.official_splits()["2012", split]
    assert len(row.ids_sha256) == len(row.masks_sha256) == 64


@pytest.mark.parametrize(
    ("config", "count", "words"),
    [
        ("2012", 1, r"(?s)train\.txt: 1 id,.*VOC2012: 1464 ids"),
        ("2012", 1464, "1,464 ids, sha256"),
        ("2008", 510, "510 ids"),
        ("sbd", 1, "the official list train of SBD: 8498 ids"),
    ],
)
def test_another_list_is_refused_with_both_counts(config, count, words):
    with pytest.raises(ListError, match=words):
        releases.check_ids(config, "train", [str(i) for i in range(count)], "train.txt")


def test_a_split_without_a_known_hash_is_checked_by_its_count():
    releases.check_ids("2008", "train", [str(i) for i in range(511)], "train.txt")


def test_every_published_count_of_a_list_is_taken_and_an_error_names_all_of_them():
    ids = [f"2008_{number:06}" for number in range(4998)]
    for count in (4998, 4996):
        releases.check_ids("context60", "train", ids[:count], "train.txt")
    words = r"list train of Pascal Context \(60 classes\): 4998 or 4996 ids\n"
    with pytest.raises(ListError, match=words):
        releases.check_ids("context60", "train", ids[:4997], "train.txt")


@pytest.fixture
def table(tmp_path):
    path = epath.Path(tmp_path) / "a.tsv"

    def write(text):
        path.write_text(text)
        return path

    return write


def test_the_first_line_that_is_no_comment_names_the_columns(table):
    path = table("# a\tremark\nname\tids\n\nx\t1\n# between\ny\t?\n")
    assert releases.read_table(path) == [{"name": "x", "ids": "1"}, {"name": "y", "ids": ""}]


def test_quotes_and_empty_cells_are_kept_as_they_are(table):
    assert releases.read_table(table('a\tb\n"x\t\n')) == [{"a": '"x', "b": ""}]


@pytest.mark.parametrize("row", ["1", "1\t2\t3"])
def test_a_row_with_too_few_or_too_many_cells_is_an_error(table, row):
    with pytest.raises(ValueError, match="zip"):
        releases.read_table(table(f"a\tb\n{row}\n"))


def test_every_table_of_the_package_can_be_read():
    facts = releases.FACTS
    paths = [*facts.glob("*.tsv"), *(facts / "published").glob("*.tsv")]
    assert len(paths) == 9
    for path in [*paths, releases.facts_folder("checksums") / "splits.tsv"]:
        assert releases.read_table(path), path


def test_the_folder_facts_has_at_most_twelve_files():
    files = [path for path in releases.FACTS.iterdir() if path.is_file()]
    assert len(files) <= 12
