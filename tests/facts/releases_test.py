import dataclasses
import importlib
import re

import pytest

from voc_seg_tfrecord import configs
from voc_seg_tfrecord.facts import official_splits
from voc_seg_tfrecord.facts.releases import RELEASES

PACKAGE = official_splits.facts_folder("facts").parent


def test_every_address_is_registered_with_its_archives_hash_and_every_registered_one_is_used():
    rows = (official_splits.facts_folder("checksums") / "checksums.tsv").read_text().splitlines()
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
    pinned = {split for name, split in official_splits.splits() if name == release.name}
    assert pinned == set(release.splits)


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
    assert of_2007.splits == {"train": "train", "validation": "val", "test": "test"}
    without_test = dataclasses.replace(of_2007, archives=of_2007.archives[:1])
    assert without_test.splits == {"train": "train", "validation": "val"}
