import pytest

from voc_seg_tfrecord.core.errors import ConfigError, ListError
from voc_seg_tfrecord.reading.chosen_ids import read_ids_option


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,mIoU\nc,0.1\na,0.2\nc,0.3\nb,0.4\n")
    return path


@pytest.mark.parametrize(
    ("bounds", "ids"), [("", "cab"), ("[:1]", "c"), ("[:2]", "ca"), ("[:9]", "cab")]
)
def test_the_first_ids_of_a_file_are_chosen_each_once(scores, bounds, ids):
    assert read_ids_option(f"{scores}{bounds}") == [*ids]


@pytest.mark.parametrize(
    "bounds", ["[:0]", "[:-1]", "[2:]", "[1:2]", "[3]", "[]", "[:x]", "[:\u00b2]"]
)
def test_brackets_that_do_not_say_the_first_n_are_refused(scores, bounds):
    with pytest.raises(ConfigError, match=r"expected: FILE, or FILE\[:20\]"):
        read_ids_option(f"{scores}{bounds}")


def test_a_file_that_is_called_as_a_slice_is_read_as_it_is(scores):
    scores.rename(f"{scores}[:1]")
    assert read_ids_option(f"{scores}[:1]") == ["c", "a", "b"]


def test_a_slice_of_a_file_that_is_not_there_names_the_file(tmp_path):
    with pytest.raises(ListError, match=r"none\.csv: "):
        read_ids_option(tmp_path / "none.csv[:1]")
