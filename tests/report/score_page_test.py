import csv
import re

import numpy as np
import pytest
from support import browser

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.quality import appearance
from voc_seg_tfrecord.report import label_errors
from voc_seg_tfrecord.report.score_page import PIXEL_KINDS, classify_pixels, find_costly_confusions

pytestmark = pytest.mark.slow  # a browser shows the pages

NAMES = ("background", "cat", "<img src=x onerror=alert(1)>", "=1+1")


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A dataset of 6 images, its predictions as probabilities, a page and a CSV of the score.

    The prediction is the true mask; image 4 has a mask in which a cat became something else.
    """
    folder = tmp_path_factory.mktemp("scored")
    (folder / "predicted").mkdir()
    images, masks = [], []
    for number in range(6):
        mask = np.zeros((30, 40), np.uint8)
        mask[5:15, 3 : 20 + number] = 1
        mask[20:26, 4:30] = 3
        chances = np.eye(4)[np.where(mask == 255, 0, mask)] * 0.8 + 0.05
        if number == 2:
            chances = np.roll(chances, 4, axis=1)
        np.save(folder / "predicted" / f"=i{number}.npy", chances.transpose(2, 0, 1))
        mask[15, :] = 255
        if number == 4:
            mask[mask == 1] = 2
        images.append(np.full((30, 40, 3), 40 * number, np.uint8))
        masks.append(mask)
    names = [f"=i{number}.png" for number in range(6)]
    options = {"name": "s", "class_names": NAMES, "data_dir": folder, "filenames": names}
    dataset = voc_seg_tfrecord.from_arrays(images, masks, **options)
    words = ["--predictions", folder / "predicted", "--probabilities", "chw"]
    words += ["--html", folder / "page.html", "--per_image", folder / "scores.csv"]
    assert cli.main(["evaluate", f"{dataset.data_path}@train", *map(str, words)]) == 0
    return folder


def test_the_page_loads_nothing_and_names_stay_text(scored):
    with browser.opened(scored / "page.html") as window:
        assert window.noise == []
        decoded = "[...document.images].map(i => { i.loading = 'eager'; return i.decode(); })"
        window.evaluate(f"Promise.all({decoded})")  # fails if one cannot be decoded
        assert window.evaluate("document.querySelectorAll('[onerror],[src=x]').length") == 0
        assert window.evaluate("document.querySelectorAll('.quad').length") > 6
        assert NAMES[2] in window.locator("#classes tbody").text_content()


def test_a_screen_reader_finds_names_and_a_narrow_screen_scrolls_only_down(scored):
    with browser.opened(scored / "page.html", viewport={"width": 360, "height": 700}) as window:
        assert window.evaluate("document.documentElement.scrollWidth") == 360
        for selector, wrong in (
            ("img", "!e.alt"),
            ("table", "!e.caption || !e.querySelector('th[scope=col]')"),
            ("main a, nav a", "!document.querySelector(e.hash)"),
            ("section", "!e.querySelector('h2')"),
            ("[id]", "document.querySelectorAll('#' + CSS.escape(e.id)).length > 1"),
        ):
            all_of = f'[...document.querySelectorAll("{selector}")]'
            assert window.evaluate(f"{all_of}.filter(e => {wrong}).map(e => e.outerHTML)") == []


def ids(window, section):
    return window.locator(f"#{section} .id").all_text_contents()


def test_the_mask_that_probabilities_contradict_comes_first_and_so_does_the_worst_image(scored):
    with browser.opened(scored / "page.html") as window:
        assert ids(window, "labels")[:2] == ["=i4", "=i2"]
        assert ids(window, "worst") == ["=i4", "=i2"]
        assert "difference" in window.locator("#worst .quad").first.text_content()


def test_the_csv_has_a_row_per_image_that_no_spreadsheet_runs(scored):
    with (scored / "scores.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert sorted(rows) == [f"'=i{n}" for n in range(6)]
    assert float(rows["'=i0"]["mIoU"]) == 1
    assert rows["'=i0"]["IoU =1+1"] == "1.0"
    assert rows["'=i0"][f"IoU {NAMES[2]}"] == ""
    assert float(rows["'=i4"]["label quality"]) < 0.2 < float(rows["'=i0"]["label quality"])
    assert int(rows["'=i1"]["pixels"]) == 29 * 40


@pytest.fixture
def perfect(sample, tmp_path):
    """Scores a perfect prediction of the sample; returns the text of its page."""
    for split in sample.info.splits:
        for example in sample.as_dataset(split=split).as_numpy_iterator():
            mask = example["segmentation_mask"][..., 0]
            name = example["image/filename"].decode().replace(".jpg", ".npy")
            np.save(tmp_path / name, np.where(mask == 255, 0, mask))

    def page():
        words = ["--predictions", str(tmp_path), "--html", str(tmp_path / "page.html")]
        assert cli.main(["evaluate", f"{sample.data_dir}@train+test+validation", *words]) == 0
        return (tmp_path / "page.html").read_text()

    return page


def test_a_perfect_prediction_has_a_page_too(perfect):
    text = perfect()
    assert "No image has a wrong pixel." in text
    assert "No pixel is wrong." in text


def test_where_looks_are_not_compared_the_section_says_why(perfect, monkeypatch):
    def damaged(image, *_, **__):
        raise ImageError(image.where, found="no JPEG", expected="an image")

    monkeypatch.setattr(label_errors, "examine_appearances", damaged)
    assert re.search("Regions could not be compared. .*: no JPEG", perfect())
    monkeypatch.setattr(appearance, "is_available", lambda: False)
    text = perfect()
    assert "Install scikit-learn" in text
    assert "None was found" not in text


def test_a_gain_is_what_mending_a_confusion_really_gives():
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 9, (5, 5))
    matrix[3] = 0  # a class that is only predicted
    matrix[:3, 3], matrix[4, 3] = 0, 7  # and all of it in place of one other
    matrix[:, 2], matrix[2] = 0, 0  # and one that is absent
    result = Result(tuple("abcde"), matrix, per_image=(ImageScore("x", "train", 0, {(4, 3): 7}),))
    found = {(one.truth, one.predicted): one.gain for one in find_costly_confusions(result)}
    assert len(found) == 7
    for (truth, predicted), gain in found.items():
        mended = matrix.copy()
        mended[truth, truth] += mended[truth, predicted]
        mended[truth, predicted] = 0
        assert gain == pytest.approx(Result(tuple("abcde"), mended).miou - result.miou)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_difference_tells_six_things_apart():
    mask = np.array([[0, 1, 255, 1, 0, 1]], np.uint8)
    classes = np.array([[0, 1, 1, 0, 1, 2]], np.uint8)
    found = [PIXEL_KINDS[kind] for kind in classify_pixels(mask, classes, 0)[0]]
    expected = ["right, background", "right", "void", "missed", "too much", "another class"]
    assert found == expected
    assert [PIXEL_KINDS[k] for k in classify_pixels(mask, classes, None)[0]][3:] == [
        "another class"
    ] * 3


def test_where_a_page_cannot_be_written_it_is_said_before_anything_is_scored(
    sample, tmp_path, capsys
):
    words = ["--predictions", str(tmp_path), "--html", str(tmp_path / "none" / "page.html")]
    assert cli.main(["evaluate", f"{sample.data_dir}@train", *words]) == 2
    assert re.search("--html .*no folder", capsys.readouterr().err)
