import numpy as np
from PIL import Image
import pytest
from support.building import examples
from support.scoring import devkit, moved

from voc_seg_tfrecord import VOC_CLASSES, evaluation, verify, voc_palette
from voc_seg_tfrecord.errors import ConfigError, MaskError, SplitError


@pytest.fixture
def predictions(sample, tmp_path):
    """A folder of predictions for train: index PNG, palette PNG and NumPy file."""
    folder = tmp_path / "predictions"
    folder.mkdir()
    for number, (name, example) in enumerate(sorted(examples(sample, "train").items())):
        values = moved(example["segmentation_mask"][..., 0])
        path = folder / name.replace(".jpg", ".png")
        if number == 0:
            np.save(path.with_suffix(".npy"), values.astype(np.int64))
            continue
        image = Image.fromarray(values)
        if number == 1:
            image.putpalette(voc_palette().tobytes())
        image.save(path)
    return folder


def test_every_kind_of_prediction_is_scored_as_the_devkit_does(sample, predictions):
    result = evaluation.evaluate(sample, "train", predictions)
    masks = [e["segmentation_mask"][..., 0] for e in examples(sample, "train").values()]
    matrix, iou = devkit(masks, [moved(mask) for mask in masks], len(VOC_CLASSES))
    assert (result.matrix == matrix).all()
    assert result.miou == pytest.approx(np.nanmean(iou), abs=1e-15)
    assert result.images == 3
    assert result.dataset.endswith("@train")


def test_the_fingerprint_is_that_of_verify(sample, predictions):
    report = verify.verify(sample)
    split = {"train": report.splits["train"].fingerprint}
    found = evaluation.evaluate(sample, "train", predictions).fingerprint
    assert found == verify.fingerprint.of_dataset(split)


def test_a_missing_prediction_is_named(sample, predictions):
    next(predictions.glob("*.png")).unlink()
    with pytest.raises(SplitError, match=r"(?s)1 of 3 .*\.png: no such file.*predict all"):
        evaluation.evaluate(sample, "train", predictions)


def test_a_prediction_of_another_image_is_named(sample, predictions):
    np.save(predictions / "stranger.npy", np.zeros((3, 3), int))
    with pytest.raises(MaskError, match=r"stranger\.npy: 1 of 4 predictions"):
        evaluation.evaluate(sample, "train", predictions)


def colors(image):
    return image.convert("RGB")


def other_palette(image):
    image.putpalette([c for n in range(256) for c in (n, 255 - n, 7)])
    return image


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda i: i.resize((5, 5)), "a prediction of 5 x 5 pixels"),
        (lambda i: i.point(lambda _: 77), r"a prediction with the values 77"),
        (lambda i: i.point(lambda _: 255), "255 is no prediction"),
        (colors, "colours"),
        (other_palette, "a palette that is not VOC's"),
    ],
)
def test_a_prediction_that_cannot_be_scored_is_named(sample, predictions, change, message):
    path = max(predictions.glob("*.png"))
    with Image.open(path) as image:
        change(Image.fromarray(np.array(image))).save(path)
    with pytest.raises(SplitError, match=rf"(?s)1 of 3.*{path.name}: .*{message}"):
        evaluation.evaluate(sample, "train", predictions)


@pytest.mark.parametrize("ending", [".npy", ".PNG", ".NPY"])
def test_two_files_for_one_image_are_refused_and_both_are_named(sample, predictions, ending):
    path = next(predictions.glob("*.png"))
    other = path.with_suffix(ending)
    other.write_bytes(b"never opened")
    if path.samefile(other):
        pytest.skip("this disk takes both names for one file")
    with pytest.raises(ConfigError, match="1 id with more than one file") as caught:
        evaluation.evaluate(sample, "train", predictions)
    assert path.name in str(caught.value)
    assert other.name in str(caught.value)


@pytest.mark.parametrize("name", ["nothing", "."])
def test_a_folder_without_predictions_is_named(sample, tmp_path, name):
    with pytest.raises(ConfigError, match=r"no such folder|no \.png"):
        evaluation.evaluate(sample, "train", tmp_path / name)
