"""Splits by ratio: images that belong together, rare classes, and that the answers work."""

import itertools
import json
import shlex

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import tfds_build
from support.command_line import run_command
from support.drawing import write
from support.folders import plan_of, refused, said_by

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.folder.splits.by_ratio import check_groups, divide_by_ratio
from voc_seg_tfrecord.folder.splits.grouping import Grouping
from voc_seg_tfrecord.folder.splits.groups_by_ids import propose_by_ids
from voc_seg_tfrecord.folder.splits.groups_by_looks import propose_by_looks
from voc_seg_tfrecord.folder.splits.stratified import stratify
from voc_seg_tfrecord.quality.finding import STOPS
from voc_seg_tfrecord.reading.dataset import open_built

CLASSES = "--class_names=background,apple"
RATIOS = "--splits=train=0.5,val=0.5"
HALVES = {"train": 0.5, "test": 0.5}


def scene(some):
    return np.kron(some.integers(0, 256, (6, 8)), np.ones((8, 8)))


def write_films(root, seed=0, films=4, frames=6, *, alike=True, form="vid{}_frame{:04}"):
    """Writes a disc that moves over the background of its film, or over another one each time."""
    some = np.random.default_rng(seed)
    y, x = np.mgrid[:48, :64]
    for film in range(films):
        background = scene(some)
        for frame in range(frames):
            disc = (y - 24) ** 2 + (x - 8 - 6 * frame) ** 2 < 60
            pixels = np.where(disc, 220, background if alike else scene(some))
            image_id = form.format(film, frame, film * frames + frame)
            drawing.put_mask(root, f"SegmentationClass/{image_id}.png", disc.astype(np.uint8))
            path = root / f"JPEGImages/{image_id}.jpg"
            path.parent.mkdir(exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).convert("RGB").save(path)
    return root


def build(root, *words):
    options = (CLASSES, RATIOS, "--name=mine", f"--data_dir={root.parent / 'd'}")
    return run_command("build", root, *options, *words)


def config(**fields):
    fields = {"splits": HALVES, **fields}
    return VocSegConfig(name="mine", class_names=["background", "apple"], **fields)


def plan(root, **fields):
    splits = {"train": 0.5, "test": 0.5}
    return plan_of(root, **{"class_names": ["background", "apple"], "splits": splits, **fields})


@pytest.mark.parametrize(
    ("split_by", "form"),
    [
        ("hash", "vid{}_frame{:04}"),
        ("stratified", "vid{}_frame{:04}"),
        ("stratified", "patient's_{:03}_slice_{:02}_1x1"),
    ],
)
def test_a_build_of_films_stops_and_the_command_that_it_names_builds(tmp_path, split_by, form):
    root = write_films(tmp_path / "films", form=form)
    stopped = build(root, f"--split_by={split_by}")
    assert stopped.status == 1
    told = stopped.errors
    named = f"{form.format(0, 0)} to {form.format(0, 5)}"
    assert (
        f"24 of 24 ids are in 4 groups by the numbers in their names, such as {named} (6 images)"
        in told
    )
    options = shlex.split(told.partition("in one split with ")[2].partition(" (in a config")[0])
    grouped = build(root, *options)
    assert (grouped.status, "note:" in grouped.output) == (0, False)
    assert "split train:      " in grouped.output
    assert "of 24 in 4 groups" in grouped.output
    one_by_one = build(root, "--group_by=none", f"--data_dir={tmp_path}")
    assert (one_by_one.status, "note:" in one_by_one.output) == (0, False)
    assert "0.5 of 24, approximate: by a hash" in one_by_one.output
    assert '"group_by": "none"' in one_by_one.output


def test_tfds_build_asks_too_and_takes_the_field_that_it_names(tmp_path):
    root = write_films(tmp_path / "films")
    said = json.loads(config().to_json())
    words = ["--manual_dir", root, "--data_dir", tmp_path / "d"]
    with pytest.raises(LayoutError, match="and images next to each other look alike") as told:
        tfds_build("--config", json.dumps(said), *words)
    answer = '"group_by": "none"'
    assert answer in told.value.remedy
    tfds_build("--config", json.dumps(said | json.loads(f"{{{answer}}}")), *words)
    assert (tmp_path / "d/voc_seg_tfrecord/mine/1.0.0/features.json").exists()


