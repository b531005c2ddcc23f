import io
import struct
import threading
import zlib

import imagecodecs
import numpy as np
from PIL import Image, ImageFile
import pytest
from support.encoding import decoded, encoded, stored_image
from support.png_writer import chunk, write_png
import tensorflow as tf
import tifffile

from voc_seg_tfrecord.core import file
from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images, png_stream
from voc_seg_tfrecord.formats.jpeg import JpegHeader

RNG = np.random.default_rng(3)
PIXELS = np.kron(RNG.integers(0, 256, (3, 4, 3), np.uint8), np.ones((8, 8, 1), np.uint8))
IMAGE = Image.fromarray(PIXELS)  # 32 wide, 24 high


def with_orientation(value, image=IMAGE):
    exif = Image.Exif()
    exif[0x0112] = value
    return encoded(image, "JPEG", exif=exif, quality=95, subsampling=0)


def decode_both_ways(data):
    """Returns what TensorFlow and what Pillow make of stored bytes."""
    by_tf = tf.image.decode_image(data, channels=3).numpy()
    by_pillow = decoded(data)
    if by_pillow.ndim == 2:
        by_pillow = np.repeat(by_pillow[..., None], 3, axis=-1)
    return by_tf, by_pillow


KEPT = {
    "JPEG": encoded(IMAGE, "JPEG"),
    "progressive JPEG": encoded(IMAGE, "JPEG", progressive=True),
    "gray JPEG": encoded(IMAGE.convert("L"), "JPEG"),
    "PNG": encoded(IMAGE, "PNG"),
    "gray PNG": encoded(IMAGE.convert("L"), "PNG"),
    "BMP": encoded(IMAGE, "BMP"),
    "JPEG with bytes behind its end": encoded(IMAGE, "JPEG") + b"camera",
}

CONVERTED = {
    "palette PNG": encoded(IMAGE.convert("P", palette=Image.Palette.ADAPTIVE), "PNG"),
    "RGBA PNG": encoded(IMAGE.convert("RGBA"), "PNG"),
    "gray PNG with alpha": encoded(IMAGE.convert("LA"), "PNG"),
    "1-bit PNG": encoded(IMAGE.convert("1"), "PNG"),
    "lossless WebP": encoded(IMAGE, "WEBP", lossless=True),
    "TIFF": encoded(IMAGE, "TIFF"),
    "GIF": encoded(IMAGE, "GIF"),
    "gray BMP": encoded(IMAGE.convert("L"), "BMP"),
    "CMYK JPEG": encoded(IMAGE.convert("CMYK"), "JPEG", quality=100),
}


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("decoding", ["readable", "alike"])
def test_what_decoders_read_right_keeps_its_bytes(kind, decoding):
    stored = stored_image(File(KEPT[kind], "a.jpg"), decoding=decoding)
    assert stored.data is KEPT[kind]
    assert (stored.height, stored.width) == (24, 32)
    by_tf, by_pillow = decode_both_ways(stored.data)
    assert by_tf.shape == by_pillow.shape == (24, 32, 3)
    assert abs(by_tf.astype(int) - by_pillow).max() <= 3


@pytest.mark.parametrize("kind", CONVERTED)
def test_what_only_one_decoder_reads_right_becomes_an_rgb_png(kind):
    stored = stored_image(File(CONVERTED[kind], "a.jpg"))
    by_tf, by_pillow = decode_both_ways(stored.data)
    assert by_tf.shape == (24, 32, 3)
    assert (by_tf == by_pillow).all()
    reference = np.asarray(Image.open(io.BytesIO(CONVERTED[kind])).convert("RGB"))
    assert (by_tf == reference).all()


