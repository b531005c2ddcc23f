import dataclasses
import json

import pytest

from voc_seg_tfrecord import VocSegConfig, configs
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.facts import releases, tables


def test_2012_is_the_first_config_and_every_release_has_one():
    names = [config.name for config in configs.BUILDER_CONFIGS]
    assert names == ["2012", "2007", "2008", "2009", "2010", "2011", "2012_aug", "sample"]


def test_a_release_is_strict_and_has_every_feature():
    config = configs.BUILDER_CONFIGS[0]
    assert (config.strict, config.instance_mask, config.objects) == (True, True, True)
    assert config.split_lists == {"train": "train", "validation": "val"}


def test_only_2007_has_a_test_split():
    with_test = [c.name for c in configs.BUILDER_CONFIGS if c.release and "test" in c.split_lists]
    assert with_test == ["2007"]


def test_own_data_has_image_and_mask_alone_unless_asked():
    config = VocSegConfig(name="cracks", class_names=["background", "crack"])
    assert config.class_names == ("background", "crack")
    assert (config.strict, config.instance_mask, config.objects) == (False, False, False)
    assert VocSegConfig(name="x", objects=True).objects


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"release": "2013"}, "release: '2013'"),
        ({"strict": True}, "strict: True"),
        ({"release": "2012", "splits": {"train": "val"}}, "splits"),
        ({"class_names": []}, "class_names"),
        ({"class_names": ["a", "a"]}, "class_names"),
        ({"class_names": [str(n) for n in range(256)]}, "255"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields, words):
    with pytest.raises(ConfigError, match=words):
        VocSegConfig(name="mine", **fields)


def test_every_address_is_registered_with_the_archives_hash():
    rows = (tables.folder("checksums") / "checksums.tsv").read_text().splitlines()
    registered = {url: (sha, name) for url, _, sha, name in (row.split("\t") for row in rows)}
    for archives in releases.RELEASES.values():
        for archive in archives:
            for url in archive.urls:
                sha256, filename = registered[url]
                assert sha256 in archive.sha256s
                assert filename == archive.filename
                assert url.endswith(filename)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"class_names": ("background", "crack"), "splits": {"train": 0.8, "test": 0.2}},
        {"release": "2012"},
        {"release": "2012", "strict": False, "instance_mask": False, "objects": False},
        {"release": "2012_aug", "strict": False},
    ],
)
def test_a_config_comes_back_from_its_json(fields):
    config = VocSegConfig(name="mine", **fields)
    assert dataclasses.asdict(VocSegConfig(**json.loads(config.to_json()))) == dataclasses.asdict(
        config
    )
