"""Lists may name patients or scenes in place of images, if the user gives the rule of groups."""

import itertools
import json
import pathlib

import numpy as np
import pytest
from support import drawing
from support.folders import NAMES, examples_of, images_of, plan_of, refused

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.sources.open import find_pairs

WANTED = {"train": ["P01", "P02"], "validation": ["P03"], "test": ["P04"]}


def put_set(root: pathlib.Path, image: str = "{}-S{}", group: str = "{}") -> pathlib.Path:
    """Writes two images of each patient, and lists of patients, by the patterns of their names."""
    for split, patients in WANTED.items():
        drawing.put(root, f"{split}.txt", "\n".join(group.format(p) for p in patients))
        for patient in patients:
            for number in (1, 2):
                image_id = image.format(patient, number)
                drawing.put_image(root, f"images/{image_id}.png")
                drawing.put_mask(root, f"masks/{image_id}.png", drawing.truth(image_id))
    return root


def wanted(image: str = "{}-S{}") -> dict[str, list[str]]:
    return {
        split: sorted(image.format(patient, number) for patient in patients for number in (1, 2))
        for split, patients in WANTED.items()
    }


@pytest.mark.parametrize(
    ("image", "group", "rule"),
    [
        ("{}-S{}", "{}", "prefix:-"),
        ("{}_{}", "{}", "prefix:_"),
        ("site_{}_{}", "site_{}", "regex:^([^_]+[_][^_]+)[_]"),
    ],
)
def test_the_rule_that_the_error_proposes_reads_each_patients_images(tmp_path, image, group, rule):
    put_set(tmp_path, image, group)
    text = refused(tmp_path, "as those of a patient or a scene do", ListError)
    assert "--group_by" in text
    assert rule in text
    plan = plan_of(tmp_path, group_by=rule)
    assert images_of(plan) == wanted(image)
    config = VocSegConfig(**json.loads(plan.config.to_json()))
    assert config.group_by == rule


def test_a_text_that_the_user_names_may_name_groups(tmp_path):
    put_set(tmp_path)
    (tmp_path / "train.txt").rename(tmp_path / "first.lst")
    splits = {"train": "first.lst", "validation": "validation", "test": "test"}
    assert images_of(plan_of(tmp_path, group_by="prefix:-", splits=splits)) == wanted()


def test_a_patient_in_two_lists_is_refused(tmp_path):
    put_set(tmp_path)
    drawing.put(tmp_path, "test.txt", "P04\nP01-S2\n")
    refused(tmp_path, "P01-S2", ListError, group_by="prefix:-")


def test_a_name_that_is_no_patient_is_refused(tmp_path):
    put_set(tmp_path)
    drawing.put(tmp_path, "test.txt", "P04\nP05\n")
    with pytest.raises(VocSegError, match="P05"):
        examples_of(tmp_path, group_by="prefix:-", class_names=NAMES)


@pytest.mark.parametrize("rule", ["prefix:-", "none"])
def test_a_rule_that_no_list_needs_is_refused(tmp_path, rule):
    put_set(tmp_path)
    for split, image_ids in wanted().items():
        drawing.put(tmp_path, f"{split}.txt", "\n".join(image_ids))
    refused(tmp_path, f"option group_by: {rule!r}", ConfigError, group_by=rule)


PATIENTS_BY_SPLIT = {"train": ["P1", "P12"], "validation": ["P10", "P2"], "test": ["P11", "P20"]}
"""The names of some begin those of others: P1 is no P10, P11 or P12, and P2 is no P20."""


IMAGES_OF_PATIENT = range(4)
"""So many that a text has names for far fewer than half of the images."""


def put_lists(root: pathlib.Path) -> None:
    for split, patients in PATIENTS_BY_SPLIT.items():
        drawing.put(root, f"{split}.txt", "\n".join(patients))


def put_lists_in_folders(root: pathlib.Path) -> None:
    for split, patients in PATIENTS_BY_SPLIT.items():
        drawing.put(root, f"lists/{split}/patients.txt", "\n".join(patients))


