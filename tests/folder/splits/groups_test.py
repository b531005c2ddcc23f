"""Which ids belong together, by a rule of the user's and by what ids say."""

import random
import uuid

import pytest

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.folder.splits.by_ratio import assign
from voc_seg_tfrecord.folder.splits.grouping import Grouping
from voc_seg_tfrecord.folder.splits.groups_by_ids import propose_by_ids


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("prefix:_", {"a_1": "a", "a_b_2": "a", "b_1": "b"}),
        ("prefix:-f", {"a-1-f1": "a-1", "a-1-f2": "a-1"}),
        ("folder", {"v1/1": "v1", "v1/2": "v1", "v1/x/1": "v1/x"}),
        (r"regex:^patient\d+", {"patient12_left": "patient12", "patient1_left": "patient1"}),
        (r"regex:cam(\d)_.*_(\w)", {"cam1_x_a": "1\0a", "cam1_y_a": "1\0a", "cam2_x_a": "2\0a"}),
        (r"regex:^(v\d)|^(w\d)", {"v1_3": "v1\0", "w1_3": "\0w1"}),
    ],
)
def test_a_rule_gives_each_id_its_group(rule, groups):
    assert Grouping.parse(rule).groups(groups) == groups


@pytest.mark.parametrize(
    "rule", ["video", "prefix", "prefix:", "regex", "regex:", "regex:(", "folder:x"]
)
def test_a_rule_of_another_form_is_refused(rule):
    with pytest.raises(ConfigError, match="option group_by"):
        VocSegConfig(name="x", group_by=rule)


@pytest.mark.parametrize(
    ("rule", "image_id"),
    [
        ("prefix:_", "a1"),
        ("prefix:_", "_1"),
        ("folder", "a"),
        ("regex:x", "a"),
        ("regex:x(y?)", "xa"),
    ],
)
def test_an_id_without_a_group_is_refused_because_it_would_stand_alone(rule, image_id):
    with pytest.raises(ConfigError, match=f"1 of 2 ids have no group, such as {image_id}"):
        Grouping.parse(rule).groups([image_id, "xy/xy_x"])


def test_one_name_in_two_unicode_forms_is_one_group():
    groups = Grouping.parse("prefix:_").groups(["e\u0301_1", "\u00e9_2"])
    assert len(set(groups.values())) == 1


def frames(form, groups=5, numbers=range(1, 31)):
    return [form.format(group, number) for group in range(groups) for number in numbers]


def tiles(form, places):
    return [form.format(scene, y, x) for scene in range(4) for y in places for x in places]


# By what they are: ids, and how many groups they make.
GROUPED = {
    "frames": (frames("vid{}_frame{:04}"), 5),
    "every tenth frame": (frames("vid{}_{:04}", numbers=range(0, 300, 10)), 5),
    "a few frames that have a label": (frames("vid{}_frame{:05}", numbers=(7, 801, 4410)), 5),
    "slices": (frames("patient_{:03}_slice_{:02}", 12), 12),
    "a day and a camera": (frames("2024-03-cam{}-{:03}"), 5),
    "videos and frames without words": (frames("vid_{}_{}", numbers=range(5)), 5),
    "long videos of one length": (frames("v{}_{}", numbers=range(30)), 5),
    "two views of a frame": ([f"{i}_{s}" for i in frames("v{}_{}") for s in ("l", "r")], 5),
    "a size at the end": (frames("scan{}_{:03}_512x512"), 5),
    "Roboflow's hashes": (
        [f"{i}_jpg.rf.{uuid.UUID(int=n).hex}" for n, i in enumerate(frames("v{}_mp4-{:04}"))],
        5,
    ),
    "offsets": (tiles("scene{}_{}_{}", range(0, 2048, 512)), 4),
    "offsets of which the last is at the edge": (tiles("scene{}_{}_{}", (0, 512, 1024, 1301)), 4),
    "rows and columns": (tiles("s{}r{}c{}", range(1, 4)), 4),
    "rows and columns without words": (tiles("img{}_{}_{}", range(3)), 4),
    "a tile that is missing": (
        [i for i in tiles("img{}_{}_{}", range(3)) if not i.endswith("_1_1")],
        4,
    ),
    "Roboflow's copies": ([f"{word}_jpg.rf.{n}f" for word in "abcdef" for n in range(3)], 6),
    "folders": (frames("seq{}/{:04}"), 5),
    "words and folders without numbers": ([f"seq{n}/{k}" for n in range(9) for k in "abcdef"], 9),
    "left and right of a patient": (
        [f"patient_{n:03}_{side}" for n in range(9) for side in ("left", "right")],
        9,
    ),
    "slices of studies of patients": (
        [f"PAT{p}_study{s}_{n}" for p in range(4) for s in range(2) for n in (3, 90)],
        4,
    ),
    "sessions": (frames("session{}-{}", 4, range(6)), 4),
    "visits": (frames("VISIT{:02}_F{}", 4, range(6)), 4),
    "sessions of a person": (
        [f"{who}_session{n}" for who in ("ann", "bob", "eve", "ian") for n in range(6)],
        4,
    ),
    "tracks of a drive": (frames("drive_{}_track{}", 4, range(6)), 4),
    "a number behind some words": (
        [f"patient_{n:03}_{visit}" for n in range(8) for visit in ("pre", "pre2", "post")],
        8,
    ),
    "crops of photos": ([f"{w}_crop{n}" for w in ("oak", "elm", "fir") for n in (1, 2)], 3),
    "scenes": ([f"scene_{y}_{x}" for y in range(4) for x in range(4)], 4),
    "a word that ends as another does": (
        [f"upscan2_scan{n}_{side}" for n in range(1, 8) for side in "abcde"],
        7,
    ),
    "an id that begins as others do": ([*frames("cat{}-{}"), "cat", "a/b", "0007"], 8),
    "another form of some characters": (frames("e\u0301t\u00e9{}_{:03}"), 5),
    "three ids that have no number": ([*frames("v{}_{}"), "cat", "a/b", "0007"], 8),
}


