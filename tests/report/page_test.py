"""What holds for both pages: that of a dataset and that of a tree."""

import itertools
import pathlib
import re

import numpy as np
import pytest
from support import browser
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import report
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.report import thumbnails

pytestmark = pytest.mark.slow  # a browser shows the pages

STYLE = (pathlib.Path(thumbnails.__file__).parent / "templates" / "page.css").read_text()
LIGHT, DARK, PRINT = re.findall(r":root\{(.*?)\}", STYLE)


def luminance(color):
    """The relative luminance of `#rgb` or `#rrggbb`, as WCAG 2 defines it."""
    digits = color.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    values = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(first, second):
    low, high = sorted(luminance(color) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def pages(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    report.write(sample, folder / "dataset.html")
    tree = DUMMY_DATA / "VOCdevkit" / "VOC2012"
    assert (
        cli.main(["check", str(tree), "--class_names", "voc", "--html", f"{folder}/tree.html"]) == 0
    )
    return [folder / "dataset.html", folder / "tree.html"]


def test_contrast_is_measured_as_wcag_does():
    assert round(contrast("#fff", "#000"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


@pytest.mark.parametrize("theme", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
def test_text_and_marks_have_enough_contrast_in_every_theme(theme):
    colors = dict(re.findall(r"--(\w+):(#\w+)", theme))
    for text, ground in itertools.product(("ink", "muted", "accent", "warn"), ("paper", "panel")):
        assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
    for text in ("ink", "muted", "accent"):
        assert contrast(colors[text], colors["grave"]) >= 4.5, text
    assert contrast(colors["mark"], colors["paper"]) >= 3


def test_the_page_takes_the_colors_of_the_theme(pages):
    for scheme, theme in (("light", LIGHT), ("dark", DARK)):
        with browser.opened(pages[0], color_scheme=scheme) as window:
            colors = dict(re.findall(r"--(\w+):(#\w+)", theme))
            ground = window.evaluate("getComputedStyle(document.body).backgroundColor")
            text = window.evaluate("getComputedStyle(document.body).color")
            for found, name in ((ground, "paper"), (text, "ink")):
                rgb = [int(value) for value in re.findall(r"\d+", found)]
                assert "#{:02x}{:02x}{:02x}".format(*rgb) == colors[name]


def test_a_screen_reader_finds_headings_names_and_captions(pages):
    for path in pages:
        with browser.opened(path) as window:
            assert window.evaluate("document.documentElement.lang") == "en"
            found = "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
            levels = window.evaluate(found)
            assert levels[0] == 1
            assert levels.count(1) == 1
            assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
            for selector, wrong in (
                ("img", "!e.alt"),
                ("svg", "e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')"),
                ("table", "!e.caption || !e.querySelector('th[scope=col]')"),
                ("th", "!e.scope"),
                ("input, select", "!(e.labels.length || e.ariaLabel)"),
                ("[tabindex='0']:not(a, button)", "!(e.ariaLabel || e.tagName === 'PRE')"),
                ("nav, section", "!(e.ariaLabel || e.querySelector('h2'))"),
                ("nav a", "!document.querySelector(e.hash)"),
                ("[id]", "document.querySelectorAll('#' + CSS.escape(e.id)).length > 1"),
            ):
                all_of = f'[...document.querySelectorAll("{selector}")]'
                assert window.evaluate(f"{all_of}.filter(e => {wrong}).map(e => e.outerHTML)") == []
            assert window.evaluate("document.images.length") or path.name == "tree.html"


def test_alt_texts_say_which_classes_are_there(pages):
    text = pages[0].read_text()
    assert 'alt="Image 2008_000002: background, person, void, dog"' in text
    assert 'alt="Mask of 2008_000002: background 62.7 %, person 18.3 %, void 11.7 %, dog' in text


def test_every_bar_stands_beside_its_number(pages):
    for path in pages:
        with browser.opened(path) as window:
            bars = "[...document.querySelectorAll('#classes meter')]"
            assert window.evaluate(f"{bars}.length") > 10
            texts = window.evaluate(f"{bars}.map(e => e.parentElement.innerText.trim())")
            assert all(text.endswith("%") for text in texts)


def test_outlines_lie_over_the_image_without_scripts_and_on_paper_and_side_by_side_can_be_chosen(
    pages,
):
    with browser.opened(pages[0], java_script_enabled=False) as window:
        frame = window.locator("#examples .frame.pair").first
        photo, mask, layer = (frame.locator(f".{name}") for name in ("photo", "mask", "layer"))
        assert photo.bounding_box() == layer.bounding_box()
        assert not mask.is_visible()
        assert not window.get_by_label("Slider").first.is_visible()
        window.get_by_label("Side by side").check()
        assert photo.bounding_box()["x"] + 10 < mask.bounding_box()["x"]
        assert not window.locator("#examples .slider").first.is_visible()
    with browser.opened(pages[0], viewport={"width": 760, "height": 1000}) as window:
        window.emulate_media(media="print")
        frame = window.locator("#examples .frame.pair").first
        photo, layer = (frame.locator(f".{name}") for name in ("photo", "layer"))
        assert photo.bounding_box() == layer.bounding_box()
        assert not window.locator("#filter").is_visible()
        assert not window.locator(".copy").first.is_visible()
        assert window.locator("#splits thead").get_by_text("Split").is_visible()
        window.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert window.evaluate("document.documentElement.scrollWidth") == 760


def test_a_long_name_in_a_finding_is_broken_into_lines(pages):
    for path in pages:
        with browser.opened(path, viewport={"width": 360, "height": 700}) as window:
            window.evaluate("document.querySelector('.finding').append('z'.repeat(300))")
            assert window.evaluate("document.documentElement.scrollWidth") == 360


def test_all_can_be_reached_by_keyboard_and_the_first_is_a_way_past_the_navigation(pages):
    with browser.opened(pages[0]) as window:
        window.keyboard.press("Tab")
        assert window.evaluate("document.activeElement.textContent") == "Skip to the content"
        window.keyboard.press("Enter")
        assert window.evaluate("document.activeElement.id") == "main"
        window.keyboard.press("Tab")
        assert window.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize("width", [1280, 760, 400])
def test_a_heading_that_is_jumped_to_stands_below_the_bar(pages, width):
    for path in pages:
        with browser.opened(path, viewport={"width": width, "height": 700}) as window:
            for link in window.locator("nav a").all():
                link.click()
                target = window.locator(link.get_attribute("href"))
                bar = window.locator("nav").bounding_box()
                heading = target.locator("h2, h3").first.bounding_box()
                assert heading["y"] >= bar["y"] + bar["height"]


def test_a_script_that_got_into_the_page_would_not_run(pages, tmp_path):
    text = pages[0].read_text()
    attack = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    (tmp_path / "attacked.html").write_text(text.replace("<main", attack + "<main"))
    with browser.opened(tmp_path / "attacked.html") as window:
        assert window.title() == "voc_seg_tfrecord/sample"
        assert any("Content Security Policy" in line for line in window.noise)
