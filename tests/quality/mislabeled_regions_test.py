"""Regions that look like another class, from folder to finding."""

import csv
import json

import numpy as np
from PIL import Image
import pytest
from support import browser, planted

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.quality import appearance
from voc_seg_tfrecord.quality.appearance import RegionAppearance, measure_regions
from voc_seg_tfrecord.quality.kinds import MISLABELED_REGION
from voc_seg_tfrecord.quality.mislabeled_regions import compare_regions
from voc_seg_tfrecord.quality.regions import find_regions

COUNT = 130
WRONG = (7, 21, 33, 48, 60, 77, 101, 119)


def objects_in(mask):
    """Yields class, box and pixels of the objects of a mask."""
    for region in find_regions(mask, lambda table: table).as_regions():
        label = region.label
        left, top, width, height = region.box
        box = (slice(top, top + height), slice(left, left + width))
        inside = np.zeros(mask.shape, bool)
        inside[box] = mask[box] == label
        if label and width * height < mask.size / 2:
            yield label, (left, top, width, height), inside


def swap(one, seed):
    """Gives the first object of a mask another class; returns its box, and the classes."""
    label, box, inside = next(objects_in(one.mask))
    other = 1 + (label + seed % 2) % 3
    one.mask[inside] = other
    return box, planted.NAMES[other], planted.NAMES[label]


