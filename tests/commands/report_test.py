from voc_seg_tfrecord.commands import cli


def report(sample, *words):
    return cli.main(["report", str(sample.data_dir), *map(str, words)])


def test_a_card_is_written_into_a_folder(sample, tmp_path, capsys):
    folder = tmp_path / "deep" / "card"
    for _ in range(2):  # the second time it is replaced
        assert report(sample, "--card", folder) == 0
    assert f"{folder}/README.md" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == ["README.md"]
    assert "tfds.builder_from_directory" in (folder / "README.md").read_text()


def test_a_file_of_somebody_else_is_not_replaced(sample, tmp_path, capsys):
    (tmp_path / "README.md").write_text("# My project")
    assert report(sample, "--card", tmp_path) == 2
    assert "a file that voc_seg_tfrecord did not write" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text() == "# My project"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_card_of_some_splits_or_nothing_to_write_is_a_wrong_call(sample, tmp_path, capsys):
    words = ["report", f"{sample.data_dir}@train", "--card", str(tmp_path / "x")]
    assert cli.main(words) == 2
    assert "which names splits" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert report(sample) == 2
    assert "neither --out nor --card" in capsys.readouterr().err


def test_the_page_and_the_card_can_be_written_by_one_call_under_a_name_of_its_own(sample, tmp_path):
    assert report(sample, "--out", tmp_path / "a.html", "--card", tmp_path / "card.md") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "card.md"]
