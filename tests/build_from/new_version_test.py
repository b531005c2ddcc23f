"""A new version keeps the meaning of its numbers, or says what moved against the one before."""

import json
import re
import shlex
import warnings

from PIL import Image
import pytest
from support import planted
from support.building import build, examples, from_tree

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.metadata import class_names

# Of each label a square of four pixels, at its own column.
COLUMNS = {"axle": 0, "bus": 4, "car": 8}
MOVED = r"1 was bus and is axle, 2 was car and is bus"


def labelme(root, *labels, names=("a", "b")):
    """Writes images with one square of each label."""
    root.mkdir(exist_ok=True)
    for name in names:
        Image.new("RGB", (16, 8), (90, 90, 90)).save(root / f"{name}.png")
        shapes = [
            {
                "label": label,
                "shape_type": "polygon",
                "points": [
                    [COLUMNS[label] + x, 2 + y] for x, y in ((0, 0), (2, 0), (2, 2), (0, 2))
                ],
            }
            for label in labels
        ]
        said = {"imagePath": f"{name}.png", "imageHeight": 8, "imageWidth": 16, "shapes": shapes}
        (root / f"{name}.json").write_text(json.dumps(said))
    return root


def classes_drawn(builder):
    """Returns the class whose number the first pixel of each label's square has."""
    (mask, *_) = (e["segmentation_mask"][..., 0] for e in examples(builder, "train").values())
    names = class_names(builder)
    return {label: names[mask[3, column + 1]] for label, column in COLUMNS.items()}


def notes(build, *args, **said):
    """Returns what a build warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        build(*args, **said)
    return [str(warning.message) for warning in caught]


@pytest.fixture
def root(tmp_path):
    """A folder of labelme's of which 1.0.0 is built, and which has a new class since then."""
    folder = labelme(tmp_path / "street", "bus", "car")
    from_tree(folder, data_dir=tmp_path)
    return labelme(folder, "axle", "bus", "car")


def words(root, *more):
    return ["build", str(root), "--name=mine", f"--data_dir={root.parent}", *more]


@pytest.mark.parametrize(
    "more", [["--version=1.1.0"], ["--overwrite"], ["--version=1.1.0", "--dry_run"]]
)
def test_classes_that_nobody_numbered_stop_a_build_that_would_renumber_them(root, more, capsys):
    assert cli.main(words(root, *more)) == 2
    said = capsys.readouterr().err
    assert re.search(MOVED, said)
    assert "--class_names background,bus,car,axle" in said
    assert "--class_names background,axle,bus,car" in said
    assert class_names(open_built("mine", root.parent)) == ("background", "bus", "car")


@pytest.mark.filterwarnings("always:Classes have other numbers")
@pytest.mark.parametrize("which", [0, 1])
def test_each_proposal_builds_the_classes_in_its_order_with_the_right_pixels(root, which, capsys):
    cli.main(words(root, "--version=1.1.0"))
    proposals = re.findall(r"--class_names \S*\w", capsys.readouterr().err)
    assert len(proposals) == 2
    option = shlex.split(proposals[which])
    assert cli.main(words(root, "--version=1.1.0", *option)) == 0
    built = open_built("mine", root.parent)
    assert class_names(built) == tuple(option[1].split(","))
    assert classes_drawn(built) == {"axle": "axle", "bus": "bus", "car": "car"}
    assert bool(re.search(MOVED, capsys.readouterr().err)) == (which == 1)


def test_a_class_that_no_shape_has_any_more_keeps_its_number_by_the_first_proposal(root, capsys):
    labelme(root, "car")
    assert cli.main(words(root, "--version=1.1.0")) == 2
    said = capsys.readouterr().err
    assert "1 was bus and is car" in said
    (kept, _) = re.findall(r"--class_names \S*\w", said)
    assert cli.main(words(root, "--version=1.1.0", *shlex.split(kept))) == 0
    built = open_built("mine", root.parent)
    assert class_names(built) == ("background", "bus", "car")
    assert classes_drawn(built) == {"axle": "background", "bus": "background", "car": "car"}


def test_labels_that_the_given_names_lack_are_refused_as_before(root):
    with pytest.raises(ConfigError, match="the 4 names in labelme's files"):
        from_tree(root, class_names=["background", "bus", "carr", "axle"], data_dir=root.parent)


