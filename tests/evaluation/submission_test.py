import io
import tarfile

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, SplitError
from voc_seg_tfrecord.evaluation import predictions
from voc_seg_tfrecord.evaluation.predictions import read_sizes, write_submission

IDS = ("2008_000006", "2008_000011", "2008_000012")
SIZES = dict.fromkeys(IDS, (4, 6))


@pytest.fixture(autouse=True)
def short_test(monkeypatch):
    """Lets the test have three images."""
    monkeypatch.setattr(predictions, "list_ids", {"voc2012_test": IDS}.__getitem__)


@pytest.fixture
def folder(tmp_path):
    """Predictions of all three images: as grayscale, with VOC's palette, and as an array."""
    folder = tmp_path / "predictions"
    folder.mkdir()
    gray, colored = (Image.fromarray(values(i)) for i in IDS[:2])
    colored.putpalette(voc_palette().tobytes())
    gray.save(folder / f"{IDS[0]}.png")
    colored.save(folder / f"{IDS[1]}.png")
    np.save(folder / f"{IDS[2]}.npy", values(IDS[2]).astype(np.int64))
    return folder


def values(image_id):
    return np.random.default_rng(int(image_id[-2:])).integers(0, 21, (4, 6), np.uint8)


def members(path):
    with tarfile.open(path) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive.getmembers()}


@pytest.mark.parametrize("comp", [5, 6])
def test_it_holds_each_prediction_with_vocs_palette_where_the_server_looks(folder, tmp_path, comp):
    out = tmp_path / "results.tgz"
    assert write_submission(folder, out, sizes=SIZES, comp=comp) == 3
    found = members(out)
    place = f"results/VOC2012/Segmentation/comp{comp}_test_cls"
    assert list(found) == [f"{place}/{i}.png" for i in IDS]
    for image_id in IDS:
        image = Image.open(io.BytesIO(found[f"{place}/{image_id}.png"]))
        assert image.mode == "P"
        assert np.array_equal(np.array(image), values(image_id))
        assert bytes(image.getpalette()) == voc_palette().tobytes()


def test_the_same_predictions_give_the_same_bytes_whatever_the_name_and_the_time(
    folder, tmp_path, monkeypatch
):
    first, second = tmp_path / "a.tgz", tmp_path / "b.tar.gz"
    write_submission(folder, first)
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_submission(folder, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (np.zeros((6, 4), int), "a prediction of 4 x 6 pixels"),
        (np.full((4, 6), 255), "the values 255"),
        (np.full((4, 6), 21), "the values 21"),
        (np.full((4, 6), -1), "the values -1"),
        (None, "no such file"),
    ],
)
def test_what_the_server_would_refuse_is_named_and_nothing_is_written(
    folder, tmp_path, prediction, message
):
    path = folder / f"{IDS[2]}.npy"
    path.unlink() if prediction is None else np.save(path, prediction)
    with pytest.raises(SplitError, match=f"(?s)1 of 3 examples.*{IDS[2]}.*{message}"):
        write_submission(folder, tmp_path / "results.tgz", sizes=SIZES)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions"]


def test_a_prediction_of_an_image_that_is_not_in_the_test_is_named(folder, tmp_path):
    np.save(folder / "2007_000032.npy", np.zeros((3, 3), int))
    with pytest.raises(
        MaskError,
        match=r"1 of 4 predictions are not of the 3 test images .* such as 2007_000032\.npy",
    ):
        write_submission(folder, tmp_path / "results.tgz")


def test_sizes_of_other_images_are_a_wrong_call(folder, tmp_path):
    with pytest.raises(ConfigError, match="1 image, 1 of them in VOC2012's test set"):
        write_submission(folder, tmp_path / "results.tgz", sizes={"2008_000006": (4, 6)})


def test_sizes_are_those_of_a_built_datasets_images(sample):
    sizes = read_sizes(sample, "train")
    assert sizes["2007_000001"] == (48, 64)
    assert len(sizes) == 3
    with pytest.raises(ConfigError, match="no such split"):
        read_sizes(sample, "trainval")


def test_the_command_says_what_it_did_not_check(folder, tmp_path, capsys):
    out = tmp_path / "results.tgz"
    arguments = ["submission", "--predictions", str(folder), "--out", str(out)]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "3 predictions for comp6; checked: ids and values" in printed
    assert "not checked: sizes" in printed
    assert out.exists()
    assert cli.main([*arguments, "--data_dir", str(tmp_path)]) == 2
    assert "--data_dir: given without DATASET@SPLIT" in capsys.readouterr().err
    wrong = ["voc_seg_tfrecord/sample", "--data_dir", str(tmp_path)]
    assert cli.main([*arguments, *wrong]) == 2
    assert cli.main([*arguments[:-1], str(tmp_path / "results.zip")]) == 2
    assert "an ending of .tgz, .tar.gz" in capsys.readouterr().err
