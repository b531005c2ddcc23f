from etils import epath
import pytest

from voc_seg_tfrecord.base.errors import ListError
from voc_seg_tfrecord.facts import official_splits


@pytest.mark.parametrize(
    ("config", "train", "validation"),
    [
        ("2007", 209, 213),
        ("2008", 511, 512),
        ("2009", 749, 750),
        ("2010", 964, 964),
        ("2011", 1112, 1111),
        ("2012", 1464, 1449),
    ],
)
def test_the_official_counts_are_pinned(config, train, validation):
    assert official_splits.splits()[config, "train"].examples == train
    assert official_splits.splits()[config, "validation"].examples == validation


def test_the_test_split_of_2007_is_pinned():
    assert official_splits.splits()["2007", "test"].examples == 210


@pytest.mark.parametrize("split", ["train", "validation"])
def test_2012_has_all_hashes(split):
    row = official_splits.splits()["2012", split]
    assert len(row.ids_sha256) == len(row.masks_sha256) == 64


def test_another_list_is_refused_with_both_counts():
    with pytest.raises(ListError, match=r"(?s)train\.txt: 1 ids.*VOC2012: 1464 ids.*strict"):
        official_splits.check_ids("2012", "train", ["a"], "train.txt")


def test_the_right_count_with_other_ids_is_refused():
    with pytest.raises(ListError, match="1464 ids, sha256"):
        official_splits.check_ids("2012", "train", [str(i) for i in range(1464)], "train.txt")


def test_a_split_without_a_known_hash_is_checked_by_its_count():
    official_splits.check_ids("2008", "train", [str(i) for i in range(511)], "train.txt")
    with pytest.raises(ListError, match="510 ids"):
        official_splits.check_ids("2008", "train", [str(i) for i in range(510)], "train.txt")


def test_a_list_of_sbd_is_not_called_vocs():
    with pytest.raises(ListError, match="the official list train of SBD: 8498 ids"):
        official_splits.check_ids("sbd", "train", ["2008_000001"], "train.txt")


def test_every_published_count_of_a_list_is_taken_and_an_error_names_all_of_them():
    ids = [f"2008_{number:06}" for number in range(4998)]
    for count in (4998, 4996):
        official_splits.check_ids("context60", "train", ids[:count], "train.txt")
    words = r"list train of Pascal Context \(60 classes\): 4998 or 4996 ids\n"
    with pytest.raises(ListError, match=words):
        official_splits.check_ids("context60", "train", ids[:4997], "train.txt")


@pytest.fixture
def table(tmp_path):
    path = epath.Path(tmp_path) / "a.tsv"

    def write(text):
        path.write_text(text)
        return path

    return write


def test_the_first_line_that_is_no_comment_names_the_columns(table):
    path = table("# a\tremark\nname\tids\n\nx\t1\n# between\ny\t?\n")
    assert official_splits.read_table(path) == [{"name": "x", "ids": "1"}, {"name": "y", "ids": ""}]


def test_quotes_and_empty_cells_are_kept_as_they_are(table):
    assert official_splits.read_table(table('a\tb\n"x\t\n')) == [{"a": '"x', "b": ""}]


@pytest.mark.parametrize("row", ["1", "1\t2\t3"])
def test_a_row_with_too_few_or_too_many_cells_is_an_error(table, row):
    with pytest.raises(ValueError, match="zip"):
        official_splits.read_table(table(f"a\tb\n{row}\n"))


def test_every_table_of_the_package_can_be_read():
    facts = official_splits.facts_folder("facts")
    paths = [*facts.glob("*.tsv"), *(facts / "published").glob("*.tsv")]
    assert len(paths) == 9
    for path in [*paths, official_splits.facts_folder("checksums") / "splits.tsv"]:
        assert official_splits.read_table(path), path


def test_the_folder_facts_has_at_most_twelve_files():
    files = [path for path in official_splits.facts_folder("facts").iterdir() if path.is_file()]
    assert len(files) <= 12
