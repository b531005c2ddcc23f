"""The digest of a split's ids, by which a paper and another machine say which images are in it."""

import hashlib
import json

import numpy as np
import pytest
from support import handwritten
from support.building import build, from_tree
from support.drawing import write_small_tree

import voc_seg_tfrecord
from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.metadata import ids_sha256

IDS = [f"{number:03}" for number in range(8)]
DIGEST = hashlib.sha256("".join(f"{i}\n" for i in IDS).encode()).hexdigest()
VOC = {"class_names": ["voc"]}
OWN = VocSegConfig(name="mine", class_names=VOC_CLASSES)


@pytest.fixture
def tree(tmp_path):
    return write_small_tree(tmp_path / "tree", len(IDS))


def images(count):
    return (np.zeros((4, 4, 3), np.uint8) for _ in range(count))


def of_arrays(_, data_dir):
    masks, names = (np.zeros((4, 4), np.uint8) for _ in IDS), (f"{i}.png" for i in IDS)
    said = {"name": "mine", "class_names": ["a", "b", "c"], "data_dir": data_dir}
    return voc_seg_tfrecord.from_arrays(images(8), masks, filenames=names, **said)


WAYS = {
    "tree": lambda tree, data_dir: from_tree(tree, data_dir=data_dir, **VOC),
    "tiles": lambda tree, data_dir: from_tree(tree, data_dir=data_dir, tile=16, **VOC),
    "workers": lambda tree, data_dir: from_tree(tree, data_dir=data_dir, workers=2, **VOC),
    "tfds build --config": lambda tree, data_dir: build(data_dir, OWN, tree),
    "an iterator of arrays": of_arrays,
}


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=pytest.mark.slow if way == "workers" else []) for way in WAYS],
)
def test_each_way_to_build_notes_the_digest_of_the_sorted_ids(way, tree, tmp_path):
    built = WAYS[way](tree, tmp_path / "data")
    assert ids_sha256(open_built(built.data_path)) == {"train": DIGEST}
    report = verify.verify(open_built(built.data_path))
    assert report.faults == []
    assert report.splits["train"].ids_sha256 == DIGEST


def test_a_build_of_the_first_examples_alone_notes_the_ids_of_these(tree, tmp_path):
    built = build(tmp_path / "data", OWN, tree, max_examples_per_split=3)
    assert ids_sha256(built) != {"train": DIGEST}
    assert verify.verify(built).faults == []
    tiled = VocSegConfig(name="tiled", class_names=VOC_CLASSES, tile=16)
    assert ids_sha256(build(tmp_path / "data", tiled, tree, max_examples_per_split=3)) == {}


def rewritten(built, change):
    """Lets the metadata say something else, as if it had been built so."""
    path = built.data_path / "metadata.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    dataset_files.write_sums(built.data_path)
    return open_built(built.data_path)


def test_ids_that_are_not_those_of_the_metadata_are_a_fault(tree):
    built = rewritten(
        from_tree(tree, **VOC), lambda data: data["splits"]["train"].update(ids_sha256="0" * 64)
    )
    (fault,) = verify.verify(built).faults
    assert str(fault) == f"train: ids: sha256 {DIGEST}, the dataset's metadata says {'0' * 64}"


def test_a_dataset_that_an_older_version_built_has_no_digest_and_no_fault(tree):
    built = rewritten(from_tree(tree, **VOC), lambda data: data.pop("splits"))
    assert ids_sha256(built) == {}
    assert verify.verify(built).faults == []


def test_the_commands_print_the_same_digest(tree, tmp_path, capsys):
    place = ["--data_dir", str(tmp_path)]
    words = [str(tree), "--name", "mine", "--class_names", "voc", *place]
    cli.main(["build", *words])
    assert f"\n  train: {DIGEST}\n" in capsys.readouterr().out
    cli.main(["build", *words, "--version", "1.1.0", "--tile", "16", "--json"])
    assert json.loads(capsys.readouterr().out)["ids_sha256"] == {"train": DIGEST}
    cli.main(["verify", "mine:1.0.0", *place])
    assert f"\n    ids       {DIGEST}\n" in capsys.readouterr().out
    cli.main(["verify", "mine:1.1.0", *place])
    assert f"\n    image ids {DIGEST}\n" in capsys.readouterr().out
    cli.main(["verify", "mine:1.1.0", *place, "--json"])
    assert json.loads(capsys.readouterr().out)["splits"]["train"]["ids_sha256"] == DIGEST


def test_records_that_are_imported_have_it_too(tmp_path, capsys):
    image = np.zeros((4, 4, 3), np.uint8)
    records = [handwritten.shaped(image, 0, f"{name}.jpg") for name in ("b", "a")]
    path = handwritten.write(tmp_path / "train.tfrecord", records)
    words = ["import", str(path), "--name", "old", "--data_dir", str(tmp_path), "--json"]
    keys = "image=data,shape=shape,filename=name,label=label"
    assert cli.main([*words, "--class_names", "x", "--keys", keys]) == 0
    expected = hashlib.sha256(b"a\nb\n").hexdigest()
    assert json.loads(capsys.readouterr().out)["ids_sha256"] == {"train": expected}


def test_diff_says_whether_both_sides_have_the_same_ids(tree, tmp_path, capsys):
    place = ["--data_dir", str(tmp_path)]
    from_tree(tree, data_dir=tmp_path, tile=16, **VOC)
    cli.main(["diff", "mine", str(tree), *place])
    assert f"\nids of train: the same on both sides, sha256 {DIGEST}\n" in capsys.readouterr().out
    (tree / "ImageSets/Segmentation/train.txt").write_text("000\n")
    (tree / "ImageSets/Segmentation/val.txt").write_text("001\n")
    cli.main(["diff", "mine", str(tree), *place])
    one, other = (hashlib.sha256(f"00{n}\n".encode()).hexdigest() for n in range(2))
    assert "ids of train" not in capsys.readouterr().out
    cli.main(["diff", "mine", str(tree), *place, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["before"]["ids_sha256"] == {"train": DIGEST}
    assert document["after"]["ids_sha256"] == {"train": one, "validation": other}
