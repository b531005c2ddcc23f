"""Inputs that are more than one file: archives, configs, command lines, and folders.

Judges return the words that `fuzz.kinds` names.
"""

import bz2
from collections.abc import Callable
import contextlib
import gzip
import io
import json
import lzma
import os
import pathlib
import random
import shutil
import tarfile
import tempfile
import zipfile

from fuzz.mutations import damaged, odd_value
from support.command_line import run_command
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.formats.archives import unpacked
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import make_features

FILES = {
    "ImageSets/Segmentation/train.txt": b"a\nb\n",
    "JPEGImages/a.jpg": bytes(range(256)) * 3,
    "JPEGImages/b.jpg": b"\xff\xd8" + bytes(700),
    "SegmentationClass/a.png": b"\x89PNG" * 40,
    f"SegmentationClass/{'b' * 70}/{'b' * 70}.png": b"x",
}
PACKERS = {".tar": lambda data: data, ".tar.gz": gzip.compress, ".tar.bz2": bz2.compress}
PACKERS[".tar.xz"] = lambda data: lzma.compress(data, preset=0)


def archive(rng: random.Random) -> str:
    """A zip or a tar of a small tree, damaged or cut: no file of it is lost without a word."""
    ending = rng.choice((".zip", *PACKERS))
    data = _zip(rng) if ending == ".zip" else _tar(rng)
    if ending != ".zip" and rng.random() < 0.6:  # so that the packed stream is sound
        data = _damaged_blocks(rng, data)
    data = PACKERS.get(ending, lambda packed: packed)(data)
    if data and rng.random() < 0.6:
        data = damaged(rng, data) if rng.random() < 0.6 else data[: rng.randrange(len(data))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, f"x{ending}")
        path.write_bytes(data)
        with unpacked(path) as root:
            found = {
                str(p.relative_to(root)): p.read_bytes()
                for p in pathlib.Path(root).rglob("*")
                if p.is_file()
            }
    if found == FILES:
        return "equal"
    if len(found) < len(FILES):
        return f"WRONG lost {len(FILES) - len(found)} files"
    # A tar has no checksums of what is in its files, nor of what its long names are.
    return "WRONG content" if ending == ".zip" else "lenient"


def _zip(rng: random.Random) -> bytes:
    kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w", rng.choice(kinds)) as target:
            for name, data in FILES.items():
                target.writestr(zipfile.ZipInfo(name), data, rng.choice(kinds))
        return stream.getvalue()


def _tar(rng: random.Random) -> bytes:
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with io.BytesIO() as stream:
        with tarfile.open(fileobj=stream, mode="w", format=form) as target:
            for name, data in FILES.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                target.addfile(info, io.BytesIO(data))
        return stream.getvalue()


def _damaged_blocks(rng: random.Random, data: bytes) -> bytes:
    blocks = [data[start : start + 512] for start in range(0, len(data), 512)]
    place = rng.randrange(len(blocks))
    way = rng.choice(("cut", "repeat", "swap", "flip"))
    if way == "cut":
        blocks = blocks[:place]
    elif way == "repeat":
        blocks.insert(place, blocks[rng.randrange(len(blocks))])
    elif way == "swap":
        other = rng.randrange(len(blocks))
        blocks[place], blocks[other] = blocks[other], blocks[place]
    else:
        blocks[place] = damaged(rng, blocks[place]).ljust(512, b"\0")[:512]
    return b"".join(blocks)


TEXTS = ("", "a", "crack", "background", "void", "../x", "CON", "a\0", "ä", "255", "*=*", "a=b")
TEXTS += ("https://x.org", "javascript:1", "{id}", "{id}.png", "folder", "regex:(", "prefix:_")
TEXTS += ("index", "color", "skip", "error", "hash", "stratified", "train.txt", "\udc80", "2012")
TEXTS += ("2007", "jpeg", "png", "segmentation", "images", "1.0.0", "\u202e", "a,b=c; *=*")
TEXTS += ("9" * 5000,)
NUMBERS = (0, 1, -1, 2, 20, 255, 256, 0.5, 1.5, 1e400, 10**30, float("nan"), True, None)
NAMES = ("class_names", "splits", "classes", "layout", "tile", "seed")
NAMES += ("background", "missing_mask", "release", "task", "group_by", "split_by")
NAMES += ("homepage", "version", "description", "tags", "tile_overlap", "tile_format", "objects")
NAMES += ("exif", "overlap", "strict", "instance_mask", "release_notes", "nothing")
CLASSES = ("background", "crack", "void")


