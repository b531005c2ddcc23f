import json

import pytest
from support import planted
from support.building import build, from_tree
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig, from_arrays
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.commands.list_ import list_datasets
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

NAMES = list(planted.NAMES)


def grow(root, count):
    """Writes a tree of which `count` pairs are in train, and one in val."""
    planted.write(root, [planted.draw(number) for number in range(count + 1)])


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    grow(root, 4)
    return root


def versions(data_dir):
    return [one.version for one in list_datasets(data_dir)]


def test_versions_lie_beside_each_other_and_tfds_loads_the_newest(tree, tmp_path):
    grow(tree, 4)
    from_tree(tree, class_names=NAMES, data_dir=tmp_path)
    grow(tree, 5)
    from_tree(tree, class_names=NAMES, data_dir=tmp_path, version="1.10.0")
    grow(tree, 6)
    from_tree(tree, class_names=NAMES, data_dir=tmp_path, version="1.9.0")
    assert versions(tmp_path) == ["1.0.0", "1.9.0", "1.10.0"]

    def count(name):
        builder = tfds.builder(f"voc_seg_tfrecord/{name}", data_dir=tmp_path)
        return builder.info.splits["train"].num_examples

    assert [count(name) for name in ("mine", "mine:1.9.0", "mine:1.0.0")] == [5, 6, 4]
    assert open_built("mine", tmp_path).info.full_name == "voc_seg_tfrecord/mine/1.10.0"


def test_the_metadata_tells_the_format_from_the_version(tree, tmp_path):
    builder = from_tree(tree, class_names=NAMES, data_dir=tmp_path, version="2.3.4")
    metadata = json.loads((builder.data_path / "metadata.json").read_text())
    assert metadata["format_version"] == str(Builder.VERSION)
    assert metadata["config"]["version"] == "2.3.4"
    assert VocSegConfig(**metadata["config"]).version == "2.3.4"
    assert cli.main(["verify", str(builder.data_path), "--source", str(tree)]) == 0


def test_tfds_build_takes_the_version_of_a_config(tree, tmp_path):
    config = VocSegConfig(name="mine", class_names=NAMES, version=tfds.core.Version("1.2.0"))
    assert json.loads(config.to_json())["version"] == "1.2.0"
    assert build(tmp_path, config, tree).info.full_name == "voc_seg_tfrecord/mine/1.2.0"


def test_a_version_that_exists_is_refused_and_the_next_is_proposed(tree, tmp_path, capsys):
    words = ["build", str(tree), "--name=mine", f"--data_dir={tmp_path}"]
    words.append(f"--class_names={','.join(NAMES)}")
    assert cli.main(words) == 0
    assert cli.main(words) == 2
    assert "--version 1.1.0" in capsys.readouterr().err
    assert cli.main([*words, "--version=1.1.0"]) == 0
    assert cli.main([*words, "--version=1.1.0"]) == 2
    assert "--version 1.2.0" in capsys.readouterr().err
    kept = (tmp_path / "voc_seg_tfrecord/mine/1.0.0/dataset_info.json").stat().st_mtime_ns
    assert cli.main([*words, "--version=1.1.0", "--overwrite"]) == 0
    assert versions(tmp_path) == ["1.0.0", "1.1.0"]
    info = tmp_path / "voc_seg_tfrecord/mine/1.0.0/dataset_info.json"
    assert info.stat().st_mtime_ns == kept


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_build_without_version_is_refused_beside_a_newer_version(tree, tmp_path, overwrite):
    from_tree(tree, class_names=NAMES, data_dir=tmp_path, version="1.1.0")
    with pytest.raises(ConfigError, match="a newer version") as caught:
        from_tree(tree, class_names=NAMES, data_dir=tmp_path, overwrite=overwrite)
    assert "--version 1.2.0" in str(caught.value)
    assert "--version 1.1.0 --overwrite" in str(caught.value)
    assert versions(tmp_path) == ["1.1.0"]


@pytest.mark.parametrize(
    "version", ["1.1", "1.01.0", "v1.0.0", "1.0.0\n", "", "1.0.*", 1, "\u0661.0.0"]
)
def test_what_is_no_version_is_refused(version):
    with pytest.raises(ConfigError, match="a version such as"):
        VocSegConfig(name="mine", version=version)


def test_arrays_and_releases_have_versions_as_far_as_it_makes_sense(tmp_path, capsys):
    image, mask = planted.draw(0).image, planted.draw(0).mask
    options = {"name": "mine", "class_names": NAMES, "data_dir": tmp_path}
    builder = from_arrays([image], [mask], version="3.0.0", **options)
    assert builder.info.full_name == "voc_seg_tfrecord/mine/3.0.0"
    words = ["build", "--release=sample", "--version=1.1.0", f"--data_dir={tmp_path}"]
    assert cli.main(words) == 2
    assert "--version with a release" in capsys.readouterr().err
