"""The page of `leaks`: what its cards show, and the way from them to a dataset without leaks."""

import dataclasses
import html
import json
import pathlib
import random
import re
import shutil

import numpy as np
import pytest
from support import browser, doctoring, pictures, shared_pictures
from support.shared_pictures import COPIES

from voc_seg_tfrecord.audit import leaks
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.quality.similarity import Similarity
from voc_seg_tfrecord.reading.dataset import open_built, parts_with
from voc_seg_tfrecord.report import leak_page, sections


@dataclasses.dataclass(frozen=True)
class PageCard:
    """A card of a page.

    Attributes:
      kind: of the pair; empty if nobody can decide about it.
      ids: those that a decision names.
      sha256: the mark of the decision.
      text: what can be read on the card, in one line.
      images: how many thumbnails it has.
      characters: the length of their data URLs.
    """

    kind: str
    ids: list[str]
    sha256: str
    text: str
    images: int
    characters: int


def read_cards(page: pathlib.Path) -> list[PageCard]:
    """Returns the cards of a page of `leaks`."""
    cards = []
    for figure in re.findall(r"<figure class=\"card\".*?</figure>", page.read_text(), re.DOTALL):
        head = figure.partition(">")[0]
        attributes = {
            name: html.unescape(value)
            for name, value in re.findall(r'data-(kind|ids|sha256)="([^"]*)"', head)
        }
        text = html.unescape(re.sub(r"<[^>]*>", " ", figure.partition(">")[2]))
        cards.append(
            PageCard(
                attributes.get("kind", ""),
                json.loads(attributes.get("ids", "[]")),
                attributes.get("sha256", ""),
                " ".join(text.split()),
                figure.count("<img"),
                sum(map(len, re.findall(r'src="([^"]*)"', figure))),
            )
        )
    return cards


def save_decisions(path: pathlib.Path, decided: list[tuple[PageCard, str]]) -> pathlib.Path:
    """Writes the file that a page saves."""
    rows = [
        {"kind": card.kind, "ids": card.ids, "sha256": card.sha256, "decision": decision}
        for card, decision in decided
    ]
    path.write_text(json.dumps({"page": "leaks", "decisions": rows}))
    return path


def find_leaks(first: str, second: str, page: pathlib.Path, *words: str) -> list[PageCard]:
    """Runs `leaks --html`, and returns the cards of the page."""
    status = cli.main(["leaks", first, second, f"--html={page}", *words])
    assert status in (0, 1)
    return read_cards(page)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    return shared_pictures.write_datasets(tmp_path_factory.mktemp("leaking"))


@pytest.fixture(scope="module")
def page(datasets):
    path = datasets.root / "page.html"
    find_leaks(datasets.our_dataset, datasets.their_dataset, path)
    return path


def card_of(page, image_id):
    (card,) = (card for card in read_cards(page) if image_id in card.ids)
    return card


def build_without(datasets, tmp_path, decisions):
    """Builds our dataset without what was decided; returns its path."""
    ours = shutil.copytree(datasets.ours, tmp_path / "ours")
    names = ["--class_names", "background,thing"]
    build = ["build", str(ours), "--name", "clean", "--exclude", str(decisions), *names]
    assert cli.main([*build, "--data_dir", str(tmp_path)]) == 0
    return str(next((tmp_path / "voc_seg_tfrecord").glob("clean/*")))


def ids_of(dataset):
    sides = leaks.read_splits(open_built(dataset), open_built(dataset).info.splits)
    return {image_id for side in sides for image_id in side.sha256_by_id}


