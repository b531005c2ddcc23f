import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded

from voc_seg_tfrecord.audit import look_alikes
from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.formats.file import File


def photo(seed, size=(300, 400)):
    """An image of smooth, random colours."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), np.uint8)
    return Image.fromarray(coarse).resize(size[::-1], Image.Resampling.BICUBIC)


def look(image, form="PNG", **options):
    return look_alikes.look_of(File(encoded(image, form, **options), "image"))


def found(first, second):
    looks = {"train": np.stack(first), "validation": np.stack(second)}
    return list(look_alikes.find(looks))


def test_copies_that_were_scaled_or_encoded_again_are_found_and_nothing_else():
    train = [look(photo(seed)) for seed in range(40)]
    copies = [
        look(photo(3), "JPEG", quality=40),
        look(photo(100)),
        look(photo(7).resize((160, 120))),
        look(photo(5).convert("L")),
        look(photo(11).transpose(Image.Transpose.FLIP_LEFT_RIGHT)),
    ]
    assert found(train, copies) == [
        (("train", 3), ("validation", 0)),
        (("train", 5), ("validation", 3)),
        (("train", 7), ("validation", 2)),
    ]


def test_images_without_contrast_are_not_compared():
    plain = [look(Image.new("RGB", (64, 64), color)) for color in ("white", "white", "grey")]
    assert found(plain, plain) == []


def test_a_split_without_images_has_no_look_alikes():
    looks = {"train": np.zeros((0, 16, 18), np.uint8), "validation": np.stack([look(photo(1))])}
    assert list(look_alikes.find(looks)) == []


def test_pairs_are_found_across_the_borders_of_blocks(monkeypatch):
    monkeypatch.setattr(look_alikes, "_ROWS", 2)
    looks = [look(photo(seed)) for seed in range(5)]
    pairs = found(looks, looks[::-1])
    assert sorted(pairs) == [(("train", n), ("validation", 4 - n)) for n in range(5)]


def test_an_image_that_cannot_be_decoded_is_an_error_of_its_record():
    with pytest.raises(RecordError):
        look_alikes.look_of(File(b"nothing", "image"))