def config(rng: random.Random) -> str:
    """A config in JSON of odd fields and values: what is accepted is written as it was read."""
    fields = {"name": "x" if rng.random() < 0.9 else rng.choice(TEXTS)}
    if rng.random() < 0.7:
        fields["class_names"] = list(CLASSES)
    for name in rng.sample(NAMES, rng.randrange(4)):
        fields[name] = odd_value(rng, TEXTS, NUMBERS) if rng.random() < 0.5 else _likely(rng, name)
    text = json.dumps(fields)
    if rng.random() < 0.2:
        text = damaged(rng, text.encode()).decode("utf-8", "replace")
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            return "refused"
        if not isinstance(fields, dict):
            return "refused"
    try:
        accepted = VocSegConfig(**json.loads(text))
    except TypeError as error:  # fields that Python itself refuses, such as one called self
        return "refused" if "argument" in str(error) else f"FOREIGN {error}"
    again = VocSegConfig(**json.loads(accepted.to_json()))
    if (
        again.to_json() != accepted.to_json()
        or again.built_class_names != accepted.built_class_names
    ):
        return "WRONG is written differently"
    make_features(accepted)
    names = list(accepted.built_class_names)
    sound = len(set(names)) == len(names) and (names or accepted.task == "images")
    return "equal" if sound and repr(accepted) and accepted._repr_html_() else f"WRONG {names!r}"


def _likely(rng: random.Random, name: str) -> object:
    classes = list(CLASSES[: rng.randrange(4)])
    return {
        "class_names": [*classes, *rng.sample(TEXTS, rng.randrange(3))],
        "splits": rng.choice(({"train": 0.8, "validation": 0.2}, {"train": "a"}, {"a b": 1.0})),
        "classes": [
            [rng.choice((rng.randrange(300), "crack", "#ff0000", "*", "")), rng.choice(TEXTS)]
            for _ in range(3)
        ],
        "layout": {rng.choice(("masks", "mask_name", "lists")): rng.choice(TEXTS)},
        "tile": rng.choice((1, 32, 0, -4, 10**9)),
        "seed": rng.choice((0, -1, 10**30)),
    }.get(name, rng.choice((*TEXTS, *NUMBERS)))


USUAL = {
    "--classes": "0=background,255=void",
    "--class_names": "voc",
    "--splits": "train=0.8,validation=0.2",
    "--background": "background",
    "--masks": "SegmentationClass",
    "--mask_name": "{id}.png",
    "--images": "JPEGImages",
    "--lists": "ImageSets/Segmentation",
    "--image_name": "{id}.jpg",
    "--group_by": "prefix:_",
    "--seed": "3",
    "--tile": "64",
    "--tile_overlap": "8",
    "--num_shards": "1",
    "--homepage": "https://x.org",
    "--split_by": "stratified",
    "--missing_mask": "skip",
    "--exif": "ignore",
    "--workers": "1",
    "--nothing": "x",
}
WORDS = ("voc", "train=0.8,validation=0.2", "train=train", "0=0,1=1", "255", "background,crack")
WORDS += ("SegmentationClass", "JPEGImages", "ImageSets/Segmentation", ".", "..", "=", ",", "'")
WORDS += ("train=nan", "train=inf,a=1", "train=1e999", "0=9", "1=1,1=2", "\x1b[1m", "0,0,0", "²")
WORDS += ("skip", "background", "stratified", "64", "-5", "*=background")


def by_command(*words: str) -> Callable[[pathlib.Path, pathlib.Path], None]:
    """Returns what runs a command about a dataset or folder, and raises what it refuses."""

    def read(dataset: pathlib.Path, out: pathlib.Path) -> None:
        ended = run_command(*(word.format(dataset=dataset, out=out) for word in words))
        if ended.status == 0:
            return
        text = ended.text
        if ended.status not in (1, 2) or not text.strip() or "Traceback" in text:
            raise AssertionError(f"status {ended.status}: {text[-200:]}")
        raise VocSegError("a command", found=text[-2000:])

    return read


