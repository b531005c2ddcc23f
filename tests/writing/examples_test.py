import pickle

import numpy as np
from PIL import Image
import pytest
from support.building import build
from support.encoding import decoded, encoded
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, voc_palette
from voc_seg_tfrecord.core import file as formats_file
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.formats import jpeg, png
from voc_seg_tfrecord.writing.examples import make_example, try_examples

NAMES = ("background", "crack", "hole")
SPEC = ExampleSpec(NAMES, index_rule(3))
OFFICIAL = ExampleSpec(NAMES, index_rule(3), official=True)
VALUES = np.array([[0, 2, 255], [0, 2, 2]])


def saved(mode="RGB", kind="JPEG", size=(3, 2)):
    return encoded(Image.new(mode, size), kind)


def raw(image=None, mask=None, **parts):
    mask = write_png(VALUES, palette=voc_palette()) if mask is None else mask
    return RawExample(File(image or saved(), "a.jpg"), "a.jpg", File(mask, "a.png"), **parts)


def test_an_example_has_the_images_bytes_and_the_masks_indices():
    image = saved()
    example = make_example(raw(image), SPEC)
    assert example.pop("image") is image
    assert (decoded(example.pop("segmentation_mask")) == VALUES).all()
    assert example == {
        "image/filename": "a.jpg",
        "image/height": 2,
        "image/width": 3,
        "labels": [2],
    }


def test_an_image_without_a_mask_is_all_background_wherever_that_stands():
    spec = ExampleSpec(("crack", "background"), index_rule(2))
    example = make_example(RawExample(File(saved(), "a.jpg"), "a.jpg", None), spec)
    assert (decoded(example["segmentation_mask"]) == 1).all()
    assert example["labels"] == []


def test_an_official_example_takes_nothing_but_what_a_release_holds():
    assert make_example(raw(), OFFICIAL)["labels"] == [2]
    with pytest.raises(ImageError, match=r"a\.jpg: .*not a plain JPEG"):
        make_example(raw(saved(kind="PNG")), OFFICIAL)
    gray = write_png(VALUES % 4, depth=4, color=0)
    with pytest.raises(MaskError, match=r"a\.png: 4-bit gray PNG"):
        make_example(raw(mask=gray), OFFICIAL)


def test_own_data_may_be_of_other_kinds():
    gray = write_png(VALUES % 3, depth=4, color=0)
    example = make_example(raw(saved(kind="PNG"), gray), SPEC)
    assert (decoded(example["segmentation_mask"]) == VALUES % 3).all()


@pytest.mark.parametrize("label", [None, -1, 3])
def test_a_label_that_is_no_class_is_refused(label):
    spec = ExampleSpec(NAMES, index_rule(3), task="classification")
    assert make_example(raw(label=1), spec)["label"] == 1
    with pytest.raises(ImageError, match=rf"label {label}\n.*0 to 2"):
        make_example(raw(label=label), spec)


def test_instances_that_no_file_holds_are_all_background():
    spec = ExampleSpec(NAMES, index_rule(3), instances=True)
    assert (decoded(make_example(raw(), spec)["instance_mask"]) == 0).all()
    numbers = File(write_png(VALUES, palette=voc_palette()), "i.png")
    example = make_example(raw(instances=numbers), spec)
    assert (decoded(example["instance_mask"]) == VALUES).all()


def test_what_is_wrong_with_an_example_is_returned_to_whoever_gathers_it():
    class Broken:
        id = "a"

        def read(self):
            return raw(mask=b"")

    error = try_examples(SPEC, Broken())
    assert isinstance(error, VocSegError)
    assert error.where == "a.png"


def test_an_image_alone_is_an_example_of_an_image_its_name_and_its_size():
    spec = ExampleSpec((), index_rule(0), task="images")
    alone = RawExample(File(saved(), "a.jpg"), "a.jpg", None)
    expected = ["image", "image/filename", "image/height", "image/width"]
    assert sorted(make_example(alone, spec)) == expected


@pytest.mark.parametrize("own", [False, True])
def test_a_build_finds_out_kind_and_header_of_a_file_once(own, root, tmp_path, monkeypatch):
    seen = {"kind": [], "JPEG header": [], "PNG header": []}

    def count(module, name, what, of=lambda *arguments: arguments):
        function = getattr(module, name)

        def counted(*arguments, **fields):
            seen[what].append(of(*arguments))
            return function(*arguments, **fields)

        monkeypatch.setattr(module, name, counted)

    count(formats_file, "kind_of", "kind", lambda data: data)
    count(jpeg, "JpegHeader", "JPEG header")
    count(png, "PngHeader", "PNG header")
    if own:  # VOC's palette decides without decoding, so the survey asks for kinds alone
        config = VocSegConfig(name="own", class_names=VOC_CLASSES, instance_mask=True)
        build(tmp_path, config, root, workers=1)
    else:
        build(tmp_path, "sample", workers=1)
    assert len({id(data) for data in seen["kind"]}) == len(seen["kind"]) > 0
    # Masks and instance masks, and what the plan looks at in a few masks: the size, and the pixels.
    assert (len(seen["JPEG header"]), len(seen["PNG header"])) == (6, 12 + 6 + 6)


def test_a_raw_example_can_be_sent_to_a_worker():
    example = raw(label=3)
    assert pickle.loads(pickle.dumps(example)) == example


@pytest.mark.parametrize("name", ["n" * 241 + ".jpg", "a\\b.jpg", "a\nb.jpg"])
def test_a_name_that_verify_would_refuse_is_refused(name):
    with pytest.raises(ImageError, match="rename the image and its mask"):
        make_example(RawExample(File(saved(), "a.jpg"), name, None), SPEC)
