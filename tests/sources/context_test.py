"""`context59` and `context60`: Pascal Context on VOC2010's images, from made files only."""

import dataclasses
import hashlib
import json

import numpy as np
from PIL import Image
import pytest
from scipy import io
from support import release_twins
from support.building import build, examples

from voc_seg_tfrecord import VOID, VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ListError, MaskError, SourceError, SplitError
from voc_seg_tfrecord.core.example import NeededFiles
from voc_seg_tfrecord.core.releases import RELEASES, Archive
from voc_seg_tfrecord.sources import context
from voc_seg_tfrecord.sources.context import context_tree

MASKS = {
    "2008_000002": np.kron(np.array([[0, 1], [59, 15]]), np.ones((20, 25))).astype(np.uint8),
    "2008_000003": np.full((30, 20), 50, np.uint8),
    "2009_000001": np.zeros((16, 16), np.uint8),
}
LISTS = dict(zip(MASKS, ("train.txt", "train.txt", "val.txt"), strict=True))
NAME = {0: "background", 1: "aeroplane", 15: "cat", 50: "table", 59: "wood"}


def part(classes):
    return VocSegConfig(name=f"part{classes}", release=f"context{classes}", strict=False)


def write_pngs(manual):
    root = manual / "VOCdevkit" / "VOC2010"
    release_twins.write_context(root, MASKS, LISTS)
    release_twins.write_context_pngs(root / "SegmentationClassContext", MASKS)


def write_mats(manual, folder="trainval"):
    release_twins.write_context(manual / "VOCdevkit" / "VOC2010", MASKS, LISTS, "ImageSets/Main")
    release_twins.write_context_mats(manual / folder, MASKS)
    (manual / "labels.txt").write_text(release_twins.context_names())


@pytest.fixture
def manual(tmp_path):
    return tmp_path / "manual"


@pytest.mark.parametrize("write", [pytest.param(write_pngs, marks=pytest.mark.slow), write_mats])
@pytest.mark.parametrize("classes", [pytest.param(59, marks=pytest.mark.slow), 60])
def test_what_is_none_of_the_59_classes_is_void_in_context59_and_background_in_context60(
    write, classes, manual, tmp_path
):
    write(manual)
    builder = build(tmp_path / "data", part(classes), manual)
    names = builder.info.features["labels"].feature.names
    assert names == ["background", *releases.CONTEXT_NUMBERS][60 - classes :]
    found = examples(builder, "train") | examples(builder, "validation")
    for image_id, mask in MASKS.items():
        example = found[f"{image_id}.jpg"]
        expected = np.where(mask == 0, VOID, mask.astype(int) - 1) if classes == 59 else mask
        assert example["segmentation_mask"][..., 0].tolist() == expected.tolist()
        assert [names[n] for n in example["labels"]] == [NAME[v] for v in np.unique(mask) if v]
    assert verify.verify(builder, verify.find_originals(builder, manual)).faults == []


@pytest.mark.parametrize("classes", [59, pytest.param(60, marks=pytest.mark.slow)])
def test_both_forms_of_the_labels_give_the_same_dataset(classes, tmp_path):
    fingerprints = set()
    for write in (write_pngs, write_mats):
        write(tmp_path / write.__name__)
        builder = build(tmp_path / f"of_{write.__name__}", part(classes), tmp_path / write.__name__)
        fingerprints.add(verify.verify(builder).fingerprint)
    assert len(fingerprints) == 1


@pytest.mark.parametrize("folder", ["GroundTruth_trainval_mat", "VOCdevkit/VOC2010/trainval"])
def test_matlab_files_are_found_where_people_have_them(folder, manual, tmp_path):
    write_mats(manual, folder)
    builder = build(tmp_path / "data", part(60), manual)
    assert builder.info.splits["train"].num_examples == 2


@pytest.mark.parametrize("other", ["trainval/VOCdevkit/VOC2010/Annotations", "trainval"])
def test_a_folder_called_trainval_without_labels_is_not_taken_for_them(other, manual, tmp_path):
    write_mats(manual, "GroundTruth_trainval_mat")
    (manual / other).mkdir(parents=True)
    builder = build(tmp_path / "data", part(60), manual)
    assert builder.info.splits["train"].num_examples == 2


def test_the_59_classes_have_the_numbers_of_the_original_labels():
    numbers = list(releases.CONTEXT_NUMBERS.values())
    assert len(releases.CONTEXT_NUMBERS) == 59
    assert numbers == sorted(set(numbers))
    assert list(releases.CONTEXT_NUMBERS) == sorted(releases.CONTEXT_NUMBERS)
    assert sum(numbers) == 12378  # of the numbers in mmsegmentation's converter


