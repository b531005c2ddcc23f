import numpy as np
import pytest
from support import doctoring, every_source

from voc_seg_tfrecord import builder_from_tree, from_arrays
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.exports.export import write_card


def report(sample, *words):
    return cli.main(["report", str(sample.data_dir), *map(str, words)])


def test_a_card_is_written_into_a_folder(sample, tmp_path):
    folder = tmp_path / "deep" / "card"
    for _ in range(2):  # the second time it is replaced
        assert str(write_card(sample, folder)) == f"{folder}/README.md"
    assert sorted(path.name for path in folder.iterdir()) == ["README.md"]
    assert "tfds.builder_from_directory" in (folder / "README.md").read_text()
    write_card(sample, folder / "card.md")
    assert (folder / "card.md").read_text() == (folder / "README.md").read_text()


@pytest.mark.parametrize("text", ["# My project", "Fingerprint of the 3 examples: see below\n"])
def test_a_file_of_somebody_else_is_not_replaced(sample, tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(ConfigError, match="a file that voc_seg_tfrecord did not write"):
        write_card(sample, tmp_path)
    assert (tmp_path / "README.md").read_text() == text
    assert len(list(tmp_path.iterdir())) == 1


def with_a_wrong_label(tmp_path):
    images = [np.full((5, 6, 3), number, np.uint8) for number in range(3)]
    options = {"labels": [1, 0, 1], "class_names": ["a", "b"], "data_dir": tmp_path / "data"}
    built = from_arrays(images, name="labels", **options)

    def change(examples):
        examples[0].features.feature["label"].int64_list.value[0] = 300
        return examples

    return doctoring.doctored(built, tmp_path / "copy", change)


def with_a_damaged_array(tmp_path):
    every_source.write_bands(tmp_path / "source")
    options = {"bands": "all", "dtype": "uint16", "data_dir": tmp_path / "data"}
    built = builder_from_tree(tmp_path / "source", name="b", class_names=["a", "b"], **options)

    def change(examples):
        doctoring.values(examples[0], "image/value")[0] = b"abc"
        return examples

    return doctoring.doctored(built, tmp_path / "copy", change)


def test_a_page_is_written_only_under_the_name_of_a_page(sample, tmp_path, capsys):
    assert report(sample, "--out", tmp_path / "a.txt") == 2
    assert "the ending '.txt'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (with_a_wrong_label, "label: the label 300"),
        (with_a_damaged_array, "image: an array that cannot be inflated"),
    ],
)
def test_a_wrong_record_is_a_finding_of_the_page(tmp_path, make, problem):
    assert report(make(tmp_path), "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    assert "Damaged records" in page
    assert problem in page
