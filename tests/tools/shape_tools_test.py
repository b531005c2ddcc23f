"""What holds for each tool whose shapes are drawn, and for tools as somebody else may add them."""

import dataclasses
import json
import re
import shutil

import pytest
from support.building import from_tree
from support.folders import pairs_of, proposed, said_by
from support.streets import write_street

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import labelme, registry
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS
from voc_seg_tfrecord.tools.yolo import YOLO


def read_outlines(file):
    return labelme.read(File(file.data.replace(b'"outlines"', b'"shapes"'), file.where))


MADE = dataclasses.replace(
    labelme.LABELME,
    name="Made",
    endings=(".seg.json",),
    words=(b'"outlines"',),
    pattern=rb'"imagePath"',
    read=read_outlines,
)
ALIKE = dataclasses.replace(MADE, name="Alike", words=(b'"shapes"',), read=labelme.read)
"""A tool whose files are also like labelme's, but for the ending."""

TOOLS = {tool.name: tool for tool in (*SHAPE_TOOLS, MADE, ALIKE)}
PER_IMAGE = [name for name, tool in TOOLS.items() if tool.is_per_image and tool is not YOLO]


@pytest.fixture
def street(tmp_path, monkeypatch):
    """Writes four images with the shapes of a tool."""
    monkeypatch.setattr(registry, "SHAPE_TOOLS", tuple(TOOLS.values()))

    def write(name, folder="street"):
        is_made = name in ("Made", "Alike")
        root = write_street("labelme" if is_made else name.lower(), tmp_path / folder)
        if is_made:
            for path in root.glob("*.json"):
                text = path.read_text()
                if name == "Made":
                    text = text.replace('"shapes"', '"outlines"')
                path.with_suffix(".seg.json").write_text(text)
                path.unlink()
        return root

    return write


def annotation_files(root, name):
    """Returns the files of a tool in a folder, sorted."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return [path for path in paths if TOOLS[name].ending_of(path.name)]


def file_names_by_image(plan):
    """Returns the file of the shapes of each image, both without folders and endings."""
    names = {}
    for pairs in pairs_of(plan).values():
        for image, file in pairs.items():
            names[image.stem] = file.name.partition(".")[0]
    return names


@pytest.mark.parametrize("name", PER_IMAGE)
def test_each_image_has_the_shapes_of_its_own_file(street, name):
    plan = plan_to_build(street(name), name="street")
    names = file_names_by_image(plan)
    assert len(names) == 4
    assert all(image == file for image, file in names.items())
    assert f"4 drawn from the polygons of {name}" in describe(plan)


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "YOLO"])  # it has lines
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_a_file_that_is_cut_off_stops_the_build(street, name, share):
    root = street(name)
    file = annotation_files(root, name)[0]
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(VocSegError):
        from_tree(root)


@pytest.mark.parametrize("name", [name for name in PER_IMAGE if name != "Supervisely"])
def test_a_file_that_names_another_image_stops_the_build(street, name):
    root = street(name)
    first, second = annotation_files(root, name)[:2]
    shutil.copy(second, first)
    with pytest.raises(VocSegError):
        plan_to_build(root, name="street")


@pytest.mark.parametrize("name", [name for name in TOOLS if name != "labelme"])
def test_each_answer_draws_the_shapes_of_its_tool_if_labelmes_lie_beside_them(street, name):
    root = street(name)
    images = {path.name: path for path in root.rglob("*.jpg")}
    for path in street("labelme", "other").glob("*.json"):
        data = json.loads(path.read_text())
        data["shapes"] = data["shapes"][:1]
        (images[f"{path.stem}.jpg"].parent / path.name).write_text(json.dumps(data))
    with pytest.raises(VocSegError) as caught:
        plan_to_build(root, name="street")
    answers = {}
    for words, options in proposed(str(caught.value)):
        plan = plan_to_build(root, name="street", **said_by(options))
        (origin,) = re.findall("from the polygons of ([a-zA-Z ]+[a-zA-Z])", describe(plan))
        answers[words.partition("'")[0]] = origin
    assert answers == {"labelme": "labelme", name: name}