@pytest.mark.slow
def test_each_pair_says_how_it_was_turned_its_sizes_and_whether_pixels_confirm_it(page):
    assert {image_id for card in read_cards(page) for image_id in card.ids} == {*COPIES}
    same_file = card_of(page, "photo_1")
    assert (same_file.kind, same_file.images) == ("same bytes", 1)
    assert "The same file." in same_file.text
    for image_id, change in (
        ("photo_2", "mirrored"),
        ("photo_3", "rotated by 90 degrees"),
        ("photo_4", "160 \N{MULTIPLICATION SIGN} 120"),
    ):
        card = card_of(page, image_id)
        assert (card.kind, card.images) == ("same picture", 2)
        assert f" {change} " in card.text
        assert "of 255 signs differ · confirmed by pixels" in card.text
        assert len(re.findall(r" \d+ \N{MULTIPLICATION SIGN} \d+ ", card.text)) == 2


def test_the_page_says_first_that_training_data_meets_evaluation_data(page):
    text = page.read_text()
    assert "Training data meets evaluation data." in text
    assert "Crops and other parts are found only with <code>--parts</code>." in text
    kinds = [card.kind for card in read_cards(page)]
    assert kinds == ["same bytes", "same picture", "same picture", "same picture"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_decided_images_are_removed(seed, datasets, page, tmp_path, capsys):
    cards = read_cards(page)
    decided = random.Random(seed).choices(["wrong", "right", "not sure"], k=len(cards) - 1)
    decided.insert(seed, "wrong")
    decisions = save_decisions(tmp_path / "d.json", list(zip(cards, decided, strict=True)))
    removed = {
        card.ids[0] for card, choice in zip(cards, decided, strict=True) if choice == "wrong"
    }
    clean = build_without(datasets, tmp_path, decisions)
    assert ids_of(datasets.our_dataset) - ids_of(clean) == removed
    again = find_leaks(clean, datasets.their_dataset, tmp_path / "again.html")
    assert {image_id for card in again for image_id in card.ids} == {*COPIES} - removed
    assert "left out by --exclude: " in capsys.readouterr().out


@pytest.mark.slow
def test_once_all_pairs_are_removed_none_is_found(datasets, page, tmp_path, capsys):
    cards = read_cards(page)
    decisions = save_decisions(tmp_path / "d.json", [(card, "wrong") for card in cards])
    clean = build_without(datasets, tmp_path, decisions)
    capsys.readouterr()
    assert find_leaks(clean, datasets.their_dataset, tmp_path / "again.html") == []
    assert "LEAK" not in capsys.readouterr().out
    assert "No pairs." in (tmp_path / "again.html").read_text()


def test_the_decided_images_are_copied_and_selected_as_those_of_other_pages(
    datasets, page, tmp_path
):
    decisions = save_decisions(tmp_path / "d.json", [(card_of(page, "photo_2"), "wrong")])
    words = ["--ids", str(decisions)]
    folder = tmp_path / "taken"
    assert cli.main(["check", str(datasets.ours), *words, "--copy_to", str(folder)]) == 0
    assert [path.name for path in (folder / "JPEGImages").iterdir()] == ["photo_2.png"]
    (part,) = parts_with(open_built(datasets.our_dataset), decisions)
    assert part.ids == {"photo_2"}


@pytest.mark.slow
def test_pairs_that_were_called_right_are_left_out_of_the_next_page(datasets, page, tmp_path):
    right = [(card_of(page, "photo_2"), "right"), (card_of(page, "photo_3"), "not sure")]
    decisions = save_decisions(tmp_path / "d.json", right)
    words = [f"--decisions={decisions}"]
    again = tmp_path / "again.html"
    cards = find_leaks(datasets.our_dataset, datasets.their_dataset, again, *words)
    assert {image_id for card in cards for image_id in card.ids} == {*COPIES} - {"photo_2"}
    assert "1 pair that both stay by <code>--decisions</code> is left out." in again.read_text()


def test_an_image_that_cannot_be_decoded_is_a_card_without_a_picture(tmp_path):
    damaged = shared_pictures.build(tmp_path, "a", shared_pictures.draw(1), shared_pictures.draw(2))

    def damage(examples):
        doctoring.values(examples[0], "image")[0] = b"no JPEG"
        return examples

    doctoring.rewrite(damaged, "train", damage)
    doctoring.rewrite(damaged, "validation", damage)
    path = str(damaged.data_path)
    (card,) = find_leaks(f"{path}@train", f"{path}@validation", tmp_path / "page.html")
    assert (card.kind, card.images) == ("same bytes", 0)
    assert "This image cannot be decoded." in card.text


def test_what_cannot_be_done_together_is_refused_with_the_reason(datasets, tmp_path, capsys):
    out = f"--html={tmp_path / 'page.html'}"
    both = [datasets.our_dataset, datasets.their_dataset]
    for words, reason in (
        ([*both, "--decisions", str(tmp_path / "d.json")], "no --html"),
        (["trainaug", "voc2012_val", out], "a list of ids: trainaug"),
        (["sbd_train", "voc2012_val", out], "no such dataset"),
        ([both[0], "voc2012_val", out], "a list of ids: voc2012_val"),
        ([*both, f"--html={tmp_path}"], "a folder"),
    ):
        capsys.readouterr()
        assert cli.main(["leaks", *words]) == 2, words
        assert reason in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_with_json_the_page_is_written_too_and_the_document_is_the_same(datasets, tmp_path, capsys):
    both = [datasets.our_dataset, datasets.their_dataset, "--json"]
    cli.main(["leaks", *both])
    document = json.loads(capsys.readouterr().out)
    cli.main(["leaks", *both, f"--html={tmp_path / 'page.html'}"])
    assert json.loads(capsys.readouterr().out) == document
    assert read_cards(tmp_path / "page.html")


@pytest.mark.slow
def test_the_first_pairs_have_images_until_the_page_is_full_and_it_says_so(
    datasets, page, tmp_path, monkeypatch
):
    room = sum(card.characters for card in read_cards(page)[:2])
    monkeypatch.setattr(sections, "MAX_CHARACTERS", room)
    path = tmp_path / "page.html"
    cards = find_leaks(datasets.our_dataset, datasets.their_dataset, path)
    assert [bool(card.images) for card in cards] == [True, True, False, False]
    assert "The last 2 cards of this page have no images" in path.read_text()
    monkeypatch.setattr(leak_page, "MAX_PAIRS", 3)
    assert len(find_leaks(datasets.our_dataset, datasets.their_dataset, path)) == 3
    assert "And 1 more; <code>leaks --json</code> lists all." in path.read_text()


@pytest.mark.slow
def test_ids_that_try_to_become_code_do_not(tmp_path):
    attack = "\"><img src=x onerror=alert(1)>'"
    ours = shared_pictures.build(
        tmp_path, "ours", {attack: pictures.draw_photo(1)}, shared_pictures.draw(2)
    )
    theirs = shared_pictures.build(
        tmp_path, "theirs", shared_pictures.draw(3), {attack: pictures.draw_photo(1)}
    )
    page = tmp_path / "page.html"
    (card,) = find_leaks(str(ours.data_path), str(theirs.data_path), page)
    assert card.ids == [attack]
    assert "<img src=x" not in page.read_text()


@pytest.mark.slow
def test_a_crop_is_a_shared_part(tmp_path):
    pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")
    scenes = {f"scene_{seed}": pictures.draw_scene(seed) for seed in range(3)}
    crop = pictures.encode_again(scenes["scene_1"][60:340, 90:460][:, ::-1], 85)
    ours = shared_pictures.build(tmp_path, "ours", scenes, shared_pictures.draw(2))
    theirs = shared_pictures.build(tmp_path, "theirs", shared_pictures.draw(3), {"crop": crop})
    page = tmp_path / "page.html"
    paths = (str(ours.data_path), str(theirs.data_path))
    (card,) = find_leaks(*paths, page, "--parts")
    assert (card.kind, card.ids) == ("shared part", ["scene_1"])
    assert "mirrored" in card.text
    assert "confirmed by pixels" in card.text
    assert "--parts" not in page.read_text()


@pytest.mark.slow
def test_pairs_are_decided_by_key_and_the_saved_file_removes_them(datasets, page, tmp_path):
    with browser.opened(page) as window:
        assert window.noise == []
        status = window.locator(".work [role=status]")
        assert status.text_content() == "0 of 4 decided"
        buttons = window.locator(".card").first.locator(".decide button").all_text_contents()
        assert buttons == ["Keep both", "Remove left", "Not sure"]
        assert "w remove left" in window.locator(".work").text_content()
        for key in ("n", "w", "n", "r", "n", "u", "n", "w"):
            window.keyboard.press(key)
        assert status.text_content() == "4 of 4 decided"
        current = window.locator(".card.current [aria-pressed=true]")
        assert current.all_text_contents() == ["Remove left"]
        with window.expect_download() as download:
            window.get_by_role("button", name="Save decisions").click()
        download.value.save_as(tmp_path / "decisions.json")
    rows = json.loads((tmp_path / "decisions.json").read_text())["decisions"]
    removed = {row["ids"][0] for row in rows if row["decision"] == "wrong"}
    assert len(removed) == 2
    clean = build_without(datasets, tmp_path, tmp_path / "decisions.json")
    assert ids_of(datasets.our_dataset) - ids_of(clean) == removed


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_images_stand_side_by_side_on_a_wide_and_a_narrow_screen(page, width):
    with browser.opened(page, viewport={"width": width, "height": 800}) as window:
        assert window.evaluate("document.documentElement.scrollWidth") == width
        card = window.locator(".card", has_text="photo_2")
        left, right = card.locator("img").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.x, b.y, b.width])"
        )
        assert left[0] + left[2] <= right[0]
        assert np.allclose(left[1:], right[1:], atol=1)


