"""Inputs of each kind, made from a seed, and judges of what the package does with them.

A judge returns `equal` (accepted and right), `refused` (by an error of the package), `lenient`
(the file breaks rules of its format, and all decoders read it alike), or a word in capitals for
what must not be: `WRONG`, or `FOREIGN` and the exception's name.
"""

from collections.abc import Callable
import functools
import io
import os
import pathlib
import random
import tempfile
import unicodedata
import zlib

from etils import epath
from fuzz import datasets, wholes
from fuzz.mutations import damaged
import numpy as np
from PIL import Image
from support.encoding import decode_mask, stored_image
from support.paths import DUMMY_DATA
from support.png_writer import chunk, write_png

from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.formats import images, index_masks, mask_samples, png, png_stream
from voc_seg_tfrecord.sources import matlab_files
from voc_seg_tfrecord.sources.records.scan import make_items, scan_records
from voc_seg_tfrecord.tools import registry
from voc_seg_tfrecord.tools.class_file import read_class_files
from voc_seg_tfrecord.writing import annotations
from voc_seg_tfrecord.writing.examples import make_example

CLASSES = tuple(f"class{n}" for n in range(21))
RULE = index_rule(21)
_DEPTHS = {0: (1, 2, 4, 8, 16), 3: (1, 2, 4, 8), 4: (8, 16)}


def judged(kind: str, seed: str) -> str:
    """Makes the input of a seed and judges what happens to it."""
    try:
        return KINDS[kind](random.Random(f"{kind} {seed}"))
    except VocSegError:
        return "refused"
    except Exception as error:
        return f"FOREIGN {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def mask(rng: random.Random) -> str:
    """A PNG mask of any depth and kind, its chunks or its bytes damaged in half of the cases."""
    color, channels = rng.choice(((0, 1), (0, 1), (3, 1), (3, 1), (4, 2)))
    depth = rng.choice(_DEPTHS[color])
    shape = (rng.randrange(1, 9), rng.randrange(1, 9), channels)
    samples = _generator(rng).integers(0, min(21, 1 << depth), shape)
    samples[..., 1:] = (1 << depth) - 1  # opaque
    palette = np.repeat(np.arange(1 << depth), 3) if color == 3 else None
    whole = data = write_png(samples, depth=depth, color=color, palette=palette)
    if rng.random() < 0.3:
        data = _with_other_chunks(rng, data)
    elif rng.random() < 0.5:
        data = damaged(rng, data)
    cut = (color, depth) == (4, 16)  # decoders cut these to 8 bits
    try:
        found = decode_mask(File(index_masks.read_mask(File(data, "m.png"), RULE).png, "stored"))
    except VocSegError:
        return "WRONG refused a valid mask" if data == whole and not cut else "refused"
    expected = samples[..., 0] if data == whole or cut else _by_pillow(data)
    if not np.array_equal(found, expected):
        return "WRONG pixels"
    return "equal" if data == whole else "lenient"


def _with_other_chunks(rng: random.Random, data: bytes) -> bytes:
    """Returns a PNG of which one chunk is damaged, missing or followed by another."""
    chunks = []
    place = 8
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    number = rng.randrange(len(chunks))
    kind, content = chunks[number]
    others = rng.choice(
        (
            [(kind, damaged(rng, content))],
            [],
            [chunks[number], rng.choice(((b"tEXt", b"a\0b"), (b"ABCD", b""), *chunks))],
        )
    )
    chunks[number : number + 1] = others
    return data[:8] + b"".join(chunk(*one) for one in chunks)


def _by_pillow(data: bytes) -> np.ndarray:
    """Returns the samples of a mask; Pillow stretches gray ones of 2 and 4 bits to 8."""
    image = Image.open(io.BytesIO(data))
    samples = np.asarray(image)
    if samples.ndim == 3:
        samples = samples[..., 0]
    depth, color = data[24:26]
    stretched = color == 0 and depth in (2, 4)
    return samples // (255 // ((1 << depth) - 1)) if stretched else samples


