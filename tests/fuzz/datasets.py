"""Built datasets, damaged or as a stranger could have made them: whole files with odd content.

A stranger's have right checksums, as whoever makes a dataset makes these too. What `verify` calls
faultless, every reader must read to the end; anything else is one error. No module that a dataset
names may be looked for.

Judges return the words that `fuzz.kinds` names, with the reader for which they are true.
"""

from collections.abc import Callable, Mapping
import contextlib
import copy
import importlib.abc
import io
import json
import pathlib
import random
import shutil
import sys
import tempfile

from etils import epath
from fuzz.mutations import damaged, odd_value
from fuzz.wholes import by_command
import numpy as np
from PIL import Image
from support.building import from_tree
from support.paths import DUMMY_DATA
from support.tiled import tree_options, write_tree
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.audit import counting, verify
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.data_source import data_source
from voc_seg_tfrecord.reading.dataset import open_built

VOC2012 = DUMMY_DATA / "VOCdevkit" / "VOC2012"

_built: list[pathlib.Path] = []

Example = tf_example_pb2.Example


def prepare(folder: pathlib.Path) -> None:
    """Builds the datasets that judges change, if they are not built in the folder."""
    names = [f"class{n}" for n in range(21)]
    objects = {"class_names": VOC_CLASSES, "instance_mask": True, "objects": True}
    tiled = tree_options(tile=16, tile_overlap=3, splits={"train": 1.0})
    if not (folder / "tree").exists():
        write_tree(folder / "tree")
    _built.append(_build(folder, "strange", VOC2012, **objects))
    _built.append(_build(folder, "plain", VOC2012, class_names=names))
    _built.append(_build(folder, "tiled", folder / "tree", **tiled))


def _build(folder: pathlib.Path, name: str, tree: pathlib.Path, **options) -> pathlib.Path:
    version = folder / "voc_seg_tfrecord" / name / "1.0.0"
    if not version.exists():
        from_tree(tree, name=name, data_dir=folder, **options)
    return version


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
    "stats": by_command("stats", "{dataset}"),
    "leaks": by_command("leaks", "{dataset}", "voc2012_val"),
    "report": by_command("report", "{dataset}", "--out", "{out}/page.html"),
    "preview": by_command("preview", "{dataset}", "--out", "{out}/sheet.png"),
    "diff": by_command("diff", "{dataset}", "{dataset}"),
    **{
        layout: by_command("export", "{dataset}", "--layout", layout, "--out", f"{{out}}/{layout}")
        for layout in ("raw", "deeplab", "voc", "parquet")
    },
}
_VERIFY = by_command("verify", "{dataset}")


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


def dataset(rng: random.Random) -> str:
    """A built dataset with damaged, lost, swapped or doubled files: what is accepted is sound."""
    whole = _built[1]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(shutil.copytree(whole, pathlib.Path(folder, "1.0.0")))
        _damage(rng, copy)
        same = _digest(copy) == _digest(whole)
        sums = copy / "SHA256SUMS"
        if rng.random() < 0.4 and sums.is_file():
            sums.unlink()
        has_sums = sums.exists()
        builder = open_built(str(copy))
        if rng.random() < 0.5:
            found = _counted(copy)
            return "equal" if same else "lenient" if found == _counted(whole) else "WRONG counts"
        if verify.verify(builder).faults:
            return "refused"
    if same or not has_sums:
        return "equal" if same else "lenient"
    return "WRONG unnoticed"


def _damage(rng: random.Random, folder: pathlib.Path) -> None:
    paths = sorted(folder.iterdir())
    path, other = rng.choice(paths), rng.choice(paths)
    way = rng.choice(("bytes", "bytes", "bytes", "swap", "copy", "lose", "none", "empty", "folder"))
    if way == "bytes":
        path.write_bytes(damaged(rng, path.read_bytes()))
    elif way == "swap":
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)
    elif way == "copy":
        path.write_bytes(other.read_bytes())
    elif way == "empty":
        path.write_bytes(b"")
    elif way != "none":
        path.unlink()
        if way == "folder":
            path.mkdir()


def _counted(folder: pathlib.Path) -> Mapping[str, object]:
    found = counting.compute(open_built(str(folder)))
    return {split: str(vars(one)) for split, one in found.items()}


def _digest(folder: pathlib.Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


KINDS: dict[str, Callable[[random.Random], str]] = {
    "datasets": dataset,
    "descriptions": description,
    "records": record,
}