def test_other_names_of_the_numbers_are_refused(manual, tmp_path):
    write_mats(manual)
    text = release_twins.context_names().replace("19: bedclothes", "19: beer")
    (manual / "labels.txt").write_text(text)
    with pytest.raises(SourceError, match=r"(?s)labels.txt: 19 is beer.*19 is bedclothes"):
        build(tmp_path / "data", part(59), manual)


def test_a_label_beyond_the_459_is_refused_by_name(manual, tmp_path):
    write_mats(manual)
    values = np.full((30, 20), 460, np.uint16)
    io.savemat(manual / "trainval" / "2008_000003.mat", {"LabelMap": values})
    with pytest.raises((MaskError, SplitError), match=r"2008_000003.mat: the label 460"):
        build(tmp_path / "data", part(59), manual)


def test_a_png_with_a_value_beyond_59_is_refused(manual, tmp_path):
    write_pngs(manual)
    path = manual / "VOCdevkit/VOC2010/SegmentationClassContext/2008_000003.png"
    Image.fromarray(np.full((30, 20), 60, np.uint8)).save(path)
    with pytest.raises((MaskError, SplitError), match=r"2008_000003.png: .*60"):
        build(tmp_path / "data", part(59), manual)


def test_a_missing_label_is_named(manual, tmp_path):
    write_mats(manual)
    (manual / "trainval" / "2008_000003.mat").unlink()
    with pytest.raises(SplitError, match=r"(?s)1 of 2.*trainval/2008_000003"):
        build(tmp_path / "data", part(59), manual)


def test_images_come_out_of_voc2010s_archive_where_only_labels_are_at_hand(manual, tmp_path):
    write_mats(manual)
    (manual / "VOCdevkit").rename(tmp_path / "VOCdevkit")
    (manual / "VOC2010.tar").write_bytes(b"an archive")
    sha256 = hashlib.sha256(b"an archive").hexdigest()
    archive = Archive("VOC2010.tar", (sha256,), ())
    release = dataclasses.replace(RELEASES["context60"], archives=(archive,))

    class Fetcher:
        manual_dir, verified = manual, []

        def extract(self, path):
            assert path.name == "VOC2010.tar"
            return tmp_path

    lists = context.open_trees(release, part(60), Fetcher())
    assert {split: found.tree.read_ids(found.name) for split, found in lists.items()} == {
        "train": ["2008_000002", "2008_000003"],
        "validation": ["2009_000001"],
    }
    assert [found["sha256"] for found in Fetcher.verified] == [sha256]


def test_without_labels_the_error_names_both_forms_and_nothing_is_downloaded(manual, tmp_path):
    release_twins.write_context(manual / "VOC2010", MASKS, LISTS)
    words = r"(?s)no labels in .*SegmentationClassContext.*trainval or GroundTruth_trainval_mat"
    with pytest.raises(SourceError, match=words):
        build(tmp_path / "data", "context59", manual)


def test_lists_that_were_not_published_are_refused(manual, tmp_path):
    write_pngs(manual)
    with pytest.raises(ListError, match=r"(?s)2 ids and val.txt with 1.*4998 and 5105 or 4996 and"):
        build(tmp_path / "data", "context60", manual)


@pytest.mark.parametrize(("train", "val"), [(4998, 5105), (4996, 5104)])
def test_both_published_versions_of_the_split_are_taken_and_no_mixture(train, val):
    ids = [f"2008_{n:06}" for n in range(train + val + 1)]
    context.check_lists("context59", ids[:train], ids[train : train + val], "here")
    with pytest.raises(ListError, match="which share 1"):
        context.check_lists("context59", ids[:train], ids[train - 1 :][:val], "here")
    mixed = {5105: 5104, 5104: 5105}[val]
    with pytest.raises(ListError, match=f"val.txt with {mixed}"):
        context.check_lists("context59", ids[:train], ids[train:][:mixed], "here")


def test_pairs_can_be_sent_to_other_machines(manual):
    write_mats(manual)
    tree = context_tree(manual / "VOCdevkit" / "VOC2010", manual / "trainval")
    pairs = tree.pairs("train", tree.read_ids("train"), NeededFiles())
    sent = json.dumps([pair.to_json() for pair in pairs])
    assert [type(pairs[0]).from_json(data) for data in json.loads(sent)] == list(pairs)


@pytest.mark.parametrize("name", ["context59", "context60"])
def test_the_description_says_that_no_hash_is_known_and_no_real_file_was_read(name):
    said = RELEASES[name].description
    assert "No hash of its lists or labels is known" in said
    assert "tested with made files only" in said
