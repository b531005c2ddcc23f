"""All that a partial VOC tree lacks is named in one refusal."""

import json
import re
import shlex
import shutil

import pytest
from support.building import build, from_tree
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, ListError, SplitError

LIST = "ImageSets/Segmentation"
CONFIG = {"name": "part", "release": "2012", "strict": False}
CONFIG["splits"] = {"train": "train", "validation": "val"}


@pytest.fixture
def root(tmp_path):
    return shutil.copytree(DUMMY_DATA / "VOCdevkit" / "VOC2012", tmp_path / "kit" / "VOC2012")


def remove(root, *folders):
    for folder in folders:
        shutil.rmtree(root / folder)


@pytest.mark.parametrize(
    ("folders", "missing"),
    [
        (
            [LIST, "SegmentationObject", "Annotations"],
            [f"list {LIST}/train.txt", f"list {LIST}/val.txt", "SegmentationObject", "Annotations"],
        ),
        ([LIST, "JPEGImages"], [f"{LIST}/train.txt", f"{LIST}/val.txt", "JPEGImages of images"]),
        (["SegmentationObject", "Annotations"], ["SegmentationObject", "Annotations of XML files"]),
        (["SegmentationClass", "Annotations"], ["SegmentationClass of masks", "Annotations"]),
    ],
)
def test_a_release_names_all_that_is_missing(root, tmp_path, folders, missing):
    remove(root, *folders)
    with pytest.raises(LayoutError, match=f"{len(missing)} missing parts of a VOC tree") as caught:
        build(tmp_path / "data", VocSegConfig(**CONFIG), root.parent)
    text = str(caught.value)
    assert all(words in text for words in missing)
    assert ('"objects": false' in text) == ("Annotations" in folders)


def test_own_data_name_all_folders_that_their_options_need(root, tmp_path):
    remove(root, "SegmentationObject", "Annotations")
    options = {"instance_mask": True, "objects": True, "class_names": ["voc"]}
    with pytest.raises(LayoutError, match=r"SegmentationObject .*Annotations") as caught:
        from_tree(root, data_dir=tmp_path / "data", **options)
    assert "no --instance_masks" in str(caught.value)
    assert "no --objects" in str(caught.value)


def test_one_missing_folder_is_told_by_the_first_files_that_it_would_hold(root, tmp_path):
    remove(root, "Annotations")
    with pytest.raises(SplitError, match="Annotations/2007_000001: no such file"):
        build(tmp_path / "data", VocSegConfig(**CONFIG), root.parent)


def test_a_list_that_is_not_the_official_one_does_not_hide_what_is_missing(root, tmp_path):
    remove(root, "SegmentationObject", "Annotations")
    words = r"3 ids, sha256 .* Also missing: .*SegmentationObject .*Annotations"
    with pytest.raises(ListError, match=words):
        build(tmp_path / "data", "2012", root.parent)


def test_the_command_for_a_part_of_a_release_builds_what_is_there(root, tmp_path):
    remove(root, "SegmentationObject", "Annotations")
    with pytest.raises(ListError) as caught:
        build(tmp_path / "data", "2012", root.parent)
    call = re.search(r"(tfds build .*?); or, if", str(caught.value))[1]
    words = shlex.split(call)
    assert words[words.index("--manual_dir") + 1] == str(root.parent)
    fields = json.loads(words[words.index("--config") + 1])
    built = build(tmp_path / "data", VocSegConfig(**fields), root.parent)
    assert {*built.info.splits} == {"train", "validation", "test"}
