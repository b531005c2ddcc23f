from voc_seg_tfrecord.commands import cli


def test_a_dataset_that_is_not_built_is_a_wrong_call(tmp_path, capsys):
    assert cli.main(["verify", "voc_seg_tfrecord/nothing", "--data_dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"no such dataset in {tmp_path}" in error
    assert "what to do: build it with `tfds build`" in error
