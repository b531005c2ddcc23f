"""Draws made photos, masks and texts into a folder, and says what is right for it."""

from collections.abc import Callable, Sequence
import dataclasses
import json
import pathlib
from typing import Any
import zipfile
import zlib

import numpy as np
from PIL import Image, ImageDraw

SIZE = (32, 40)
NOISE = 7
JPEG_QUALITY = 92

Pairs = dict[str, str]
Colors = Sequence[tuple[int, int, int]]
Polygon = tuple[int, list[tuple[int, int]]]


@dataclasses.dataclass(frozen=True)
class Truth:
    """What is right for a layout.

    Attributes:
      splits: by split name (`train`, `validation`, `test`), for each image its mask. Paths are
        relative to the root, with slashes. Labels that are no raster are named by their annotation
        file, and masks that are one label together by their folder.
      also_right: other divisions or pairings that an expert would accept too.
      options: what the user must say that the folder cannot, as keyword arguments of
        `builder_from_tree`.
      must_ask: whether no expert could decide without asking.
    """

    splits: dict[str, Pairs]
    also_right: tuple[dict[str, Pairs], ...] = ()
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    must_ask: bool = False


class Painter:
    """Draws one layout into its folder. All it draws depends only on the layout's name."""

    def __init__(self, root: pathlib.Path, name: str):
        self.root = root
        self.random = np.random.default_rng(zlib.crc32(name.encode()))

    def scene(self, values: Sequence[int] = (0, 1), size: tuple[int, int] = SIZE) -> np.ndarray:
        """Returns flat regions of all values, int `[H, W]`; the first of two is around the rest."""
        if len(values) > 2:
            return self._areas(values, size)
        scene = np.full(size, values[0])
        if len(values) == 2:
            height, width = size
            y, x = np.mgrid[:height, :width]
            for _ in range(self.random.integers(1, 3)):
                top = self.random.integers(height // 4, 3 * height // 4)
                left = self.random.integers(width // 4, 3 * width // 4)
                tall, wide = self.random.integers(min(size) // 8, min(size) // 3, 2)
                scene[((y - top) / tall) ** 2 + ((x - left) / wide) ** 2 < 1] = values[1]
        return scene

    def _areas(self, values: Sequence[int], size: tuple[int, int]) -> np.ndarray:
        height, width = size
        y, x = np.mgrid[:height, :width]
        places = self.random.choice(height * width, len(values), replace=False)
        tops, lefts = np.divmod(places, width)
        distances = (y[..., None] - tops) ** 2 + (x[..., None] - lefts) ** 2
        return np.array(values)[distances.argmin(axis=-1)]

    def polygons(self, values: Sequence[int]) -> tuple[np.ndarray, list[Polygon]]:
        """Returns a scene of one polygon for each value on 0, and the polygons' `(x, y)`."""
        height, width = SIZE
        drawing = Image.new("L", (width, height))
        band = height // len(values)
        polygons = []
        for number, value in enumerate(values):
            top, bottom = number * band + 1, (number + 1) * band - 2
            left, right = (int(edge) for edge in self.random.integers((2, 24), (14, 38)))
            slope = int(self.random.integers(1, 4))
            points = [(left, top), (right - slope, top), (right, bottom), (left + slope, bottom)]
            ImageDraw.Draw(drawing).polygon(points, fill=value)
            polygons.append((value, points))
        return np.array(drawing), polygons

    def photo(self, path: str, scene: np.ndarray | None = None, gray: bool = False) -> str:
        """Draws a photo of a scene: smooth light, a color for each value, and noise."""
        scene = self.scene() if scene is None else scene
        height, width = scene.shape
        values, numbers = np.unique(scene, return_inverse=True)
        of_values = [np.random.default_rng(int(value)).integers(50, 200, 3) for value in values]
        picture = np.array(of_values)[numbers.reshape(scene.shape)].astype(float)
        y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j][..., None]
        across, down, bend, shift = self.random.normal(0, 14, (4, 3))
        waves = np.sin(3 * x + self.random.uniform(0, 6)) * np.cos(3 * y)
        picture += shift + across * x + down * y + bend * waves
        picture += self.random.normal(0, NOISE, picture.shape)
        pixels = picture.clip(0, 255).astype(np.uint8)
        return self.save(path, pixels[..., 1] if gray else pixels)

    def mask(self, path: str, scene: np.ndarray, palette: Colors | None = None) -> str:
        """Draws a scene's values, in gray or with a palette."""
        dtype = np.uint16 if scene.max() > 255 else np.uint8
        if palette is None:
            return self.save(path, scene.astype(dtype))
        picture = Image.fromarray(scene.astype(np.uint8), "L").convert("P")
        picture.putpalette(np.array(palette, np.uint8).tobytes())
        picture.putdata(scene.ravel().tolist())
        picture.save(self._make(path))
        return path

    def color_mask(self, path: str, scene: np.ndarray, colors: Colors) -> str:
        """Draws the color of each value."""
        return self.save(path, np.array(colors, np.uint8)[scene])

    def pair(self, image: str, mask: str, values: Sequence[int] = (0, 255)) -> Pairs:
        """Draws a photo and its mask of values."""
        scene = self.scene(values)
        return {self.photo(image, scene): self.mask(mask, scene)}

    def color_pair(self, image: str, mask: str, colors: Colors) -> Pairs:
        """Draws a photo and its mask, in which all colors occur."""
        scene = self.scene(range(len(colors)))
        return {self.photo(image, scene): self.color_mask(mask, scene, colors)}

    def save(self, path: str, pixels: np.ndarray) -> str:
        options = {"quality": JPEG_QUALITY} if path.lower().endswith((".jpg", ".jpeg")) else {}
        Image.fromarray(pixels).save(self._make(path), **options)
        return path

    def copy(self, source: str, path: str) -> str:
        """Saves a picture again, in the format of another ending."""
        return self.save(path, np.array(Image.open(self.root / source)))

    def text(self, path: str, *lines: str) -> str:
        self._make(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def json(self, path: str, content: Any) -> str:
        return self.text(path, json.dumps(content))

    def file(self, path: str, content: bytes) -> str:
        self._make(path).write_bytes(content)
        return path

    def archive(self, path: str, members: Sequence[str]) -> str:
        """Packs files of the folder, with the time of the year 1980."""
        with zipfile.ZipFile(self._make(path), "w") as archive:
            for member in members:
                archive.writestr(zipfile.ZipInfo(member), (self.root / member).read_bytes())
        return path

    def mac_files(self, folder: str, names: Sequence[str]) -> None:
        """Draws what macOS puts into folders and archives."""
        self.file(f"{folder}/.DS_Store".lstrip("/"), b"\0\0\0\1Bud1\0\0\20\0")
        for name in names:
            self.file(f"__MACOSX/{name}", b"\0\5\26\7\0\2\0\0Mac OS X        ")

    def names(self, count: int, alphabet: str, length: int) -> list[str]:
        """Returns random names, such as ids of hexadecimal digits."""
        letters = self.random.choice(list(alphabet), (count, length))
        return ["".join(row) for row in letters]

    def _make(self, path: str) -> pathlib.Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


Layout = Callable[[pathlib.Path], Truth]
LAYOUTS: dict[str, Layout] = {}


def layout(name: str) -> Callable[[Callable[[Painter], Truth]], Callable[[Painter], Truth]]:
    """Registers a function that draws the set of this name."""

    def register(draw: Callable[[Painter], Truth]) -> Callable[[Painter], Truth]:
        LAYOUTS[name] = lambda root: draw(Painter(root, name))
        return draw

    return register


def some(values: Sequence[int], count: int, number: int) -> tuple[int, ...]:
    """Returns `count` of the values for the image of a number; all values occur over the images."""
    return tuple(values[(number * count + k) % len(values)] for k in range(count))


def hex_color(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
