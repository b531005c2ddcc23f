import os
import pathlib
import socket

from etils import epath
import pytest

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.file import File


def read(path):
    return File.read(epath.Path(path), MaskError)


def test_a_file_is_its_bytes_and_its_path(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    assert read(tmp_path / "a.png") == File(b"x", f"{tmp_path}/a.png")


def test_a_link_to_nowhere_a_folder_and_no_file_at_all_are_refused_by_name(tmp_path):
    (tmp_path / "link.png").symlink_to("../annex/objects/gone")
    (tmp_path / "folder.png").mkdir()
    for name in ("link.png", "folder.png", "none.png"):
        with pytest.raises(MaskError, match=rf"{name}: this file cannot be read: "):
            read(tmp_path / name)


def test_a_folder_in_place_of_a_file_is_called_a_folder(tmp_path):
    (tmp_path / "c.jpg").mkdir()
    with pytest.raises(MaskError, match=r"c.jpg: this file cannot be read: it is a folder"):
        read(tmp_path / "c.jpg")


def test_a_socket_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most 100 letters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a.png")
        with pytest.raises(MaskError, match=r"a.png: this file cannot be read: it is a socket"):
            read("a.png")


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(MaskError, match="it is a named pipe"):
        read(tmp_path / "pipe.png")


@pytest.mark.skipif(not pathlib.Path("/dev/zero").exists(), reason="no devices here")
def test_a_device_is_refused():
    with pytest.raises(MaskError, match="or a device"):
        read("/dev/zero")
