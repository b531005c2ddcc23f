import csv
import dataclasses
import json
import shutil

import numpy as np
from PIL import Image
import pytest
from support import browser, drawing, planted

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.formats import mask_samples
from voc_seg_tfrecord.formats.index_masks import unknown_pixels

pytestmark = pytest.mark.slow  # a browser shows the pages


@pytest.fixture
def broken(root):
    """A tree with one problem of each sort, and names that try to become code."""
    images, masks = root / "JPEGImages", root / "SegmentationClass"
    whole = (images / "2007_000001.jpg").read_bytes()
    (images / "2007_000001.jpg").write_bytes(whole[:900])
    mask = Image.open(masks / "2012_000006.png")
    values = np.array(mask)
    values[:20] = 77
    wrong = Image.fromarray(values)
    wrong.putpalette(mask.getpalette())
    wrong.save(masks / "2012_000006.png")
    shutil.copy(images / "2008_000002.jpg", images / "\"><img src=x onerror=alert(1)>'.jpg")
    shutil.copy(images / "2009_000003.jpg", images / "2010_000004.jpg")
    shutil.copy(masks / "2009_000003.png", masks / "2010_000004.png")
    return root


def check(root, out, *words):
    return cli.main(["check", str(root), "--class_names", "voc", "--html", str(out), *words])


def test_the_files_of_each_finding_are_shown_with_what_was_found(broken, tmp_path, capsys):
    out = tmp_path / "a.html"
    assert check(broken, out) == 1
    assert "not ready to build: 2 problems" in capsys.readouterr().out
    with browser.opened(out) as window:
        assert window.noise == []
        assert "Not ready to build: 2 problems." in window.locator("header").text_content()
        shown = {}
        for kind in window.locator(".kind").all():
            title = kind.locator("h3").evaluate("e => e.childNodes[1].textContent.trim()")
            shown[title] = kind.locator(".id").all_text_contents()
        assert shown["Damaged file"] == ["2007_000001"]
        assert shown["Unknown mask value"] == ["2012_000006"]
        assert shown["Image in no split"] == ["\"><img src=x onerror=alert(1)>'"]
        assert set(shown["Same image in two splits"]) == {"2009_000003", "2010_000004"}
        assert window.locator(".frame.pair").count() == 4
        window.evaluate("[...document.images].map(i => i.loading = 'eager')")
        broken_images = "[...document.images].filter(i => !i.complete || !i.naturalWidth).length"
        window.wait_for_function(f"{broken_images} === 0")


def test_a_table_leads_to_each_kind_of_finding_and_says_first_whether_it_is_an_error(
    broken, tmp_path
):
    check(broken, tmp_path / "a.html")
    with browser.opened(tmp_path / "a.html") as window:
        rows = window.locator("#findings tbody tr").all()
        assert len(rows) == window.locator(".kind").count()
        for row in rows:
            effect, count = row.locator("td").all_text_contents()
            kind = row.locator("th").text_content()
            heading = window.locator(row.locator("a").get_attribute("href")).locator("h3")
            assert heading.text_content() == f"{effect} {kind} {count} \N{MULTIPLICATION SIGN}"
        assert rows[0].locator("td").first.text_content() == "Error"


def write_folders(root, numbers_of_damaged):
    """Writes a tree with five images in each folder; the first masks of each are damaged."""
    ids = [f"{folder}/{number}" for folder in numbers_of_damaged for number in range(5)]
    for turn, image_id in enumerate(ids):
        one = planted.draw(turn)
        folder, _, number = image_id.partition("/")
        is_damaged = int(number) < numbers_of_damaged[folder]
        drawing.put(root, f"JPEGImages/{image_id}.jpg", one.image, quality=90)
        mask = b"damaged" if is_damaged else one.mask
        drawing.put(root, f"SegmentationClass/{image_id}.png", mask)
    drawing.put(root, "class_names.txt", "\n".join(planted.NAMES))
    drawing.put_lists(root, train=ids)