@pytest.fixture(scope="module")
def drawn():
    return [planted.draw(5000 + number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def world(drawn, tmp_path_factory):
    """A folder, and what is wrong in it: by id the box, the class, and the right class."""
    root = tmp_path_factory.mktemp("looks") / "signs"
    copies = [planted.Pair(one.image, one.mask.copy()) for one in drawn]
    wrong = {f"{number:03}": swap(copies[number], number) for number in WRONG}
    planted.write(root, copies)
    return root, wrong


@pytest.fixture(scope="module")
def found_in_world(world):
    return voc_seg_tfrecord.find_label_errors(world[0])


def strangers(data, **options):
    found = voc_seg_tfrecord.find_label_errors(data, **options)
    return [finding for finding in found if finding.kind == MISLABELED_REGION.name]


def close(box, other):
    return all(abs(a - b) <= 3 for a, b in zip(box, other, strict=True))


@pytest.mark.slow
def test_objects_of_a_wrong_class_are_named_with_their_class_and_the_right_one(
    world, found_in_world
):
    wrong, found = world[1], [f for f in found_in_world if f.kind == MISLABELED_REGION.name]
    for image_id, (box, given, right) in wrong.items():
        (finding,) = (f for f in found if f.ids == (image_id,) and close(f.box, box))
        assert finding.suggested == right
        assert f"the region labeled {given} at" in finding.message
        assert 0.2 <= finding.score <= 0.95
        assert [name for name, _, _ in finding.beside] == [right] * 3 + [given] * 3
        assert all(other != image_id for _, other, _ in finding.beside)
    assert len(found) <= len(wrong) + 2
    assert {f.ids[0] for f in found[: len(wrong)]} == wrong.keys()


@pytest.mark.slow
def test_nothing_is_named_where_nothing_is_wrong(drawn, tmp_path):
    planted.write(tmp_path, drawn)
    assert len(strangers(tmp_path)) <= 1


@pytest.mark.slow
def test_processes_find_the_same(world, found_in_world, monkeypatch):
    monkeypatch.setattr(processes, "MIN_ITEMS_PER_PROCESS", 20)
    monkeypatch.setattr(processes.threads, "USED_CORES", 2)
    assert voc_seg_tfrecord.find_label_errors(world[0]) == found_in_world


@pytest.mark.slow
def test_a_built_dataset_names_them_too_and_the_report_shows_them(world, tmp_path):
    root, wrong = world
    builder = voc_seg_tfrecord.builder_from_tree(
        root, name="signs", data_dir=tmp_path, verbose=False
    )
    assert {f.ids[0] for f in strangers(builder)} >= wrong.keys()
    cli.main(["report", "signs", "--data_dir", str(tmp_path), "--out", str(tmp_path / "r.html")])
    assert "> Region that looks like another class <" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_the_page_of_a_score_shows_those_of_the_scored_images(world, tmp_path):
    root, wrong = world
    voc_seg_tfrecord.builder_from_tree(root, name="signs", data_dir=tmp_path, verbose=False)
    (predicted := tmp_path / "predicted").mkdir()
    for path in (root / "SegmentationClass").iterdir():
        if int(path.stem) % 5 != 4:
            (predicted / path.name).write_bytes(path.read_bytes())
    words = ["evaluate", "signs@train", "--data_dir", str(tmp_path)]
    words += ["--predictions", str(predicted), "--html"]
    cli.main([*words, str(tmp_path / "p.html")])
    with browser.opened(tmp_path / "p.html") as window:
        cards = window.locator("#looks .card")
        shown = set(cards.locator(".id").all_text_contents())
        assert shown >= {i for i in wrong if int(i) % 5 != 4}  # those of train
        assert all(int(image_id) % 5 != 4 for image_id in shown)
        cards.first.get_by_role("button", name="Right as it is").click()
        with window.expect_download() as saved:
            window.get_by_role("button", name="Save decisions").click()
        saved.value.save_as(tmp_path / "d.json")
    cli.main([*words, str(tmp_path / "again.html"), "--decisions", str(tmp_path / "d.json")])
    count = 'data-kind="region that looks like another class"'
    first, second = ((tmp_path / n).read_text().count(count) for n in ("p.html", "again.html"))
    assert second == first - 1


@pytest.mark.slow
def test_where_classes_are_given_at_random_nothing_is_named_and_a_note_says_so(
    drawn, tmp_path, capsys
):
    rng = np.random.default_rng(3)
    copies = [planted.Pair(one.image, one.mask.copy()) for one in drawn]
    for one in copies:
        for _, _, inside in list(objects_in(one.mask)):
            one.mask[inside] = rng.integers(1, 4)
    planted.write(tmp_path, copies)
    assert strangers(tmp_path) == []
    cli.main(["check", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("not searched for regions of a wrong class") == 1
    assert "coin looks like leaf" in printed
    assert "background looks like" not in printed


@pytest.mark.slow
def test_a_class_with_few_regions_is_left_out_and_named(drawn, tmp_path, capsys):
    copies = [planted.Pair(one.image, one.mask.copy()) for one in drawn]
    for number, one in enumerate(copies):
        one.mask[one.mask == 1] = 1 if number < 12 else 0  # what is left are few coins
    few = sum(label == 1 for one in copies for label, _, _ in objects_in(one.mask))
    planted.write(tmp_path, copies)
    assert not [f for f in strangers(tmp_path) if f.suggested == "coin"]
    cli.main(["check", str(tmp_path)])
    assert f"(coin {few})" in capsys.readouterr().out


@pytest.mark.slow
def test_a_small_set_has_no_note_that_nobody_can_act_on(drawn, tmp_path, capsys):
    planted.write(tmp_path, drawn[:12])
    cli.main(["check", str(tmp_path)])
    assert "wrong class" not in capsys.readouterr().out


@pytest.mark.slow
def test_without_scikit_learn_a_note_says_so_and_all_else_is_found(
    world, found_in_world, monkeypatch, capsys
):
    monkeypatch.setattr(appearance, "is_available", lambda: False)
    without = voc_seg_tfrecord.find_label_errors(world[0])
    assert without == [f for f in found_in_world if f.kind != MISLABELED_REGION.name]
    cli.main(["check", str(world[0])])
    assert "Install scikit-learn" in capsys.readouterr().out
    cli.main(["check", str(world[0]), "--no_fit"])
    assert "scikit-learn" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_mistake_in_each_frame_of_a_film_does_not_hide_itself(drawn, tmp_path):
    """Six frames have one object that is wrong in all of them: they are no proof of each other."""
    root = tmp_path / "films"
    for folder in ("JPEGImages", "SegmentationClass"):
        (root / folder).mkdir(parents=True)
    (root / "class_names.txt").write_text("\n".join(planted.NAMES))
    wrong = planted.Pair(drawn[WRONG[0]].image, drawn[WRONG[0]].mask.copy())
    box, _, right = swap(wrong, 0)
    rng = np.random.default_rng(0)
    for number in range(COUNT // 2):
        one = wrong if number == 0 else drawn[number + 8]
        for frame in range(6 if number == 0 else 3):
            noise = rng.integers(-4, 5, one.image.shape)
            pixels = np.clip(one.image.astype(int) + noise, 0, 255).astype(np.uint8)
            name = f"film{chr(97 + number // 26)}{chr(97 + number % 26)}_frame{frame:02}"
            Image.fromarray(pixels).save(root / f"JPEGImages/{name}.png")
            Image.fromarray(one.mask).save(root / f"SegmentationClass/{name}.png")
    found = strangers(root, group_by="none", splits={"train": 1.0})
    named = [f for f in found if f.ids[0].startswith("filmaa_") and close(f.box, box)]
    assert len(named) == 6
    assert {f.suggested for f in named} == {right}


def test_objects_that_touch_are_regions_of_their_own_by_their_instance_mask():
    rgb = np.zeros((40, 60, 3), np.uint8)
    mask = np.zeros((40, 60), np.uint8)
    mask[10:30, 10:50] = 1
    objects = np.where(np.arange(60) < 30, mask, 2 * mask)
    objects[0, 0] = 255
    together = measure_regions(rgb, mask, mask.shape)
    apart = measure_regions(rgb, mask, mask.shape, objects)
    assert [(r.label, r.box) for r in together] == [(0, (0, 0, 60, 40)), (1, (10, 10, 40, 20))]
    assert [(r.label, r.box) for r in apart] == [
        (0, (0, 0, 60, 40)),
        (1, (10, 10, 20, 20)),
        (1, (30, 10, 20, 20)),
    ]


def test_void_around_an_object_is_none_of_its_surroundings():
    mask = np.zeros((60, 60), np.uint8)
    mask[20:40, 20:40] = 1
    plain = np.full((60, 60, 3), 90, np.uint8)
    plain[20:40, 20:40] = 200
    with_void, marked = mask.copy(), plain.copy()
    edge = np.zeros(mask.shape, bool)
    edge[18:42, 18:42] = True
    edge[20:40, 20:40] = False
    with_void[edge], marked[edge] = 255, 255
    (ours,) = (r for r in measure_regions(plain, mask, mask.shape) if r.label == 1)
    (theirs,) = (r for r in measure_regions(marked, with_void, mask.shape) if r.label == 1)
    contrast = slice(25, 31)  # colors around less those inside, and how they spread
    assert np.allclose(ours.features[contrast], theirs.features[contrast], atol=0.01)


def test_specks_and_large_images_are_measured_alike():
    mask = np.zeros((400, 600), np.uint8)
    mask[100:107, 100:109] = 1  # 63 pixels
    mask[200:208, 200:208] = 1  # 64
    regions = measure_regions(np.zeros((400, 600, 3), np.uint8), mask, mask.shape)
    assert [r.box for r in regions if r.label == 1] == [(200, 200, 8, 8)]
    large = np.kron(mask[:200, :300], np.ones((8, 8), np.uint8))
    reduced = large[::8, ::8]
    (region,) = (r for r in measure_regions(np.zeros((8, 8, 3)), reduced, large.shape) if r.label)
    assert region.box == (800, 800, 72, 56)


@pytest.mark.slow
def test_the_table_and_the_page_have_each_object_and_a_decision_is_about_one(
    drawn, tmp_path, capsys
):
    root = tmp_path / "signs"
    copies = [planted.Pair(one.image, one.mask.copy()) for one in drawn]
    number = next(n for n, one in enumerate(copies) if len(list(objects_in(one.mask))) == 3)
    for _, _, inside in list(objects_in(copies[number].mask))[:2]:
        copies[number].mask[inside] = 1 + copies[number].mask[inside] % 3
    planted.write(root, copies)
    words = ["check", str(root), "--html", str(tmp_path / "p.html")]
    cli.main([*words, "--csv", str(tmp_path / "fixes.csv")])
    rows = list(csv.DictReader((tmp_path / "fixes.csv").read_text().splitlines()))
    mine = [r for r in rows if r["id"] == f"{number:03}" and r["kind"] == MISLABELED_REGION.name]
    assert len(mine) == 2
    assert {r["file"] for r in mine} == {f"SegmentationClass/{number:03}.png"}
    with browser.opened(tmp_path / "p.html") as window:
        cards = window.locator(
            f'.card[data-kind="{MISLABELED_REGION.name}"][data-ids*="{number:03}"]'
        )
        assert cards.count() == 2
        assert cards.first.locator(".three use").count() == 6
        symbol = cards.first.locator(".three use").first.get_attribute("href")
        assert window.locator(f"{symbol} image").get_attribute("href").startswith("data:image/")
        cards.first.get_by_role("button", name="Right as it is").click()
        assert window.get_by_role("status").text_content().startswith("1 of ")
        with window.expect_download() as saved:
            window.get_by_role("button", name="Save decisions").click()
        saved.value.save_as(tmp_path / "decisions.json")
    decisions = json.loads((tmp_path / "decisions.json").read_text())["decisions"]
    assert len(decisions) == 1
    capsys.readouterr()
    cli.main(["check", str(root), "--json", "--decisions", str(tmp_path / "decisions.json")])
    summary = json.loads(capsys.readouterr().out)
    assert (summary["called_right"], summary["decisions_not_used"]) == (1, 0)
    left = [f for f in summary["label_errors"] if f["kind"] == MISLABELED_REGION.name]
    assert sum(f["ids"] == [f"{number:03}"] for f in left) == 1


def test_names_that_belong_together_leave_nothing_to_compare():
    regions = [
        [RegionAppearance(n % 2, (0, 0, 9, 9), np.full(47, n % 2, np.float32))] for n in range(80)
    ]
    names = [f"film{'ab'[n // 40]}_frame{n % 40:02}" for n in range(80)]
    assert not compare_regions(regions, names, []).is_one_group
    assert compare_regions(regions, names, [range(80)]).is_one_group


@pytest.mark.slow
def test_classes_that_look_half_alike_are_not_told_apart():
    """A seventh of each looks as the other does: so many cannot be wrong."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(600, 4)).astype(np.float32)
    features[1::2, :2] += 1
    regions = [[RegionAppearance(n % 2, (0, 0, 9, 9), features[n])] for n in range(600)]
    compared = compare_regions(regions, [f"i{n}x" for n in range(600)], [])
    assert compared.mislabeled == ()
    assert compared.confused == ((0, 1),)


def test_the_box_of_a_region_at_the_edge_ends_with_the_image():
    mask = np.zeros((10, 10), np.uint8)
    mask[:, 5:] = 1
    regions = measure_regions(np.zeros((15, 15, 3), np.uint8), mask, (15, 15))
    boxes = {region.label: region.box for region in regions}
    assert boxes == {0: (0, 0, 8, 15), 1: (8, 0, 7, 15)}
