import pytest

from voc_seg_tfrecord.commands import cli


def test_json_and_csv_together_are_a_wrong_call(sample, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["stats", str(sample.data_dir), "--json", "--csv"])
    assert caught.value.code == 2
    assert "not allowed with argument --json" in capsys.readouterr().err


def test_a_split_that_is_not_there_is_a_wrong_call(sample, capsys):
    assert cli.main(["stats", f"{sample.data_dir}@val"]) == 2
    assert "expected: one of test, train, validation" in capsys.readouterr().err


def test_several_splits_are_followed_by_their_sum(sample, capsys):
    assert cli.main(["stats", f"{sample.data_dir}@train+test"]) == 0
    out = capsys.readouterr().out
    assert "\ntrain: 3 images\n" in out
    assert "\ntrain+test: 4 images\n" in out
    assert "most common sizes, width x height: " in out
