"""Default names of classes are no decision: names that come later replace them, numbers stay."""

import json
import re
import warnings

import numpy as np
from PIL import Image
import pytest
from support import drawing, handwritten
from support.building import build, examples, from_tree
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, voc_palette
from voc_seg_tfrecord.audit.versions import NewClasses, _remedy_of_moved_values
from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.metadata import class_names, has_default_names

BINARY = ("background", "foreground")
TABLES = {
    "labelmap.csv": "id,name\n0,background\n1,car\n2,bus\n",
    "labels.txt": "background\ncar\nbus\n",
}


def write(root, *values, count=4):
    """Writes pairs whose masks have a stripe of each value."""
    height, width = drawing.SIZE
    rows = np.resize(np.repeat(values, height // len(values)), height)
    mask = np.repeat(rows[:, None], width, axis=1).astype(np.uint8)
    for number in range(count):
        drawing.put_image(root, f"images/{number}.jpg")
        drawing.put_mask(root, f"masks/{number}.png", mask)
    return root


def rebuild(root, **options):
    """Builds version 1.1.0, and returns it with what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        built = from_tree(root, **{"version": "1.1.0"} | options)
    return built, [str(warning.message) for warning in caught]


def masks_of(built):
    return [example["segmentation_mask"] for example in examples(built, "train").values()]


@pytest.fixture
def binary(tmp_path):
    root = write(tmp_path / "set", 0, 255)
    assert class_names(from_tree(root)) == BINARY
    return root


@pytest.fixture
def several(tmp_path):
    root = write(tmp_path / "set", 0, 1, 2)
    assert class_names(from_tree(root)) == ("class_0", "class_1", "class_2")
    return root


def test_names_that_come_later_replace_default_names_with_a_note(binary):
    built, notes = rebuild(binary, class_names=["background", "crack"])
    assert not has_default_names(built)
    assert notes == [
        "Nobody named the classes of version 1.0.0. Their numbers stay, and their names are new: "
        "1 foreground is crack."
    ]


@pytest.mark.parametrize("name", TABLES)
def test_a_class_file_that_comes_later_replaces_default_names(several, name):
    drawing.put(several, name, TABLES[name])
    built, (note,) = rebuild(several)
    assert class_names(built) == ("background", "car", "bus")
    assert "Their numbers stay" in note
    assert "other numbers" not in note


@pytest.mark.parametrize(
    "table",
    {
        "classes.csv": "value,class\n0,car\n1,bus\n2,background\n",
        "labelmap.txt": "car:1,1,1::\nbackground:0,0,0::\nbus:2,2,2::\n",
    }.items(),
    ids=lambda item: item[0],
)
def test_a_class_file_that_would_move_a_number_stops(several, table):
    drawing.put(several, *table)
    with pytest.raises(ConfigError, match=r"value \d was class \d and is class \d"):
        from_tree(several, version="1.1.0")


def test_two_classes_that_grow_to_three_keep_their_numbers(tmp_path):
    root = write(tmp_path / "set", 0, 1)
    from_tree(root)
    write(root, 0, 1, 2)
    built, (note,) = rebuild(root)
    assert class_names(built) == ("class_0", "class_1", "class_2")
    assert "0 background is class_0, 1 foreground is class_1" in note


def test_255_that_was_a_class_and_would_be_void_stops(binary):
    write(binary, 0, 1, 255)
    with pytest.raises(ConfigError, match="value 255 was class 1 and is void"):
        from_tree(binary, version="1.1.0")


def test_names_that_were_given_before_are_not_dropped_silently(tmp_path):
    root = write(tmp_path / "set", 0, 1)
    from_tree(root, class_names=["background", "crack"])
    _, notes = rebuild(root)
    assert notes == [
        "Version 1.0.0 has names for these classes, and this one does not. To keep them, add "
        "--class_names background,crack."
    ]


def test_shapes_that_replace_masks_stop(several):
    for path in [*(several / "masks").iterdir()]:
        path.unlink()
        height, width = drawing.SIZE
        points = [[2, 2], [8, 2], [5, 8]]
        shape = {"label": "car", "shape_type": "polygon", "points": points}
        text = {
            "imagePath": f"{path.stem}.jpg",
            "imageHeight": height,
            "imageWidth": width,
            "shapes": [shape],
        }
        drawing.put(several, f"images/{path.stem}.json", json.dumps(text))
    with pytest.raises(ConfigError, match="no values that tell which class was which"):
        from_tree(several, version="1.1.0")


@pytest.mark.filterwarnings("ignore:Nobody named the classes")
def test_like_keeps_the_values_and_not_the_default_names(several):
    data_dir = several.with_name("set.data")
    write(several, 0, 2)
    words = [f"--data_dir={data_dir}", "--like=mine", "--version=1.1.0"]
    assert cli.main(["build", str(several), *words]) == 0
    built = open_built("mine:1.1.0", data_dir)
    assert class_names(built) == ("class_0", "class_1", "class_2")
    assert has_default_names(built)
    drawing.put(several, "labels.txt", TABLES["labels.txt"])
    assert cli.main(["build", str(several), *words[:2], "--version=1.2.0"]) == 0
    named = open_built("mine:1.2.0", data_dir)
    assert class_names(named) == ("background", "car", "bus")
    assert not has_default_names(named)


@pytest.mark.parametrize("values", [(0, 255), (0, 1, 2), (0, 1, 2, 255)], ids=str)
def test_the_config_that_is_printed_gives_the_same_bytes(tmp_path, values):
    root = write(tmp_path / "set", *values)
    first = from_tree(root)
    config = json.loads(first.builder_config.to_json())
    assert config["default_names"] is True
    second = build(tmp_path / "second", VocSegConfig(**config), root)
    files = [path.name for path in sorted(first.data_path.iterdir())]
    assert files == [path.name for path in sorted(second.data_path.iterdir())]
    for name in files:
        assert (first.data_path / name).read_bytes() == (second.data_path / name).read_bytes()


def test_default_names_are_those_of_this_package():
    with pytest.raises(ConfigError, match="option default_names"):
        VocSegConfig(name="mine", class_names=["background", "crack"], default_names=True)


def test_diff_takes_default_names_for_no_evidence(tmp_path, capsys):
    from_tree(write(tmp_path / "set", 0, 255))
    other = write(tmp_path / "other", 0, 1)
    from_tree(other, class_names=["background", "crack"], name="other")
    sides = [
        str(tmp_path / "set.data/voc_seg_tfrecord/mine/1.0.0"),
        str(tmp_path / "other.data/voc_seg_tfrecord/other/1.0.0"),
    ]
    assert cli.main(["diff", *sides]) == 0
    out = capsys.readouterr().out
    assert "classes are compared by number: voc_seg_tfrecord/mine/1.0.0 has default names" in out
    assert "classes only" not in out
    assert "nothing changed" in out


def test_an_exported_card_says_that_nobody_named_the_classes(tmp_path):
    from_tree(write(tmp_path / "set", 0, 255))
    folder = tmp_path / "set.data/voc_seg_tfrecord/mine/1.0.0"
    words = ["export", str(folder), "--layout=voc", f"--out={tmp_path / 'out'}"]
    assert cli.main(words) == 0
    assert "Nobody named these classes" in (tmp_path / "out/README.md").read_text()


@pytest.mark.parametrize("values", [(0, 255), (0, 1, 2), (0, 1, 2, 255)])
def test_an_export_of_default_names_is_built_with_default_names_again(tmp_path, values):
    first = from_tree(write(tmp_path / "set", *values))
    out = tmp_path / "out"
    words = ["export", str(first.data_path), "--layout=voc", f"--out={out}"]
    assert cli.main(words) == 0
    assert not [*out.rglob("labelmap.csv")]
    again = from_tree(out, data_dir=tmp_path / "again")
    assert has_default_names(again)
    assert class_names(again) == class_names(first)
    for mask, mask_again in zip(masks_of(first), masks_of(again), strict=True):
        assert (mask == mask_again).all()


@pytest.mark.filterwarnings("ignore:Classes have other numbers", "ignore:Nobody named the classes")
@pytest.mark.parametrize(
    ("file", "keeping", "moving"),
    [
        (
            ("classes.csv", "value,class\n0,car\n1,bus\n2,background\n"),
            {"class_names": ["car", "bus", "background"]},
            {"classes": [[2, "background"], [0, "car"], [1, "bus"]]},
        ),
        (
            ("labelmap.txt", "car:1,1,1::\nbackground:0,0,0::\nbus:2,2,2::\n"),
            {"class_names": ["background", "car", "bus"]},
            {"class_names": ["car", "background", "bus"]},
        ),
    ],
    ids=["table", "class file"],
)
def test_each_option_about_a_moved_number_builds_what_it_says(several, file, keeping, moving):
    before = masks_of(open_built("mine:1.0.0", several.with_name("set.data")))
    drawing.put(several, *file)
    with pytest.raises(ConfigError) as caught:
        from_tree(several, version="1.1.0")
    texts = []
    for options in (keeping, moving):
        names = options.get("class_names") or [f"{key}={name}" for key, name in options["classes"]]
        texts.append(f"--{next(iter(options))} {','.join(names)}")
    remedy = f"to keep the numbers, add {texts[0]}; to take the new order, add {texts[1]}"
    assert caught.value.remedy == remedy
    kept = masks_of(from_tree(several, version="1.1.0", **keeping))
    assert np.array_equal(kept, before)
    moved = masks_of(from_tree(several, version="1.2.0", **moving))
    assert not np.array_equal(moved, before)


def test_the_option_about_a_moved_number_of_a_table_is_its_rows_in_order():
    rows = ((0, "car"), (1, "bus"), (2, "background"))
    new = NewClasses(("background", "car", "bus"), {}, False, False, rows)
    option = new.option(("car", "bus", "background"))
    assert option == "--classes 0=car,1=bus,2=background"
    assert new.option(new.names) == "--classes 2=background,0=car,1=bus"


def build_config(root, **fields):
    """Builds as `tfds build --config` does."""
    return build(root.with_name("data"), VocSegConfig(name="mine", **fields), root)


def config_of(error):
    """Returns the config that an error proposes."""
    return json.loads(re.search(r"--config '(.*?)'", str(error))[1])


@pytest.mark.parametrize("values", [(0, 1), (0, 255), (0, 1, 2, 3, 4)])
def test_tfds_build_takes_no_names_of_voc_for_other_masks(tmp_path, values):
    root = write(tmp_path / "set", *values)
    with pytest.raises(ConfigError, match="nobody named the classes") as caught:
        build_config(root)
    fields = config_of(caught.value)
    del fields["name"]
    built = build_config(root, **fields)
    assert has_default_names(built)
    assert class_names(built) == class_names(from_tree(root))
    assert tfds.load("voc_seg_tfrecord/mine", data_dir=root.with_name("data"))


@pytest.mark.parametrize("names", ["background\ncrack\nspall\n", "background\nperson\nbus\n"])
def test_tfds_build_does_not_ignore_a_class_file(tmp_path, names):
    root = drawing.put(write(tmp_path / "set", 0, 1, 2), "labels.txt", names).parent
    with pytest.raises(ConfigError, match="classes of the folder are not VOC's") as caught:
        build_config(root)
    fields = config_of(caught.value)
    assert fields == {"name": "mine", "class_names": names.split()}


def test_tfds_build_asks_where_values_leave_a_doubt(tmp_path):
    with pytest.raises(ConfigError, match="the masks use 0 and 2, without names"):
        build_config(write(tmp_path / "set", 0, 2))


def test_tfds_build_takes_names_of_voc_from_a_file_and_from_the_palette(tmp_path, caplog):
    listed = write(tmp_path / "set", 0, 1, 15)
    drawing.put(listed, "labels.txt", "\n".join(VOC_CLASSES))
    assert class_names(build_config(listed)) == VOC_CLASSES
    assert not caplog.messages
    painted = write(tmp_path / "painted/set", 0, 1, 15)
    for path in (painted / "masks").iterdir():
        mask = Image.open(path)
        mask.putpalette(voc_palette().tobytes())
        mask.save(path)
    assert class_names(build_config(painted)) == VOC_CLASSES
    assert "1 is aeroplane" in caplog.messages[0]


def test_names_of_voc_that_the_user_gave_are_in_the_config():
    assert "class_names" not in VocSegConfig(name="mine").to_json()
    config = VocSegConfig(name="mine", class_names=VOC_CLASSES)
    assert VocSegConfig(**json.loads(config.to_json())).class_names == VOC_CLASSES
    assert json.loads(config.to_json())["class_names"] == [*VOC_CLASSES]


def records(tmp_path, masks):
    image = np.zeros((*masks[0].shape, 3), np.uint8)
    return handwritten.write(
        tmp_path / "old.tfrecord",
        [handwritten.raw(image + number, mask) for number, mask in enumerate(masks)],
    )


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((0, 1), BINARY),
        ((0, 255), BINARY),
        ((0, 1, 2, 255), ("class_0", "class_1", "class_2")),
    ],
    ids=str,
)
def test_records_without_names_are_imported_with_default_names(tmp_path, values, names):
    mask = np.repeat(np.array(values, np.uint8), 6)[:, None].repeat(16, axis=1)
    notes = []
    path = records(tmp_path, [mask, mask])
    built = import_records([path], name="old", data_dir=tmp_path / "data", note=notes.append)
    assert class_names(built) == names
    assert has_default_names(built)
    (note,) = [note for note in notes if note.startswith("Nobody named the classes")]
    assert ("255 is void" in note) == (255 in values and values != (0, 255))
    (stored, _) = masks_of(built)
    expected = np.where(mask == 255, 1 if values == (0, 255) else 255, mask)
    assert (stored[..., 0] == expected).all()


@pytest.mark.parametrize("values", [(1, 2), (0, 2), (0, 128, 255)], ids=str)
def test_records_whose_values_leave_a_doubt_are_asked(tmp_path, values):
    mask = np.repeat(np.array(values, np.uint8), 6)[:, None].repeat(16, axis=1)
    with pytest.raises(ConfigError, match="no class names, and masks with"):
        import_records([records(tmp_path, [mask])], name="old", data_dir=tmp_path / "data")


def test_an_option_that_does_not_keep_the_numbers_is_not_called_so():
    new = NewClasses(("background", "foreground"), {0: 0, 1: 1, 255: 255}, False, True)
    remedy = _remedy_of_moved_values({0: 0, 1: 1, 255: 1}, new)
    words = "to take the new order, add --class_names background,foreground"
    assert remedy == f"{words}; or build under another name"