def test_16_bit_gray_as_rgb_keeps_its_high_byte_as_tensorflow_does():
    values = RNG.integers(0, 1 << 16, (5, 7), np.uint16)
    data = encoded(values)
    by_tf, _ = decode_both_ways(stored_image(File(data, "a.png"), user_wants_rgb=True).data)
    assert (by_tf[..., 0] == values >> 8).all()
    assert (by_tf == tf.image.decode_image(data, channels=3).numpy()).all()


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_an_image_on_its_side_is_rotated_if_its_mask_was_drawn_so(orientation):
    data = with_orientation(orientation)
    rotated = stored_image(File(data, "a.jpg"), exif="auto", mask_size=(32, 24))
    assert (rotated.height, rotated.width) == (32, 24)
    by_tf, _ = decode_both_ways(rotated.data)
    assert by_tf.shape == (32, 24, 3)
    kept = stored_image(File(data, "a.jpg"), exif="auto", mask_size=(24, 32))
    assert kept.data is data


@pytest.mark.parametrize("orientation", [2, 3, 4])
def test_an_upside_down_or_mirrored_image_has_to_be_told(orientation):
    data = with_orientation(orientation)
    with pytest.raises(ImageError, match=rf"orientation {orientation}"):
        stored_image(File(data, "a.jpg"), exif="auto", mask_size=(24, 32))
    assert stored_image(File(data, "a.jpg"), exif="ignore").data is data
    rotated, _ = decode_both_ways(stored_image(File(data, "a.jpg"), exif="apply").data)
    flips = {2: PIXELS[:, ::-1], 3: PIXELS[::-1, ::-1], 4: PIXELS[::-1]}
    assert abs(rotated.astype(int) - flips[orientation]).mean() < 3


def test_a_square_image_on_its_side_has_to_be_told():
    data = with_orientation(6, IMAGE.crop((0, 0, 24, 24)))
    with pytest.raises(ImageError, match="--exif"):
        stored_image(File(data, "a.jpg"), exif="auto", mask_size=(24, 24))


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_the_orientation_of_a_png_and_of_a_webp_counts_too(kind):
    exif = Image.Exif()
    for orientation, size in ((6, (32, 24)), (3, (24, 32))):
        exif[0x0112] = orientation
        data = encoded(IMAGE, kind, exif=exif, lossless=True)
        said = {"exif": "apply"} if orientation == 3 else {"exif": "auto", "mask_size": size}
        rotated, _ = decode_both_ways(stored_image(File(data, "a"), **said).data)
        assert (rotated == np.rot90(PIXELS, 3 if orientation == 6 else 2)).all()
        kept = stored_image(File(data, "a"), exif="ignore")
        assert (decode_both_ways(kept.data)[0] == PIXELS).all()
    with pytest.raises(ImageError, match="orientation 3"):
        stored_image(File(data, "a"), exif="auto", mask_size=(24, 32))


def test_an_upright_image_with_exif_keeps_its_bytes():
    data = with_orientation(1)
    assert stored_image(File(data, "a.jpg"), exif="auto", mask_size=(24, 32)).data is data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "0 bytes"),
        (b"<!DOCTYPE html>", "HTML"),
        (b"version https://git-lfs.github.com/spec/v1", "git-lfs pointer"),
        (KEPT["PNG"][:-20], "truncated"),
        (KEPT["JPEG"][:-20], "truncated"),
        (CONVERTED["TIFF"][:200], "1 of 1 strips outside of the file"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "cannot be decoded"),
        (imagecodecs.jpeg_encode(PIXELS, lossless=True), "without loss"),
        (imagecodecs.jpegls_encode(PIXELS), "without loss"),
    ],
)
def test_what_is_not_a_complete_still_image_is_refused(data, words):
    with pytest.raises(ImageError, match=words):
        stored_image(File(data, "a.jpg"))


def test_a_decompression_bomb_is_stopped_at_its_header(monkeypatch):
    monkeypatch.setattr(file, "MAX_PIXELS", 700)
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("decoded"))
    for data in (*KEPT.values(), *CONVERTED.values()):
        with pytest.raises(ImageError, match="32 x 24 pixels in its header"):
            stored_image(File(data, "a.jpg"))