def test_check_names_the_question_and_still_shows_the_splits(tmp_path):
    root = write_films(tmp_path / "films")
    checked = run_command("check", root, CLASSES, RATIOS, "--json")
    report = json.loads(checked.output)
    (asked,) = [f["kind"] for f in report["findings"] if f["effect"] == STOPS]
    assert (checked.status, asked, report["examined"]) == (1, "images that belong together", 24)
    assert sum(report["splits"].values()) == 24
    assert {*report["classes"][1]["splits"]} == {"train", "validation"}


def test_a_dataset_that_was_built_before_anybody_asked_is_verified(tmp_path, monkeypatch):
    root = write_films(tmp_path / "films")
    with monkeypatch.context() as before:
        before.setattr("voc_seg_tfrecord.folder.splits.divide.check_groups", lambda *_, **__: None)
        assert build(root).status == 0
    words = [f"--data_dir={tmp_path / 'd'}", f"--source={root}"]
    assert cli.main(["verify", "voc_seg_tfrecord/mine", *words]) == 0


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_ids_of_frames_are_asked_about_whatever_the_images_show(tmp_path, seed, alike):
    root = write_films(tmp_path, seed, alike=alike)
    with pytest.raises(LayoutError, match="24 of 24 ids are in 4 groups by the numbers") as told:
        plan(root)
    assert ("look alike" in str(told.value)) == alike
    assert "--group_by prefix:_" in told.value.remedy
    assert '--group_by none (in a config: "group_by": "none")' in told.value.remedy
    assert plan(root, group_by="none").notes == ()


@pytest.mark.parametrize("seed", range(5))
def test_films_whose_ids_say_nothing_are_asked_about_and_photos_are_not(tmp_path, seed):
    names = ["ulm", "bonn", "rome", "oslo"]
    for alike in (True, False):
        root = write_films(tmp_path / str(alike), seed, alike=alike)
        for path in [*root.rglob("vid*")]:
            film, frame = path.stem.removeprefix("vid").split("_frame")
            path.rename(path.with_stem(f"{int(frame) * 7}{names[int(film)]}"))
        if alike:
            with pytest.raises(LayoutError, match=r"in 4 groups by parts .* look alike"):
                plan(root)
        else:
            assert plan(root).notes == ()


def test_films_of_one_camera_are_asked_about_by_their_ids(tmp_path):
    root = write_films(tmp_path / "one", films=1, frames=24)
    for folder, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        for n in range(24):
            path = root / folder / f"vid0_frame{n:04}.{ending}"
            path.rename(path.with_name(f"cut{n % 4}_{n:04}.{ending}"))
    with pytest.raises(LayoutError, match=r"4 groups by .*, such as cut0_0000 to cut0_0020"):
        plan(root)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", ["frame_{2:04}", "{2:05}", "IMG_{2}"])
def test_films_in_one_row_of_numbers_are_asked_about_and_photos_are_not(tmp_path, form, seed):
    photos = write_films(tmp_path / "photos", seed, 4, 20, alike=False, form=form)
    assert plan(photos).notes == ()
    film = write_films(tmp_path / "film", seed, 4, 20, form=form)
    with pytest.raises(LayoutError, match=r"80 of 80 ids are numbered in a row") as told:
        plan(film)
    said = json.loads(
        f"{{{told.value.remedy.partition('(in a config: ')[2].partition('); if')[0]}}}"
    )
    made = plan(film, **said)
    assert all(made.splits.values())
    groups = Grouping.parse(config(**said).group_by).groups(made.tree.images)
    train, test = ({groups[i] for i in ids} for ids in made.splits.values())
    assert not train & test
    assert plan(film, group_by="none").splits


