"""Draws folders of images and masks as people keep them, with what lies beside the data."""

import dataclasses
import os
import pathlib
import random
import shutil

import numpy as np
from PIL import Image

COLORS = np.array([(0, 0, 0), (220, 20, 60), (0, 190, 90)], np.uint8)
CLASSES = ["background", "crop", "weed"]

IMAGES = ["images", "imgs", "Images", "JPEGImages", "photos", "photos_raw", "rgb", "stills", "data"]
MASKS = ["masks", "mask", "labels", "gt", "annotations", "seg", "SegmentationClass", "Label", "ann"]
NAMES = [  # of images and of masks
    ("{}", "{}"),
    ("{}", "{}_mask"),
    ("img_{}", "mask_{}"),
    ("user_{}", "gt_{}"),
    ("{}_rgb", "{}_seg"),
    ("{}", "{}.jpg"),
    ("frame{}", "frame{} (label)"),
    ("im{}", "lb{}"),
    ("{}_leftImg8bit", "{}_gtFine_labelIds"),
    ("photo-{}", "photo-{}-annotated"),
    ("{}.orig", "{}.gt"),
]
IDS = [
    lambda n: f"{n:04}",
    lambda n: str(n + 1),
    lambda n: f"20250604_16{n:04}",
    lambda n: f"{['hall', 'pool', 'lake'][n % 3]}_{['old', 'edge', 'run', 'view'][n // 3 % 4]}{n}",
    lambda n: (
        ["berlin", "bonn", "ulm", "wien", "rom", "oslo", "bern", "kiel", "lyon", "nice"][n % 10]
        + (str(n // 10) if n > 9 else "")
    ),
]
PREDICTIONS = ["predictions", "preds", "results", "output", "unet_results"]
DRAWN = ["overlay", "overlays", "vis", "visualization", "masks_vis", "blend"]


@dataclasses.dataclass
class Made:
    """A folder that was made, and what is right.

    Attributes:
      root: the folder.
      pairs: by split, for each image file its mask file; files of the same bytes are as good.
    """

    root: pathlib.Path
    pairs: dict[str, dict[pathlib.Path, pathlib.Path]]


def draw(rng: np.random.Generator, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns a photo-like image, uint8 `[H, W, 3]`, and its mask, uint8 `[H, W]` of 0, 1, 2."""
    height, width = size
    y, x = np.mgrid[:height, :width]
    slopes, shift = rng.normal(0, 2, (2, 3)), rng.integers(60, 190, 3)
    image = shift + y[..., None] * slopes[0] + x[..., None] * slopes[1]
    image = image + rng.normal(0, 12, (height, width, 3))
    mask = np.zeros(size, np.uint8)
    for value in (1, 2):
        top, left = (int(rng.integers(0, n // 2)) for n in size)
        tall, wide = (int(rng.integers(n // 5, n // 2)) for n in size)
        mask[top : top + tall, left : left + wide] = value
        image[mask == value] += rng.normal(0, 25, 3)
    return image.clip(0, 255).astype(np.uint8), mask


def painted(image: np.ndarray, mask: np.ndarray, share: float) -> np.ndarray:
    """Returns an image in which the labels are painted."""
    mixed = image * (1 - share) + COLORS[mask] * share
    return np.where((mask > 0)[..., None], mixed, image).astype(np.uint8)


class _Folder:
    """One folder in the making."""

    def __init__(self, root: pathlib.Path, seed: int):
        self.rng, self.np = random.Random(seed), np.random.default_rng(seed)
        self.root = root
        self.base = root / self.rng.choice(["", "", "", "data", "dataset/v1"])
        self.image_name, self.mask_name = self.rng.choice(NAMES)
        self.id_of = self.rng.choice(IDS[:3] if self.image_name == "im{}" else IDS)
        self.image_ending = self.rng.choice([".jpg", ".jpg", ".JPG", ".jpeg", ".png"])
        self.color = self.rng.choice(["L", "L", "P"])
        self.images, self.masks = self.rng.choice(IMAGES), self.rng.choice(MASKS)
        self.size = (int(self.np.integers(36, 60)), int(self.np.integers(36, 60)))
        self.drawn: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.folders: dict[str, tuple[pathlib.Path, pathlib.Path, dict[str, pathlib.Path]]] = {}
        self.made = Made(root, {})
        self.next = 0
        self.restarts = self.rng.random() < 0.3  # each part counts from 0

    def save(self, pixels: np.ndarray, path: pathlib.Path) -> pathlib.Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(pixels)
        if pixels.ndim == 2 and self.color == "P" and path.suffix == ".png":
            picture = Image.fromarray(pixels, "P")
            picture.putpalette(COLORS.tobytes())
        picture.save(path, **({"quality": 90} if path.suffix.lower() != ".png" else {}))
        return path

    def put(self, split: str, images: pathlib.Path, masks: pathlib.Path, count: int) -> None:
        """Draws a part of the set."""
        flat = images == masks
        mask_name = self.mask_name
        if flat and self.image_name.format("x") == mask_name.format("x"):
            mask_name = mask_name if self.image_ending != ".png" else "{}_mask"
        ids = {}
        if self.restarts:
            self.next = 0
        for _ in range(count):
            image_id = self.id_of(self.next)
            self.next += 1
            image, mask = draw(self.np, self.size)
            at = images / (self.image_name.format(image_id) + self.image_ending)
            self.save(image, at)
            to = self.save(mask, masks / (mask_name.format(image_id) + ".png"))
            self.made.pairs.setdefault(split, {})[at] = to
            key = f"{len(self.folders)}/{image_id}"
            self.drawn[key] = image, mask
            ids[key] = at
        self.folders[split if split not in self.folders else f"{split}2"] = images, masks, ids

    def base_set(self) -> None:
        base, count = self.base, self.rng.randint(5, 9)
        layout = self.rng.choice(
            ["two"] * 4
            + ["root", "flat", "outer", "inner", "named", "cities", "scenes", "flat_splits"]
        )
        self.layout = layout
        if layout == "two":
            self.put("train", base / self.images, base / self.masks, count)
        elif layout == "root":
            self.put("train", base, base / self.masks, count)
        elif layout == "flat":
            if self.mask_name == "{}.jpg":
                self.mask_name = "{}_mask"
            self.put("train", base, base, count)
        elif layout == "scenes":
            for scene in ("s1", "s2", "s3"):
                folder = base / scene
                self.put("train", folder / self.images, folder / self.masks, 3)
        elif layout == "flat_splits":
            if self.mask_name == "{}.jpg":
                self.mask_name = "{}_mask"
            self.put("train", base, base, count)
            self.put("validation", base / "val", base / "val", 3)
        elif layout == "cities":
            top, below = self.rng.sample(["berlin", "bonn", "ulm", "wien"], 2)
            self.put("train", base / self.images / top, base / self.masks / top, count)
            self.put("train", base / self.images / below, base / self.masks / below, count)
        else:
            val = self.rng.choice(["val", "valid", "validation"])
            for split, word in (("train", "train"), ("validation", val)):
                if layout == "outer":
                    folders = base / word / self.images, base / word / self.masks
                elif layout == "inner":
                    folders = base / self.images / word, base / self.masks / word
                else:
                    folders = base / f"{self.images}_{word}", base / f"{self.masks}_{word}"
                self.put(split, *folders, count if split == "train" else 3)

    def one(self) -> tuple[str, pathlib.Path, pathlib.Path, dict[str, pathlib.Path]]:
        split = "train"
        return split, *self.folders[split]

    def mask_file(self, image: pathlib.Path) -> pathlib.Path:
        return next(pairs[image] for pairs in self.made.pairs.values() if image in pairs)

    def save_both(self, pair, at: pathlib.Path, folder: pathlib.Path) -> None:
        """Saves another image and mask in the place of `at`, in folders of the same names."""
        self.save(pair[0], folder / self.images / at.name)
        self.save(pair[1], folder / self.masks / self.mask_file(at).name)

    def rolled(self, folder: pathlib.Path, shift: int, axis: int, parts=None) -> None:
        """Saves moved copies of the masks of all parts."""
        for _, _, ids in parts or self.folders.values():
            for image_id, at in ids.items():
                mask = np.roll(self.drawn[image_id][1], shift, axis)
                self.save(mask, folder / self.mask_file(at).name)

    # What lies beside the data. Each method has the name of its kind.

    def overlays_among_masks(self) -> None:
        for images, masks, ids in self.folders.values():
            if images == masks:
                return self.overlays_apart()
            for image_id, at in ids.items():
                shown = painted(*self.drawn[image_id], 0.5)
                self.save(shown, masks / (at.stem + ".jpg"))

    def overlays_apart(self) -> None:
        folder, share = self.base / self.rng.choice(DRAWN), self.rng.choice([0.3, 0.5, 1.0])
        _, _, _, ids = self.one()
        whole = self.rng.random() < 0.3
        for image_id, at in ids.items():
            image, mask = self.drawn[image_id]
            shown = image // 2 + COLORS[mask] // 2 if whole else painted(image, mask, share)
            self.save(shown, folder / at.name)

    def overlays_beside_images(self) -> None:
        _, images, _, ids = self.one()
        for image_id, at in ids.items():
            self.save(painted(*self.drawn[image_id], 0.5), images / f"{at.stem}_overlay{at.suffix}")

    def predictions(self) -> None:
        if self.restarts:
            return
        self.rolled(self.base / self.rng.choice(PREDICTIONS), 3, 1)

    def predictions_beside_masks(self) -> None:
        for _, masks, ids in self.folders.values():
            for image_id, at in ids.items():
                mask = np.roll(self.drawn[image_id][1], 3, 1)
                self.save(mask, masks / f"{at.stem}_pred.png")

    def color_masks(self) -> None:
        folder = self.base / self.rng.choice(["color_masks", f"{self.masks}_color", "masks_rgb"])
        _, _, _, ids = self.one()
        for image_id, at in ids.items():
            self.save(COLORS[self.drawn[image_id][1]], folder / self.mask_file(at).name)

    def second_split(self) -> None:
        if self.layout != "two":
            return
        word = self.rng.choice(["validation", "val", "test"])
        split = "test" if word == "test" else "validation"
        images, masks = self.images, self.masks
        where = self.rng.choice(["below", "suffix", "prefix", "camel"])
        if where == "below":
            folders = self.base / word / images, self.base / word / masks
        elif where == "suffix":
            folders = self.base / f"{images}_{word}", self.base / f"{masks}_{word}"
        elif where == "prefix":
            folders = self.base / f"{word}_{images}", self.base / f"{word}_{masks}"
        else:
            title = word.title()
            folders = self.base / f"{images}{title}", self.base / f"{masks}{title}"
        self.put(split, *folders, 3)

    def samples(self) -> None:
        """Copies of two pairs."""
        folder = self.base / self.rng.choice(["samples", "examples", "demo", "assets"])
        _, images, masks, ids = self.one()
        for at in list(ids.values())[:2]:
            if images == masks:
                names = at.name, self.mask_file(at).name
            else:
                names = f"{self.images}/{at.name}", f"{self.masks}/{self.mask_file(at).name}"
            for source, name in zip((at, self.mask_file(at)), names, strict=True):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, folder / name)

    def readme_example(self) -> None:
        """An image with its mask beside it, which belong to the README."""
        folder = self.base / self.rng.choice(["docs", "doc/figures", "assets"])
        image, mask = draw(self.np, (50, 50))
        self.save(image, folder / "architecture.png")
        self.save(image, folder / "figure1.jpg")
        self.save(COLORS[mask], folder / "result.png")

    def thumbnails(self) -> None:
        folder = self.base / self.rng.choice(["thumbs", "thumbnails", "preview"])
        _, _, _, ids = self.one()
        for image_id, at in ids.items():
            self.save(self.drawn[image_id][0][::3, ::3], folder / at.name)

    def thumbnails_of_both(self) -> None:
        folder = self.base / self.rng.choice(["thumbs", "thumbnails"])
        _, _images, _masks, ids = self.one()
        for image_id, at in ids.items():
            self.save_both([one[::3, ::3] for one in self.drawn[image_id]], at, folder)

    def augmented(self) -> None:
        """Flipped copies, of which nobody knows whether they count."""
        folder = self.base / self.rng.choice(["augmented", "aug", "data_aug"])
        _, _, _, ids = self.one()
        for image_id, at in ids.items():
            self.save_both([one[:, ::-1] for one in self.drawn[image_id]], at, folder)

    def annotators(self) -> None:
        """Second masks for all images, whose folder says nothing of which is right."""
        if self.restarts:
            return
        names = ["annotator2", "masks2", "labels_anna", "gtCoarse"]
        self.rolled(self.base / self.rng.choice(names), 2, 0)

    def test_images(self) -> None:
        folder = self.base / "test" / "images"
        if self.layout == "inner":
            folder = self.base / self.images / "test"
        for n in range(4):
            self.save(draw(self.np, self.size)[0], folder / f"unlabeled{n}.jpg")

    def test_predictions(self) -> None:
        """Images of a test set with what a model found in them."""
        for n in range(4):
            image, mask = draw(self.np, self.size)
            self.save(image, self.base / "test" / "images" / f"t{n}.jpg")
            self.save(mask, self.base / "test" / "predictions" / f"t{n}.png")

    def trimaps(self) -> None:
        if self.restarts:
            return
        names = ["trimaps", "depth", "edges", "skeletons"]
        self.rolled(self.base / self.rng.choice(names), 1, 1)

    def stray_mask(self) -> None:
        _, masks, _ = next(iter(self.folders.values()))
        self.save(draw(self.np, self.size)[1], masks / "test_drawing.png")

    def copied_images(self) -> None:
        """All images once more in one folder."""
        images = [at for pairs in self.made.pairs.values() for at in pairs]
        if len({at.name for at in images}) == len(images):
            (self.base / "all_images").mkdir()
            for at in images:
                shutil.copyfile(at, self.base / "all_images" / at.name)

    def figure(self) -> None:
        _, masks, _ = next(iter(self.folders.values()))
        self.save(draw(self.np, self.size)[0], masks / "figure.png")

    def unlabeled(self) -> None:
        _, images, _, _ = self.one()
        for n in range(2):
            name = self.image_name.format(self.id_of(700 + n))
            self.save(draw(self.np, self.size)[0], images / (name + self.image_ending))

    def backup(self) -> None:
        """The whole set once more."""
        folder = self.base / self.rng.choice(["backup", "old", "bak"])
        for image, mask in [p for pairs in self.made.pairs.values() for p in pairs.items()]:
            for source in (image, mask):
                to = folder / source.relative_to(self.base)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, to)

    def old_masks(self) -> None:
        names = [f"{self.masks}_old", "old_masks", "backup"]
        self.rolled(self.base / self.rng.choice(names), 4, 0, [self.folders["train"]])

    def links(self) -> None:
        _, images, _, _ = self.one()
        self.base.mkdir(parents=True, exist_ok=True)
        (self.base / "latest").symlink_to(self.rng.choice([".", images]))

    def linked_files(self) -> None:
        """All images are links, as git-annex keeps them."""
        store = self.root / ".git" / "annex"
        store.mkdir(parents=True)
        for number, image in enumerate(self.one()[3].values()):
            image.rename(store / str(number))
            image.symlink_to(os.path.relpath(store / str(number), image.parent))

    def texts(self) -> None:
        (self.base / "README.md").write_text("# Data\n")
        (self.base / "classes.txt").write_text("\n".join(CLASSES))


_NAMES = [*vars(_Folder)]
KINDS = [n for n in _NAMES[_NAMES.index("rolled") + 1 :] if not n.startswith("__")]


def make(root: pathlib.Path, seed: int) -> Made:
    """Makes the folder of a seed."""
    folder = _Folder(root, seed)
    folder.base_set()
    kinds = folder.rng.sample(KINDS, folder.rng.choice([0, 1, 1, 1, 2, 2, 3]))
    for kind in sorted(kinds, key="second_split".__ne__):
        getattr(folder, kind)()
    return folder.made
