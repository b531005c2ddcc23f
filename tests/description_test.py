import pytest
from support import exports
from support.building import build

from voc_seg_tfrecord import Builder, VocSegConfig, voc_palette
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.metadata import palette

SAID = {
    "description": "Cracks in walls.",
    "citation": "@misc{cracks}",
    "homepage": "https://cracks.example",
    "license": "CC0",
}


def info(tmp_path, **fields):
    return Builder(data_dir=tmp_path, config=VocSegConfig(name="mine", **fields)).info


def test_own_data_has_nothing_of_voc_2012_in_its_info(tmp_path):
    found = info(tmp_path, class_names=["crack", "wall"])
    assert found.citation == ""
    assert "pascal" not in (found.homepage + found.description).lower()
    assert "2 classes, no class is known to be background" in found.description
    assert "index 0 is background" not in found.description
    assert found.redistribution_info.license == ""


def test_own_data_says_which_index_is_background(tmp_path):
    found = info(tmp_path, class_names=["crack", "wall"], background="wall")
    assert "index 1 is background" in found.description
    found = info(tmp_path, class_names=["crack", "wall"], classes={"wall": "background"})
    assert "index 0 is background" in found.description


@pytest.mark.parametrize("task", ["classification", "images"])
def test_a_dataset_without_masks_says_nothing_of_masks(tmp_path, task):
    names = ["a", "b"] if task == "classification" else []
    assert "ask" not in info(tmp_path, class_names=names, task=task).description


def test_a_release_has_its_own_citation_unless_another_is_given(tmp_path):
    found = info(tmp_path, release="2007")
    assert found.citation.startswith("@misc{pascal-voc-2007,")
    assert found.homepage.endswith("voc2007/")
    assert info(tmp_path, release="2007", citation="@misc{x}").citation == "@misc{x}"


def test_a_part_of_a_release_has_the_description_that_is_given(tmp_path):
    config = {"release": "2012", "strict": False}
    assert info(tmp_path, **config, description="My half.").description == "My half."
    assert "VOC" in info(tmp_path, **config).description


def test_a_mapped_release_says_how_it_was_mapped(tmp_path):
    found = info(tmp_path, release="2012", classes={"person": "person", "*": "void"})
    assert "VOC2012" in found.description
    assert "1 class, no class is known to be background" in found.description
    assert "0 person; void from background" in found.description
    assert found.citation.startswith("@misc{pascal-voc-2012,")


@pytest.mark.parametrize("by_command", [True, False])
def test_what_is_given_is_in_the_built_dataset(tmp_path, by_command):
    root, data = tmp_path / "export", tmp_path / "data"
    exports.cvat(root)
    if by_command:
        words = [word for field, text in SAID.items() for word in (f"--{field}", text)]
        assert cli.main(["build", str(root), "--name=m", f"--data_dir={data}", *words]) == 0
    else:
        builder_from_tree(root, name="m", data_dir=data, **SAID)
    found = open_built("voc_seg_tfrecord/m", data).info
    assert found.description == SAID["description"]
    assert found.citation == SAID["citation"]
    assert found.homepage == SAID["homepage"]
    assert found.redistribution_info.license == SAID["license"]
    assert {field: found.metadata["config"][field] for field in SAID} == SAID


def test_the_colors_of_a_class_file_are_the_palette(tmp_path):
    exports.cvat(tmp_path / "export")
    builder = builder_from_tree(tmp_path / "export", name="m", data_dir=tmp_path / "data")
    names = builder.info.features["labels"].feature.names
    found = palette(open_built(builder.data_dir))
    assert [tuple(found[names.index(name)]) for name in exports.COLORS] == [
        *exports.COLORS.values()
    ]
    assert (found[3:] == voc_palette()[3:]).all()


def test_a_merged_class_has_the_color_of_its_name_or_of_the_first_of_its_classes(tmp_path):
    exports.cvat(tmp_path / "export")
    for number, (rows, colors) in enumerate(
        [
            ({"apple": "tree"}, ["background", "tree"]),
            ({"apple": "plant", "tree": "plant"}, ["background", "apple"]),
        ]
    ):
        builder = builder_from_tree(
            tmp_path / "export", name=f"m{number}", data_dir=tmp_path / "data", classes=rows
        )
        found = palette(builder)
        assert [tuple(color) for color in found[:2]] == [exports.COLORS[name] for name in colors]
        assert (found[2:] == voc_palette()[2:]).all()


def test_a_release_and_a_tree_without_colors_have_vocs_palette(tmp_path, sample):
    assert (palette(sample) == voc_palette()).all()
    exports.roboflow(tmp_path / "export")
    builder = build(
        tmp_path / "data",
        VocSegConfig(name="m", class_names=["background", "apple", "tree"]),
        tmp_path / "export",
    )
    assert (palette(builder) == voc_palette()).all()


def test_the_sample_does_not_cite_voc(tmp_path):
    found = Builder(data_dir=tmp_path, config="sample").info
    assert found.citation == ""
    assert "drawn images" in found.description