@pytest.mark.slow
def test_a_page_of_2000_pairs_stays_small_and_is_decided_without_waiting(tmp_path):
    shas = {f"photo_{number:04}": f"{number}" for number in range(2000)}
    copies = {f"copy_{number:04}": f"{number}" for number in range(2000)}
    photo = File(pillow.encode_jpeg(pictures.draw_photo(1), 90), "photo")

    def read(ids):
        for image_id in sorted(ids):
            yield image_id, photo

    ours = leaks.Side("ours@train", "train", shas, source="a", read_files=read)
    theirs = leaks.Side("theirs@test", "evaluation", copies, source="b", read_files=read)
    pairs = [
        leaks.SimilarPair(f"photo_{n:04}", f"copy_{n:04}", "same picture", "mirrored", 3, True)
        for n in range(2000)
    ]
    overlap = leaks.Overlap(ours, theirs, (), (), (), (), tuple(pairs))
    path = tmp_path / "page.html"
    path.write_text(leak_page.render("ours", "theirs", [overlap], has_parts=False))
    assert path.stat().st_size < 8_000_000
    cards = read_cards(path)
    assert len(cards) == 2000
    assert sum(card.images == 2 for card in cards) > 400
    with browser.opened(path) as window:
        milliseconds = window.evaluate(
            """() => {
              const start = performance.now();
              for (const key of "nwnwnwnwnw")
                document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
              return performance.now() - start;
            }"""
        )
        assert window.locator(".work [role=status]").text_content() == "5 of 2000 decided"
    assert milliseconds < 5000


def test_parts_that_are_not_listed_are_counted():
    ours = leaks.Side("ours@train", "train", {"a": "1"})
    theirs = leaks.Side("theirs@test", "evaluation", {"b": "2"})
    similarity = Similarity(False, cosine=1.0, sine=0.0, shift_x=0.0, shift_y=0.0)
    part = leaks.PartPair("a", "b", 5, "upright", None, similarity)
    overlap = leaks.Overlap(ours, theirs, (), (), (), (), part_pairs=(part,), unlisted_part_pairs=7)
    page = leak_page.render("ours", "theirs", [overlap], has_parts=True)
    assert "At least 7 more pairs have a shared part" in page
