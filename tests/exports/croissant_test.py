import hashlib
import json
import subprocess

from etils import epath
import mlcroissant as mlc
import numpy as np
import pytest
from support.building import build
from support.hugging_face import as_tfds_decodes
from support.painting import assert_same
from support.paths import DUMMY_DATA
from support.published import odd_names

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.exports import layouts
from voc_seg_tfrecord.exports.export import export, write_card


def exported(builder, folder, layout, **more):
    """Exports a dataset with its Croissant file; returns the folder."""
    export(builder, folder, layout=layout, described=True, **more)
    return folder


def opened(folder):
    """Returns the dataset that a Croissant file describes, and what is wrong with the file."""
    dataset = mlc.Dataset(jsonld=str(folder / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    return dataset, issues.errors, issues.warnings


@pytest.mark.parametrize("layout", layouts.EXPORTED)
def test_a_file_is_valid_and_lacks_only_what_nobody_has_said(sample, tmp_path, layout):
    _, errors, warnings = opened(exported(sample, tmp_path / "out", layout))
    assert not errors
    lacking = {warning.split('"')[1].rpartition("/")[2] for warning in warnings}
    assert lacking == {"citeAs", "license", "datePublished"}


@pytest.mark.parametrize("layout", ["parquet", "voc"])
def test_mlcroissant_writes_again_what_it_reads(tmp_path, layout):
    folder = exported(odd_names(tmp_path / "data"), tmp_path / "out", layout)
    dataset, _, _ = opened(folder)
    again = dataset.metadata.to_json()
    said = json.loads((folder / "croissant.json").read_text())
    assert list(again) == list(said)
    assert without_lists_of_one(again) == without_lists_of_one(said)


def without_lists_of_one(value):
    """Returns JSON-LD in which a list of one value is that value, which means the same."""
    if isinstance(value, dict):
        return {name: without_lists_of_one(part) for name, part in value.items()}
    if isinstance(value, list):
        parts = [without_lists_of_one(part) for part in value]
        return parts[0] if len(parts) == 1 else parts
    return value


def test_the_words_of_a_file_mean_what_they_mean_in_mlcroissant(sample, tmp_path):
    folder = exported(sample, tmp_path / "out", "deeplab")
    said = json.loads((folder / "croissant.json").read_text())
    theirs = mlc.Metadata(name="a", url="https://example.org", version="1.0.0").to_json()
    assert said["@context"] == theirs["@context"]
    assert said["conformsTo"] == theirs["conformsTo"]


def test_a_file_about_which_all_is_known_has_no_warning(tmp_path):
    config = VocSegConfig(
        name="mine",
        description="Walls.",
        citation="@misc{walls}",
        license="MIT",
        homepage="https://example.org",
        class_names=[f"class {n}" for n in range(21)],
        splits={"train": "train"},
    )
    built = build(tmp_path, config, DUMMY_DATA / "VOCdevkit" / "VOC2012")
    folder = exported(built, tmp_path / "out", "parquet", published="2024-05-31")
    dataset, errors, warnings = opened(folder)
    assert not errors | warnings
    said = json.loads((folder / "croissant.json").read_text())
    assert (said["datePublished"], said["license"]) == ("2024-05-31", "MIT")
    assert (said["citeAs"], said["url"]) == ("@misc{walls}", "https://example.org")
    assert dataset.metadata.name == "mine"
    assert list(dataset.metadata.to_json()) == list(said)


def test_a_release_has_the_date_of_its_archive(tmp_path):
    config = VocSegConfig(name="part", release="2012", strict=False)
    folder = exported(build(tmp_path, config, DUMMY_DATA), tmp_path / "out", "deeplab")
    assert json.loads((folder / "croissant.json").read_text())["datePublished"] == "2012-05-11"


@pytest.mark.parametrize("layout", layouts.EXPORTED)
def test_each_file_of_an_export_has_its_size_and_digest(sample, tmp_path, layout):
    folder = exported(sample, tmp_path / "out", layout)
    said = {
        one["contentUrl"]: (one["contentSize"], one["sha256"])
        for one in json.loads((folder / "croissant.json").read_text())["distribution"]
        if one["@type"] == "cr:FileObject"
    }
    there = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("README.md", "croissant.json")
    }
    for name, (size, digest) in said.items():
        data = there[name].read_bytes()
        assert (size, digest) == (f"{len(data)} B", hashlib.sha256(data).hexdigest())
    rest = set(there) - set(said)
    assert bool(rest) == (layout in ("voc", "coco-panoptic"))
    if rest:
        subprocess.run(["sha256sum", "--status", "-c", "SHA256SUMS"], cwd=folder, check=True)
        listed = {line.split("  ", 1)[1] for line in there["SHA256SUMS"].read_text().splitlines()}
        assert listed == set(there) - {"SHA256SUMS"}


def test_records_read_by_mlcroissant_are_those_that_were_built(sample, tmp_path):
    dataset, _, _ = opened(exported(sample, tmp_path / "out", "parquet"))
    for split in sample.info.splits:
        ours = list(as_tfds_decodes(sample, split))
        found = list(dataset.records(split))
        assert len(ours) == len(found) > 0
        for one, record in zip(ours, found, strict=True):
            assert_same(one, plain(record, split))


def plain(record, split):
    """Returns a record of mlcroissant in the form of TFDS's examples."""
    made = {}
    for key, value in record.items():
        name = key.removeprefix(f"{split}/")
        if name == "objects":
            for part in value[0]:
                values = [one[part] for one in value]
                made[part.removeprefix(f"{split}/")] = np.asarray(values)
        elif hasattr(value, "convert"):  # an image
            array = np.asarray(value.convert("RGB") if name == "image" else value)
            made[name] = array if array.ndim == 3 else array[..., None]
        else:
            made[name] = np.asarray(value)
    return made


def test_the_names_of_classes_are_records_of_their_own(tmp_path):
    built = odd_names(tmp_path / "data")
    dataset, errors, _ = opened(exported(built, tmp_path / "out", "parquet"))
    assert not errors
    rows = [tuple(row.values()) for row in dataset.records("names/labels")]
    names = built.info.features["labels"].feature.names
    assert rows == list(enumerate(names))


def test_a_built_dataset_is_described_by_the_files_that_it_has(sample, tmp_path):
    write_card(sample, tmp_path)
    _, errors, _ = opened(tmp_path)
    assert not errors
    said = json.loads((tmp_path / "croissant.json").read_text())["distribution"]
    home = epath.Path(sample.data_dir)
    assert {one["contentUrl"] for one in said} == {path.name for path in home.iterdir()}
    for one in said:
        data = (home / one["contentUrl"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("layout", ["parquet", "voc", "coco-panoptic"])
def test_a_file_is_the_same_wherever_and_whenever_it_is_written(tmp_path, layout):
    texts = []
    for place in ("here", "there"):
        built = odd_names(tmp_path / place / "data")
        folder = exported(built, tmp_path / place / "out", layout)
        texts.append((folder / "croissant.json").read_text())
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]