def stream(rng: random.Random) -> str:
    """Compressed rows, damaged: accepted and inflated exactly as the standard library does it."""
    width, height = rng.choice(((1, 1), (rng.randrange(1, 300), rng.randrange(1, 300))))
    rows = _rows(rng, width, height)
    level, window = rng.randrange(10), rng.choice((9, 12, 14, 15, 15, 15))
    strategy = rng.choice((zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_RLE, zlib.Z_HUFFMAN_ONLY))
    packer = zlib.compressobj(level, zlib.DEFLATED, window, 8, strategy)
    whole = packed = packer.compress(rows) + packer.flush()
    if rng.random() < 0.9:
        packed = damaged(rng, packed)
    if rng.random() < 0.7:
        packed = _with_true_checksum(packed)
    header = png.PngHeader(width, height, 8, png.ColorType.GRAY, False)
    parts = np.sort(_generator(rng).integers(0, len(packed) + 1, 2)).tolist()
    cuts = zip([0, *parts], [*parts, len(packed)], strict=True)
    chunks = tuple(png.make_chunk(b"IDAT", packed[start:end]) for start, end in cuts)
    expected = _inflated(packed, len(rows), width + 1)
    try:
        found = png_stream.inflate(File(b"", "m.png"), header, chunks)
    except VocSegError:
        small = packed[:1] and packed[0] >> 4 < 7 and len(rows) > 1 << (packed[0] >> 4) + 8
        if expected is not None and not (small and packed != whole):
            return "WRONG refused"
        return "refused"
    return "equal" if found == expected else "WRONG rows"


def _rows(rng: random.Random, width: int, height: int) -> bytes:
    """Returns rows of runs, of noise, or of what repeats far away; each begins with a filter."""
    generator = _generator(rng)
    shape = (height, width + 1)
    rows = generator.integers(0, rng.choice((2, 21, 256)), shape).astype(np.uint8)
    if rng.random() < 0.6:
        rows = np.repeat(rows, rng.choice((2, 7, 50)), 1)[:, : width + 1]
    if rng.random() < 0.3:
        rows = rows[generator.integers(0, height, height)]
    rows[:, 0] = 0
    return rows.tobytes()


def _with_true_checksum(packed: bytes) -> bytes:
    """Returns a stream whose checksum fits what it holds, if that can be inflated at all."""
    inflater = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        rows = inflater.decompress(packed[2:], 1 << 20)
    except zlib.error:
        return packed
    if not inflater.eof:
        return packed
    end = len(packed) - len(inflater.unused_data)
    return packed[:end] + zlib.adler32(rows).to_bytes(4, "big") + packed[end + 4 :]


def _inflated(packed: bytes, size: int, stride: int) -> bytes | None:
    """Returns what the standard library inflates, None if it is not what a PNG must hold."""
    inflater = zlib.decompressobj(wbits=0)
    try:
        found = inflater.decompress(packed, 1 << 20)
    except zlib.error:
        return None
    complete = inflater.eof and not inflater.unused_data and len(found) == size
    return found if complete and max(found[::stride]) < 5 else None


def image(form: str) -> Callable[[random.Random], str]:
    """Returns the judge of images of a format: what is kept, TensorFlow and Pillow decode."""

    def judge(rng: random.Random) -> str:
        height, width = rng.randrange(1, 40), rng.randrange(1, 40)
        pixels = _generator(rng).integers(0, 256, (height, width, 3), np.uint8)
        buffer = io.BytesIO()
        mode = rng.choice(("RGB", "L"))
        kind = rng.choice(("BMP", "GIF", "TIFF", "WEBP")) if form == "other" else form
        Image.fromarray(pixels).convert(mode).save(buffer, kind)
        whole = data = buffer.getvalue()
        if rng.random() < 0.7:
            data = damaged(rng, data)
        try:
            kept = stored_image(File(data, "image"))
        except VocSegError:
            if data == whole:
                return "WRONG refused a valid image"
            return "refused" if _can_be_decoded(data) else "WRONG kept by a build"
        return _decoded_alike(kept)

    return judge


_SAVED = (
    {"progressive": True},
    {"restart_marker_rows": 1},
    {"restart_marker_blocks": 7},
    {"subsampling": 0},
    {"quality": 95, "subsampling": 1, "optimize": True},
    {"keep_rgb": True},
)
_END = b"\xff\xd9"


