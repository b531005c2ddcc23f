import dataclasses
import hashlib
import io
import json
import shutil
import tarfile

import numpy as np
from PIL import Image
import pytest
from support import release_twins
from support.building import build, examples, files, shuffled
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ListError, SourceError, SplitError
from voc_seg_tfrecord.core.example import NeededFiles
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.sources import trainaug
from voc_seg_tfrecord.sources.sbd import SbdTree
from voc_seg_tfrecord.sources.trainaug import TrainaugTreeOfPngs, TrainaugTreeWithSbd

# VOC2012 train of the drawn tree is 2007_000001, 2008_000002 and 2009_000003, val is
# 2010_000004 and 2011_000005. SBD has one of each and two that only it labels.
VOC2012 = DUMMY_DATA / "VOCdevkit" / "VOC2012"
ONLY_SBD = ("2008_100001", "2009_100002")
PART = VocSegConfig(name="part", release="2012_aug", strict=False)
SBD_MASK = np.kron(np.array([[0, 15], [12, 0]]), np.ones((20, 25))).astype(np.uint8)


@pytest.fixture(autouse=True)
def drawn_ids_are_vocs(monkeypatch):
    """Lets the lists know the drawn images, one of which bears the name of one of SBD's."""
    drawn = {path.stem for path in (VOC2012 / "SegmentationClass").iterdir()}
    ids_of_voc = trainaug._ids_of_voc()
    monkeypatch.setattr(trainaug, "_ids_of_voc", lambda: ids_of_voc | drawn)


@pytest.fixture
def of_sbd(devkit, root):
    """A devkit with SBD's folder beside it."""
    voc = ("2007_000001", "2010_000004")
    images = {i: np.asarray(Image.open(root / "JPEGImages" / f"{i}.jpg")) for i in voc}
    masks = {i: np.full(image.shape[:2], 3, np.uint8) for i, image in images.items()}
    masks |= dict.fromkeys(ONLY_SBD, SBD_MASK)
    lists = {
        "2007_000001": "val.txt",
        "2010_000004": "train.txt",
        ONLY_SBD[0]: "train.txt",
        ONLY_SBD[1]: "val.txt",
    }
    release_twins.write_sbd(devkit / "benchmark_RELEASE" / "dataset", masks, lists)
    return devkit


@pytest.fixture
def of_pngs(devkit, root):
    """A tree with SegmentationClassAug and DeepLab's list of two columns."""
    (root / "SegmentationClassAug").mkdir()
    ids = (root / "ImageSets/Segmentation/train.txt").read_text().split()
    for image_id in ONLY_SBD:
        Image.fromarray(SBD_MASK).save(root / "SegmentationClassAug" / f"{image_id}.png")
        image = Image.fromarray(np.repeat(SBD_MASK[..., None] * 9, 3, 2))
        image.save(root / "JPEGImages" / f"{image_id}.jpg")
    for image_id in ids:
        wrong = Image.fromarray(np.zeros((5, 5), np.uint8))
        wrong.save(root / "SegmentationClassAug" / f"{image_id}.png")
    lines = [f"/JPEGImages/{i}.jpg /SegmentationClassAug/{i}.png\n" for i in (*ids, *ONLY_SBD)]
    (root / "ImageSets/Segmentation/train_aug.txt").write_text("".join(lines))
    return devkit


def check(builder, root):
    """Checks what must hold for either source; returns train's examples."""
    train = examples(builder, "train")
    ids = ["2007_000001", "2008_000002", "2009_000003", *ONLY_SBD]
    assert sorted(train) == sorted(f"{i}.jpg" for i in ids)
    source = builder.info.features["mask_source"]
    for name, example in train.items():
        stem = name.removesuffix(".jpg")
        mask = example["segmentation_mask"][..., 0]
        if stem in ONLY_SBD:
            assert source.int2str(example["mask_source"]) == "sbd"
            assert mask.tolist() == SBD_MASK.tolist()
            assert example["labels"].tolist() == [12, 15]
        else:
            assert source.int2str(example["mask_source"]) == "voc"
            for feature, folder in (
                ("segmentation_mask", "SegmentationClass"),
                ("instance_mask", "SegmentationObject"),
            ):
                voc = np.asarray(Image.open(root / folder / f"{stem}.png"))
                assert example[feature][..., 0].tolist() == voc.tolist()
    assert builder.info.splits["validation"].num_examples == 2
    return train


def test_masks_of_sbd_are_used_where_voc_has_none(of_sbd, root, tmp_path):
    builder = build(tmp_path / "data", PART, of_sbd)
    train = check(builder, root)
    objects = train[f"{ONLY_SBD[0]}.jpg"]["instance_mask"][..., 0]
    assert objects.tolist() == np.select([SBD_MASK == 12, SBD_MASK == 15], [1, 2], 0).tolist()


def test_png_masks_are_used_where_voc_has_none(of_pngs, root, tmp_path):
    builder = build(tmp_path / "data", PART, of_pngs)
    train = check(builder, root)
    # No one has numbered these objects: that is not known, not background.
    assert (train[f"{ONLY_SBD[0]}.jpg"]["instance_mask"] == 255).all()


@pytest.mark.parametrize("source", ["of_sbd", "of_pngs"])
def test_either_source_can_be_verified(source, request, tmp_path):
    folder = request.getfixturevalue(source)
    builder = build(tmp_path / "data", PART, folder)
    assert verify.verify(builder, verify.find_originals(builder, folder)).faults == []


def tree_with_sbd(root, devkit):
    return TrainaugTreeWithSbd(root, sbd_tree=SbdTree(devkit / "benchmark_RELEASE" / "dataset"))