def test_a_bmp_with_a_byte_too_many_is_stored_anew_because_tensorflow_refuses_it():
    stored = stored_image(File(KEPT["BMP"] + b"\0", "a.bmp"))
    by_tf, by_pillow = decode_both_ways(stored.data)
    assert stored.data.startswith(b"\x89PNG")
    assert (by_tf == PIXELS).all()
    assert (by_pillow == PIXELS).all()


@pytest.mark.parametrize(("offset", "value"), [(10, 55), (14, 41), (30, 1), (22, 25), (18, 20)])
def test_a_bmp_whose_header_lies_is_stored_anew_or_refused(offset, value):
    data = bytearray(KEPT["BMP"])
    data[offset] = value
    try:
        stored = stored_image(File(bytes(data), "a.bmp"))
    except ImageError:
        return
    assert stored.data.startswith(b"\x89PNG")


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_a_png_with_half_its_rows_is_refused(mode):
    data = bytearray(encoded(IMAGE.convert(mode), "PNG"))
    data[16 + 4 : 16 + 8] = struct.pack(">I", 48)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    with pytest.raises(ImageError, match=r"bytes of pixels"):
        stored_image(File(bytes(data), "a.png"))


@pytest.mark.parametrize("kind", KEPT)
def test_trusted_images_are_the_same_and_not_decoded(kind, monkeypatch):
    untrusted = stored_image(File(KEPT[kind], "a.jpg"))
    monkeypatch.setattr(images, "check_readable", None)
    monkeypatch.setattr(images.jpeg, "find_doubt_by_both_decoders", None)
    monkeypatch.setattr(png_stream, "inflate", None)
    assert stored_image(File(KEPT[kind], "a.jpg"), decoding="none") == untrusted


@pytest.mark.parametrize("decoding", ["readable", "alike"])
def test_an_image_that_only_one_decoder_reads_is_refused_unless_it_is_trusted(decoding):
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(3_000_000)))  # Pillow reads no such text
    data = KEPT["PNG"][:33] + text + KEPT["PNG"][33:]
    with pytest.raises(ImageError, match="cannot be decoded"):
        stored_image(File(data, "a.png"), decoding=decoding)
    assert stored_image(File(data, "a.png"), decoding="none").data is data


RNG_OF_DECODERS = np.random.default_rng(5)
NOISE = RNG_OF_DECODERS.integers(0, 256, (40, 56, 3), np.uint8)


def jpeg(**options):
    return encoded(NOISE, "JPEG", **options)


@pytest.fixture(params=["readable", "alike"])
def read(request):
    return lambda data: stored_image(File(data, "i.jpg"), decoding=request.param)


@pytest.mark.parametrize("quality", [1, 30, 95, 100])
@pytest.mark.parametrize("progressive", [False, True])
def test_whole_jpegs_of_any_quality_pass(quality, progressive, read):
    read(jpeg(quality=quality, progressive=progressive))


def test_a_jpeg_whose_header_says_another_size_is_refused(monkeypatch, read):
    monkeypatch.setattr(images.jpeg, "read_header", lambda _: JpegHeader(40, 56, 3, 8))
    with pytest.raises(ImageError, match=r"different sizes"):
        read(jpeg())


def without_tables(data):
    table = data.index(b"\xff\xdb")
    return data[:table] + data[table + 2 + int.from_bytes(data[table + 2 : table + 4]) :]


