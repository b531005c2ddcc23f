import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import from_tree

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.records import read_at
from voc_seg_tfrecord.report.band_display import decode_shown, find_display
from voc_seg_tfrecord.report.folder_examples import FolderExamples
from voc_seg_tfrecord.report.label_errors import check_folder


def build_scenes(folder, dtype="uint16", bands=5):
    """Builds 6 images, each brighter than the one before, a third of it void or without data."""
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    for number in range(6):
        image = np.full((12, 12, bands), 1000 * (number + 1)) + 10 * np.arange(bands)
        mask = np.zeros((12, 12), np.uint8)
        mask[5] = 1
        image[:2] = 0  # without data
        image[2:4] = 60000
        mask[2:4] = 255
        if dtype == "uint8":
            image = image // 250
        np.save(folder / f"images/{number}.npy", image.astype(dtype))
        Image.fromarray(mask).save(folder / f"masks/{number}.png")
    options = {"class_names": ["a", "b"], "bands": "all", "dtype": dtype, "splits": {"train": 1.0}}
    return from_tree(folder, **options)


def shown_values(builder, rgb=None):
    """Returns the color of the labeled pixels of each image, as a page shows it, by its name."""
    display = find_display(builder, rgb)
    values = {}
    for _, record in read_at(builder, {("train", number) for number in range(6)}):
        pixels = decode_shown(record, display)[4:].reshape(-1, 3)
        (color,) = np.unique(pixels, axis=0).tolist()
        values[record.id] = color
    return [values[str(number)] for number in range(6)]


def test_images_of_a_dataset_have_one_range_without_void_and_no_data(tmp_path):
    builder = build_scenes(tmp_path / "scenes")
    assert [red for red, _, _ in shown_values(builder)] == [0, 51, 102, 153, 204, 255]


def test_chosen_bands_are_red_green_and_blue(tmp_path):
    builder = build_scenes(tmp_path / "scenes")
    display = find_display(builder, [3, 2, 1])
    assert display.bands == (3, 2, 1)
    assert display.black.tolist() == [1030, 1020, 1010]
    assert shown_values(builder, [3, 2, 1])[5] == [255, 255, 255]


def test_images_of_uint8_are_shown_as_they_are(tmp_path):
    builder = build_scenes(tmp_path / "scenes", "uint8", 4)
    assert [red for red, _, _ in shown_values(builder)] == [4, 8, 12, 16, 20, 24]


@pytest.mark.parametrize("rgb", [[3, 2], [0, 1, 5], [0, 1, -1]])
def test_bands_that_are_not_there_are_a_wrong_call(tmp_path, rgb):
    builder = build_scenes(tmp_path / "scenes")
    with pytest.raises(ConfigError, match="images whose bands are 0 to 4"):
        find_display(builder, rgb)


@pytest.mark.parametrize("command", ["preview", "report"])
def test_the_option_is_refused_where_it_would_do_nothing(sample, tmp_path, capsys, command):
    words = [command, str(sample.data_dir), "--rgb", "2,1,0", "--out", str(tmp_path / "a.html")]
    if command == "preview":
        words[-1] = str(tmp_path / "a.png")
    assert cli.main(words) == 2
    assert "whose images are RGB of 8 bits" in capsys.readouterr().err
    assert cli.main([*words[:3], "red", *words[4:]]) == 2
    assert "three numbers, such as 3,2,1" in capsys.readouterr().err


@pytest.mark.slow
def test_pages_of_many_bands_are_written(tmp_path):
    builder = build_scenes(tmp_path / "scenes")
    for command, name in (("preview", "a.png"), ("report", "a.html")):
        words = [command, str(builder.data_dir), "--rgb", "3,2,1", "--out", str(tmp_path / name)]
        assert cli.main(words) == 0
        assert (tmp_path / name).stat().st_size > 1000


OPTIONS = {"class_names": ["a", "b"], "bands": "all", "dtype": "uint16", "splits": {"train": 1.0}}
WORDS = ["--class_names", "a,b", "--bands", "all", "--dtype", "uint16", "--splits", "train=1"]


@pytest.mark.parametrize("rgb", [None, [3, 2, 1]])
def test_a_checked_folder_is_shown_as_the_dataset_that_is_built_of_it(tmp_path, rgb):
    builder = build_scenes(tmp_path / "scenes")
    config, report = check_folder(tmp_path / "scenes", **OPTIONS)
    examples = FolderExamples(report, config)
    display = examples.find_display(rgb)
    of_dataset = find_display(builder, rgb)
    for _, record in read_at(builder, {("train", number) for number in range(6)}):
        shown = examples.show_bands(record.id, display)
        assert np.array_equal(shown, decode_shown(record, of_dataset))


def test_an_image_that_a_build_could_not_read_is_shown_by_itself(tmp_path):
    build_scenes(tmp_path / "scenes")
    (tmp_path / "scenes/images/3.npy").write_bytes(b"no array")
    page = tmp_path / "page.html"
    assert cli.main(["check", str(tmp_path / "scenes"), *WORDS, "--html", str(page)]) == 1
    assert "3.npy" in page.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (WORDS, "--html: only the page has"),
        ([*WORDS, "--html", "page.html"], "images whose bands are 0 to 4"),
        (["--write_classes", "classes.csv"], "because --write_classes checks nothing"),
    ],
)
def test_the_page_of_a_folder_refuses_bands_that_it_cannot_show(
    tmp_path, words, told, capsys, monkeypatch
):
    build_scenes(tmp_path / "scenes")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "scenes", *words, "--rgb", "0,1,5"]) == 2
    assert told in capsys.readouterr().err


def test_the_page_of_scores_takes_bands_too(tmp_path, capsys):
    builder = build_scenes(tmp_path / "scenes")
    for number in range(6):
        mask = np.zeros((12, 12), np.uint8)
        (tmp_path / "predicted").mkdir(exist_ok=True)
        Image.fromarray(mask).save(tmp_path / f"predicted/{number}.png")
    words = ["evaluate", f"{builder.data_path}@train", "--predictions", str(tmp_path / "predicted")]
    page = ["--html", str(tmp_path / "page.html")]
    assert cli.main([*words, *page, "--rgb", "3,2,1"]) == 0
    assert "data:image/jpeg" in (tmp_path / "page.html").read_text()
    assert cli.main([*words, "--rgb", "3,2,1"]) == 2
    assert "--html: only the page has" in capsys.readouterr().err
    assert cli.main([*words, *page, "--rgb", "0,1,5"]) == 2
    assert "images whose bands are 0 to 4" in capsys.readouterr().err


def test_the_page_of_a_folder_of_8_bits_refuses_bands(tmp_path, capsys):
    drawing.put_pair(tmp_path / "photos", "a", drawing.truth("a"))
    words = ["check", str(tmp_path / "photos"), "--class_names", "background,a,b"]
    page = ["--html", str(tmp_path / "page.html")]
    assert cli.main([*words, *page, "--rgb", "0,1,2"]) == 2
    assert "a build keeps RGB of 8 bits" in capsys.readouterr().err
