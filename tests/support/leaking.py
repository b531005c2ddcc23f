"""Two folders and datasets of drawn photos, of which some are in both, and the page of `leaks`."""

import dataclasses
import html
import json
import pathlib
import re

import numpy as np
from PIL import Image
from support import pictures, shared_pictures

from voc_seg_tfrecord.commands import cli

COPIES = {
    "photo_1": "as it is",
    "photo_2": "mirrored",
    "photo_3": "rotated by 90 degrees",
    "photo_4": "half the size",
}
"""Images of `ours` that `theirs` has too, and how they were changed."""


@dataclasses.dataclass(frozen=True)
class Leaking:
    """Two datasets that share images.

    Attributes:
      root: the folder of everything.
      ours: the folder that our dataset is built from.
      data_dir: the folder of datasets.
      our_dataset: the path of our dataset.
      their_dataset: the path of theirs.
    """

    root: pathlib.Path
    ours: pathlib.Path
    data_dir: pathlib.Path
    our_dataset: str
    their_dataset: str


def write_datasets(root: pathlib.Path) -> Leaking:
    """Writes `ours`, of photos 0 to 7, and `theirs`, whose split has copies of four of them."""
    ours = {f"photo_{seed}": pictures.draw_photo(seed) for seed in range(8)}
    copies = {}
    for image_id, change in COPIES.items():
        pixels = ours[image_id]
        changed = pixels if change == "as it is" else pictures.CHANGES[change](pixels)
        copies[f"copy_of_{image_id}"] = changed
    train = {image_id: ours[image_id] for image_id in list(ours)[:6]}
    val = {image_id: ours[image_id] for image_id in list(ours)[6:]}
    our_builder = shared_pictures.build(root, "ours", train, val)
    # photo_0 is another photo than that of ours.
    other = {"photo_0": pictures.draw_photo(20)}
    their_builder = shared_pictures.build(
        root, "theirs", {"photo_30": pictures.draw_photo(30)}, {**copies, **other}
    )
    return Leaking(
        root,
        root / "ours",
        root / "data",
        str(our_builder.data_path),
        str(their_builder.data_path),
    )


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


def put_image(folder: pathlib.Path, image_id: str, pixels: np.ndarray) -> None:
    """Writes an image and its mask into a folder that `shared_pictures.build` wrote."""
    Image.fromarray(pixels).save(folder / "JPEGImages" / f"{image_id}.png")
    mask = np.zeros(pixels.shape[:2], np.uint8)
    mask[: len(mask) // 2] = 1
    Image.fromarray(mask).save(folder / "SegmentationClass" / f"{image_id}.png")