@pytest.mark.usefixtures("of_pngs")
def test_both_sources_have_the_same_ids(of_sbd, root):
    by_mat = tree_with_sbd(root, of_sbd)
    assert by_mat.read_ids("train") == sorted(TrainaugTreeOfPngs(root).read_ids("train"))


def replace_sbd(monkeypatch, sha256):
    """Makes SBD an archive with this hash and no address."""
    row = releases.RELEASES["2012_aug"]
    ours = releases.Archive("benchmark.tgz", (sha256,), (), ("train",))
    replaced = dataclasses.replace(row, archives=(row.archives[0], ours))
    monkeypatch.setitem(releases.RELEASES, "2012_aug", replaced)


def test_sbds_own_archive_is_unpacked(of_sbd, root, tmp_path, monkeypatch):
    path = of_sbd / "benchmark.tgz"
    with tarfile.open(path, "w") as archive:  # a plain tar under this name, as is said of SBD's
        archive.add(of_sbd / "benchmark_RELEASE", "benchmark_RELEASE")
    shutil.rmtree(of_sbd / "benchmark_RELEASE")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    replace_sbd(monkeypatch, sha256)
    check(build(tmp_path / "data", PART, of_sbd), root)


def test_another_archive_under_sbds_name_is_refused(devkit, tmp_path):
    with tarfile.open(devkit / "benchmark.tgz", "w") as archive:
        archive.addfile(tarfile.TarInfo("x"), io.BytesIO())
    with pytest.raises(SourceError, match=r"benchmark\.tgz: \d+ bytes, sha256"):
        build(tmp_path / "data", PART, devkit)


def test_without_sbd_all_ways_out_are_named(devkit, tmp_path, monkeypatch):
    replace_sbd(monkeypatch, "0")
    with pytest.raises(SourceError, match=r"(?s)SegmentationClassAug.* nor benchmark.tgz"):
        build(tmp_path / "data", PART, devkit)


def test_the_official_config_takes_only_the_official_ids(of_sbd, tmp_path):
    with pytest.raises(ListError, match=r"(?s)5 ids.*train of VOC2012_aug: 10582 ids"):
        build(tmp_path / "data", "2012_aug", of_sbd)


def test_a_mask_that_is_missing_is_named(of_sbd, tmp_path):
    (of_sbd / "benchmark_RELEASE/dataset/cls" / f"{ONLY_SBD[0]}.mat").unlink()
    with pytest.raises(SplitError, match=rf"(?s)1 of 5.*dataset/cls/{ONLY_SBD[0]}"):
        build(tmp_path / "data", PART, of_sbd)


def test_a_mask_of_voc_is_never_replaced_by_sbds(of_sbd, root):
    official = "2007_000032"  # in VOC2012 train
    tree = tree_with_sbd(root, of_sbd)
    sbds = tree.sbd_tree.root / "cls" / f"{ONLY_SBD[0]}.mat"
    shutil.copy(sbds, tree.sbd_tree.root / "cls" / f"{official}.mat")
    shutil.copy(root / "JPEGImages/2007_000001.jpg", root / f"JPEGImages/{official}.jpg")
    with pytest.raises(SplitError, match=f"VOC2012/SegmentationClass/{official}: no such file"):
        tree.pairs("train", [official])


def test_pairs_can_be_sent_to_other_machines(of_sbd, root):
    tree = tree_with_sbd(root, of_sbd)
    pairs = tree.pairs("train", tree.read_ids("train"), NeededFiles(instances=True))
    sent = json.dumps([pair.to_json() for pair in pairs])
    assert [type(pairs[0]).from_json(data) for data in json.loads(sent)] == list(pairs)


@pytest.mark.usefixtures("of_pngs")
def test_a_mask_of_sbd_that_lies_among_vocs_is_still_sbds(root):
    known = min(set(list_ids("trainaug")) - set(list_ids("voc2012_train")) - {"2008_000002"})
    for folder, name in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        shutil.copy(root / folder / f"2007_000001.{name}", root / folder / f"{known}.{name}")
    (pair,) = TrainaugTreeOfPngs(root).pairs("train", [known], NeededFiles(instances=True))
    assert pair.mask_source == "sbd"
    assert pair.instances is None


@pytest.mark.parametrize("parts", [NeededFiles(), NeededFiles(instances=True, background=True)])
def test_the_tree_can_stand_for_its_base(root, parts):
    ids = VocTree(root).read_ids("val")
    if parts.background:
        (root / "SegmentationClass" / f"{ids[0]}.png").unlink()
    ours = TrainaugTreeOfPngs(root).pairs("validation", ids, parts)
    for base, pair in zip(VocTree(root).pairs("validation", ids, parts), ours, strict=True):
        assert pair.read() == base.read()


@pytest.mark.slow
def test_classes_are_mapped_whoever_drew_the_mask(of_sbd, tmp_path):
    rows = {"person": "person", "*": "background"}
    config = VocSegConfig(name="person", release="2012_aug", strict=False, classes=rows)
    plain, found = (examples(build(tmp_path / c.name, c, of_sbd), "train") for c in (PART, config))
    assert {example["mask_source"] for example in plain.values()} == {0, 1}
    for name, example in plain.items():
        mask = example["segmentation_mask"]
        expected = np.where(mask == 255, 255, mask == 15)
        assert (found[name]["segmentation_mask"] == expected).all()


@pytest.mark.slow
def test_shards_are_those_that_tfds_shuffles_whoever_drew_the_masks(of_sbd, tmp_path):
    with shuffled():
        expected = files(build(tmp_path / "theirs", PART, of_sbd))
    for options in ({}, {"workers": 2}):
        builder = build(tmp_path / f"ours{len(options)}", PART, of_sbd, **options)
        assert files(builder) == expected