def put_toml(root: pathlib.Path) -> None:
    lines = [f"{split} = {json.dumps(patients)}" for split, patients in PATIENTS_BY_SPLIT.items()]
    drawing.put(root, "splits.toml", "\n".join(lines))


def put_voc_lists(root: pathlib.Path) -> None:
    put_lists(root / "ImageSets" / "Segmentation")


def put_json(root: pathlib.Path) -> None:
    drawing.put(root, "splits.json", json.dumps(PATIENTS_BY_SPLIT))


def put_yaml(root: pathlib.Path) -> None:
    lines = []
    for split, patients in PATIENTS_BY_SPLIT.items():
        lines += [f"{split}:", *(f"  - {patient}" for patient in patients)]
    drawing.put(root, "splits.yaml", "\n".join(lines))


def put_json_of_patients(root: pathlib.Path) -> None:
    splits = {patient: split for split, some in PATIENTS_BY_SPLIT.items() for patient in some}
    drawing.put(root, "splits.json", json.dumps(splits))


def put_lines_of_json(root: pathlib.Path) -> None:
    lines = []
    for split, patients in PATIENTS_BY_SPLIT.items():
        lines += [json.dumps({"patient": patient, "split": split}) for patient in patients]
    drawing.put(root, "splits.jsonl", "\n".join(lines))


def put_table(root: pathlib.Path, name: str, sign: str) -> None:
    rows = [f"{one}{sign}{split}" for split, some in PATIENTS_BY_SPLIT.items() for one in some]
    drawing.put(root, name, "\n".join([f"patient{sign}split", *rows]))


def put_columns(root: pathlib.Path) -> None:
    rows = [",".join(row) for row in zip(*PATIENTS_BY_SPLIT.values(), strict=True)]
    drawing.put(root, "splits.csv", "\n".join([",".join(PATIENTS_BY_SPLIT), *rows]))


MEDIA = {
    "lists": put_lists,
    "VOC's lists": put_voc_lists,
    "JSON": put_json,
    "YAML": put_yaml,
    "JSON of patients": put_json_of_patients,
    "lines of JSON": put_lines_of_json,
    "a table": lambda root: put_table(root, "splits.csv", ","),
    "a table with tabs": lambda root: put_table(root, "splits.tsv", "\t"),
    "lists in folders": put_lists_in_folders,
    "columns": put_columns,
    "TOML": put_toml,
}
NOT_READ = ("columns", "TOML")
"""Media that stop the build with groups, too."""


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize(
    ("image", "rule"),
    [("{}-S{}", "prefix:-"), ("{}_S{}", "prefix:_"), ("{}/{}", "folder")],
)
def test_a_patient_is_no_other_one_whose_name_begins_alike(tmp_path, image, rule, medium):
    all_patients = itertools.chain(*PATIENTS_BY_SPLIT.values())
    random = np.random.default_rng(0)
    for patient, number in itertools.product(all_patients, IMAGES_OF_PATIENT):
        image_id = image.format(patient, number)
        pixels = random.integers(0, 256, drawing.SIZE, np.uint8)
        drawing.put_mask(tmp_path, f"JPEGImages/{image_id}.png", pixels)
        drawing.put_mask(tmp_path, f"SegmentationClass/{image_id}.png", pixels // 86)
    MEDIA[medium](tmp_path)
    wanted_ids = {
        split: {
            image.format(patient, number) for patient in patients for number in IMAGES_OF_PATIENT
        }
        for split, patients in PATIENTS_BY_SPLIT.items()
    }
    for options in ({}, {"group_by": rule}):
        try:
            plan = plan_of(tmp_path, images="JPEGImages", masks="SegmentationClass", **options)
            find_pairs(plan)
        except VocSegError:
            assert medium in NOT_READ or not options
        else:
            assert {split: {*ids} for split, ids in plan.splits.items()} == wanted_ids
