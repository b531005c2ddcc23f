"""What a stranger's dataset may say: nothing in it is imported, and other kinds are refused."""

import functools
import json
import os
import pathlib
import shutil

from etils import epath
import pytest
from support.paths import REPOSITORY
from support.python import run_python
from support.scoring import write_predictions

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.commands.list_ import list_datasets
from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.reading import dataset_files, trust
from voc_seg_tfrecord.reading.dataset import open_built

CORE = "tensorflow_datasets.core.features"
DICT = f"{CORE}.features_dict.FeaturesDict"
EVIL = {"pythonClassName": "evil.X", "tensor": {"shape": {}, "dtype": "int32"}}
BOX = f"{CORE}.bounding_boxes.BBoxFeature"
OLD = {"type": "evil.X", "content": {}}


@pytest.fixture
def folder(sample, tmp_path):
    """A copy of the sample that a test may change, in its place below a data_dir."""
    place = tmp_path / "data" / "voc_seg_tfrecord" / "sample" / "1.0.0"
    return pathlib.Path(shutil.copytree(sample.data_dir, place))


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module `evil`, and one called as a file format, that leave a file if they are imported."""
    mark = tmp_path / "imported"
    for name in ("evil", "riegeli"):
        code = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    return mark


def change(path, change_data):
    """Changes a JSON file, and SHA256SUMS with it, as a stranger would."""
    data = json.loads(path.read_text())
    change_data(data)
    path.write_text(json.dumps(data))
    dataset_files.write_sums(epath.Path(path.parent))


def changed(file, /, *path, **new):
    """Returns a function that updates the object at a path in a JSON file of a folder."""
    return lambda folder: change(folder / file, lambda data: at(data, path).update(new))


def at(data, path):
    return functools.reduce(lambda inner, key: inner[key], path, data)


in_info = functools.partial(changed, "dataset_info.json")
in_split = functools.partial(in_info, "splits", 0)
in_metadata = functools.partial(changed, "metadata.json")
in_features = functools.partial(changed, "features.json", "featuresDict", "features")
LABELS = ("labels", "sequence", "feature")
OBJECTS = ("objects", "sequence", "feature", "featuresDict", "features")


def without(*path):
    """Returns a function that removes something from the features."""
    features = ("featuresDict", "features", *path[:-1])
    return lambda folder: change(
        folder / "features.json", lambda data: at(data, features).pop(path[-1])
    )


def instead(new):
    return lambda folder: change(
        folder / "features.json", lambda data: (data.clear(), data.update(new))
    )


def as_json(new):
    return {"pythonClassName": DICT, "jsonFeature": {"json": json.dumps({"x": new})}}


FORMS = {
    "the features as a whole": changed("features.json", pythonClassName="evil.X"),
    "one more feature": in_features(x=EVIL),
    "the image": in_features("image", pythonClassName="evil.X"),
    "in a sequence": in_features(*LABELS, pythonClassName="evil.X"),
    "in the features of a sequence": in_features(*OBJECTS, x=EVIL),
    "a module within a package": in_features("image", pythonClassName="venv.__main__.X"),
    "names with underscores": in_features(x={"python_class_name": "evil.X", "text": {}}),
    "a class of TFDS that is no feature of ours": in_features(
        x={"pythonClassName": f"{CORE}.video_feature.Video", "video": {}}
    ),
    "the old form": instead(OLD),
    "the old form of one feature": instead({"type": DICT, "content": {"image": OLD}}),
    "the old form in a new one": instead({"type": DICT, "content": {"image": EVIL}}),
    "the old form with a message": instead(
        {"type": DICT, "content": {"features": {"image": EVIL}}}
        | {"proto_cls": "tensorflow_datasets.FeaturesDict"}
    ),
    "the old form in a text": instead(as_json(OLD)),
    "the old form in a text of a feature": in_features(x=as_json(OLD)),
    "in dataset_info.json": in_info(features=EVIL),
    "a file format": in_info(fileFormat="riegeli"),
    "another file format": in_info(alternativeFileFormats=["riegeli"]),
}


@pytest.fixture(scope="module")
def predictions(sample, tmp_path_factory):
    return write_predictions(sample, tmp_path_factory.mktemp("trust") / "predictions")


def command_lines(folder, predictions, tmp_path):
    """Every command that opens a built dataset."""
    out = tmp_path / "out"
    lines = [
        ["verify", folder],
        ["stats", folder],
        ["leaks", folder, folder],
        ["preview", folder, "--out", tmp_path / "sheet.png"],
        ["report", folder, "--out", tmp_path / "page.html"],
        ["evaluate", f"{folder}@train", "--predictions", predictions],
        ["submission", f"{folder}@test", "--predictions", predictions, "--out", f"{out}.tgz"],
        *(["export", folder, "--layout", n, "--out", out] for n in ("raw", "voc", "parquet")),
    ]
    return [list(map(str, line)) for line in lines]


@pytest.mark.parametrize("form", FORMS)
def test_no_command_and_no_function_imports_what_a_dataset_names(
    folder, evil, form, predictions, tmp_path, capsys
):
    FORMS[form](folder)
    for line in command_lines(folder, predictions, tmp_path):
        assert cli.main(line) == 1, line
        assert "features that voc_seg_tfrecord writes" in capsys.readouterr().err, line
    for function in (
        open_built,
        voc_seg_tfrecord.find_label_errors,
        lambda place: trust.check_description(epath.Path(place)),
    ):
        with pytest.raises(RecordError, match=r"features\.json|dataset_info\.json"):
            function(str(folder))
    (listed,) = list_datasets(folder.parents[2])
    assert not listed.complete
    assert not evil.exists()


@pytest.mark.slow
def test_a_module_in_the_current_folder_is_not_run(folder, tmp_path):
    """As a user meets it: `python -m` puts the current folder before all others."""
    FORMS["the image"](folder)
    (tmp_path / "evil.py").write_text("raise SystemExit(0)\n")
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['voc_seg_tfrecord', 'verify', {str(folder)!r}]\n"
        "try: runpy.run_module('voc_seg_tfrecord', run_name='__main__')\n"
        "except SystemExit as ended: print(ended.code, 'evil' in sys.modules)\n"
    )
    path = os.pathsep.join((str(tmp_path), str(REPOSITORY)))
    assert run_python("-c", code, cwd=tmp_path, PYTHONPATH=path).endswith("1 False\n")


PLAIN = {
    "x": {"pythonClassName": f"{CORE}.tensor_feature.Tensor", "tensor": {"dtype": "float32"}},
    "y": {"pythonClassName": f"{CORE}.text_feature.Text", "text": {}},
    "z": {
        "pythonClassName": f"{CORE}.class_label_feature.ClassLabel",
        "classLabel": {"numClasses": "3"},
    },
}


def test_plain_features_of_tfds_beside_ours_are_read(folder):
    in_features(**PLAIN)(folder)
    assert {*PLAIN} <= {*open_built(str(folder)).info.features}


def names_of(data):
    def write(folder):
        (folder / "labels.labels.txt").write_bytes(data)
        dataset_files.write_sums(epath.Path(folder))

    return write


def no_names(folder):
    (folder / "labels.labels.txt").unlink()
    dataset_files.write_sums(epath.Path(folder))


def odd_names_of_z(folder):
    in_features(z=PLAIN["z"])(folder)
    (folder / "z.labels.txt").write_bytes(b"a\x1b[31m\nb\nc\n")


def bytes_of(name, data):
    return lambda folder: (folder / name).write_bytes(data)


IMAGE = {"pythonClassName": f"{CORE}.image_feature.Image"}


def sequence_of(**feature):
    name = f"{CORE}.sequence_feature.Sequence"
    return {"pythonClassName": name, "sequence": {"feature": feature, "length": "-1"}}


def tensor_of(*dimensions):
    return {**PLAIN["x"], "tensor": {"shape": {"dimensions": dimensions}, "dtype": "int32"}}


def sequence_of_labels(folder):
    features = json.loads((folder / "features.json").read_text())["featuresDict"]["features"]
    in_features(x=sequence_of(**features["labels"]))(folder)


OTHER_KINDS = {
    "metadata.json: no object": bytes_of("metadata.json", b"[]"),
    "metadata.json: deep": bytes_of("metadata.json", b"[" * 10**6),
    "metadata.json: palette of names": in_metadata(palette=["red"] * 256),
    "metadata.json: palette of 3 colors": in_metadata(palette=[[0, 0, 0]] * 3),
    "metadata.json: palette of large numbers": in_metadata(palette=[[0, 0, 256]] * 256),
    "metadata.json: a config in a text": in_metadata(config="tile"),
    "metadata.json: a class_map of a list": in_metadata(class_map=["a"]),
    "metadata.json: splits of a list": in_metadata(splits=["train"]),
    "metadata.json: a split without a digest": in_metadata(splits={"train": {}}),
    "metadata.json: names in a text": in_metadata(class_names="background"),
    "metadata.json: another void": in_metadata(ignore_label=0),
    "metadata.json: a release that is no name": in_metadata(config={"release": {"2012": 1}}),
    "metadata.json: archives in texts": in_metadata(archives=["VOC.tar"]),
    "metadata.json: an archive without a digest": in_metadata(archives=[{"filename": "VOC.tar"}]),
    "metadata.json: a class map to a dict": in_metadata(class_map={"to": {"dog": {"x": 1}}}),
    "dataset_info.json: a split with a path": in_split(name="../train"),
    "dataset_info.json: two splits with one name": in_split(name="train"),
    "dataset_info.json: a version of many digits": in_info(version=f"{'9' * 5000}.0.0"),
    "dataset_info.json: a folder in the name of files": in_split(filepathTemplate="../{SPLIT}"),
    "dataset_info.json: a wide template": in_split(filepathTemplate="{SPLIT:>999999999}"),
    "dataset_info.json: many shards": in_split(shardLengths=["1"] * 200_000),
    "dataset_info.json: a name with a path": in_info(name="../x"),
    "dataset_info.json: a name with a code": in_info(configName="\x1b[m"),
    "labels.labels.txt: no UTF-8": names_of(b"\xff\n" * 21),
    "labels.labels.txt: more than 255 names": names_of(b"".join(b"c%d\n" % n for n in range(256))),
    "labels.labels.txt: no name": names_of(b"\n" * 21),
    "labels.labels.txt: a control character": names_of(b"a\x1b[31m\n"),
    "labels.labels.txt: no such file": no_names,
    "z.labels.txt: a control character in the names of a plain feature": odd_names_of_z,
    "features.json: a mask of three channels": in_features(
        "segmentation_mask", "image", "shape", dimensions=["-1", "-1", "3"]
    ),
    "features.json: a mask without labels": without("labels"),
    "features.json: objects without the length of a sequence": without(*OBJECTS[:2], "length"),
    "features.json: a sequence of images": in_features(x=sequence_of(**IMAGE, image={})),
    "features.json: a mask of floats": in_features("segmentation_mask", "image", dtype="float32"),
    "features.json: a mask without classes": in_features("segmentation_mask", **IMAGE),
    "features.json: an image in a text": in_features(image=PLAIN["y"]),
    "features.json: instances in a text": in_features(instance_mask=PLAIN["y"]),
    "features.json: a height in a text": in_features(**{"image/height": PLAIN["y"]}),
    "features.json: no UTF-8": bytes_of("features.json", b"\xff"),
    "features.json: 57 MB of empty objects": bytes_of(
        "features.json", b"[" + b"{}," * 19_000_000 + b"{}]"
    ),
}

FOUND_BY_VERIFY = {
    "metadata.json: a digest of other letters": in_metadata(
        splits={"train": {"ids_sha256": "x" * 64}}
    ),
    "dataset_info.json: shards below 0": in_split(shardLengths=["-1"]),
    "labels.labels.txt: names of no classes": in_features(*LABELS, classLabel={}),
    "features.json: no features": changed("features.json", "featuresDict", features={}),
    "features.json: labels without a mask": without("segmentation_mask"),
    "features.json: two heights": in_features("image/height", "tensor", "shape", dimensions=["2"]),
    "features.json: a sequence of sequences": sequence_of_labels,
    "features.json: features of no sequence": in_features(
        x={"pythonClassName": DICT, "featuresDict": {"features": PLAIN}}
    ),
    "features.json: two features with one path": in_features(**{"objects/pose": PLAIN["y"]}),
    "features.json: several numbers": in_features(x=tensor_of("2")),
    "features.json: any number of numbers": in_features(x=tensor_of("-1")),
    "features.json: a box of no object": in_features(x={"pythonClassName": BOX, "boundingBox": {}}),
    "features.json: images of 16 bits": in_features(x={**IMAGE, "image": {"dtype": "uint16"}}),
    "features.json: objects without boxes": without(*OBJECTS, "bbox"),
}


@pytest.mark.parametrize("case", OTHER_KINDS)
def test_a_file_of_another_kind_is_one_error_that_names_it(folder, case):
    (folder / "SHA256SUMS").unlink()
    OTHER_KINDS[case](folder)
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    name = case.partition(":")[0]
    with pytest.raises(RecordError, match=f"{name}: |1.0.0: a damaged") as raised:
        open_built(str(folder))
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("value", [-(1 << 31), -9999, -1, 0, 65535])
def test_values_of_masks_that_a_build_takes_are_read(folder, value):
    in_metadata(classes=[[value, "void"]])(folder)
    assert open_built(str(folder)).info.metadata["classes"] == [[value, "void"]]


@pytest.mark.parametrize("case", FOUND_BY_VERIFY)
def test_what_makes_no_sense_is_found_by_verify(folder, case, capsys):
    FOUND_BY_VERIFY[case](folder)
    dataset_files.write_sums(epath.Path(folder))
    assert cli.main(["verify", str(folder)]) in (1, 2)
    assert not any(capsys.readouterr().err.startswith(word) for word in ("Traceback", "usage"))


def test_the_names_of_labels_and_masks_must_agree(folder):
    (folder / "metadata.json").unlink()
    names_of(b"".join(b"c%d\n" % n for n in range(21)))(folder)
    with pytest.raises(RecordError, match="the class names of segmentation_mask"):
        open_built(str(folder))
