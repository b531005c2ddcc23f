"""Draws photos, charts and textures, and changes them as people do who copy images."""

from collections.abc import Callable, Mapping
import io

import numpy as np
from PIL import Image, ImageDraw, ImageFilter


def draw_photo(seed: int, size: tuple[int, int] = (240, 320)) -> np.ndarray:
    """Returns an image with coarse and fine structure, as photos have, uint8 `[H, W, 3]`."""
    rng = np.random.default_rng(seed)
    height, width = size
    pixels = np.zeros((height, width, 3))
    for side, share in ((4, 0.5), (9, 0.3), (30, 0.2)):
        coarse = Image.fromarray(rng.integers(0, 256, (side, side, 3), np.uint8))
        pixels += share * np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC))
    return pixels.astype(np.uint8)


def draw_chart(seed: int, size: tuple[int, int] = (240, 320)) -> np.ndarray:
    """Returns a chart of bars in a frame, which all charts share, uint8 `[H, W, 3]`."""
    rng = np.random.default_rng(seed)
    height, width = size
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    pen.line([(30, 10), (30, height - 30), (width - 10, height - 30)], "black", 2)
    for place in np.linspace(45, width - 40, 8).astype(int).tolist():
        top = int(rng.integers(20, height - 40))
        color = tuple(rng.integers(0, 200, 3).tolist())
        pen.rectangle([place, top, place + 20, height - 31], color)
    return np.asarray(image)


def draw_texture(seed: int, size: tuple[int, int] = (240, 320)) -> np.ndarray:
    """Returns faint, smoothed noise, as of concrete, uint8 `[H, W, 3]`."""
    rng = np.random.default_rng(seed)
    noise = Image.fromarray(rng.integers(0, 256, size, np.uint8))
    gray = np.asarray(noise.filter(ImageFilter.GaussianBlur(3))).astype(int)
    return np.repeat((gray // 2 + 80).astype(np.uint8)[..., np.newaxis], 3, 2)


SCENE_SIZE = (360, 480)
"""Height and width of `draw_scene`."""


def draw_scene(seed: int) -> np.ndarray:
    """Returns shapes of many sizes on uneven ground, whose parts differ, uint8 `[360, 480, 3]`."""
    rng = np.random.default_rng(seed)
    height, width = SCENE_SIZE
    ground = Image.fromarray(rng.integers(90, 160, (6, 8), np.uint8))
    image = ground.resize((width, height), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(60):
        side = int(rng.integers(10, 70))
        left, top = int(rng.integers(0, width - 20)), int(rng.integers(0, height - 20))
        box = [left, top, left + side, top + int(side * rng.uniform(0.4, 1.4))]
        draw_shape = pen.ellipse if rng.random() < 0.5 else pen.rectangle
        draw_shape(box, fill=int(rng.integers(0, 256)))
    return np.repeat(np.asarray(image)[..., np.newaxis], 3, 2)


def draw_images_without_structure() -> Mapping[str, np.ndarray]:
    """Returns images of one color, with smooth changes or with hardly any, by their names."""
    rng = np.random.default_rng(0)
    ramp = np.tile(np.linspace(0, 255, 320), (240, 1))
    square = np.zeros((240, 320))
    square[80:160, 100:220] = 255
    rows, columns = np.mgrid[-1:1:240j, -1:1:320j]
    plain = {
        "black": np.zeros((240, 320)),
        "white": np.full((240, 320), 255),
        "gray": np.full((240, 320), 130),
        "one pixel": np.full((1, 1), 90),
        "one row": rng.integers(0, 256, (1, 320)),
        "ramp": ramp,
        "slanted ramp": (ramp + ramp[:, ::-1][::-1] * 0.5) / 2,
        "halves": np.where(ramp > 127, 255, 0),
        "square in the middle": square,
        "vignette": 255 * np.exp(-(rows**2) - columns**2),
        "noise of a sensor": 100 + rng.normal(0, 2, (240, 320)),
        "dark noise": np.clip(rng.normal(0, 1, (240, 320)), 0, 255),
    }
    return {
        name: np.repeat(pixels.astype(np.uint8)[..., np.newaxis], 3, 2)
        for name, pixels in plain.items()
    }


def encode_again(pixels: np.ndarray, quality: int = 60) -> np.ndarray:
    """Returns the pixels after a JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(io.BytesIO(buffer.getvalue())))


def scale(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Returns the pixels with both sides times a factor."""
    height, width = pixels.shape[:2]
    size = (round(width * factor), round(height * factor))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))


def brighten(pixels: np.ndarray) -> np.ndarray:
    """Returns the pixels 15 % brighter."""
    return np.clip(pixels * 1.15, 0, 255).astype(np.uint8)


CHANGES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "encoded again": encode_again,
    "half the size": lambda pixels: encode_again(scale(pixels, 0.5), 80),
    "twice the size": lambda pixels: encode_again(scale(pixels, 2), 80),
    "brighter": brighten,
    "mirrored": lambda pixels: encode_again(pixels[:, ::-1], 80),
    "rotated by 90 degrees": lambda pixels: encode_again(np.rot90(pixels, -1), 80),
}
"""What people do to images that are copies all the same, by its name."""
