import pytest
from support import handwritten

from voc_seg_tfrecord.commands import cli


@pytest.fixture
def records(tmp_path):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(2)]
    return handwritten.write(tmp_path / "train.tfrecord", made)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--class_names", "voc"], "--name"),
        (["--name", "old", "--class_names", "", "--splits", "train=1"], "--class_names"),
        (["--name", "old", "--class_names", "voc", "--splits", "train"], "--splits"),
        (["--name", "old", "--class_names", "voc", "--splits", "train=most"], "--splits"),
        (["--name", "old", "--class_names", "voc", "--keys", "image"], "--keys"),
        (["--name", "old", "--class_names", "voc", "--keys", "picture=a"], "--keys"),
        (["--name", "old", "--class_names", "voc", "--keys", "image=a,image=b"], "--keys"),
    ],
)
def test_a_wrong_or_missing_option_is_named(records, tmp_path, capsys, words, option):
    data_dir = tmp_path / "data"
    assert cli.main(["import", str(records), "--data_dir", str(data_dir), *words]) == 2
    assert f"error: {option}: " in capsys.readouterr().err
    assert not list(tmp_path.glob("data/*"))


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [("train=0.6,train=0.4", "each name once"), ("train=most", "ratios such as 0.8")],
)
def test_what_is_wrong_with_ratios_is_told(records, capsys, ratios, expected):
    words = ["--name", "old", "--class_names", "voc", "--splits", ratios]
    assert cli.main(["import", str(records), *words]) == 2
    assert expected in capsys.readouterr().err


def test_an_empty_name_is_refused_because_the_later_names_would_move(records, tmp_path, capsys):
    names = ",".join(["c0", "c1", "", *(f"c{number}" for number in range(3, 21))])
    words = ["--name", "old", "--class_names", names, "--data_dir", str(tmp_path / "data")]
    assert cli.main(["import", str(records), *words]) == 2
    assert "none empty" in capsys.readouterr().err
    assert not list(tmp_path.glob("data/*"))


def test_a_file_that_is_damaged_or_not_there_is_wrong_data(records, capsys):
    records.write_bytes(records.read_bytes()[:-5])
    assert cli.main(["import", str(records), "--dry_run"]) == 1
    printed = capsys.readouterr().out
    assert "train.tfrecord: 1 record" in printed
    assert "record 1: truncated or damaged" in printed
    assert cli.main(["import", f"{records}.nothing", "--dry_run"]) == 1
    assert "no such file" in capsys.readouterr().err


def test_a_dry_run_of_records_that_cannot_be_imported_is_wrong_data(records, tmp_path, capsys):
    damaged = handwritten.raw(*handwritten.pairs(1)[0]) | {"label_raw": b"abc"}
    unknown = {"pixels": b"abc"}
    for name, record, words in (
        ("mask", damaged, "no import: 1 record cannot be used"),
        ("layout", unknown, "no import: "),
    ):
        path = handwritten.write(tmp_path / f"{name}.tfrecord", [record])
        assert cli.main(["import", str(path), "--dry_run"]) == 1
        assert words in capsys.readouterr().out
    assert cli.main(["import", str(records), "--dry_run"]) == 0
    assert "no import" not in capsys.readouterr().out