def test_a_jpeg_without_a_table_that_its_pixels_need_is_refused(read):
    with pytest.raises(ImageError, match="libjpeg-turbo finds: ") as caught:
        read(without_tables(jpeg()))
    assert (caught.value.where, caught.value.kind) == ("i.jpg", "damaged file")


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("end", [b"", b"\xff\xd9"])
def test_a_jpeg_whose_pixels_end_early_is_refused(progressive, end, read):
    data = jpeg(progressive=progressive)
    with pytest.raises(ImageError, match=r"truncated|data segment|end of JPEG"):
        read(data[: len(data) * 2 // 3] + end)


@pytest.mark.parametrize("mode", ["RGB", "CMYK"])
def test_a_jpeg_whose_stream_is_damaged_is_refused_though_both_decoders_decode_it(mode, read):
    data = bytearray(
        encoded(Image.fromarray(NOISE).convert(mode), "JPEG", quality=95, restart_marker_rows=1)
    )
    start = data.index(b"\xff\xda") + 50
    del data[start : start + 300]
    decode_both_ways(bytes(data)) if mode == "RGB" else None
    with pytest.raises(ImageError, match="libjpeg-turbo finds: Corrupt JPEG data"):
        read(bytes(data))


def of_rare_sampling():
    """Returns a gray JPEG with eight times as much brightness as color, which few decoders name.

    Each of its blocks has the two shortest codes, "no difference" and "no frequency".
    """
    data = bytearray(encoded(Image.new("RGB", (16, 16), (128,) * 3), "JPEG", subsampling=0))
    frame = data.index(b"\xff\xc0")
    data[frame + 11] = 0x42  # 4 x 2 blocks of brightness to one of each color
    scan = data.index(b"\xff\xda") + 14
    return bytes(data[:scan]) + bytes.fromhex("28a28a28a28a00") + b"\xff\xd9"


def of_unknown_jfif():
    data = jpeg()
    return data.replace(b"JFIF\0\1", b"JFIF\0\7", 1)


def of_some_phones(data=None):
    data = bytearray(data or jpeg())
    scan = data.index(b"\xff\xda")
    data[scan + 12] = 0  # the last frequency of a scan, which has to be 63
    return bytes(data)


def in_several_scans():
    """A baseline JPEG in which each color is a scan, all with wrong parameters."""
    colors = [jpeg_of_gray(level) for level in (90, 128, 60)]
    frame = colors[0].index(b"\xff\xc0")
    scan = colors[0].index(b"\xff\xda")
    size = colors[0][frame + 5 : frame + 9]
    components = b"".join(bytes([number, 0x11, 0]) for number in (1, 2, 3))
    parts = [colors[0][:frame], b"\xff\xc0\x00\x11\x08", size, b"\x03", components]
    parts.append(colors[0][frame + 13 : scan])  # the tables
    for number, color in enumerate(colors, 1):
        start = color.index(b"\xff\xda")
        parts.append(b"\xff\xda\x00\x08\x01" + bytes([number, 0, 0, 0, 0]))
        parts.append(color[start + 10 : -2])
    return b"".join([*parts, b"\xff\xd9"])


def jpeg_of_gray(level):
    return encoded(Image.new("L", (64, 48), level), "JPEG")


def with_bytes_before_its_end():
    return jpeg()[:-2] + bytes(9) + b"\xff\xd9"


@pytest.mark.parametrize(
    "make", [of_rare_sampling, of_unknown_jfif, of_some_phones, in_several_scans]
)
def test_what_libjpeg_warns_of_in_good_photos_is_kept_without_a_word(make, read):
    data = make()
    decode_both_ways(data)
    assert read(data).data is data
    assert images.describe_doubt(File(data, "i.jpg")) == ""


def without_half_of_its_pixels(data):
    scan = data.index(b"\xff\xda") + 14
    return data[: scan + (len(data) - scan) // 2] + b"\xff\xd9"


def of_damaged_codes(data):
    scan = data.index(b"\xff\xda") + 14
    middle = scan + (len(data) - scan) // 2
    return data[:middle] + b"\xff\x00" * 40 + data[middle + 80 :]


@pytest.mark.parametrize("damage", [without_half_of_its_pixels, of_damaged_codes])
@pytest.mark.parametrize("decoding", ["readable", "alike"])
def test_damage_behind_the_wrong_numbers_of_some_phones_is_found(damage, decoding):
    damaged = damage(jpeg())
    for data in (damaged, of_some_phones(damaged)):
        with pytest.raises(ImageError, match="Corrupt JPEG data"):
            stored_image(File(data, "i.jpg"), decoding=decoding)


def test_the_numbers_of_scans_do_not_hide_that_bytes_are_there_that_no_pixel_needs(read):
    data = of_some_phones(with_bytes_before_its_end())
    assert read(data).data is data
    assert "extraneous bytes before marker 0xd9" in images.describe_doubt(File(data, "i.jpg"))


def test_bytes_that_no_pixel_needs_are_kept_and_named(read):
    data = with_bytes_before_its_end()
    assert read(data).data is data
    assert "extraneous bytes before marker 0xd9" in images.describe_doubt(File(data, "i.jpg"))


def with_bytes_before(markers, count, **options):
    """Returns a JPEG with bytes that no pixel needs before each of some markers."""
    noise = np.random.default_rng(0).integers(0, 256, (96, 128, 3), np.uint8)
    data = encoded(noise, "JPEG", quality=95, **options)
    for marker in markers:
        start = data.index(marker, data.index(b"\xff\xda") + 2)
        data = data[:start] + b"\1" * count + data[start:]
    return data


HARMLESS = {
    "a wrong number in a scan": of_some_phones,
    "bytes before the end": lambda: with_bytes_before([b"\xff\xd9"], 9),
}
BYTES_AMID_PIXELS = {
    "bytes before a restart": lambda: with_bytes_before([b"\xff\xd0"], 32, restart_marker_rows=1),
    "bytes before two restarts": lambda: with_bytes_before(
        [b"\xff\xd1", b"\xff\xd0"], 32, restart_marker_rows=1
    ),
    "few bytes before restarts": lambda: with_bytes_before(
        [b"\xff\xd2", b"\xff\xd1", b"\xff\xd0"], 4, restart_marker_rows=1
    ),
    "bytes before a scan": lambda: with_bytes_before([b"\xff\xda"], 7, progressive=True),
}
DAMAGE = {
    "cut off": lambda data: data[: len(data) * 2 // 3] + b"\xff\xd9",
    "half of the bytes missing": lambda data: data[: len(data) // 3] + data[len(data) * 5 // 6 :],
}


@pytest.mark.parametrize("harmless", HARMLESS)
def test_a_harmless_warning_alone_is_no_damage(harmless, read):
    data = HARMLESS[harmless]()
    assert read(data).data is data


@pytest.mark.parametrize("place", BYTES_AMID_PIXELS)
def test_bytes_that_no_pixel_needs_are_damage_amid_the_pixels(place, read):
    with pytest.raises(ImageError, match="extraneous bytes"):
        read(BYTES_AMID_PIXELS[place]())


@pytest.mark.parametrize("harmless", HARMLESS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_harmless_warning_hides_no_damage(harmless, damage, read):
    with pytest.raises(ImageError, match="libjpeg-turbo finds"):
        read(DAMAGE[damage](HARMLESS[harmless]()))


def running_over():
    data = bytearray(jpeg(quality=100))
    table = data.index(b"\xff\xdb") + 5
    data[table : table + 64] = b"\xff" * 64  # each frequency is now 255 times as strong
    return File(bytes(data), "i.jpg")


def test_a_jpeg_whose_values_run_over_is_refused_if_the_pixels_are_compared():
    with pytest.raises(ImageError, match=r"decode it \d+ of 255 apart"):
        stored_image(running_over(), decoding="alike")


def test_whether_decoders_read_it_alike_is_not_tried_by_the_cheaper_check():
    stored_image(running_over(), decoding="readable")


SMALL_JPEG = File(encoded(Image.new("RGB", (7, 5)), "JPEG"), "a.jpg")
MASK = File(write_png(np.zeros((5, 7), int), color=0), "a.png")


class Turn:
    """A lock that says when a second thread waits for it."""

    def __init__(self):
        self._lock, self.waited_for = threading.Lock(), threading.Event()

    def __enter__(self):
        if not self._lock.acquire(blocking=False):
            self.waited_for.set()
            self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


@pytest.mark.parametrize("files", [(SMALL_JPEG, None), (MASK,)], ids=["image", "mask"])
@pytest.mark.parametrize("large", [False, True])
def test_large_files_are_decoded_one_at_a_time_and_others_side_by_side(files, large, monkeypatch):
    turn, entered = Turn(), threading.Event()
    monkeypatch.setattr(images, "in_turn", lambda: turn)
    monkeypatch.setattr(images, "LARGE", 34 if large else 35)

    def decode():
        with images.large_in_turn(*files):
            entered.set()

    thread = threading.Thread(target=decode)
    with images.large_in_turn(*files):
        thread.start()
        assert (turn.waited_for if large else entered).wait(60)
        assert entered.is_set() != large
    thread.join()
    assert entered.is_set()


def test_a_file_without_a_header_is_left_to_the_decoder(monkeypatch):
    monkeypatch.setattr(images, "LARGE", 0)
    with images.large_in_turn(File(b"\xff\xd8", "a.jpg"), File(b"", "a.png")):
        pass


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize(
    "options", [{"subsampling": n} for n in range(3)] + [{"progressive": True}]
)
def test_jpegs_are_decoded_as_tensorflow_rounds_them(mode, options):
    noise = Image.fromarray(RNG.integers(0, 256, (23, 37, 3), np.uint8)).convert(mode)
    data = encoded(noise, "JPEG", quality=60, **options)
    found = images.decode_rgb(File(data, "a.jpg"), as_tensorflow=True)
    expected = tf.io.decode_image(data, channels=3, expand_animations=False).numpy()
    assert np.array_equal(found, expected)


GRAY = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (8, 1))
LOST = {
    "floats from 0 to 1": (GRAY / 255).astype(np.float32),
    "floats from -1 to 1": (GRAY / 127.5 - 1).astype(np.float32),
    "floats to 1000": GRAY.astype(np.float32) * 4,
    "four bands": np.dstack([GRAY] * 4),
    "13 bands": np.dstack([GRAY] * 13),
}


@pytest.mark.parametrize("kind", LOST)
def test_a_tiff_that_would_lose_bands_or_values_is_refused_with_the_options_that_keep_them(kind):
    file = File(tiff(LOST[kind]), "a.tif")
    with pytest.raises(ImageError, match="--bands all --dtype"):
        images.open_image(file)


@pytest.mark.parametrize("pixels", [GRAY.astype(np.float32), GRAY, np.dstack([GRAY] * 3)])
def test_a_tiff_of_whole_numbers_in_one_or_three_bands_is_stored_with_its_values(pixels):
    still = images.open_image(File(tiff(pixels), "a.tif"))
    expected = pixels if pixels.ndim == 3 else np.dstack([pixels] * 3)
    assert np.array_equal(decoded(still.stored()), expected)


@pytest.mark.parametrize("mode", ["RGBA", "CMYK"])
def test_alpha_and_cmyk_of_a_tiff_are_no_bands_that_would_be_lost(mode):
    image = Image.fromarray(np.dstack([GRAY] * 3)).convert(mode)
    assert images.open_image(File(encoded(image, "TIFF"), "a.tif")).stored()


def tiff(pixels):
    file = io.BytesIO()
    photometric = "rgb" if pixels.ndim == 3 and pixels.shape[2] == 3 else "minisblack"
    planar = "contig" if pixels.ndim == 3 else None
    tifffile.imwrite(file, pixels, photometric=photometric, planarconfig=planar)
    return file.getvalue()
