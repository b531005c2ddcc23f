import pytest

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.signals import Terminated


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    place = tmp_path / "sheet.png"
    place.write_text("old")
    with staging.staged_file(place) as made:
        made.write_text("new")
        assert place.read_text() == "old"
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, Terminated])
def test_a_file_that_is_not_completed_leaves_the_old_one_and_nothing_else(tmp_path, error):
    place = tmp_path / "sheet.png"
    place.write_text("old")

    def fail():
        with staging.staged_file(place) as made:
            made.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]