@pytest.mark.parametrize("name", GROUPED)
def test_the_rule_keeps_each_group_in_one_split_and_nothing_else_together(name):
    ids, count = GROUPED[name]
    found = propose_by_ids(ids)
    groups = Grouping.parse(found.rule).groups(ids)
    assert len({*groups.values()}) == count
    splits = assign(ids, {"train": 0.5, "test": 0.5}, 0, groups)
    split_of = {i: split for split, of in splits.items() for i in of}
    assert [len({split_of[i] for i in of}) for of in found.members] == [1] * len(found.members)
    assert sum(map(len, found.members)) == len(ids) - ids.count("cat") * 3


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("frames", "prefix:_"),
        ("folders", "folder"),
        ("slices", "word:patient"),
        ("rows and columns", r"regex:^(.*\D)\d+\D+\d+\D*$"),
        ("three ids that have no number", r"regex:^(.*\D)\d+[^\d/]*$|^(.+)$"),
    ],
)
def test_the_rule_is_the_shortest_that_there_is(name, rule):
    assert propose_by_ids(GROUPED[name][0]).rule == rule


some = random.Random(0)

# Ids that say nothing.
ALONE = {
    "plain numbers": [f"{n:04}" for n in range(300)],
    "one name": [f"IMG_{n:04}" for n in range(300)],
    "copies": [f"photo ({n})" for n in range(60)],
    "tiles of one place": [f"ulm_{y}_{x}" for y in range(4) for x in range(4)],
    "one image of each patient": [f"patient_{n}_mri" for n in range(50)],
    "offsets alone": [f"{y}_{x}" for y in range(0, 1024, 256) for x in range(0, 1024, 256)],
    "UUIDs": [str(uuid.UUID(int=some.getrandbits(128))) for _ in range(500)],
    "hashes": [f"{some.getrandbits(32):08x}" for _ in range(500)],
    "seconds of three cameras": [f"cam{n % 3}_{some.randrange(10**9)}" for n in range(500)],
    "days": [f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)],
    "times": [f"2024-03-{n % 28 + 1:02}_{some.randrange(2400):04}" for n in range(300)],
    "half of VOC's numbers": [
        f"{y}_{n:06}" for y in (2008, 2009) for n in range(2, 8000) if some.random() < 0.55
    ],
    "cameras behind the frame": [f"{n:04}_cam{c}" for n in range(50) for c in range(1, 6)],
    "a pair of each": [f"{n:06}_{k}" for n in range(90) for k in (10, 11)],
    "folders without numbers": [f"day{n}/{k}" for n in range(9) for k in "abcdef"],
    "groups of a few": [*[f"v{n}_{k}" for n in range(3) for k in range(3)], *"abcdefghij"],
    "one": ["v1_1"],
    "none": [],
}


@pytest.mark.parametrize("name", ALONE)
def test_ids_that_say_nothing_get_no_rule(name):
    assert propose_by_ids(ALONE[name]) is None


@pytest.mark.parametrize("name", named_lists())
def test_the_lists_of_papers_get_no_rule(name):
    assert propose_by_ids(list_ids(name)) is None