def test_a_class_behind_all_others_and_other_names_of_datasets_move_nothing(tmp_path):
    folder = labelme(tmp_path / "street", "axle", "bus")
    from_tree(folder, data_dir=tmp_path)
    labelme(folder, "axle", "bus", "car")
    from_tree(folder, data_dir=tmp_path, version="1.1.0")
    labelme(folder, "bus", "car")
    from_tree(folder, data_dir=tmp_path, name="other")
    from_tree(folder, data_dir=tmp_path / "elsewhere", version="1.2.0")
    # 1.0.5 comes after 1.0.0 alone.
    labelme(folder, "axle", "bus")
    from_tree(folder, data_dir=tmp_path, version="1.0.5")


def test_python_is_stopped_too_and_so_is_a_file_of_numbers(root):
    with pytest.raises(ConfigError, match=MOVED):
        from_tree(root, data_dir=root.parent, version="1.1.0")
    (root / "labels.txt").write_text("axle\nbus\ncar\n")
    with pytest.raises(ConfigError, match=MOVED):
        from_tree(root, data_dir=root.parent, version="1.1.0")
    said = f"Classes have other numbers than in version 1.0.0: {MOVED}."
    options = {"class_names": ["background", "axle", "bus", "car"], "version": "1.1.0"}
    assert notes(from_tree, root, data_dir=root.parent, **options) == [said]


def test_a_config_of_tfds_build_is_taken_with_a_note(root):
    names = ["background", "axle", "bus", "car"]
    config = VocSegConfig(name="mine", version="1.1.0", class_names=names)
    (note,) = notes(build, root.parent, config, root)
    assert MOVED in note


def test_background_in_another_spelling_stays_class_0(tmp_path, monkeypatch):
    monkeypatch.setitem(COLUMNS, "bg", 0)
    folder = labelme(tmp_path / "street", "bus")
    from_tree(folder, data_dir=tmp_path)
    labelme(folder, "bg", "bus")
    built = from_tree(folder, data_dir=tmp_path, version="1.1.0")
    assert class_names(built) == ("bg", "bus")
    assert classes_drawn(built) == {"axle": "bg", "bg": "bg", "bus": "bus", "car": "bg"}
    with pytest.raises(ConfigError, match="the 2 names in labelme's files: bg, bus"):
        from_tree(folder, name="new", data_dir=tmp_path, class_names=["background", "bg", "bus"])


def test_names_with_a_comma_are_proposed_for_python(tmp_path, monkeypatch):
    monkeypatch.setitem(COLUMNS, "a,b", 0)
    folder = labelme(tmp_path / "street", "bus")
    from_tree(folder, data_dir=tmp_path)
    labelme(folder, "a,b", "bus")
    with pytest.raises(ConfigError, match=r"class_names=\['background', 'bus', 'a,b'\]"):
        from_tree(folder, data_dir=tmp_path, version="1.1.0")


@pytest.fixture
def tree(tmp_path):
    planted.write(tmp_path / "tree", [planted.draw(number) for number in range(6)])
    return tmp_path / "tree"


def lists(tree, **ids):
    for name, of_split in ids.items():
        path = tree / "ImageSets" / "Segmentation" / f"{name}.txt"
        path.write_text("".join(f"{i}\n" for i in of_split))


SAID = {"class_names": list(planted.NAMES)}


@pytest.mark.slow
def test_ids_in_another_split_than_before_are_counted_in_a_note(tree, tmp_path):
    ids = sorted(path.stem for path in (tree / "JPEGImages").iterdir())
    lists(tree, train=ids[:4], val=ids[4:])
    from_tree(tree, data_dir=tmp_path, **SAID)
    lists(tree, train=ids[1:5], val=[ids[0], ids[5]])
    said = (
        "2 ids are in another split than in version 1.0.0: "
        f"{ids[0]} (train -> validation), {ids[4]} (validation -> train)."
    )
    assert notes(from_tree, tree, data_dir=tmp_path, version="1.1.0", tile=16, **SAID) == [said]
    lists(tree, train=ids[:4], val=ids[4:])
    (note,) = notes(from_tree, tree, data_dir=tmp_path, version="1.2.0", **SAID)
    assert note.startswith("2 ids are in another split than in version 1.1.0: ")


