"""Built datasets as a stranger could have made them: whole files that say or hold something odd.

Each has right checksums, as whoever makes a dataset makes these too. What `verify` calls faultless,
every reader must read to the end; anything else is one error. No module that a dataset names may be
looked for.

Judges return the words that `fuzz.kinds` names, with the reader for which they are true.
"""

from collections.abc import Callable
import contextlib
import copy
import importlib.abc
import io
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

from etils import epath
from fuzz.mutations import build, damaged, odd_value
import numpy as np
from PIL import Image
from support.command_line import run_command
from support.paths import DUMMY_DATA
from support.tiled import tree_options, write_tree
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.core import dataset_files
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading.data_source import data_source
from voc_seg_tfrecord.reading.dataset import open_built

_built: list[pathlib.Path] = []

Example = tf_example_pb2.Example


def prepare(folder: pathlib.Path) -> None:
    """Builds the datasets that judges change, if they are not built in the folder."""
    whole = {"class_names": VOC_CLASSES, "instance_mask": True, "objects": True}
    if not (folder / "tree").exists():
        write_tree(folder / "tree")
    tiled = tree_options(tile=16, tile_overlap=3, splits={"train": 1.0})
    _built.append(build(folder, "strange", **whole))
    _built.append(build(folder, "plain"))
    _built.append(build(folder, "tiled", folder / "tree", **tiled))


def _by_command(*words: str) -> Callable[[pathlib.Path, pathlib.Path], None]:
    def read(dataset: pathlib.Path, out: pathlib.Path) -> None:
        ended = run_command(*(word.format(dataset=dataset, out=out) for word in words))
        if ended.status == 0:
            return
        text = ended.text
        if ended.status not in (1, 2) or not text.strip() or "Traceback" in text:
            raise AssertionError(f"status {ended.status}: {text[-200:]}")
        raise VocSegError("a command", found=text[-2000:])

    return read


def _by_tfds(dataset: pathlib.Path, _: pathlib.Path) -> None:
    builder = open_built(str(dataset))
    for split in builder.info.splits:
        for _ in builder.as_dataset(split=split):
            pass


def _by_pipeline(dataset: pathlib.Path, _: pathlib.Path) -> None:
    from voc_seg_tfrecord import pipeline

    builder = open_built(str(dataset))
    for split in builder.info.splits:
        for batch in pipeline.evaluation_batches(builder, split, batch_size=2).take(3):
            assert batch


def _by_number(dataset: pathlib.Path, _: pathlib.Path) -> None:
    for source in data_source(str(dataset)).values():
        for _ in source:
            pass


READERS: dict[str, Callable[[pathlib.Path, pathlib.Path], None]] = {
    "tfds.load": _by_tfds,
    "pipeline": _by_pipeline,
    "data_source": _by_number,
    "stats": _by_command("stats", "{dataset}"),
    "leaks": _by_command("leaks", "{dataset}", "voc2012_val"),
    "report": _by_command("report", "{dataset}", "--out", "{out}/page.html"),
    "card": _by_command("report", "{dataset}", "--card", "{out}/card"),
    "preview": _by_command("preview", "{dataset}", "--out", "{out}/sheet.png"),
    "diff": _by_command("diff", "{dataset}", "{dataset}"),
    **{
        layout: _by_command("export", "{dataset}", "--layout", layout, "--out", f"{{out}}/{layout}")
        for layout in ("raw", "deeplab", "voc", "parquet")
    },
}
_VERIFY = _by_command("verify", "{dataset}")


class _Looked(importlib.abc.MetaPathFinder):
    """Notes which modules of strangers are looked for."""

    def __init__(self):
        self.names: list[str] = []

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] in ("evil", "riegeli"):
            self.names.append(name)


def description(rng: random.Random) -> str:
    """Features, info, metadata, names of classes or checksums with something of another kind."""
    return _judged(rng, _describe)


def record(rng: random.Random) -> str:
    """Records whose features, images, masks or names are not those of their dataset."""
    return _judged(rng, _record)


