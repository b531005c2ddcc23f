import pytest

from voc_seg_tfrecord.core import output_files
from voc_seg_tfrecord.core.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a folder"),
        ("a.gif", "the ending '.gif'"),
        (".png", "no ending"),
        ("no/a.png", "no folder"),
    ],
)
def test_the_place_of_a_file_is_checked_before_it_is_written(tmp_path, name, message):
    with pytest.raises(ConfigError, match=rf"--out {tmp_path}.*: {message}"):
        output_files.check_file(tmp_path / name, "--out", (".png",))
    assert output_files.check_file(tmp_path / "a.PNG", "--out", (".png",)).name == "a.PNG"


def test_an_object_store_needs_no_folder_for_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(output_files, "is_bucket", lambda _: True)
    assert output_files.check_file(tmp_path / "no" / "a.png", "--out").name == "a.png"