def test_an_image_that_went_to_the_folder_of_another_split_is_counted_too(tree, tmp_path):
    root = tmp_path / "folders"
    for split in ("train", "train", "train", "val", "val", "test"):
        for part, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
            path = min((tree / part).glob(f"*.{ending}"))
            to = root / {"jpg": "images", "png": "masks"}[ending] / split / path.name
            to.parent.mkdir(parents=True, exist_ok=True)
            path.rename(to)
    from_tree(root, data_dir=tmp_path, **SAID)
    moved = min((root / "images/val").iterdir()).stem
    for part, ending in (("images", "jpg"), ("masks", "png")):
        name = f"{moved}.{ending}"
        (root / part / "val" / name).rename(root / part / "train" / name)
    assert notes(from_tree, root, data_dir=tmp_path, version="1.1.0", **SAID) == [
        "1 id is in another split than in version 1.0.0: "
        f"val/{moved} -> train/{moved} (validation -> train)."
    ]


def test_images_that_were_renamed_are_known_by_their_bytes(tree, tmp_path):
    ids = sorted(path.stem for path in (tree / "JPEGImages").iterdir())
    lists(tree, train=ids[:4], val=ids[4:])
    from_tree(tree, data_dir=tmp_path, **SAID)
    for part, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        for image_id in ids:
            path = tree / part / f"{image_id}.{ending}"
            path.rename(path.with_stem(f"{image_id}_rf_1"))
    renamed = [f"{image_id}_rf_1" for image_id in ids]
    lists(tree, train=renamed[:4], val=renamed[4:])
    assert notes(from_tree, tree, data_dir=tmp_path, version="1.1.0", **SAID) == []
    lists(tree, train=ids[:3], val=ids[3:])
    for part, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        for image_id in ids:
            path = tree / part / f"{image_id}_rf_1.{ending}"
            path.rename(path.with_stem(image_id))
    assert notes(from_tree, tree, data_dir=tmp_path, version="1.2.0", **SAID) == [
        "1 id is in another split than in version 1.1.0: "
        f"{ids[3]}_rf_1 -> {ids[3]} (train -> validation)."
    ]


def test_an_image_in_a_renamed_folder_of_its_split_has_not_moved(tree, tmp_path):
    """`train/a` became `training/a`, and `test/a` is a new image that has its name by chance."""
    stems = sorted(path.stem for path in (tree / "JPEGImages").iterdir())
    root = tmp_path / "folders"

    def place(stem, split, name):
        for part, folder, ending in (
            ("JPEGImages", "images", "jpg"),
            ("SegmentationClass", "masks", "png"),
        ):
            path = root / folder / split / f"{name}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            (tree / part / f"{stem}.{ending}").rename(path)

    for number, split in enumerate(("train", "train", "train", "test", "test")):
        place(stems[number], split, stems[number])
    from_tree(root, data_dir=tmp_path, **SAID)
    for folder in ("images", "masks"):
        (root / folder / "train").rename(root / folder / "training")
    place(stems[5], "test", stems[0])
    assert notes(from_tree, root, data_dir=tmp_path, version="1.1.0", **SAID) == []


def test_where_digests_are_equal_no_record_of_the_older_version_is_read(tree, tmp_path):
    ids = sorted(path.stem for path in (tree / "JPEGImages").iterdir())
    lists(tree, train=ids[:4], val=ids[4:])
    built = from_tree(tree, data_dir=tmp_path, **SAID)
    for split in built.info.splits.values():
        for path in split.filepaths:
            path.write_bytes(bytes(path.stat().length))
    lists(tree, train=ids[:3], val=ids[4:])  # only left out: nothing can have moved
    from_tree(tree, data_dir=tmp_path, version="1.1.0", **SAID)


def test_an_older_version_that_cannot_be_read_is_named_and_stops_nothing(tree, tmp_path):
    built = from_tree(tree, data_dir=tmp_path, **SAID)
    (built.data_path / "features.json").write_text("{")
    (note,) = notes(from_tree, tree, data_dir=tmp_path, version="1.1.0", **SAID)
    assert note.startswith("Version 1.0.0 cannot be read, so it was not compared with the new one")