@functools.cache
def _photos() -> list[bytes]:
    """Returns the JPEGs of the sample, and those of `VOC_SEG_REAL_DATA` if it is there."""
    real = os.environ.get("VOC_SEG_REAL_DATA")
    folders = [DUMMY_DATA, *([pathlib.Path(real, "voc2012")] if real else [])]
    return [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.jpg"))]


def photo(rng: random.Random) -> str:
    """A photo damaged in its headers or in its coded stream: what a build keeps can be decoded."""
    whole = data = rng.choice(_photos())
    if rng.random() < 0.4:
        image = Image.open(io.BytesIO(data))
        buffer = io.BytesIO()
        mode = rng.choice(("RGB", "RGB", "L"))
        image.convert(mode).save(buffer, "JPEG", **rng.choice(_SAVED))
        whole = data = buffer.getvalue()
    scan = data.index(b"\xff\xda") + 14
    if rng.random() < 0.25:
        data = damaged(rng, data[:scan]) + data[scan:]
    elif rng.random() < 0.97:
        data = damaged(rng, data, scan)
        data += b"" if _END in data[scan:] else rng.choice((b"", _END))
    try:
        kept = stored_image(File(data, "image"), decoding="readable")
    except VocSegError:
        return "WRONG refused a valid image" if data == whole else "refused"
    outcome = _decoded_alike(kept)
    seen_by_check = outcome == "WRONG decoders differ" or images.describe_doubt(
        File(kept.data, "image")
    )
    decoded = outcome in ("equal", "WRONG decoders differ")
    return "lenient" if decoded and seen_by_check else outcome


def _can_be_decoded(data: bytes) -> bool:
    """Says whether an image can be decoded, or is refused, as a build tries it."""
    try:
        kept = stored_image(File(data, "image"), decoding="readable")
    except VocSegError:
        return True
    return _decoded_alike(kept) != "WRONG kept an image that cannot be decoded"


def _decoded_alike(kept: images.StoredImage) -> str:
    import tensorflow as tf

    try:
        decoded = tf.io.decode_image(kept.data, channels=3, expand_animations=False).numpy()
        again = np.asarray(Image.open(io.BytesIO(kept.data)).convert("RGB"))
    except Exception:
        return "WRONG kept an image that cannot be decoded"
    if decoded.shape != again.shape or decoded.shape[:2] != (kept.height, kept.width):
        return "WRONG size"
    return "equal" if abs(decoded.astype(int) - again).mean() < 4 else "WRONG decoders differ"


def hand_record(rng: random.Random) -> str:
    """A hand-written record with odd values, or a damaged file of good ones."""
    import tensorflow as tf

    size = (rng.randrange(1, 6), rng.randrange(1, 6))
    odd = rng.random() < 0.5
    names = ["../x", "/x", ".", "a\0b", "x" * 300, "a/../../b", "", "a\\b", "ok.png"]
    values = {
        "image_raw": rng.randbytes(3 * size[0] * size[1]),
        "label_raw": bytes(size[0] * size[1]),
        "height": rng.choice((0, -1, 1 << 40, size[0])) if odd else size[0],
        "width": size[1],
        "name": (rng.choice(names) if odd else "ok.png").encode(),
    }
    features = {key: _feature(tf, value) for key, value in values.items()}
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        path = epath.Path(folder) / "train.tfrecord"
        with tf.io.TFRecordWriter(str(path)) as writer:
            writer.write(record if rng.random() < 0.7 else damaged(rng, record))
        if rng.random() < 0.3:
            path.write_bytes(damaged(rng, path.read_bytes()))
        scan = scan_records([path], epath.Path(folder))
        if scan.problems:
            raise scan.problems[0]
        spec = ExampleSpec(CLASSES, RULE)
        for item in make_items(scan):
            example = make_example(item.read(), spec)
            if not _inside(example["image/filename"]):
                return f"WRONG name {example['image/filename']!r}"
    return "equal"


def _feature(tf, value: bytes | int):
    if isinstance(value, int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _inside(name: str) -> bool:
    parts = name.split("/")
    return not ({"", ".", ".."} & set(parts)) and "\0" not in name and len(name.encode()) <= 1000


def id_list(rng: random.Random) -> str:
    """A list in one of the encodings and forms that people have."""
    ids = [f"{rng.choice(('2007_', 'a b ', 'é'))}{n:04}" for n in range(rng.randrange(1, 6))]
    text = rng.choice(("\n", "\r\n", " 1\n")).join(ids)
    data = text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16", "utf-32")))
    if rng.random() < 0.7:
        data = damaged(rng, data)
    found = id_lists.parse_ids(data, "list.txt")
    printable = all(unicodedata.category(c) != "Cc" for name in found for c in name)
    unique = len(set(found)) == len(found) and found
    return "equal" if unique and printable and all(map(_inside, found)) else f"WRONG {found!r}"


CLASS_FILES = {
    "labelmap.txt": b"# label:color_rgb:parts:actions\nbackground:0,0,0::\ncrack:128,0,0::\n",
    "class_names.txt": b"background\ncrack\n",
    "_classes.csv": b"Pixel Value, Class\n0, background\n1, crack\n",
    "dataset_meta.json": b'{"label_map": {"0": "background", "1": "crack"}}',
    "class_dict.csv": b"name,r,g,b\nbackground,0,0,0\ncrack,128,0,0\n",
    "label_colors.txt": b"0 0 0\tbackground\n128 0 0\tcrack\n",
    "labels.txt": b"0: background\n1: crack\n",
    "classes.json": b'[{"name": "background", "id": 0}, {"name": "crack", "id": 1}]',
}


def class_file(rng: random.Random) -> str:
    """A class file of a tool."""
    name = rng.choice(sorted(CLASS_FILES))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, name).write_bytes(damaged(rng, CLASS_FILES[name]))
        found = read_class_files(epath.Path(folder), registry.CLASS_FILES).files
        names = [e.name for e in found[0].entries] if found else ("none",)
    clean = all(n.strip() == n != "" and n.isprintable() for n in names)
    return "equal" if clean and len(set(names)) == len(names) else f"WRONG {names!r}"


ANNOTATION = b"""<annotation><size><width>40</width><height>30</height></size><object>
<name>class3</name><pose>Left</pose><truncated>0</truncated><difficult>1</difficult><bndbox>
<xmin>3</xmin><ymin>4</ymin><xmax>30</xmax><ymax>20</ymax></bndbox></object></annotation>"""


def annotation(rng: random.Random) -> str:
    """A damaged annotation: what is read is a class that exists and a box in the image."""
    declared = rng.choice(("utf-8", "latin-1", "gb2312", "utf-16", "no_such"))
    data = ANNOTATION
    if rng.random() < 0.2:
        data = f'<?xml version="1.0" encoding="{declared}"?>'.encode() + data
    number = rng.choice((b"40", b"30", b"3<", b"4<", b"20", b"class3", b"Left", b"0<", b"1<"))
    values = (b"0", b"-1", b"1e9", b"nan", b"inf", b"", b"9" * 400, b"background", b"2.5", b"\xff")
    if rng.random() < 0.7:
        data = data.replace(number.rstrip(b"<"), rng.choice(values), 1)
    elif rng.random() < 0.7:
        data = damaged(rng, data)
    for found in annotations.read_objects(File(data, "a.xml"), CLASSES, 30, 40):
        top, left, bottom, right = found["bbox"]
        if not (0 <= top < bottom <= 1 and 0 <= left < right <= 1):
            return f"WRONG box {found['bbox']}"
        if found["label"] not in CLASSES:
            return f"WRONG class {found['label']!r}"
    return "equal"


def array(rng: random.Random) -> str:
    """A damaged .npy mask: what is accepted, NumPy reads alike."""
    kind = rng.choice((np.uint8, np.int32, np.int64, np.float32))
    buffer = io.BytesIO()
    np.save(buffer, _generator(rng).integers(0, 21, (5, 7)).astype(kind))
    data = damaged(rng, buffer.getvalue())
    found = mask_samples.read_samples(File(data, "m.npy")).values
    expected = np.load(io.BytesIO(data), allow_pickle=False)
    if expected.ndim == 3:
        expected = expected[..., 0]
    return "equal" if np.array_equal(found, expected) else "WRONG values"


def matlab(rng: random.Random) -> str:
    """A damaged mask of SBD: what is accepted is a mask of class indices."""
    import scipy.io

    pixels = _generator(rng).integers(0, 21, (6, 5)).astype(np.uint8)
    buffer = io.BytesIO()
    content = {"GTcls": {"Segmentation": pixels}}
    scipy.io.savemat(buffer, content, do_compression=rng.random() < 0.5)
    whole = data = buffer.getvalue()
    if rng.random() < 0.8:
        data = damaged(rng, data)
    found = matlab_files.read_matlab(File(data, "a.mat"), "SBD")
    if data == whole:
        return "equal" if np.array_equal(found, pixels) else "WRONG pixels"
    return "lenient" if found.ndim == 2 and found.dtype.kind in "ui" else "WRONG array"


def _generator(rng: random.Random) -> np.random.Generator:
    return np.random.default_rng(rng.getrandbits(64))


KINDS: dict[str, Callable[[random.Random], str]] = {
    "masks": mask,
    "streams": stream,
    "jpeg": image("JPEG"),
    "photos": photo,
    "png": image("PNG"),
    "other": image("other"),
    "hand": hand_record,
    "lists": id_list,
    "classfiles": class_file,
    "annotations": annotation,
    "npy": array,
    "sbd": matlab,
    **wholes.KINDS,
    **datasets.KINDS,
}