def test_photos_of_voc_are_asked_about_only_with_the_ids_of_frames(real_data):
    photos = sorted((real_data / "voc2012").rglob("JPEGImages/*.jpg"))
    paths = {f"vid{n // 20}_{n % 20:04}": epath.Path(path) for n, path in enumerate(photos)}
    with pytest.raises(LayoutError, match="--group_by prefix:_") as told:
        check_groups(paths, paths.__getitem__, config(), "here", HALVES)
    assert "look alike" not in str(told.value)
    of_voc = {path.stem: epath.Path(path) for path in photos}
    check_groups(of_voc, of_voc.__getitem__, config(), "here", HALVES)


def test_at_most_128_images_are_read_and_those_that_cannot_be_are_not_asked_about(tmp_path):
    root = write_films(tmp_path / "films", films=7, frames=20)
    read = []

    def path_of(image_id):
        read.append(image_id)
        return epath.Path(root / f"JPEGImages/{image_id}.jpg")

    ids = [f"vid{v}_frame{n:04}" for v in range(7) for n in range(20)]
    with pytest.raises(LayoutError) as first:
        check_groups(ids, path_of, config(), "here", HALVES)
    assert len(read) <= 128
    assert {i[:4] for i in read} == {f"vid{v}" for v in range(7)}
    for image_id in read[::5]:
        path_of(image_id).write_bytes(b"\xff\xd8 no image")
    with pytest.raises(LayoutError) as second:
        check_groups(ids[::-1], path_of, config(), "here", HALVES)
    assert str(first.value) == str(second.value)
    for image_id in ids:
        path_of(image_id).unlink()
    with pytest.raises(LayoutError) as third:
        check_groups(ids, path_of, config(), "here", HALVES)
    assert "look alike" not in str(third.value)


def test_short_films_in_a_row_are_asked_about_and_no_rule_with_one_group_is_proposed(tmp_path):
    root = write_films(tmp_path / "films", films=3, frames=3, form="frame_{2}")
    with pytest.raises(LayoutError, match="9 of 9 ids are numbered in a row") as told:
        plan(root)
    assert "only 1 group for 2 splits" in told.value.remedy
    assert "regex" not in told.value.remedy


def test_fewer_groups_than_splits_or_too_large_ones_are_said(tmp_path):
    root = write_films(tmp_path / "films", films=2)
    with pytest.raises(LayoutError) as told:
        plan(root, splits=dict.fromkeys("xyz", 1 / 3))
    assert "only 2 groups for 3 splits" in told.value.remedy
    assert "--group_by none" in told.value.remedy
    assert "prefix" not in told.value.remedy
    write_films(root, films=3)
    write_films(root, films=1, frames=60)
    with pytest.raises(LayoutError, match="the largest group has 83% of the images"):
        plan(root)


def test_lists_and_one_split_ask_nothing(tmp_path):
    root = write_films(tmp_path / "films")
    assert plan(root, splits={"train": 1.0}).notes == ()
    drawing.put(root, "ImageSets/Segmentation/train.txt", "vid0_frame0000\nvid0_frame0001\n")
    assert "groups" not in str(plan(root, splits=None).notes)


RATIOS_BY_CLASS = {"train": 0.6, "val": 0.2, "test": 0.2}
SAID = {"splits": RATIOS_BY_CLASS, "split_by": "stratified", "group_by": "none"}


@pytest.fixture
def tree(tmp_path):
    """Twenty images of five videos; three images, of three videos, have class 2."""
    root = tmp_path / "tree"
    for n in range(20):
        name = f"v{n % 5}_{n}"
        mask = np.zeros(drawing.SIZE, np.uint8)
        mask[2] = n % 2
        mask[3] = 2 * (n in (0, 1, 2))
        drawing.put_pair(root, name, mask)
    return root


def by_class(tree, **fields):
    return plan_of(tree, **{**SAID, **fields})


def with_tree(ids):
    return sum(image_id in ("v0_0", "v1_1", "v2_2") for image_id in ids)


