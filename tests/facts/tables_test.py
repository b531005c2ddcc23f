from etils import epath
import pytest

from voc_seg_tfrecord.facts import tables


@pytest.fixture
def table(tmp_path):
    path = epath.Path(tmp_path) / "a.tsv"

    def write(text):
        path.write_text(text)
        return path

    return write


def test_the_first_line_that_is_no_comment_names_the_columns(table):
    path = table("# a\tremark\nname\tids\n\nx\t1\n# between\ny\t?\n")
    assert tables.read(path) == [{"name": "x", "ids": "1"}, {"name": "y", "ids": ""}]


def test_quotes_and_empty_cells_are_kept_as_they_are(table):
    assert tables.read(table('a\tb\n"x\t\n')) == [{"a": '"x', "b": ""}]


@pytest.mark.parametrize("row", ["1", "1\t2\t3"])
def test_a_row_with_too_few_or_too_many_cells_is_an_error(table, row):
    with pytest.raises(ValueError, match="zip"):
        tables.read(table(f"a\tb\n{row}\n"))


def test_every_table_of_the_package_can_be_read():
    facts = tables.folder("facts")
    paths = [*facts.glob("*.tsv"), *(facts / "published").glob("*.tsv")]
    assert len(paths) == 7
    for path in [*paths, tables.folder("checksums") / "splits.tsv"]:
        assert tables.read(path), path


def test_the_folder_facts_has_at_most_twelve_files():
    files = [path for path in tables.folder("facts").iterdir() if path.is_file()]
    assert len(files) <= 12
