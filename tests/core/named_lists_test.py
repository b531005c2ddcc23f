import pytest

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.named_lists import identify, list_ids, named_lists

# Count and sha256 of each list, as gathered beside the lists themselves and independent of
# the package's own table.
PINNED = {
    "voc2012_train": (1464, "aa623bd2c8ce4443"),
    "voc2012_val": (1449, "cdc1326d12f69ce5"),
    "voc2012_trainval": (2913, "f8dae64f9e08d8b0"),
    "voc2012_test": (1456, "5e8fe0c14b2e6633"),
    "trainaug": (10582, "d1326bd532648d73"),
    "voc2007_train": (209, "15097d8325f04080"),
    "voc2007_val": (213, "43c8dad6258ececd"),
    "voc2007_trainval": (422, "3f95e8f6538ea097"),
    "voc2007_test": (210, "ab6b0335343d2c39"),
    "semi_92": (92, "325a965b6206ac6e"),
    "semi_183": (183, "3b208061a59a42b4"),
    "semi_366": (366, "ea8aa0b2ceedf56b"),
    "semi_732": (732, "81c3256e4a7fc4c3"),
    "semi_1_16": (662, "7dada8ccc5eb6309"),
    "semi_1_8": (1323, "df63f50a798512c3"),
    "semi_1_4": (2646, "62c450787069b36d"),
    "u2pl_1_16": (662, "0c6466b63b2f5206"),
    "u2pl_1_8": (1323, "2f24ef964761485f"),
    "u2pl_1_4": (2646, "3c653f4ff30f3c05"),
    "seg11valid": (736, "4ca991bd72c251fd"),
}


def ids(name):
    return set(list_ids(name))


@pytest.mark.parametrize("name", PINNED)
def test_a_list_is_the_one_that_the_facts_pin(name):
    count, sha256 = PINNED[name]
    assert len(list_ids(name)) == named_lists()[name].examples == count
    assert id_list_sha256(ids(name)).startswith(sha256)


def test_every_list_can_be_read_and_is_ascending():
    for name, entry in named_lists().items():
        assert list(list_ids(name)) == sorted(ids(name))
        assert len(ids(name)) == entry.examples
        assert id_list_sha256(ids(name)) == entry.sha256
        assert entry.source


def test_trainaug_has_all_of_train_and_nothing_of_val():
    assert ids("voc2012_train") < ids("trainaug")
    assert not ids("voc2012_val") & ids("trainaug")


@pytest.mark.parametrize("name", [n for n in PINNED if n.startswith(("semi", "u2pl"))])
def test_labeled_parts_are_parts_of_trainaug(name):
    assert ids(name) < ids("trainaug")


def test_all_images_of_2007_are_in_2012_under_other_names():
    of_2007 = ids("voc2007_trainval_in_2012") | ids("voc2007_test_in_2012")
    assert len(of_2007) == 632
    assert of_2007 < ids("voc2012_trainval")


def test_an_unknown_list_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no such list; did you mean .*\n.*semi_1_16"):
        list_ids("semi_1_3")


def test_a_list_is_found_by_its_hash():
    assert identify(named_lists()["semi_92"].sha256) == "semi_92"
    assert identify("0" * 64) == ""
