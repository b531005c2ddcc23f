import numpy as np
import pytest
from support import make_sbd

from voc_seg_tfrecord.errors import MaskError, SourceError
from voc_seg_tfrecord.official import sbd

MASK = np.array([[0, 15, 15], [7, 7, 0]], np.uint8)


@pytest.fixture
def dataset(tmp_path):
    folder = tmp_path / "benchmark_RELEASE" / "dataset"
    make_sbd.write(folder, {"2008_000001": MASK}, {"2008_000001": "train.txt"})
    return folder


def read(folder, kind, name="2008_000001"):
    path = folder / kind / f"{name}.mat"
    return sbd.read_mask(path.read_bytes(), path)


def test_class_indices_are_read(dataset):
    mask = read(dataset, "cls")
    assert mask.dtype == np.uint8
    assert mask.tolist() == MASK.tolist()


def test_object_numbers_are_read(dataset):
    assert read(dataset, "inst").tolist() == [[0, 2, 2], [1, 1, 0]]


@pytest.mark.parametrize("below", ["benchmark_RELEASE/dataset", "benchmark_RELEASE", ""])
def test_the_folder_is_found_from_any_level(dataset, tmp_path, below):
    assert sbd.find(sbd.epath.Path(tmp_path / below)) == dataset


def test_a_list_is_read_from_the_folder_from_above_it_and_from_the_file_itself(dataset, tmp_path):
    for folder in (dataset, tmp_path, dataset / "train.txt"):
        assert sbd.read_ids(folder, "train") == ["2008_000001"]


def test_a_list_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"(?s)val\.txt: no such file.*what to do"):
        sbd.read_ids(tmp_path, "val")


def test_an_archive_without_sbd_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"x\.tgz: an archive without SBD"):
        sbd.find_unpacked(sbd.epath.Path("x.tgz"), sbd.epath.Path(tmp_path))


def test_a_damaged_file_is_named(dataset):
    path = dataset / "cls" / "2008_000001.mat"
    with pytest.raises(MaskError, match=r"2008_000001\.mat: not readable"):
        sbd.read_mask(path.read_bytes()[:150], path)


def test_values_that_are_no_bytes_are_refused(tmp_path):
    path = tmp_path / "a.mat"
    make_sbd.io.savemat(path, {"GTcls": {"Segmentation": MASK.astype(float) / 2}})
    with pytest.raises(MaskError, match="values from 0"):
        sbd.read_mask(path.read_bytes(), path)


def test_the_crafted_files_are_read_as_scipy_reads_them(real_data):
    folder = real_data / "odd" / "sbd_mat_crafted" / "dataset"
    for kind, name in (("cls", "GTcls"), ("inst", "GTinst")):
        path = folder / kind / "2008_000002.mat"
        expected = make_sbd.io.loadmat(path)[name]["Segmentation"][0, 0]
        assert np.array_equal(sbd.read_mask(path.read_bytes(), path), expected)
    assert sorted(np.unique(read(folder, "cls", "2008_000002"))) == [0, 1, 15, 20]