def test_findings_are_filtered_by_the_folder_of_their_images(tmp_path):
    root = tmp_path / "tree"
    write_folders(root, {"anna": 2, "<b>ben": 1, "cleo": 3})
    assert cli.main(["check", str(root), "--html", str(tmp_path / "a.html")]) == 1
    with browser.opened(tmp_path / "a.html") as window:
        options = window.locator("#folder option").all_text_contents()
        assert options == ["any folder", "<b>ben", "anna", "cleo"]
        cards = window.locator("main .card:visible")
        assert cards.count() == 6
        window.keyboard.press("n")
        status = window.locator(".work [role=status]")
        current_id = window.locator(".card.current .id")
        assert current_id.text_content() == "anna/0"
        window.get_by_label("Folder").select_option("cleo")
        assert window.locator("#count").text_content() == "3 of 6 cards on this page"
        shown_ids = cards.locator(".id").all_text_contents()
        assert shown_ids == ["cleo/0", "cleo/1", "cleo/2"]
        window.get_by_label("Folder").blur()
        window.keyboard.press("w")  # the current card is hidden
        assert status.text_content() == "0 of 6 decided"
        window.keyboard.press("n")
        assert current_id.text_content() == "cleo/0"
        window.keyboard.press("w")
        assert status.text_content() == "1 of 6 decided"
        window.get_by_label("Folder").select_option("")
        assert cards.count() == 6
        assert window.noise == []


def test_without_folders_there_is_nothing_to_filter_by(broken, tmp_path):
    check(broken, tmp_path / "a.html")
    assert 'id="folder"' not in (tmp_path / "a.html").read_text()


def test_the_severity_of_each_kind_of_finding_has_a_column(broken, tmp_path):
    check(broken, tmp_path / "a.html")
    with browser.opened(tmp_path / "a.html") as window:
        heads = window.locator("#findings thead th").all_text_contents()
        assert heads == ["Severity", "Finding", "Count"]


def test_a_box_and_a_crop_show_where_the_unknown_pixels_are(broken, tmp_path):
    check(broken, tmp_path / "a.html")
    with Image.open(broken / "SegmentationClass" / "2012_000006.png") as mask:
        width = mask.width
    with browser.opened(tmp_path / "a.html") as window:
        card = window.locator(".card", has=window.locator(".boxes"))
        assert card.locator(".id").text_content() == "2012_000006"
        box = card.locator("rect").evaluate(
            "r => ['x','y','width','height'].map(n => +r[n].baseVal.value)"
        )
        ring = width / 100
        assert np.allclose(box, (-ring, -ring, width + 2 * ring, 20 + 2 * ring))
        assert card.locator(".two img").count() == 2


def test_an_error_that_nobody_can_call_right_says_what_to_do_and_has_no_button_for_it(
    broken, tmp_path
):
    check(broken, tmp_path / "a.html")
    with browser.opened(tmp_path / "a.html") as window:
        for kind, buttons in (
            ("Damaged file", ["Wrong", "Not sure"]),
            ("Unknown mask value", ["Wrong", "Not sure"]),
            ("Same image in two splits", ["Right as it is", "Wrong", "Not sure"]),
        ):
            section = window.locator(".kind", has_text=kind)
            card = section.locator(".card").first
            assert card.locator(".decide button").all_text_contents() == buttons
            if "Right as it is" in buttons:
                assert "What to do: " not in card.text_content()
            else:
                assert "what to do: " in section.first.text_content().lower()
        window.keyboard.press("n")
        window.keyboard.press("r")  # on an error, which comes first
        assert window.locator("[role=status]").first.text_content().startswith("0 of ")
        window.keyboard.press("w")
        assert window.locator("[role=status]").first.text_content().startswith("1 of ")


