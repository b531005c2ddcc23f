"""Image files of two frames, in every format that can be animated."""

import io

import numpy as np
from PIL import Image

FRAMES = [Image.fromarray(np.full((6, 8), value, np.uint8)).convert("P") for value in (0, 200)]


def two_frames(kind: str) -> bytes:
    """Returns a file of two frames; `kind` is Pillow's name for its format."""
    buffer = io.BytesIO()
    first, second = FRAMES
    options = {"disposal": 0} if kind == "PNG" else {}
    first.save(buffer, kind, save_all=True, append_images=[second], **options)
    return buffer.getvalue()