def options(rng: random.Random) -> str:
    """A dry run of a build with odd options: the status and the error are those of a command."""
    words = ["build", str(DUMMY_DATA), "--name", "x", "--dry_run"]
    if rng.random() < 0.8:
        words += ["--class_names", "voc"]
    for option in rng.sample(sorted(USUAL), rng.randrange(1, 4)):
        word = USUAL[option] if rng.random() < 0.6 else rng.choice((*WORDS, *TEXTS))
        if rng.random() < 0.2:
            word = damaged(rng, word.encode("utf-8", "replace")).decode("utf-8", "surrogateescape")
        words.append(f"{option}={word}")
    ended = run_command(*words)
    text = ended.text  # a dry run prints what would stop a build
    if ended.status == 0:
        return "equal" if ended.output.strip() else "WRONG said nothing"
    if ended.status not in (1, 2) or "Traceback" in text or not text.strip():
        return f"WRONG status {ended.status}: {text[-100:]!r}"
    return "WRONG a long line" if max(map(len, text.splitlines())) > 12_000 else "refused"


_HOSTILE = ("$(touch X)", "a b", "-rf", "a'b", "a\nb", "\x1b[31m", "ü", "`id`", "a;b", "{id}")
_HOSTILE += ("~", "*")


def tree(rng: random.Random) -> str:
    """A folder in VOC's layout with odd names, lists and files: `check` and a dry run take it."""
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary) / rng.choice(("tree", "a b", "it's $(touch X)"))
        shutil.copytree(DUMMY_DATA / "VOCdevkit" / "VOC2012", root)
        for _ in range(rng.randrange(1, 5)):
            _odd_tree(rng, root)
        outcomes = set()
        names = ["--class_names", "voc"] if rng.random() < 0.6 else []
        for words in (("check",), ("build", "--name", "x", "--dry_run")):
            try:
                by_command(words[0], "{dataset}", *words[1:], *names)(root, root)
                outcomes.add("equal")
            except VocSegError:
                outcomes.add("refused")
        if any(path.name == "X" for path in pathlib.Path(temporary).rglob("*")):
            return "WRONG ran a name"
        return "refused" if "refused" in outcomes else "equal"


def _odd_tree(rng: random.Random, root: pathlib.Path) -> None:
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    path, other = rng.choice(paths), rng.choice(paths)
    way = rng.randrange(12)
    name = rng.choice(_HOSTILE)
    with contextlib.suppress(OSError):
        if way == 0:
            path.rename(path.with_name(f"{name}{path.suffix}"))
        elif way == 1:
            path.parent.rename(path.parent.with_name(name))
        elif way == 2:
            path.write_bytes(damaged(rng, path.read_bytes()))
        elif way == 3:
            path.unlink()
        elif way == 4:
            shutil.copy(path, other)
        elif way == 5:
            lists = [path for path in paths if path.suffix == ".txt"] or [root / "x.txt"]
            line = rng.choice((name, "../x", "/etc/passwd", "a:b", "c:\\x", "x" * 5000, "\0", ""))
            with rng.choice(lists).open("a") as file:
                file.write(f"{line}\n")
        elif way == 6:
            file = rng.choice(("labelmap.txt", "classes.csv", "class_names.txt", "obj.names"))
            text = f"{name}:0,0,0::\n{rng.choice(_HOSTILE)}:1,1,1::\n"
            (root / file).write_text(text if rng.random() < 0.7 else "\n".join(_HOSTILE))
        elif way == 7:
            path.unlink()
            path.symlink_to(rng.choice(("/dev/zero", "/etc/passwd", path.name, "..", "/no/such")))
        elif way == 8:
            (path.parent / name).mkdir(exist_ok=True)
            shutil.copy(path, path.parent / name / path.name)
        elif way == 9:
            shutil.copytree(path.parent, path.parent.with_name(name), symlinks=True)
        elif way == 10:
            os.mkfifo(path.with_name(f"pipe{path.suffix}"))
        else:
            path.write_bytes(
                rng.choice((b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"version https://git"))
            )


KINDS: dict[str, Callable[[random.Random], str]] = {
    "archives": archive,
    "configs": config,
    "options": options,
    "trees": tree,
}