def test_each_split_has_its_number_of_images_and_a_rare_class(tree):
    found = by_class(tree)
    sizes = {name: len(ids) for name, ids in found.splits.items()}
    assert sizes == {"train": 12, "validation": 4, "test": 4}
    assert [with_tree(ids) for ids in found.splits.values()] == [1, 1, 1]
    assert found.sources["test"] == "0.2 of 20, stratified"


def test_classes_are_those_that_the_dataset_will_have(tree):
    found = by_class(tree, classes={"tree": "void"})
    assert {with_tree(ids) for ids in found.splits.values()} != {1}


def test_check_reads_images_that_cannot_be_divided_by_class_as_one_split(tmp_path, capsys):
    text = "image,mask\nimages/a.jpg,masks/a.png\nimages/a.jpg,masks/b.png\n"
    write(tmp_path, "ab images/{}.jpg masks/{}.png", ("pairs.csv", text))
    words = ["--class_names=background,apple,tree", "--split_by=stratified"]
    words += ["--splits=train=0.4,validation=0.3,test=0.3", "--json"]
    assert cli.main(["check", str(tmp_path), *words]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["examined"] == 2
    problems = " ".join(itertools.chain(*(each["messages"] for each in report["findings"])))
    assert "3 splits for 2 images" in problems
    assert "The splits are not decided" in problems


@pytest.mark.parametrize("split_by", ["hash", "stratified"])
@pytest.mark.parametrize("rule", ["prefix:_", r"regex:^v\d"])
def test_frames_of_one_video_stay_together(tree, split_by, rule):
    splits = {"train": 0.5, "test": 0.5}
    found = by_class(tree, split_by=split_by, group_by=rule, splits=splits)
    of_split = ({i.partition("_")[0] for i in ids} for ids in found.splits.values())
    assert sorted(itertools.chain(*of_split)) == [f"v{n}" for n in range(5)]
    assert "in 5 groups" in found.sources["train"]


def test_images_without_a_mask_are_left_out_before_the_numbers_are_made(tree):
    for n in (3, 4, 5, 6, 7):
        (tree / "SegmentationClass" / f"v{n % 5}_{n}.png").unlink()
    found = by_class(tree)
    assert [len(ids) for ids in found.splits.values()] == [9, 3, 3]
    assert sum(map(len, found.left_out.values())) == 5


def test_a_wrong_mask_is_told_by_the_build_and_not_before(tree, tmp_path, capsys):
    (tree / "SegmentationClass" / "v3_3.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    words = [str(tree), "--class_names=background,apple,tree", "--split_by=stratified"]
    words += ["--group_by=none"]
    words += ["--splits=train=0.5,val=0.5"]
    assert cli.main(["check", *words]) == 1
    assert "v3_3.png" in capsys.readouterr().out
    assert cli.main(["build", *words, "--name=x", f"--data_dir={tmp_path / 'd'}"]) == 1
    assert "v3_3.png" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"split_by": "stratified", "splits": None}, "ratios with it"),
        ({"group_by": "none", "splits": {"train": "train"}}, "ratios with it"),
        ({"layout": {"lists": "lists"}}, "lists or ratios, and not both"),
        ({"split_by": "random"}, "one of hash, stratified"),
        ({"group_by": "video"}, "prefix:CHARACTERS"),
        ({"splits": {"val": 0.5, "validation": 0.5}}, "two ratios for the split 'validation'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(fields, words):
    with pytest.raises(ConfigError, match=words):
        config(**fields)


def test_fewer_groups_than_splits_are_refused(tree):
    refused(tree, "3 splits for 1 group", ConfigError, **{**SAID, "group_by": "regex:^v"})


def test_the_command_prints_classes_by_split_and_a_config_that_builds_the_same(
    tree, tmp_path, capsys
):
    words = ["--class_names=background,apple,tree", "--split_by=stratified", "--group_by=prefix:_"]
    words += ["--splits=train=0.6,val=0.2,test=0.2"]
    data = tmp_path / "data"
    assert cli.main(["build", str(tree), "--name=mine", f"--data_dir={data}", *words]) == 0
    printed = capsys.readouterr().out
    assert "split validation: 4 ids, 0.2 of 20 in 5 groups, stratified" in printed
    row = next(line.split() for line in printed.splitlines() if line.startswith("    2  tree"))
    assert row[2:4] == ["3", "48"]
    assert [int(number) for number in row[5:]] == [1, 16, 1, 16, 1, 16]
    config = printed.partition("--config '")[2].partition("'")[0]
    tfds_build("--config", config, "--manual_dir", tree, "--data_dir", tmp_path / "tfds")
    for split in ("train", "validation", "test"):
        paths = [
            open_built("voc_seg_tfrecord/mine", epath.Path(folder)).info.splits[split].filepaths
            for folder in (data, tmp_path / "tfds")
        ]
        assert [p.read_bytes() for p in paths[0]] == [p.read_bytes() for p in paths[1]]


def test_a_class_that_a_split_lacks_is_named(tree, capsys):
    words = ["--class_names=background,apple,tree,river", "--splits=train=0.9,val=0.1"]
    words += ["--group_by=none"]
    assert cli.main(["check", str(tree), *words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (found,) = [f for f in report["findings"] if f["kind"] == "class without images"]
    assert found["effect"] == "ignored"
    assert found["messages"][0] == "1 of 4 classes is in no image: river"
    by_split = report["classes"][2]["splits"]
    lacking = [split for split, counts in by_split.items() if not counts["images"]]
    assert found["messages"][1:] == [f"1 of 4 classes is in no image of {s}: tree" for s in lacking]
    assert sum(counts["pixels"] for counts in by_split.values()) == report["classes"][2]["pixels"]


@pytest.mark.parametrize(
    ("ids", "rule", "blocks"),
    [
        ([f"frame_{n:04}" for n in range(60)], r"regex:^(frame_\d*?)\d{0,1}(?!\d)", 6),
        ([f"{n:05}" for n in range(2000)], r"regex:^(\d+?)\d{0,2}(?!\d)", 20),
        ([f"cut {n}b" for n in range(2000)], r"regex:^(cut\ \d*?)\d{0,2}(?!\d)", 20),
        ([str(n) for n in range(300)], r"regex:^(\d+?)\d{0,1}(?!\d)", 30),
        ([f"f{n:03}_png.rf.{n * 97:x}" for n in range(200)], r"regex:^(f\d*?)\d{0,1}(?!\d)", 20),
        ([f"f{n}" for n in range(8)], r"regex:^(f\d*?)\d{0,1}(?!\d)", 1),
        ([f"f{n}" for n in range(100_000, 100_300)], r"regex:^(f\d*?)\d{0,1}(?!\d)", 30),
        ([str(n) for n in range(91_500, 93_500)], r"regex:^(\d+?)\d{0,2}(?!\d)", 20),
    ],
)
def test_a_rule_of_blocks_keeps_successive_numbers_together(ids, rule, blocks):
    found = propose_by_looks(ids[::-1], 2, bool)
    assert found.rule == rule
    assert len({*Grouping.parse(rule).groups(ids).values()}) == blocks


def of(front, *members):
    return [[form.format(n, front[n]) for form in members] for n in range(8)]


WORDS = ["new_york", "bonn", "ulm", "rom", "oslo", "bern", "kiel", "lyon"]
HASHES = [f"{n * 7919**4:016x}" for n in range(1, 9)]
FILMS = [f"{{1}}_{n:03}" for n in range(5)]

# Ids of each group, and the rule.
LOOKS = {
    "augmented": (of(WORDS, "img{0}", "img{0}_hflip", "img{0}_rot"), r"regex:^([^_]+)"),
    "versions": (of(HASHES, "D{0}_a_jpg.rf.1{1}", "D{0}_a_jpg.rf.2{1}"), "prefix:_"),
    "names and versions": (of(WORDS, "{1}.rf.1{0}", "{1}.rf.2{0}", "{1}.rf.3{0}"), None),
    "sides": (of(WORDS, "{0:04}_left", "{0:04}_right"), "prefix:_"),
    "sides first": (of(WORDS, "left_{0:04}", "right_{0:04}"), r"regex:^[^_]+_(.+)$"),
    "the frame first": (of([*WORDS[1:], "nizza"], *(f"{n:03}_{{1}}" for n in range(5))), None),
    "names of two words": (of(WORDS, *FILMS), None),
    "hashes": (of(HASHES, *FILMS), "prefix:_"),
    "folders": (of(WORDS, "{1}/north", "{1}/south"), "folder"),
    "visits": (of(WORDS, "P{0}_2021-01-1{0}", "P{0}_2021-03-2{0}"), "prefix:_"),
    "crops": (of(WORDS, *(f"v{{0}}_f{n}_c{c}" for n in (1, 5, 9) for c in (0, 1))), "prefix:_"),
    "few frames": (of(WORDS, "v{0}_3", "v{0}_97", "v{0}_1045", "v{0}_5003"), "prefix:_"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_the_rule_for_groups_that_look_alike_keeps_each_whole_and_apart(name):
    groups, rule = LOOKS[name]
    group_of = {i: n for n, ids in enumerate(groups) for i in ids}
    found = propose_by_looks(
        group_of,
        2,
        lambda pairs: np.mean([group_of[p.one] == group_of[p.other] for p in pairs]) > 0.5,
    )
    assert rule in (None, found.rule)
    by_rule = Grouping.parse(found.rule).groups(group_of)
    assert (
        len({(by_rule[i], n) for i, n in group_of.items()})
        == len({*by_rule.values()})
        == len(groups)
    )


def copies(photo, count=3):
    """Returns names that Roboflow gives to the copies of a photo; hashes begin as others do."""
    return [f"{photo}.rf.{n}{HASHES[len(photo) % 8][:7]}a{n}" for n in range(count)]


SIDES = [f"city_park_lake_s{letter}_{side}" for letter in "abcdefghijklmnop" for side in "lrt"]

# Ids of which some are copies of one photo.
COPIED = {
    "short names beside long ones": [
        *itertools.chain(*(copies(side, 1) for side in SIDES)),
        *copies("cat"),
        *copies("dog_jpg"),
    ],
    "names without a hash beside copies": [*SIDES, *copies("cat"), *copies("owl_png")],
    "films beside names without a number": [
        *(f"v{film}_{n}_jpg.rf.{film}{n:03}" for film in range(4) for n in range(20)),
        *copies("cat"),
        *copies("dog_jpg", 2),
    ],
    "films without a hash beside copies": [
        *(f"v{film}_{n}" for film in range(4) for n in range(20)),
        *copies("cat_jpg"),
        *copies("dog_7_jpg"),
    ],
    "patients": [
        *(f"patient_{n}_{side}_jpg.rf.{n:03}" for n in range(9) for side in "lr"),
        *copies("cat_jpg"),
    ],
    "the place last": [
        *(f"{n:03}_{place}_jpg.rf.{n:04}" for n, place in enumerate(WORDS * 4)),
        *copies("700_ulm_jpg"),
    ],
}


def may_be_alike(one, other):
    """Says whether ids differ only in what stands behind their last `_` or `.`, or before both."""
    fronts = [name.partition(".rf.")[0] for name in (one, other)]
    same_front = len({front.rpartition("_")[0] for front in fronts}) == 1
    same_end = len({front.partition("_")[2] for front in fronts}) == 1
    return same_front or same_end


@pytest.mark.parametrize("name", COPIED)
@pytest.mark.parametrize("propose", [propose_by_ids, propose_by_looks], ids=["ids", "looks"])
def test_a_proposed_rule_keeps_the_copies_of_roboflow_together(name, propose):
    ids = COPIED[name]
    if propose is propose_by_ids:
        found = propose_by_ids(ids)
    else:
        found = propose_by_looks(
            ids, 2, lambda pairs: all(may_be_alike(pair.one, pair.other) for pair in pairs)
        )
    photos = {image_id: image_id.partition(".rf.")[0] for image_id in ids}
    groups = Grouping.parse(found.rule).groups(ids) if found else photos
    assert len({(photos[i], group) for i, group in groups.items()}) == len({*photos.values()})


def test_the_rule_that_a_build_proposes_puts_copies_of_roboflow_into_one_split(tmp_path):
    some = np.random.default_rng(0)
    photos = {}
    for image_id in COPIED["short names beside long ones"]:
        name = image_id.partition(".rf.")[0]
        photo = photos.setdefault(name.rpartition("_")[0] or name, scene(some))
        drawing.put_mask(tmp_path, f"masks/{image_id}.png", np.ones((48, 64), np.uint8))
        path = tmp_path / f"images/{image_id}.jpg"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(photo.astype(np.uint8)).convert("RGB").save(path)
    told = refused(tmp_path, "are in 18 groups", splits=HALVES)
    options = told.partition("in one split with ")[2].partition(" (in a config")[0]
    for seed in range(5):
        answer = {**said_by(options), "splits": HALVES, "seed": seed}
        splits = plan_of(tmp_path, **answer).splits
        for photo in ("cat", "dog_jpg"):
            copies_in_splits = [{*copies(photo)} & {*ids} for ids in splits.values()]
            assert {*copies(photo)} in copies_in_splits


def ids_of(form, groups, numbers):
    return [form.format(group, number) for group in range(groups) for number in numbers]


GROUPS = {
    "frames": ids_of("vid{}_frame{:04}", 5, range(20)),
    "slices": ids_of("patient_{:03}_slice_{:02}", 12, range(12)),
    "crops": ids_of("photo{}_crop{}", 3, range(4)),
    "patches": ids_of("wsi{}_patch_{}", 12, range(30)),
    "folders": ids_of("seq{}/{:06}", 3, range(15)),
    "nested folders": ids_of("p{}/s1/{:03}", 5, range(9)),
    "letters": ids_of("run{}a{}", 3, range(1, 12)),
    "rows and columns": ids_of("ortho{}-r1-c{}", 3, range(4)),
    "meters": ids_of("tile_512{:03}_4321{:03}", 8, range(0, 900, 100)),
    "meters with words": ids_of("tile_x512{}00_y4321{:03}", 8, range(0, 900, 100)),
    "kilometers": ids_of("dop20_3251{}_{}_1", 8, range(5320, 5328)),
    "degrees": ids_of("tile_48.1{}_11.{:02}", 8, range(8)),
    "some without a group": [*ids_of("v{}_{}", 5, range(30)), "cat", "0007"],
    "copies": [*itertools.chain(*map(copies, WORDS)), "owl", "cow"],
}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("ratios", ["0.8 0.2", "0.9 0.1", "0.7 0.15 0.15", "0.98 0.01 0.01"])
@pytest.mark.parametrize("name", GROUPS)
def test_the_rule_that_a_build_proposes_leaves_no_split_empty(tmp_path, name, ratios, seed):
    ids = GROUPS[name]
    splits = dict(zip(("train", "validation", "test"), map(float, ratios.split()), strict=False))
    said = config(splits=splits, seed=seed)
    with pytest.raises(LayoutError, match="Ratios may put these into several splits") as asked:
        check_groups(ids, lambda one: tmp_path / one, said, tmp_path, said.ratios)
    before, is_proposed, proposed = asked.value.remedy.partition("in one split with ")
    if not is_proposed:
        assert "one would be empty" in before
        return
    words = shlex.split(proposed.partition(" (in a config")[0])
    names = [word.removeprefix("--") for word in words[::2]]
    fields = dict(zip(names, words[1::2], strict=True))
    answer = config(splits=splits, seed=seed, **fields)
    if answer.split_by == "stratified":
        made = stratify(
            dict.fromkeys(ids, ()), splits, seed, Grouping.parse(answer.group_by).groups(ids)
        )
    else:
        made = {share.split: share.ids for share in divide_by_ratio(ids, answer).shares}
    assert all(made.values())


def test_a_folder_without_images_has_no_groups(tmp_path):
    check_groups([], lambda one: tmp_path / one, config(), tmp_path, HALVES)
