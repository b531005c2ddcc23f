import pytest

from voc_seg_tfrecord.commands import cli


def test_no_command_is_a_wrong_call(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([])
    assert caught.value.code == 2
    assert "usage: voc-seg-tfrecord" in capsys.readouterr().err
