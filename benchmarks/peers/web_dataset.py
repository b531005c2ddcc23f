"""WebDataset, on tar files of the images and masks as they are."""

from collections.abc import Iterable
from functools import partial
import io

import numpy as np
from PIL import Image

from peers import Source


def opened(files: tuple[bytes, bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Decodes a pair. WebDataset's own `decode("pil")` would make colours of palette masks."""
    image, mask = files
    return (
        np.array(Image.open(io.BytesIO(image)).convert("RGB")),
        np.array(Image.open(io.BytesIO(mask))),
    )


def pairs(source: Source, workers: int) -> Iterable:
    """Reads two tar files, each by its own worker if there are any."""
    import webdataset

    tars = sorted(map(str, source.tars.iterdir()))
    dataset = webdataset.WebDataset(tars, shardshuffle=False).to_tuple("jpg", "png").map(opened)
    return webdataset.WebLoader(dataset, batch_size=None, num_workers=workers)


WAYS = {
    "WebDataset": partial(pairs, workers=0),
    "WebDataset, 2 workers": partial(pairs, workers=2),
}
PACKAGES = dict.fromkeys(WAYS, ("webdataset", "torch", "PIL"))
