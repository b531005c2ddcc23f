import numpy as np
from PIL import Image
import pytest
from support import exports
from support.building import build
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, builder_from_tree, from_arrays, voc_palette
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.commands import preview as preview_command
from voc_seg_tfrecord.report.figure import SheetFigure
from voc_seg_tfrecord.report.sheet_example import PANEL_SIDE_PX


def preview(sample, out, *words, split=""):
    return cli.main(["preview", f"{sample.data_dir}{split}", "--out", str(out), *words])


def ids_file(folder, *ids):
    """Returns the options that show these images."""
    file = folder / "ids.txt"
    file.write_text("".join(f"{one}\n" for one in ids))
    return ("--ids", str(file))


def has(path, color):
    with Image.open(path) as image:
        return (np.asarray(image.convert("RGB")) == color).all(-1).sum()


def test_the_number_of_examples_is_the_number_of_rows(sample, tmp_path, capsys):
    assert preview(sample, tmp_path / "one.png", "--num", "1") == 0
    assert preview(sample, tmp_path / "two.png", "--num", "2") == 0
    assert "2 examples of train" in capsys.readouterr().out
    with Image.open(tmp_path / "one.png") as one, Image.open(tmp_path / "two.png") as two:
        assert two.height > 1.5 * one.height


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("split", "ids", "said", "color"),
    [
        ("", (), "3 examples of train", 1),  # although test is the first split
        ("@train[1:3]", (), "2 examples of train[1:3]", 12),
        ("", ("2010_000004", "2007_000001"), "2 examples of train, validation", 1),
    ],
)
def test_train_is_drawn_or_a_slice_of_a_split_or_ids_of_every_split(
    sample, tmp_path, capsys, split, ids, said, color
):
    words = ids_file(tmp_path, *ids) if ids else ()
    assert preview(sample, tmp_path / "a.png", *words, split=split) == 0
    assert capsys.readouterr().out == f"{said} in {tmp_path / 'a.png'}\n"
    assert has(tmp_path / "a.png", voc_palette()[color]) > 1000


def test_background_that_is_not_the_first_class_is_black_in_vocs_colors(tmp_path):
    own = from_arrays(
        [np.full((20, 20, 3), 200, np.uint8)],
        [np.repeat([[0, 1]], 10, 1).repeat(20, 0)],
        name="own",
        class_names=["apple", "background"],
        data_dir=tmp_path / "data",
    )
    assert preview(own, tmp_path / "a.png") == 0
    assert has(tmp_path / "a.png", (0, 0, 0)) > PANEL_SIDE_PX * PANEL_SIDE_PX // 2
    assert has(tmp_path / "a.png", voc_palette()[1]) > PANEL_SIDE_PX * PANEL_SIDE_PX // 2
    assert has(tmp_path / "a.png", (200, 200, 200)) > 1.4 * PANEL_SIDE_PX * PANEL_SIDE_PX


@pytest.mark.slow
def test_real_images_are_drawn_with_every_class_in_its_color(real_data, tmp_path, capsys):
    root = real_data / "voc2012" / "VOCdevkit" / "VOC2012"
    real = builder_from_tree(root, name="real", class_names=VOC_CLASSES, data_dir=tmp_path / "data")
    assert preview(real, tmp_path / "a.png", "--by_class") == 0
    assert "examples of 20 classes of train in" in capsys.readouterr().out
    with Image.open(tmp_path / "a.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    codes = pixels.astype(int) @ (1 << 16, 1 << 8, 1)
    for color in voc_palette()[1:21]:
        assert (codes == color.astype(int) @ (1 << 16, 1 << 8, 1)).sum() > 500


@pytest.mark.slow
def test_classes_without_an_example_are_named(sample, tmp_path, capsys):
    assert preview(sample, tmp_path / "a.png", "--by_class") == 0
    said = capsys.readouterr().out
    assert "examples of 5 classes of train in" in said
    (absent,) = (line for line in said.splitlines() if line.startswith("in no example of train: "))
    assert "boat" in absent
    assert "dog" not in absent
    assert "background" not in absent


@pytest.mark.slow
def test_a_datasets_own_colors_are_painted(tmp_path):
    exports.cvat(tmp_path / "export")  # whose class file has these colors, not in this order
    own = builder_from_tree(tmp_path / "export", name="own", data_dir=tmp_path / "data")
    assert preview(own, tmp_path / "a.png") == 0
    assert preview(own, tmp_path / "b.png", "--by_class") == 0
    for name, color in exports.COLORS.items():
        assert has(tmp_path / "a.png", color) > 1000, name
        assert has(tmp_path / "b.png", color) > 1000, name
    assert not has(tmp_path / "a.png", voc_palette()[1])


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "a.jpg", "a.JPEG"])
def test_the_file_is_what_its_ending_says(sample, tmp_path, name):
    assert preview(sample, tmp_path / name, "--num", "1") == 0
    with Image.open(tmp_path / name) as image:
        assert image.format == ("PNG" if name.lower().endswith("png") else "JPEG")


