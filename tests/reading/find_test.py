import pathlib
import shutil

import pytest

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.find import split_name


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def data_dir(sample, tmp_path, elsewhere):  # noqa: ARG001 - for names in a folder of their own
    """A folder of datasets with voc_seg_tfrecord/sample in it."""
    place = tmp_path / "data" / "voc_seg_tfrecord" / "sample" / "1.0.0"
    shutil.copytree(sample.data_dir, place)
    return tmp_path / "data"


NAMES = ("sample", "sample:1.0.0", "voc_seg_tfrecord/sample", "voc_seg_tfrecord/sample:1.0.0")


@pytest.mark.parametrize("name", NAMES)
def test_a_config_s_name_alone_is_short_for_the_dataset(data_dir, name):
    assert open_built(name, data_dir).info.full_name == "voc_seg_tfrecord/sample/1.0.0"


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_the_same_name_that_holds_no_dataset_is_passed_over(data_dir, elsewhere, name):
    (elsewhere / "sample").mkdir()
    assert open_built(name, data_dir).info.full_name == "voc_seg_tfrecord/sample/1.0.0"


def test_a_name_that_is_also_a_version_folder_is_refused_and_both_are_named(
    sample, data_dir, elsewhere
):
    shutil.copytree(sample.data_dir, elsewhere / "sample")
    with pytest.raises(ConfigError, match="a name of 2 datasets") as caught:
        open_built("sample", data_dir)
    assert str(elsewhere / "sample") in caught.value.found
    assert str(data_dir) in caught.value.found
    assert open_built("./sample").data_path == pathlib.Path("sample")
    assert open_built("voc_seg_tfrecord/sample", data_dir).data_path.is_relative_to(data_dir)


def test_a_name_that_is_also_another_dataset_s_is_refused(sample, data_dir):
    shutil.copytree(sample.data_dir, data_dir / "sample" / "1.0.0")
    with pytest.raises(ConfigError, match="a name of 2 datasets"):
        open_built("sample", data_dir)
    assert open_built("voc_seg_tfrecord/sample", data_dir).data_path.is_relative_to(data_dir)


def test_a_version_folder_with_a_short_name_is_a_path(sample, tmp_path, elsewhere):
    shutil.copytree(sample.data_dir, elsewhere / "1.0.0")
    assert open_built("1.0.0", tmp_path).data_path == pathlib.Path("1.0.0")


def test_a_link_to_the_dataset_is_no_second_dataset(data_dir, elsewhere):
    (elsewhere / "sample").symlink_to(data_dir / "voc_seg_tfrecord" / "sample" / "1.0.0")
    assert open_built("sample", data_dir).info.full_name == "voc_seg_tfrecord/sample/1.0.0"


def test_a_folder_of_images_is_told_from_a_dataset_that_is_not_built(data_dir, tmp_path):
    (tmp_path / "images" / "sample").mkdir(parents=True)
    with pytest.raises(ConfigError, match="a folder, but not that of a built dataset") as caught:
        open_built(str(tmp_path / "images" / "sample"), data_dir)
    assert "perhaps in another version" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "sample:2", "sample:9.9.9", "x/y/z", "sam ple", "*"])
def test_what_is_no_name_of_a_dataset_is_a_wrong_call(data_dir, name):
    with pytest.raises(ConfigError, match="no such dataset"):
        open_built(name, data_dir)


@pytest.mark.parametrize("name", ["smaple", "voc_seg_tfrecord/sampel", "voc_seg_tfrecrod/sample"])
def test_a_name_that_is_misspelled_is_corrected(data_dir, name):
    with pytest.raises(ConfigError, match=r"did you mean 'sample'|sample is there"):
        open_built(name, data_dir)


@pytest.mark.parametrize(
    ("name", "dataset", "splits"),
    [
        ("cv3", "cv3", []),
        ("cv3@train", "cv3", ["train"]),
        ("cv3@train+test", "cv3", ["train", "test"]),
        ("/data/me@home/1.0.0", "/data/me@home/1.0.0", []),
        ("/data/me@home/1.0.0@train", "/data/me@home/1.0.0", ["train"]),
        ("cv3@", "cv3", [""]),
    ],
)
def test_a_split_stands_behind_the_last_at(name, dataset, splits):
    assert split_name(name) == (dataset, splits)


def test_a_split_where_none_is_taken_is_told(data_dir):
    with pytest.raises(ConfigError, match="this command reads all splits"):
        open_built("sample@train", data_dir)


def test_the_folder_of_a_config_stands_for_its_latest_version(data_dir, sample):
    folder = data_dir / "voc_seg_tfrecord" / "sample"
    (folder / "9.0.0").mkdir()
    shutil.copytree(sample.data_dir, folder / "0.10.0")
    assert open_built(str(folder)).data_dir == str(folder / "1.0.0")


def test_a_config_that_has_an_empty_folder_is_not_said_to_be_there(data_dir):
    (data_dir / "voc_seg_tfrecord" / "mine" / "incomplete.x").mkdir(parents=True)
    with pytest.raises(ConfigError) as caught:
        open_built("mine", data_dir)
    assert "perhaps in another version" not in str(caught.value)
