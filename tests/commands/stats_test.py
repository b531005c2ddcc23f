from voc_seg_tfrecord.commands import cli


def test_a_list_of_ids_is_counted_alone(sample, tmp_path, capsys):
    (tmp_path / "some.txt").write_text("2008_000002\n2009_000003\n")
    ids = ["--ids", str(tmp_path / "some.txt")]
    assert cli.main(["stats", f"{sample.data_dir}@train", *ids]) == 0
    assert "\nsome.txt: 2 images\n" in capsys.readouterr().out
    assert cli.main(["stats", f"{sample.data_dir}@test", *ids]) == 2
    assert "@test, list some.txt: 2 of 2 ids missing" in capsys.readouterr().err


def test_images_of_one_size_have_one_line(sample, capsys):
    assert cli.main(["stats", f"{sample.data_dir}@test"]) == 0
    lines = capsys.readouterr().out.splitlines()
    sizes = [line for line in lines if "height" in line]
    assert sizes == ["  size of all images, width x height: 72 x 48 (1)"]
