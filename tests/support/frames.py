"""Image files of two frames, in every format that can be animated."""

import numpy as np
from PIL import Image
from support.encoding import encoded

FRAMES = [Image.fromarray(np.full((6, 8), value, np.uint8)).convert("P") for value in (0, 200)]


def two_frames(kind: str) -> bytes:
    """Returns a file of two frames; `kind` is Pillow's name for its format."""
    first, second = FRAMES
    options = {"disposal": 0} if kind == "PNG" else {}
    return encoded(first, kind, save_all=True, append_images=[second], **options)
