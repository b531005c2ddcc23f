import json
import types

from etils import epath
import numpy as np
import pytest
from scipy import io
from support import release_twins
from support.building import build, examples

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.errors import (
    ListError,
    MaskError,
    MissingPackageError,
    SourceError,
    SplitError,
)
from voc_seg_tfrecord.core.example import NeededFiles
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.sources import matlab_files, sbd
from voc_seg_tfrecord.sources.sbd import SbdTree

MASK = np.array([[0, 15, 15], [7, 7, 0]], np.uint8)


@pytest.fixture
def dataset(tmp_path):
    folder = tmp_path / "benchmark_RELEASE" / "dataset"
    release_twins.write_sbd(folder, {"2008_000001": MASK}, {"2008_000001": "train.txt"})
    return folder


def read(folder, kind, name="2008_000001"):
    path = folder / kind / f"{name}.mat"
    return matlab_files.read_matlab(File.read(path), "SBD")


def test_class_indices_are_read(dataset):
    mask = read(dataset, "cls")
    assert mask.dtype == np.uint8
    assert mask.tolist() == MASK.tolist()


def test_object_numbers_are_read(dataset):
    assert read(dataset, "inst").tolist() == [[0, 2, 2], [1, 1, 0]]


@pytest.mark.parametrize("below", ["benchmark_RELEASE/dataset", "benchmark_RELEASE", ""])
def test_the_folder_is_found_from_any_level(dataset, tmp_path, below):
    assert sbd.find_sbd(sbd.epath.Path(tmp_path / below)) == dataset


def test_a_list_is_read_from_the_folder_from_above_it_and_from_the_file_itself(dataset, tmp_path):
    for folder in (dataset, tmp_path, dataset / "train.txt"):
        assert sbd.read_sbd_ids(folder, "train") == ["2008_000001"]


def test_a_list_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"(?s)val\.txt: no such file.*what to do"):
        sbd.read_sbd_ids(tmp_path, "val")


def test_an_archive_without_sbd_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sbd, "find_archive", lambda *_, **__: epath.Path("x.tgz"))
    fetcher = types.SimpleNamespace(manual_dir=None, extract=lambda _: epath.Path(tmp_path))
    with pytest.raises(SourceError, match=r"x\.tgz: an archive without SBD"):
        sbd.open_folder(None, None, fetcher)


@pytest.mark.parametrize("name", ["sbd", "2012_aug"])
def test_without_scipy_nothing_is_downloaded(tmp_path, monkeypatch, name):
    monkeypatch.setattr(requirements, "is_installed", lambda module: module != "scipy")
    with pytest.raises(MissingPackageError, match=r"SBD's masks.*this needs SciPy") as caught:
        build(tmp_path / "data", name, None)
    assert caught.value.remedy == "pip install 'scipy>=1.13'"


def test_a_damaged_file_is_named(dataset):
    path = dataset / "cls" / "2008_000001.mat"
    with pytest.raises(MaskError, match=r"2008_000001\.mat: not readable"):
        matlab_files.read_matlab(File(path.read_bytes()[:150], str(path)), "SBD")


def test_the_crafted_files_are_read_as_scipy_reads_them(real_data):
    folder = real_data / "odd" / "sbd_mat_crafted" / "dataset"
    for kind, name in (("cls", "GTcls"), ("inst", "GTinst")):
        path = folder / kind / "2008_000002.mat"
        expected = io.loadmat(path)[name]["Segmentation"][0, 0]
        assert np.array_equal(matlab_files.read_matlab(File.read(path), "SBD"), expected)
    assert sorted(np.unique(read(folder, "cls", "2008_000002"))) == [0, 1, 15, 20]


PART = VocSegConfig(name="part", release="sbd", strict=False)
MASKS = {
    "2008_000001": np.kron(np.array([[0, 15], [12, 0]]), np.ones((20, 25))).astype(np.uint8),
    "2008_000002": np.full((30, 20), 7, np.uint8),
    "2009_000003": np.zeros((16, 16), np.uint8),
}
LISTS = dict(zip(MASKS, ("train.txt", "train.txt", "val.txt"), strict=True))


@pytest.fixture
def manual(tmp_path):
    folder = tmp_path / "manual"
    release_twins.write_sbd(folder / "benchmark_RELEASE" / "dataset", MASKS, LISTS)
    return folder


def test_masks_and_splits_are_sbds_own(manual, tmp_path):
    builder = build(tmp_path / "data", PART, manual)
    found = {split: examples(builder, split) for split in ("train", "validation")}
    assert {split: len(of_split) for split, of_split in found.items()} == {
        "train": 2,
        "validation": 1,
    }
    for example in (e for of_split in found.values() for e in of_split.values()):
        mask = MASKS[example["image/filename"].decode().removesuffix(".jpg")]
        assert example["segmentation_mask"][..., 0].tolist() == mask.tolist()
        assert example["labels"].tolist() == [int(v) for v in np.unique(mask) if v]
    objects = found["train"]["2008_000001.jpg"]["instance_mask"][..., 0]
    expected = np.select([MASKS["2008_000001"] == 12, MASKS["2008_000001"] == 15], [1, 2], 0)
    assert objects.tolist() == expected.tolist()
    assert verify.verify(builder, verify.find_originals(builder, manual)).faults == []


def test_a_mask_that_is_missing_is_named(manual, tmp_path):
    (manual / "benchmark_RELEASE/dataset/cls/2008_000002.mat").unlink()
    with pytest.raises(SplitError, match=r"(?s)1 of 2.*dataset/cls/2008_000002"):
        build(tmp_path / "data", PART, manual)


def test_the_official_config_takes_only_lists_that_make_trainaug(manual, tmp_path):
    with pytest.raises(ListError, match=r"(?s)make 1,4\d\d ids, 1,4\d\d of them in trainaug"):
        build(tmp_path / "data", "sbd", manual)


def test_lists_are_checked_by_what_is_made_from_them():
    aug, val = list_ids("trainaug"), list_ids("voc2012_val")
    of_train, of_val = {*aug[::2], *val[:545]}, {*aug[1::2], *val[545:]}
    sbd.check_lists(of_train, of_val, "here")
    for train in (of_train | {aug[1]}, of_train | {"2008_999999"}):
        with pytest.raises(ListError, match="make the 10,582 ids of trainaug"):
            sbd.check_lists(train, of_val, "here")
    of_voc = set(list_ids("voc2012_train"))
    only_sbds = next(i for i in aug[::2] if i not in of_voc)
    with pytest.raises(ListError, match="10,581 of them in trainaug"):
        sbd.check_lists(of_train - {only_sbds}, of_val, "here")


def test_pairs_can_be_sent_to_other_machines(manual):
    tree = SbdTree(manual / "benchmark_RELEASE" / "dataset")
    pairs = tree.pairs("train", tree.read_ids("train"), NeededFiles(instances=True))
    sent = json.dumps([pair.to_json() for pair in pairs])
    assert [type(pairs[0]).from_json(data) for data in json.loads(sent)] == list(pairs)


def test_its_archive_is_the_one_that_trainaug_needs():
    (archive,) = RELEASES["sbd"].archives
    assert archive.sha256s == RELEASES["2012_aug"].archives[1].sha256s
