"""Lists may name patients or scenes in place of images, if the user gives the rule of groups."""

import json
import pathlib

import pytest
from support import exports
from support.folders import NAMES, examples_of, images_of, plan_of, refused

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError

WANTED = {"train": ["P01", "P02"], "validation": ["P03"], "test": ["P04"]}


def put_set(root: pathlib.Path, image: str = "{}-S{}", group: str = "{}") -> pathlib.Path:
    """Writes two images of each patient, and lists of patients, by the patterns of their names."""
    for split, patients in WANTED.items():
        exports.put(root, f"{split}.txt", "\n".join(group.format(p) for p in patients))
        for patient in patients:
            for number in (1, 2):
                image_id = image.format(patient, number)
                exports.put_image(root, f"images/{image_id}.png")
                exports.put_mask(root, f"masks/{image_id}.png", exports.truth(image_id))
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
    exports.put(tmp_path, "test.txt", "P04\nP01-S2\n")
    refused(tmp_path, "P01-S2", ListError, group_by="prefix:-")


def test_a_name_that_is_no_patient_is_refused(tmp_path):
    put_set(tmp_path)
    exports.put(tmp_path, "test.txt", "P04\nP05\n")
    with pytest.raises(VocSegError, match="P05"):
        examples_of(tmp_path, group_by="prefix:-", class_names=NAMES)


@pytest.mark.parametrize("rule", ["prefix:-", "none"])
def test_a_rule_that_no_list_needs_is_refused(tmp_path, rule):
    put_set(tmp_path)
    for split, image_ids in wanted().items():
        exports.put(tmp_path, f"{split}.txt", "\n".join(image_ids))
    refused(tmp_path, "ratios with it", ConfigError, group_by=rule)