def _judged(rng: random.Random, change: Callable[[random.Random, pathlib.Path], bool]) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        folder = root / "voc_seg_tfrecord" / "strange" / "1.0.0"
        shutil.copytree(rng.choice(_built), folder)
        has_sums = change(rng, folder)
        if has_sums:
            dataset_files.write_sums(epath.Path(folder))
        else:
            (folder / "SHA256SUMS").unlink(missing_ok=True)
        finder = _Looked()
        sys.meta_path.insert(0, finder)
        try:
            return _read_by_all(rng, folder, root)
        finally:
            sys.meta_path.remove(finder)
            if finder.names:
                raise AssertionError(f"looked for {finder.names}")


def _read_by_all(rng: random.Random, folder: pathlib.Path, root: pathlib.Path) -> str:
    try:
        _VERIFY(folder, root)
        readers = list(READERS)
    except VocSegError:
        readers = rng.sample([*READERS], 4)
        for name in readers:
            with contextlib.suppress(VocSegError):
                _named(name, folder, root)
        return "refused"
    for name in readers:
        try:
            _named(name, folder, root)
        except VocSegError as error:
            if not _needs_masks(str(error)):
                return f"WRONG {name} {' '.join(str(error).split())[-300:]}"
    return "equal"


def _named(name: str, folder: pathlib.Path, root: pathlib.Path) -> None:
    try:
        READERS[name](folder, root)
    except VocSegError:
        raise
    except Exception as error:
        # What TensorFlow reads, it reports by errors of its own.
        by_tensorflow = type(error).__module__.startswith("tensorflow")
        is_empty = "corresponds to no data" in str(error)  # a split, which `verify` names
        if name in ("tfds.load", "pipeline") and (by_tensorflow or is_empty):
            raise VocSegError(name, found=f"{type(error).__name__}: {error}") from None
        raise AssertionError(f"{name}: {type(error).__name__}: {str(error)[:200]}") from error


def _needs_masks(text: str) -> bool:
    return "no feature" in text


TEXTS = ("", "evil.X", "../x", "a\0b", "\x1b[31m", "$(touch X)", "ü", "9" * 5000, "None", "train")
TEXTS += ("/etc/passwd", "{SPLIT:>9999999}", "tensorflow_datasets.core.features.text_feature.Text")
NUMBERS = (0, 1, -1, 255, 256, 1 << 31, 1 << 63, 0.5, 1e300, float("nan"), True, False, None)


def _at(data: object, path: tuple) -> object:
    for key in path:
        data = data[key]
    return data


def _describe(rng: random.Random, folder: pathlib.Path) -> bool:
    files = ["features.json"] * 3 + ["dataset_info.json"] * 2 + ["metadata.json"] * 3 + ["names"]
    name = rng.choice(files)
    if name == "names":
        path = rng.choice(sorted(folder.glob("*.labels.txt")))
        path.write_bytes(_odd_names(rng, path.read_bytes()))
        return rng.random() < 0.5
    path = folder / name
    data = json.loads(path.read_text())
    for _ in range(rng.choice((1, 1, 2))):
        data = _changed(rng, data, name)
    text = json.dumps(data)
    if rng.random() < 0.05:
        text = damaged(rng, text.encode()).decode("utf-8", "replace")
    path.write_text(text, errors="surrogatepass")
    return rng.random() < 0.7


def _changed(rng: random.Random, data: object, name: str) -> object:
    if name == "metadata.json" and isinstance(data, dict) and rng.random() < 0.4:
        field = rng.choice(("class_map", "archives", "config", "palette", "class_names"))
        return {**data, field: odd_value(rng, TEXTS, NUMBERS)}
    if name == "features.json" and rng.random() < 0.3:
        return _other_features(rng, data)
    places = [path for path in _places_of(data) if path]
    if not places:
        return odd_value(rng, TEXTS, NUMBERS)
    path = rng.choice(places)
    data = copy.deepcopy(data)
    above, key = _at(data, path[:-1]), path[-1]
    way = rng.randrange(5)
    if way == 0 or (way == 1 and isinstance(above, list)):
        del above[key]
    elif way == 1:
        above[rng.choice((*TEXTS, key.upper() if key else "x"))] = above[key]
    elif way == 2:
        above[key] = _at(data, rng.choice(places))
        with contextlib.suppress(ValueError):
            json.dumps(data)
            return data
        above[key] = None
    else:
        above[key] = odd_value(rng, TEXTS, NUMBERS)
    return data


