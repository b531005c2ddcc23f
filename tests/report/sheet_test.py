import numpy as np
from PIL import Image
from support.building import build

from voc_seg_tfrecord import VOC_CLASSES, voc_palette
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.report.sheet import sheet


def test_a_sheet_shows_image_mask_and_overlay_in_their_colours():
    mask = np.full((240, 240, 1), 15, np.uint8)
    mask[:120] = 255
    image = np.full((240, 240, 3), 100, np.uint8)
    example = {"image": image, "segmentation_mask": mask, "image/filename": b"a.jpg"}
    pixels = np.asarray(sheet([example], VOC_CLASSES, 0))
    assert tuple(pixels[200, 100]) == (100, 100, 100)
    assert tuple(pixels[200, 350]) == tuple(voc_palette()[15])
    assert tuple(pixels[50, 350]) == (224, 224, 192)
    assert tuple(pixels[200, 600]) == tuple(50 + voc_palette()[15] // 2)


def test_background_is_black_and_not_laid_over_whichever_class_it_is():
    mask = np.full((240, 240, 1), 1, np.uint8)
    image = np.full((240, 240, 3), 100, np.uint8)
    example = {"image": image, "segmentation_mask": mask, "image/filename": b"a.jpg"}
    pixels = np.asarray(sheet([example], ["apple", "background"], 1))
    assert tuple(pixels[200, 350]) == (0, 0, 0)
    assert tuple(pixels[200, 600]) == (100, 100, 100)


def test_the_command_saves_an_image(tmp_path, capsys):
    build(tmp_path, "sample")
    out = tmp_path / "sheet.png"
    words = ["preview", "voc_seg_tfrecord/sample", "--data_dir", str(tmp_path), "--out", str(out)]
    assert cli.main([*words, "--split", "train"]) == 0
    assert "3 examples of train" in capsys.readouterr().out
    with Image.open(out) as image:
        assert image.size[1] > 600
    assert cli.main([*words, "--split", "nothing"]) == 2