@pytest.mark.parametrize(
    "words",
    [
        ("--num", "0"),
        ("--num", "-1"),
        ("--seed", "-1"),
        ("--ids", "ids.txt", "--by_class"),
        ("--ids", "ids.txt", "--num", "3"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_named_and_nothing_is_drawn(sample, tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    ids_file(tmp_path, "2007_000001")
    assert preview(sample, tmp_path / "a.png", *words) == 2
    assert words[0].strip("-") in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("split", ["trian", "train[:0]"])
def test_a_wrong_split_is_named_and_nothing_is_drawn(sample, tmp_path, capsys, split):
    assert preview(sample, tmp_path / "a.png", split=f"@{split}") == 2
    assert split in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("name", ["my sheet", "sheet.doc", "sheet.", ".png", "a.webp", "a.pdf"])
def test_a_file_that_is_neither_png_nor_jpeg_is_refused_before_anything_is_read(
    tmp_path, capsys, name
):
    words = ["preview", "voc_seg_tfrecord/not_there", "--out", str(tmp_path / name)]
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: --out {tmp_path / name}: ")
    assert "expected: an ending of .png, .jpg, .jpeg" in error


def test_a_sheet_too_high_for_jpeg_is_refused_and_leaves_no_file(
    sample, tmp_path, monkeypatch, capsys
):
    high = SheetFigure(figsize=(0.01, 700), dpi=100)
    monkeypatch.setattr(preview_command, "preview", lambda *_, **__: high)
    assert preview(sample, tmp_path / "a.jpg") == 2
    assert "save it as .png" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert preview(sample, tmp_path / "a.png") == 0


def test_images_without_masks_are_drawn_too_and_have_no_classes_to_choose_by(tmp_path, capsys):
    config = VocSegConfig(name="part", release="2012_test", strict=False)
    only_images = build(tmp_path / "data", config, DUMMY_DATA)
    for words in ((), ("--num", "1"), ids_file(tmp_path, "2012_000006"), ("--seed", "1")):
        assert preview(only_images, tmp_path / "a.png", *words) == 0
        assert "1 example of test in" in capsys.readouterr().out
        with Image.open(tmp_path / "a.png") as image:
            assert PANEL_SIDE_PX < image.width < 2 * PANEL_SIDE_PX
    assert preview(only_images, tmp_path / "a.png", "--by_class") == 2
    assert "leave out by_class" in capsys.readouterr().err


def test_a_split_may_stand_behind_the_name(sample, tmp_path, capsys):
    out = tmp_path / "a.png"
    assert cli.main(["preview", f"{sample.data_dir}@test", "--out", str(out)]) == 0
    assert "2012_000006" in capsys.readouterr().out or out.exists()


def test_a_place_that_cannot_be_written_is_said_before_a_record_is_read(
    sample, tmp_path, monkeypatch, capsys
):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.mkdir", refuse)
    monkeypatch.setattr("voc_seg_tfrecord.reading.records.read_shards", None)
    for command, name in (("preview", "a.png"), ("report", "a.html")):
        out = str(tmp_path / name)
        assert cli.main([command, str(sample.data_dir), "--out", out]) == 2
        assert "it cannot be written: Permission denied" in capsys.readouterr().err