def _places_of(data: object) -> list[tuple]:
    found: list[tuple] = [()]
    for path in found:
        inner = _at(data, path)
        if isinstance(inner, dict):
            found += [(*path, key) for key in inner]
        elif isinstance(inner, list):  # the first colors stand for all
            found += [(*path, key) for key in range(min(3, len(inner)))]
    return found


def _other_features(rng: random.Random, data: object) -> object:
    """Returns features with one more or another one, in any of TFDS's forms."""
    core = "tensorflow_datasets.core.features"
    names = ("evil.X", "evil.sub.X", f"{core}.tensor_feature.Tensor", f"{core}.text_feature.Text")
    names += (f"{core}.sequence_feature.Sequence", f"{core}.features_dict.FeaturesDict")
    names += (f"{core}.image_feature.Image", f"{core}.video_feature.Video", "os.path")
    name = rng.choice(names)
    scalar = {"shape": {}, "dtype": rng.choice(("int32", "float32", "bool", "string", "evil"))}
    forms = [
        {"pythonClassName": name, "tensor": scalar},
        {"python_class_name": name, "tensor": scalar},
        {"pythonClassName": name, "text": {}},
        {"pythonClassName": name, "sequence": {"feature": {"pythonClassName": "evil.X"}}},
        {"pythonClassName": name, "jsonFeature": {"json": '{"type": "evil.X", "content": {}}'}},
        {"pythonClassName": name, "featuresDict": {"features": {"x": {"type": "evil.X"}}}},
        {"type": name, "content": {}},
        {"type": name, "content": {"x": {"type": "evil.X", "content": {}}}},
        {"type": name, "content": {"shape": [], "dtype": "int32"}},
        {"type": name, "content": '{"x": 1}', "proto_cls": "tensorflow_datasets.TensorFeature"},
    ]
    form = rng.choice(forms)
    if rng.random() < 0.2 or not isinstance(data, dict):
        return form
    data = copy.deepcopy(data)
    with contextlib.suppress(KeyError, TypeError):
        data["featuresDict"]["features"][rng.choice(("x", "image", "labels", "a/b"))] = form
    return data


