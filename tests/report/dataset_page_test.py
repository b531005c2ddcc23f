import contextlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import browser, doctoring, pictures, tiled
from support.building import build
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, report
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import check_splits, open_built
from voc_seg_tfrecord.report.gather import gather
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.selection import RecordPlace
from voc_seg_tfrecord.report.thumbnails import read_thumbnails

pytestmark = pytest.mark.slow  # a browser shows the pages

HOSTILE = [
    "background",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "</title></style><svg onload=alert(3)>",
    '" onmouseover="alert(4)" x=\'',
    "{{ 7 * 7 }}{% raw %}",
    "$\\frac{1}{2}$",
    "😀 eye",
    "שלום",
    "a" * 400,
    "constructor",
    "main",
]
UNFOLD = "document.querySelectorAll('details').forEach(d => d.open = true)"
NARROW = {"width": 360, "height": 700}


def arrays(count, classes, seed=0, size=(24, 36)):
    """Returns images with edges and masks in which every class occurs."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (count, 3, 4, 3), np.uint8)
    images = [np.kron(c, np.ones((size[0] // 3, size[1] // 4, 1), np.uint8)) for c in coarse]
    masks = [rng.integers(0, classes, (size[0], size[1])).astype(np.uint8) for _ in range(count)]
    return images, masks


def built(data_dir, name, class_names, count=3, **options):
    images, masks = arrays(count, len(class_names))
    return voc_seg_tfrecord.from_arrays(
        images, masks, name=name, class_names=class_names, data_dir=data_dir, **options
    )


def written(dataset, out, **options):
    """Writes the page of a dataset; returns its path."""
    report.write(dataset, out, **options)
    return out


@pytest.fixture(scope="module")
def page(sample, tmp_path_factory):
    """The page of the sample."""
    return written(sample, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture
def window(page):
    """A window that shows it."""
    with browser.opened(page) as window:
        yield window


@contextlib.contextmanager
def shown(dataset, folder, **options):
    """Opens a window that shows the page of a dataset and says nothing on the console."""
    with browser.opened(written(dataset, folder / "a.html"), **options) as window:
        assert window.noise == []
        yield window


def test_processes_read_the_same(sample, page, tmp_path, monkeypatch):
    (tmp_path / "some.txt").write_text("2009_000003\n2007_000001\n")
    (part,) = check_splits(sample, ["train"], tmp_path / "some.txt")
    alone = gather(sample, [part])[part]
    monkeypatch.setattr(processes, "MIN_ITEMS_PER_PROCESS", 1)
    monkeypatch.setattr(processes.threads, "USED_CORES", 2)
    facts = gather(sample, [part])[part]
    assert facts.fingerprint == alone.fingerprint
    assert [e.id for e in facts.evidence] == ["2007_000001", "2009_000003"]
    assert written(sample, tmp_path / "report.html").read_bytes() == page.read_bytes()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The page of a dataset whose names try to become code."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [f"{n}\"><img src=x onerror=alert({n})>'.png" for n in range(3)]
    dataset = built(folder, "hostile", HOSTILE, filenames=names)
    return written(dataset, folder / "report.html")


def test_the_page_loads_nothing_and_says_nothing_on_the_console(page):
    with browser.opened(page) as window:
        assert window.title() == "voc_seg_tfrecord/sample"
        assert window.noise == []
        broken = "[...document.images].filter(i => !i.complete || !i.naturalWidth).length"
        window.evaluate("[...document.images].map(i => i.loading = 'eager')")
        window.wait_for_function(f"{broken} === 0")
        assert window.evaluate("document.images.length") == 18  # three for each example
    assert b'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;' in (
        page.read_bytes()
    )


def test_names_that_try_to_become_code_stay_text(hostile):
    with browser.opened(hostile, viewport={"width": 800, "height": 800}) as window:
        assert window.noise == []
        assert window.evaluate("document.scripts.length") == 1
        assert window.locator("[onerror],[onload],[src=x]").count() == 0
        attributes = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
        assert window.evaluate(f"{attributes}.filter(n => n.startsWith('on'))") == []
        table = window.locator("#classes tbody th").all_text_contents()
        assert table == HOSTILE
        assert window.locator(".id").first.text_content()[1:].startswith('"><img')


def test_a_narrow_screen_scrolls_in_no_direction_but_down(page, hostile):
    for path in (page, hostile):
        with browser.opened(path, viewport=NARROW) as window:
            window.evaluate(UNFOLD)
            assert window.evaluate("document.documentElement.scrollWidth") == 360


def test_the_slider_moves_between_image_and_mask_by_keyboard(window):
    window.get_by_label("Slider").check()
    card = window.locator("#examples .card").first
    mask = card.locator(".mask")
    clip = "e => getComputedStyle(e).clipPath"
    half = mask.evaluate(clip)
    card.locator(".slider").focus()
    window.keyboard.press("Tab")
    window.keyboard.press("Shift+Tab")
    assert card.locator(".here").text_content()
    window.keyboard.press("End")
    assert mask.evaluate(clip) == "inset(0px)" or mask.evaluate(clip) != half
    whole = mask.evaluate(clip)
    window.keyboard.press("Home")
    assert len({half, whole, mask.evaluate(clip)}) == 3


def test_the_filter_leaves_the_examples_of_a_class(window):
    window.locator("#filter").select_option("12")
    shown = window.locator("#examples .card:visible")
    assert shown.count() == 1
    assert "dog" in shown.text_content()
    assert window.locator("#count").text_content() == "1 of 6 examples on this page"


def test_examples_are_filtered_by_folder_and_class(tmp_path):
    names = ["anna/0.png", "anna/1.png", "ben/0.png"]
    dataset = built(tmp_path, "folders", ["a", "b"], filenames=names)
    with shown(dataset, tmp_path) as window:
        cards = window.locator("#examples .card:visible")
        window.get_by_label("Folder").select_option("anna")
        assert cards.count() == 2
        assert window.locator("#count").text_content() == "2 of 3 examples on this page"
        window.locator("#filter").select_option("255")
        assert cards.count() == 0
        window.evaluate(UNFOLD)
        window.locator("#classes a[data-filter]").first.click()
        assert window.get_by_label("Folder").input_value() == ""


def test_outlines_over_the_image_are_the_first_of_three_views_of_every_example(window):
    frame = window.locator("#examples .frame").first

    def seen():
        return [frame.locator(f".{name}").is_visible() for name in ("photo", "mask", "layer")]

    assert seen() == [True, False, True]
    window.get_by_label("Side by side").check()
    assert seen() == [True, True, False]
    window.get_by_label("Slider").check()
    assert seen() == [True, True, False]
    assert frame.locator("xpath=..").locator(".slider").is_visible()


def test_a_click_enlarges_an_example_arrow_keys_go_on_and_escape_closes(window):
    ids = window.locator("#examples .id").all_text_contents()
    shown = window.locator("dialog .id")
    window.locator("#examples .frame").first.click()
    assert shown.text_content() == ids[0]
    wide = "e => e.getBoundingClientRect().width"
    assert window.locator("dialog .layer").evaluate(wide) > 500
    window.keyboard.press("ArrowRight")
    assert shown.text_content() == ids[1]
    window.keyboard.press("ArrowLeft")
    assert shown.text_content() == ids[0]
    window.keyboard.press("Escape")
    assert not window.locator("dialog").is_visible()
    assert window.evaluate("document.activeElement.ariaLabel") == f"Enlarge {ids[0]}"
    window.keyboard.press("Enter")
    assert window.locator("dialog").is_visible()
    assert window.noise == []


def test_classes_lead_to_their_examples(window):
    for link in window.locator("#classes tbody a").all():
        link.click()
        assert window.evaluate("location.hash") == "#examples"
        label = link.get_attribute("data-filter")
        cards = window.locator("#examples .card:visible").all()
        assert cards
        for card in cards:
            assert label in card.get_attribute("data-labels").split()


def test_a_table_is_sorted_by_the_head_that_is_clicked_also_below_two_rows_of_heads(window):
    window.evaluate(UNFOLD)
    table = window.locator("#classes table")
    heads = table.locator("thead tr").nth(1).locator("th")
    pixels = "[...document.querySelectorAll('#classes tbody tr')].map(r => r.cells[3].innerText)"
    heads.nth(1).get_by_role("button").click()
    numbers = [int(text.replace(",", "")) for text in window.evaluate(pixels)]
    assert numbers == sorted(numbers, reverse=True)
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    table.get_by_role("button", name="Class", exact=True).press("Enter")
    names = table.locator("tbody th").all_text_contents()
    assert names == sorted(names)
    assert heads.nth(1).get_attribute("aria-sort") is None


def test_the_name_of_a_file_is_copied(page):
    with browser.opened(page, permissions=["clipboard-read", "clipboard-write"]) as window:
        card = window.locator("#examples .card").first
        card.locator(".copy").click()
        window.wait_for_function("document.querySelector('.copy:focus').textContent === 'Copied'")
        name = card.locator(".id").get_attribute("title")
        assert window.evaluate("navigator.clipboard.readText()") == name


def test_a_narrow_screen_has_two_columns_and_folds_all_sections_but_the_first(page):
    with browser.opened(page, viewport={"width": 390, "height": 800}) as window:
        folds = window.locator("main > section > details").evaluate_all("e => e.map(d => d.open)")
        assert folds == [True, *[False] * (window.locator("section").count() - 1)]
        assert window.evaluate("document.documentElement.scrollHeight") < 3000
        window.locator("nav a[href='#examples']").click()
        window.locator("#examples .card").first.wait_for()  # the page opens it after the click
        columns = "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
        assert window.locator("#examples .gallery").first.evaluate(columns) == 2
        window.locator("#classes h2").click()
        assert window.locator("#classes table").is_visible()


def test_the_class_under_the_pointer_is_named_also_where_an_image_has_many(hostile):
    with browser.opened(hostile) as window:
        card = window.locator("#examples .card").first
        assert card.locator(".chips li:visible").count() == 9  # the ninth says how many more
        frame = card.locator(".frame")
        frame.scroll_into_view_if_needed()
        box = frame.bounding_box()
        seen = set()
        for across in range(30):
            window.mouse.move(box["x"] + box["width"] * (across + 1) / 32, box["y"] + 60)
            seen.add(card.locator(".here").text_content())
        assert seen <= {*HOSTILE}
        assert len(seen) > 8


def test_a_class_that_a_split_lacks_is_marked_in_words(page):
    text = page.read_text()
    assert " in no image of test: " in text
    assert '<span class="warn">absent</span>' in text


@pytest.mark.filterwarnings("ignore:same image in two splits")
def test_an_image_in_two_splits_and_one_that_shows_the_same_picture_are_found(tmp_path):
    tree = tmp_path / "tree"
    folders = ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation")
    photos, classes, lists = (tree / folder for folder in folders)
    for folder in (photos, classes, lists):
        folder.mkdir(parents=True)
    images = [pictures.draw_photo(seed, (240, 360)) for seed in range(5)]
    _, masks = arrays(5, 3, size=(240, 360))
    for n, (image, mask) in enumerate(zip(images, masks, strict=True)):
        Image.fromarray(image).save(photos / f"{n}.jpg", quality=90)
        Image.fromarray(mask).save(classes / f"{n}.png")
    shutil.copy(photos / "0.jpg", photos / "3.jpg")
    Image.fromarray(images[1]).resize((180, 120)).save(photos / "4.jpg", quality=60)
    Image.fromarray(masks[4][::2, ::2]).save(classes / "4.png")
    (lists / "train.txt").write_text("0\n1\n2\n")
    (lists / "val.txt").write_text("3\n4\n")
    dataset = voc_seg_tfrecord.builder_from_tree(
        tree, name="twice", class_names=["a", "b", "c"], data_dir=tmp_path
    )
    text = written(dataset, tmp_path / "a.html").read_text()
    assert "Training data meets evaluation data" in text
    assert "train and validation share 1 example." in text
    assert ">0 = 3<" in text
    assert text.count('<div class="quad">') == 2
    assert "Same picture in two splits" in text
    assert "1 (train) and 4 (validation): the same picture, in files that differ" in text


def test_a_damaged_record_is_a_finding_and_the_rest_is_counted(sample, tmp_path):
    def damage(examples):
        doctoring.values(examples[0], "segmentation_mask")[0] = b"no PNG"
        doctoring.values(examples[1], "image")[0] = b"no JPEG"
        return examples

    dataset = doctoring.doctored(sample, tmp_path, damage)
    with shown(dataset, tmp_path) as window:
        findings = window.locator("#findings").text_content()
        assert "Error Damaged records 2" in " ".join(findings.split())
        assert "no image that can be shown" in findings
        background = window.locator("#classes tbody tr").first.locator("td")
        assert background.nth(5).text_content() == "1"  # of train: one of two is damaged


def test_images_alone_have_a_page_of_sizes_and_examples(tmp_path):
    part = VocSegConfig(name="part", release="2012_test", strict=False)
    dataset = build(tmp_path, part, DUMMY_DATA)
    with shown(dataset, tmp_path) as window:
        headings = window.locator("h2").all_text_contents()
        appendix = "Appendix: the facts for a paper"
        assert headings == ["Findings", "Splits", "Sizes", "Examples", appendix]
        assert window.locator("#examples img").count() == 1


def test_images_with_one_label_each_are_counted_by_class(tmp_path):
    images, _ = arrays(4, 2)
    labeled = voc_seg_tfrecord.from_arrays(
        images, labels=[0, 1, 1, 1], name="labeled", class_names=["ok", "bad"], data_dir=tmp_path
    )
    with shown(labeled, tmp_path) as window:
        assert "Damaged records" not in window.locator("#findings").text_content()
        height, width = images[0].shape[:2]
        size = f"{width} \N{MULTIPLICATION SIGN} {height}"
        assert size in window.locator("#sizes tbody tr").first.text_content()
        assert size in window.locator("#examples .card").first.text_content()
        assert window.locator("#examples .card").count() == 4
        window.locator("#filter").select_option("1")
        assert window.locator("#examples .card:visible").count() == 3
        assert window.locator(".slider").count() == 0
    assert "void" not in (tmp_path / "a.html").read_text().split("<main")[1].split("<script")[0]


def test_tiles_are_called_tiles_and_the_images_they_were_cut_from_are_counted(tmp_path):
    dataset = voc_seg_tfrecord.builder_from_tree(
        tiled.write_tree(tmp_path / "tree"),
        name="tiles",
        data_dir=tmp_path,
        tile=16,
        splits={"train": 1.0},
        **tiled.tree_options(),
    )
    with shown(dataset, tmp_path) as window:
        row = window.locator("#splits tbody tr").first.locator("td").all_text_contents()
        assert row[0] == str(dataset.info.splits["train"].num_examples)
        assert row[1] == str(len(tiled.SIZES))
        assert "The examples are tiles" in window.locator("#splits").text_content()
        heads = window.locator("#classes thead tr").nth(1).locator("th").all_text_contents()
        assert heads[:3] == ["tiles", "pixels", "share"]


def test_254_classes_stay_readable(tmp_path):
    names = ["background", *(f"class number {n}" for n in range(1, 254))]
    with shown(built(tmp_path, "many", names), tmp_path, viewport=NARROW) as window:
        assert window.locator("#classes table tbody tr").count() == 254
        assert window.evaluate("document.documentElement.scrollWidth") == 360


def test_masks_of_void_alone_and_an_image_of_one_pixel_have_a_page(tmp_path):
    images = [np.zeros((1, 1, 3), np.uint8), np.zeros((3, 500, 3), np.uint8)]
    masks = [np.full(image.shape[:2], 255, np.uint8) for image in images]
    dataset = voc_seg_tfrecord.from_arrays(
        images, masks, name="void", class_names=["a", "b", "c"], data_dir=tmp_path
    )
    with shown(dataset, tmp_path) as window:
        assert "100.0 % of the pixels are void" in window.locator("header").text_content()
        assert (
            "3 of 3 classes are in no image: a, b, c" in window.locator("#findings").text_content()
        )


def test_only_the_named_splits_are_shown(sample, tmp_path, capsys):
    words = ["report", f"{sample.data_dir}@train+test", "--out", str(tmp_path / "a.html")]
    assert cli.main(words) == 0
    assert "a.html, 0." in capsys.readouterr().out
    text = (tmp_path / "a.html").read_text()
    assert "This page shows train and test only" in text
    assert "2007_000002" not in text


def test_what_cannot_be_written_is_a_wrong_call_and_leaves_no_file(sample, tmp_path):
    for out in (tmp_path, tmp_path / "no" / "a.html"):
        with pytest.raises(ConfigError, match="--out"):
            written(sample, out)
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_of_others_is_refused(tmp_path):
    features = tfds.features.FeaturesDict({"image": tfds.features.Image()})
    tfds.dataset_builders.store_as_tfds_dataset(
        name="other",
        version="1.0.0",
        features=features,
        split_datasets={"train": [(0, {"image": np.zeros((4, 4, 3), np.uint8)})]},
        data_dir=tmp_path,
        disable_shuffling=True,
    )
    with pytest.raises(ConfigError, match="image/filename"):
        written(open_built("other", tmp_path), tmp_path / "a.html")


def test_a_small_box_has_a_crop_of_the_image_and_one_of_the_mask(sample):
    place, small, whole = RecordPlace("train", 0), (1, 1, 3, 3), (0, 0, 500, 500)
    style = ClassStyle((), class_colors(0), 0)
    boxes = [(place, small), (place, whole)]
    shown = read_thumbnails(sample, {place}, style, boxes)[place]
    assert list(shown.crops) == [small]
    assert shown.crops[small].image != shown.crops[small].mask
