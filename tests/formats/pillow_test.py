import errno
import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageFile
import pytest
from support.encoding import encoded, two_frames
from support.png_writer import png_around, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import ImageError, MaskError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow, stills

RNG = np.random.default_rng(5)
GRAY = RNG.integers(0, 256, (6, 8), np.uint8)
RGB = RNG.integers(0, 256, (6, 8, 3), np.uint8)


def saved(pixels, kind="PNG", mode=None):
    image = Image.fromarray(pixels)
    return File(encoded(image.convert(mode) if mode else image, kind), "a.png")


def decode(data, error=ImageError):
    return pillow.decode(data if isinstance(data, File) else File(data, "a.png"), error)


@pytest.mark.parametrize("pixels", [GRAY, RGB], ids=["gray", "rgb"])
@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_samples_come_back_as_they_were_saved(pixels, kind):
    still = decode(saved(pixels, kind))
    assert (still.values() == pixels).all()
    assert (still.height, still.width) == (6, 8)
    assert still.palette() is None


def test_a_palette_image_gives_its_indices_and_its_colors():
    still = decode(write_png(GRAY, palette=voc_palette()))
    assert (still.values() == GRAY).all()
    assert (still.palette() == voc_palette()).all()


def test_alpha_is_the_last_channel():
    values = decode(saved(RGB, mode="RGBA")).values()
    assert values.shape == (6, 8, 4)
    assert (values[..., 3] == 255).all()


def test_encoded_pngs_decode_to_the_same_pixels():
    for pixels in (GRAY, RGB):
        assert (decode(pillow.encode_png(pixels)).values() == pixels).all()


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_a_file_of_two_frames_is_refused_before_any_is_decoded(kind, monkeypatch):
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(MaskError, match=r"(?s)a\.png: .*animated|several pages") as caught:
        decode(two_frames(kind), MaskError)
    assert caught.value.kind == "animated file"


@pytest.mark.parametrize(
    "raised",
    [
        OSError,
        SyntaxError,
        struct.error,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        EOFError,
        zlib.error,
        Image.DecompressionBombError,
    ],
)
def test_whatever_pillow_raises_is_our_error_with_the_files_name(raised, monkeypatch):
    def load(_):
        raise raised("why")

    monkeypatch.setattr(ImageFile.ImageFile, "load", load)
    with pytest.raises(RecordError, match=r"a\.png: it cannot be decoded: .*why"):
        decode(saved(GRAY), RecordError)


@pytest.mark.parametrize("raised", [MemoryError("why"), OSError(errno.ENOMEM, "why")])
def test_a_lack_of_memory_is_no_damage_of_the_file_and_names_it(raised, monkeypatch):
    def load(_):
        raise raised

    monkeypatch.setattr(ImageFile.ImageFile, "load", load)
    with pytest.raises(MemoryError, match=r"a\.png: .*why"):
        decode(saved(GRAY), RecordError)


def test_a_palette_image_without_its_palette_is_refused():
    rows = np.concatenate([np.zeros((6, 1), np.uint8), GRAY], axis=1).tobytes()
    data = png_around(zlib.compress(rows), 8, 6, color=3)
    with pytest.raises(MaskError, match=r"a\.png: a palette image without its palette"):
        decode(data, MaskError)


@pytest.mark.parametrize("data", [b"", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"P5 1 1 255 0"])
def test_what_is_no_image_of_a_known_kind_does_not_reach_pillow(data, monkeypatch):
    monkeypatch.setattr(Image, "open", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(ImageError, match="expected: a PNG, a JPEG, a GIF, a BMP, a TIFF or a WebP"):
        decode(data)


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_no_error_shows_an_object_in_memory(kind):
    data = saved(RGB, kind).data
    for damaged in (data[:12], data[:12] + bytes(len(data) - 12), data[: len(data) // 2]):
        with pytest.raises(ImageError) as caught:
            decode(damaged)
        assert " object at 0x" not in str(caught.value)


def test_a_large_image_is_thinned_to_four_times_the_side_before_it_is_shrunk(monkeypatch):
    pixels = np.arange(100 * 60 * 3, dtype=np.uint32).reshape(100, 60, 3).astype(np.uint8)
    assert pillow.thinned(pixels, 10) is pixels
    monkeypatch.setattr(stills, "PIXELS_PER_STRIP", 100)
    assert np.array_equal(pillow.thinned(pixels, 10), pixels[::2, ::2])
    assert pillow.thinned(pixels, 50) is pixels
    assert pillow.shrink(pixels, 10).shape == (10, 6, 3)


@pytest.mark.parametrize("kind", ["BMP", "GIF", "TIFF"])
def test_a_truncated_file_is_refused_though_pillow_was_told_to_be_lenient(kind, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as TFDS does for thumbnails
    noise = np.random.default_rng(0).integers(0, 256, (60, 80), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, kind)
    data = buffer.getvalue()
    with pytest.raises(ImageError):
        pillow.decode(File(data[: len(data) * 2 // 3], "image"), ImageError)


@pytest.mark.parametrize("size", [(37, 23), (220, 2)])
@pytest.mark.parametrize("mode", ["RGB", "L", "1", "LA", "RGBA", "P", "I;16"])
def test_what_is_made_of_an_image_in_bands_is_the_same_as_of_the_whole(mode, size, monkeypatch):
    pixels = np.random.default_rng(0).integers(0, 256, (*size, 4), dtype=np.uint8)
    image = Image.fromarray(pixels)
    if mode == "I;16":
        image = Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)
    elif mode == "P":
        image = image.convert("RGB").quantize(40)
    else:
        image = image.convert(mode)
    data = io.BytesIO()
    image.save(data, "PNG")
    still = pillow.decode(File(data.getvalue(), "a.png"), ImageError)
    rgb = still.rgb()

    def made(still):
        squeezed = [still.resized(*size).rgb() for size in ((7, 6), (50, 9))]
        return [array.tolist() for array in (still.rgb(), still.gray(5, 4), *squeezed)]

    whole, values = made(still), still.values()
    monkeypatch.setattr(stills, "PIXELS_PER_STRIP", 100)
    assert made(still) == whole
    assert (still.values() == values).all()
    assert made(stills.as_still(rgb, "a.png", ImageError)) == whole
