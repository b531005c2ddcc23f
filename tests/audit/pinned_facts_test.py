import dataclasses
import shutil

import pytest
from support import doctoring
from support.building import build
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.audit import fingerprint, pinned_facts, verify
from voc_seg_tfrecord.audit.fingerprint import Digests
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.reading.dataset import open_built

OWN = pinned_facts.Claim("", complete=False, voc_classes=True)


def digests_of(name, mask=b"m"):
    return dict.fromkeys(list_ids(name), Digests(b"i", mask))


def compare(claim, split, digests):
    return pinned_facts.compare_with_pinned(claim, split, fingerprint.of_split(digests), digests)


@pytest.fixture
def pin(monkeypatch):
    """Pins facts of one split of a release in place of all others."""

    def pin(release, name, total, masks=None):
        masks = total.masks if masks is None else masks
        row = releases.OfficialSplit(release, name, (total.examples,), total.ids, masks)
        monkeypatch.setattr(releases, "official_splits", lambda: {(release, name): row})

    return pin


@pytest.mark.parametrize(
    "claim",
    [
        OWN,
        pinned_facts.Claim("2012", complete=False, voc_classes=True),
        pinned_facts.Claim("2012", complete=True, voc_classes=True),
    ],
)
def test_other_masks_of_an_official_list_are_a_fault_whatever_the_config_is_called(claim):
    faults = compare(claim, "train", digests_of("voc2012_train")).faults
    pinned_masks = releases.official_splits()["2012", "train"].masks_sha256
    assert [fault.partition("masks: sha256 ")[0] for fault in faults] == [""]
    assert f"published for VOC2012 train is {pinned_masks}" in faults[0]


def test_the_pinned_masks_agree_and_images_are_said_not_to_be_checked(pin):
    digests = digests_of("voc2012_val")
    pin("2012", "validation", fingerprint.of_split(digests))
    found = compare(OWN, "anything", digests)
    assert found.faults == ()
    assert found.checked == (
        "ids and masks agree with the published facts of VOC2012 validation; "
        "images not checked (no public hash)"
    )
    assert found.published_as == {
        "ids": "the list voc2012_val",
        "masks": "VOC2012 validation, as pinned",
    }


def test_an_official_split_within_a_larger_one_is_compared(pin):
    train = digests_of("voc2012_train")
    pin("2012", "train", fingerprint.of_split(train))
    trainval = digests_of("voc2012_trainval")
    assert compare(OWN, "train", trainval).faults == ()
    trainval[list_ids("voc2012_train")[5]] = Digests(b"i", b"other")
    assert len(compare(OWN, "train", trainval).faults) == 1


def test_masks_of_other_classes_are_not_compared():
    claim = dataclasses.replace(OWN, voc_classes=False)
    found = compare(claim, "train", digests_of("voc2012_train"))
    assert found.faults == ()
    assert found.checked.endswith("with other classes, so its masks were not compared")


@pytest.mark.parametrize("complete", [True, False])
def test_masks_of_mapped_classes_are_said_not_to_be_compared_and_ids_are(complete):
    claim = pinned_facts.Claim("2012", complete, voc_classes=True, mapped=True)
    found = compare(claim, "train", digests_of("voc2012_train"))
    assert found.faults == ()
    assert found.checked.endswith(
        "the pinned masks do not apply, because the classes were mapped at build (classes)"
    )
    assert found.checked.startswith("ids agree" if complete else "holds the ids of VOC2012 train;")
    digests = digests_of("voc2012_train")
    digests["2000_000000"] = digests.popitem()[1]
    faults = " ".join(compare(claim, "train", digests).faults)
    assert ("2000_000000" in faults) == complete


def test_a_complete_release_without_masks_is_compared_by_its_ids():
    claim = pinned_facts.Claim("2012", complete=True, voc_classes=False, masks=False)
    found = compare(claim, "train", digests_of("voc2012_train", mask=b""))
    assert found.faults == ()
    assert found.checked == (
        "ids agree with the published facts of VOC2012 train; images not checked (no public hash)"
    )


def test_a_part_of_a_release_is_said_not_to_be_compared():
    claim = pinned_facts.Claim("2012", complete=False, voc_classes=True)
    found = compare(claim, "train", digests_of("semi_92"))
    assert found.faults == ()
    assert found.checked.startswith("a part of VOC2012, or another list of it: ids and masks not")
    assert found.published_as == {"ids": "the list semi_92"}


def test_own_data_has_no_pinned_facts():
    assert compare(OWN, "train", {"a": Digests(b"i", b"m")}).checked == ""


def test_what_is_not_pinned_of_an_official_split_is_named():
    claim = pinned_facts.Claim("2007", True, True, ("images", "instance masks", "objects"))
    found = compare(claim, "train", digests_of("voc2007_train"))
    assert found.checked == (
        "ids agree with the published facts of VOC2007 train; "
        "masks, images, instance masks and objects not checked (no public hash)"
    )


def test_a_release_of_which_only_numbers_are_known_says_so():
    claim = pinned_facts.Claim("2008", complete=True, voc_classes=True)
    digests = {str(n): Digests(b"i", b"m") for n in range(511)}
    assert compare(claim, "train", digests).checked == (
        "number of ids agrees with the published facts of VOC2008 train; "
        "ids, masks and images not checked (no public hash)"
    )
    del digests["7"]
    assert compare(claim, "train", digests).faults == ("510 examples, VOC2008 train has 511",)


@pytest.fixture
def release(tmp_path, pin):
    """A release built under a name of its own, with its facts pinned."""
    config = VocSegConfig(name="mine", release="2012", strict=False, splits={"train": "train"})
    builder = build(tmp_path / "data", config, DUMMY_DATA)
    report = verify.verify(builder)
    pin("2012", "train", report.splits["train"].fingerprint)
    return builder


def test_a_tampered_mask_is_a_fault_in_a_release_under_a_name_of_its_own(release, tmp_path, capsys):
    assert cli.main(["verify", str(release.data_dir)]) == 0
    assert (
        "/1.0.0: no faults\n"
        "checked: sha256 of every file in the folder; sizes, labels and mask values of 3 examples\n"
        "train: ids and masks agree with the published facts of VOC2012 train; images, instance "
        "masks and objects not checked (no public hash)\n"
        "not compared with the source; give --source ROOT to compare with its files\n"
        "sha256 of its contents, to compare builds:\n"
    ) in capsys.readouterr().out
    folder = shutil.copytree(release.data_dir, tmp_path / "1.0.0")
    doctoring.rewrite(open_built(folder), "train", doctoring.change_pixel)
    assert cli.main(["verify", str(folder)]) == 1
    printed = capsys.readouterr().out
    assert "published for VOC2012 train is" in printed
    assert "train: differs from the published facts of VOC2012 train" in printed


def test_the_claim_is_read_from_the_metadata(release, sample):
    extra = ("images", "instance masks", "objects")
    assert pinned_facts.claim_of(release) == pinned_facts.Claim("2012", False, True, extra)
    assert pinned_facts.claim_of(sample) == pinned_facts.Claim("", False, True, extra)