def test_advice_on_which_all_messages_of_a_kind_agree_stands_once(broken, tmp_path):
    lists = broken / "ImageSets" / "Segmentation"
    (lists / "train.txt").write_text((lists / "train.txt").read_text() + "lost\n")
    check(broken, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "/lost: no such file" in text
    assert text.count("add the images to the folder JPEGImages") == 1


def test_what_may_be_wrong_with_a_label_stands_at_its_image(broken, tmp_path):
    mask = broken / "SegmentationClass" / "2010_000004.png"
    with Image.open(mask) as opened:
        opened.point(lambda _: 15).save(mask)
    check(broken, tmp_path / "a.html")
    with browser.opened(tmp_path / "a.html") as window:
        (kind,) = window.locator(".kind", has_text="Same image, other mask").all()
        assert "whose mask differs" in kind.locator(".card .detail").first.text_content()


def test_the_table_of_fixes_says_where_the_unknown_pixels_are(broken, tmp_path):
    cli.main(["check", str(broken), "--class_names", "voc", "--csv", str(tmp_path / "fixes.csv")])
    rows = csv.DictReader((tmp_path / "fixes.csv").read_text().splitlines())
    (row,) = (row for row in rows if row["kind"].startswith("unknown mask"))
    with Image.open(broken / row["file"]) as mask:
        assert [row[name] for name in ("x", "y", "width", "height")] == [
            "0",
            "0",
            str(mask.width),
            "20",
        ]


def test_files_are_named_by_their_place_in_the_archive(broken, tmp_path, capsys):
    packed = shutil.make_archive(tmp_path / "export", "zip", broken.parent, broken.name)
    out = tmp_path / "fixes.csv"
    cli.main(["check", packed, "--class_names", "voc", "--json", "--csv", str(out)])
    report = json.loads(capsys.readouterr().out)
    assert report["root"] == f"{packed}/{broken.name}"
    for kind in ("damaged file", "image in no split"):
        (found,) = (one for one in report["findings"] if one["kind"] == kind)
        assert found["where"][0].startswith(f"{packed}/{broken.name}/JPEGImages/")
        assert found["messages"][0].startswith(found["where"][0])
    files = [row["file"] for row in csv.DictReader(out.read_text().splitlines()) if row["file"]]
    assert len(files) > 3
    assert all((broken.parent / file).exists() for file in files)


@pytest.mark.parametrize("kind", ["palette", "rgb", "gray"])
def test_pixels_are_unknown_whose_value_or_color_is_no_class(kind):
    rule = index_rule(3)
    colors = {(9, 9, 9): 0, (0, 0, 128): 1}
    if kind != "gray":
        rule = dataclasses.replace(rule, colors=colors)
    values = np.array([[0, 1], [0, 200]])
    palette = np.zeros((201, 3), np.uint8)
    palette[:2] = [*colors]
    samples = {
        "gray": mask_samples.GraySamples(values),
        "palette": mask_samples.PaletteSamples(values, palette),
        "rgb": mask_samples.ColorSamples(palette[values]),
    }[kind]
    found = unknown_pixels(samples, rule)
    assert found.tolist() == [[False, False], [False, True]]


def test_the_sizes_of_an_image_and_of_its_mask_stand_side_by_side(root, tmp_path):
    mask = root / "SegmentationClass" / "2012_000006.png"
    with Image.open(mask) as opened:
        width, height = opened.size
        opened.resize((7, 5)).save(mask)
    check(root, tmp_path / "a.html")
    with browser.opened(tmp_path / "a.html") as window:
        card = window.locator(".card", has=window.locator(".apart"))
        by = "\N{MULTIPLICATION SIGN}"
        sizes = card.locator(".two span").all_text_contents()
        assert sizes == [f"image {width} {by} {height}", f"mask 7 {by} 5"]
        assert card.locator(".photo").is_visible()
        assert card.locator(".mask").is_visible()


def test_a_truncated_image_is_shown_as_far_as_it_goes_and_only_here(broken, tmp_path):
    from PIL import ImageFile

    check(broken, tmp_path / "a.html")
    assert not ImageFile.LOAD_TRUNCATED_IMAGES
    with browser.opened(tmp_path / "a.html") as window:
        first = window.locator(".kind .card img").first
        assert first.get_attribute("src").startswith("data:image/jpeg;base64,")


def test_a_folder_that_is_no_tree_has_a_page_that_says_so(tmp_path):
    (tmp_path / "empty").mkdir()
    assert check(tmp_path / "empty", tmp_path / "a.html") == 1
    text = (tmp_path / "a.html").read_text()
    assert "Not ready to build: 1 problem." in text
    assert '<section id="plan">' not in text


def test_a_tree_without_class_names_has_a_page_with_the_values_of_its_masks(root, tmp_path):
    assert cli.main(["check", str(root), "--html", str(tmp_path / "a.html")]) == 1
    text = (tmp_path / "a.html").read_text()
    assert "<bdi>class 12</bdi>" in text
    assert "<bdi>class 13</bdi>" not in text


def test_the_path_of_a_page_is_checked_before_the_tree_is_read(root, tmp_path, capsys):
    assert check(root, tmp_path) == 2
    assert f"error: --html {tmp_path}: a folder" in capsys.readouterr().err
    assert check(root, tmp_path / "no" / "a.html", "--json") == 2


def test_the_page_of_an_archive_names_the_archive_and_not_where_it_was_unpacked(root, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "mine"), "zip", root)
    check(archive, tmp_path / "a.html")
    check(archive, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert archive in (tmp_path / "a.html").read_text()