def _odd_names(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines()
    odd = (b"\xff", b"", b"a\x1b[31m", b" a", b"$(touch X)", b"../x", b"=1+1", b"<b>", b"a\rb")
    choices = (
        b"\n".join([*lines, rng.choice(odd)]),
        b"\n".join([rng.choice(odd), *lines[1:]]),
        b"\n".join(lines[:-1]),
        b"\n".join(b"%d" % n for n in range(300)),
        b"",
        damaged(rng, data),
    )
    return rng.choice(choices)


def _record(rng: random.Random, folder: pathlib.Path) -> bool:
    path = rng.choice(sorted(folder.glob("*.tfrecord-*")))
    stored = [bytes(data) for _, data in frames.read(epath.Path(path))]
    for _ in range(rng.choice((1, 1, 2))):
        number = rng.randrange(len(stored))
        stored[number] = _odd_record(rng, stored[number])
    path.write_bytes(b"".join(map(frames.frame, stored)))
    info = json.loads((folder / "dataset_info.json").read_text())
    split = next(one for one in info["splits"] if f"-{one['name']}." in path.name)
    split["numBytes"] = str(sum(map(len, stored)))
    (folder / "dataset_info.json").write_text(json.dumps(info))
    return rng.random() < 0.8


def _odd_record(rng: random.Random, data: bytes) -> bytes:
    example = Example.FromString(data)
    features = example.features.feature
    name = rng.choice(sorted(features))
    way = rng.choice(("lose", "twice", "type", "values", "values", "content", "content", "more"))
    if way == "lose":
        del features[name]
    elif way == "twice":
        other = Example()
        other.features.feature[name].CopyFrom(features[rng.choice(sorted(features))])
        # Within one message: a parser may take the first or the last.
        return Example.FromString(data).SerializeToString() + other.SerializeToString()
    elif way == "type":
        features[name].CopyFrom(_list_of(rng))
    elif way == "more":
        features[rng.choice(("x", "instance_mask", "tile/image_id", "label"))].CopyFrom(
            _list_of(rng)
        )
    elif way == "values":
        _odd_values(rng, features[name])
    else:
        _odd_content(rng, features)
    return example.SerializeToString(deterministic=True)


def _list_of(rng: random.Random):
    feature = tf_example_pb2.Example().features.feature["x"]
    kind = rng.randrange(4)
    if kind == 0:
        feature.bytes_list.value.extend(rng.choice(([], [b"a"], [b"\xff", b"b"])))
    elif kind == 1:
        feature.int64_list.value.extend(rng.choice(([], [1], [-(1 << 63), 1 << 40])))
    elif kind == 2:
        feature.float_list.value.extend(rng.choice(([], [0.5], [float("nan")] * 4)))
    return feature


def _odd_values(rng: random.Random, feature) -> None:
    kind = feature.WhichOneof("kind") or "bytes_list"
    values = getattr(feature, kind).value
    odd = {
        "bytes_list": (b"", b"\xff", b"a\0b", b"../x.jpg", b"/x", b"a\nb", b"\x1b[31m", b"a" * 400),
        "int64_list": (0, -1, 21, 255, 1 << 31, (1 << 63) - 1, -(1 << 63), 100_000),
        "float_list": (float("nan"), float("inf"), -1.0, 2.0, 0.5),
    }[kind]
    way = rng.randrange(4)
    if way == 0 and values:
        values[rng.randrange(len(values))] = rng.choice(odd)
    elif way == 1:
        values.append(rng.choice(odd))
    elif way == 2 and values:
        del values[rng.randrange(len(values))]
    else:
        del values[:]
        values.append(rng.choice(odd))


def _odd_content(rng: random.Random, features) -> None:
    """Puts another image, mask or name into a record, often one that is consistent with it."""
    name = rng.choice(("image", "segmentation_mask", "instance_mask", "image/filename"))
    if name not in features or not features[name].bytes_list.value:
        return
    values = features[name].bytes_list.value
    if name == "image/filename":
        names = ("a.jpg", "ü.png", "a b.jpg", "a/b.jpg", "a:b.jpg", "a.JPG", ".jpg", "a", "CON.png")
        names += ("x" * 230 + ".jpg", "a\\b.jpg", "./a.jpg", "a//b.jpg", "\u202egpj.a", "-rf.jpg")
        values[0] = rng.choice(names).encode()
        return
    if rng.random() < 0.3:
        values[0] = damaged(rng, values[0])
        return
    size = features["image/height"].int64_list.value, features["image/width"].int64_list.value
    height, width = (one[0] if len(one) == 1 and 0 < one[0] < 500 else 9 for one in size)
    pixels = np.random.default_rng(rng.getrandbits(32)).integers(0, 3, (height, width), np.uint8)
    image = Image.fromarray(pixels)
    mode = rng.choice(("RGB", "L", "P", "CMYK", "RGBA", "1", "I;16", "LA"))
    made = Image.fromarray(pixels.astype(np.uint16)) if mode == "I;16" else image.convert(mode)
    options = rng.choice(({}, {"progressive": True}, {"quality": 3}, {"compress_level": 0}))
    with io.BytesIO() as stream:
        try:
            made.save(
                stream, rng.choice(("JPEG", "PNG", "PNG", "GIF", "BMP", "WEBP", "TIFF")), **options
            )
        except (OSError, KeyError, ValueError):
            image.save(stream, "PNG")
        values[0] = stream.getvalue()


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
                _by_command(words[0], "{dataset}", *words[1:], *names)(root, root)
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
    "descriptions": description,
    "records": record,
    "trees": tree,
}
