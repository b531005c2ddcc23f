"""A page as a work list: suspects are decided by key, saved, and read back by --decisions."""

import json

import numpy as np
from PIL import Image
import pytest
from support import browser, planted

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.report import cards as page_cards

pytestmark = pytest.mark.slow  # a browser shows the pages


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("work") / "tree"
    drawn = [planted.draw(number) for number in range(planted.COUNT)]
    planted.plant(drawn, 1)
    planted.write(root, drawn)
    return root


def check(root, *words, status=0):
    assert cli.main(["check", str(root), *map(str, words)]) == status


@pytest.fixture(scope="module")
def page(tree):
    check(tree, "--html", path := tree.parent / "page.html")
    return path


def suspects(root, capsys, *words):
    capsys.readouterr()
    check(root, "--json", *words)
    found = json.loads(capsys.readouterr().out)
    return {(one["kind"], *one["ids"]) for one in found["label_errors"]}, found["called_right"]


def save(window, path):
    with window.expect_download() as download:
        window.get_by_role("button", name="Save decisions").click()
    download.value.save_as(path)
    assert download.value.suggested_filename == "decisions.json"
    return json.loads(path.read_text())["decisions"]


def test_every_suspect_has_a_card_and_what_would_put_it_right_is_drawn(page, tree, capsys):
    names, _ = suspects(tree, capsys)
    with browser.opened(page) as window:
        assert window.noise == []
        cards = window.locator(".card[data-kind]")
        found = cards.evaluate_all(
            "all => all.map(c => [c.dataset.kind, ...JSON.parse(c.dataset.ids)])"
        )
        assert {tuple(name) for name in found} == names
        fixed = window.locator(".fixed")
        assert fixed.count() >= 10
        hrefs = fixed.locator("image").evaluate_all("all => all.map(i => i.getAttribute('href'))")
        assert all(href.startswith("data:image/") for href in hrefs)
        words = set(fixed.locator("p").all_text_contents())
        assert {"mirrored back", "flipped back", "rotated back", "shifted back"} <= words
        assert any(word.startswith("on 0") for word in words)
        assert any(word.startswith("with the mask of") for word in words)


def test_a_mask_put_right_lies_where_its_object_is(page):
    with browser.opened(page) as window:
        moves = {
            image.get_attribute("transform")
            for image in window.locator(".fixed .outlines").all()
            if (image.get_attribute("transform") or "").startswith("translate(-")
        }
    assert "translate(-26 0)" in moves  # planted.plant moves masks by 25 pixels to the right


def test_suspects_are_decided_by_key_and_kept_saved_and_read_back(page, tree, tmp_path, capsys):
    names, none = suspects(tree, capsys)
    assert none == 0
    with browser.opened(page) as window:
        count = len(names)
        assert window.get_by_role("status").text_content() == f"0 of {count} decided"
        assert window.get_by_role("button", name="Save decisions").is_disabled()
        for key in ("n", "r", "n", "w", "n", "u", "n", "r", "p", "p", "n"):
            window.keyboard.press(key)
        assert window.get_by_role("status").text_content() == f"4 of {count} decided"
        current = window.locator(".card.current [aria-pressed=true]")
        assert current.all_text_contents() == ["Not sure"]
        window.locator(".card.current .enlarge").click()
        window.keyboard.press("w")
        assert window.locator("dialog [aria-pressed=true]").all_text_contents() == ["Wrong"]
        window.keyboard.press("Escape")
        window.reload()
        assert window.get_by_role("status").text_content() == f"4 of {count} decided"
        window.locator(".card").nth(1).get_by_role("button", name="Wrong").click()  # takes it back
        decisions = save(window, tmp_path / "decisions.json")
    right = {(d["kind"], *d["ids"]) for d in decisions if d["decision"] == "right"}
    assert [d["decision"] for d in decisions] == ["right", "wrong", "right"]
    left, called_right = suspects(tree, capsys, "--decisions", tmp_path / "decisions.json")
    assert (left, called_right) == (names - right, 2)


def test_what_was_called_right_is_named_again_once_its_files_change(tmp_path, capsys):
    root = tmp_path / "tree"
    drawn = [planted.draw(number) for number in range(10)]
    drawn[3].mask = np.zeros_like(drawn[3].mask)
    planted.write(root, drawn)
    check(root, "--no_fit", "--html", tmp_path / "page.html")
    with browser.opened(tmp_path / "page.html") as window:
        window.keyboard.press("n")
        window.keyboard.press("r")
        save(window, tmp_path / "decisions.json")
    words = ("--no_fit", "--decisions", tmp_path / "decisions.json")
    assert suspects(root, capsys, *words) == (set(), 1)
    check(root, *words)
    assert "and so not named: 1" in capsys.readouterr().out
    Image.fromarray(drawn[3].mask).save(root / "SegmentationClass/003.png", compress_level=0)
    assert suspects(root, capsys, *words) == ({("all background", "003")}, 0)
    check(root, *words)
    assert (
        "called right, but the files changed since, or are not in this folder: 1"
        in capsys.readouterr().out
    )
    other = tmp_path / "other"
    planted.write(other, drawn[5:8])
    check(other, *words)
    assert (
        "called right, but the files changed since, or are not in this folder: 1"
        in capsys.readouterr().out
    )
    check(root, "--decisions", root / "class_names.txt", status=1)
    assert "cannot be read as decisions" in capsys.readouterr().err


def test_an_error_is_no_matter_of_opinion(tmp_path):
    root = tmp_path / "tree"
    planted.write(root, [planted.draw(number) for number in range(5)])
    (root / "SegmentationClass/001.png").write_bytes(b"damaged")
    check(root, "--html", tmp_path / "page.html", status=1)
    with browser.opened(tmp_path / "page.html") as window:
        heading = window.locator(".kind h3").first
        assert heading.locator(".effect").text_content() == "Error"
        window.keyboard.press("n")
        window.keyboard.press("w")
        save(window, tmp_path / "decisions.json")
    text = (tmp_path / "decisions.json").read_text()
    assert '"wrong"' in text
    (tmp_path / "decisions.json").write_text(text.replace('"wrong"', '"right"'))
    check(root, "--decisions", tmp_path / "decisions.json", status=1)


def test_a_page_of_many_suspects_stays_small_and_says_where_it_stops(tmp_path, monkeypatch):
    root = tmp_path / "tree"
    drawn = [planted.draw(number) for number in range(430)]  # most can be read
    for one in drawn[:200]:
        one.image = np.random.default_rng(0).integers(0, 256, (300, 400, 3), np.uint8)
        one.mask = np.zeros((300, 400), np.uint8)
        one.mask[5, 5] = 9  # no class: an error
    planted.write(root, drawn)
    check(root, "--no_fit", "--html", out := tmp_path / "page.html", status=1)
    assert out.stat().st_size < 6_000_000
    text = out.read_text()
    assert text.count('<figure class="card"') >= 200
    assert "of this page have no images" in text
    monkeypatch.setattr(page_cards, "MAX_CARDS", 20)
    check(root, "--no_fit", "--html", out, status=1)
    assert out.read_text().count('<figure class="card"') == 20


def test_a_finding_with_several_cards_is_one_to_decide(page):
    with browser.opened(page) as window:
        cards = "all => all.map(c => [c.dataset.kind, c.dataset.ids, c.dataset.sha256].join(' '))"
        names = window.locator("main .card[data-kind]").evaluate_all(cards)
        assert len({*names}) < len(names)
        for _ in names:
            window.keyboard.press("n")
            window.keyboard.press("w")
        total = len({*names})
        assert window.get_by_role("status").text_content() == f"{total} of {total} decided"
