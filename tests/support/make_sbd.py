"""Writes small twins of SBD: MATLAB files in its structure, with masks of our own."""

import pathlib

import numpy as np
from PIL import Image
from scipy import io, sparse


def write(dataset: pathlib.Path, masks: dict[str, np.ndarray], lists: dict[str, str]) -> None:
    """Writes SBD's folder `dataset`.

    Args:
      dataset: the folder.
      masks: class indices by id, uint8 `[H, W]`; each class is one object.
      lists: `train.txt` or `val.txt` by id.
    """
    for name in ("cls", "inst", "img"):
        (dataset / name).mkdir(parents=True)
    for image_id, mask in masks.items():
        classes = [int(value) for value in np.unique(mask) if value]
        objects = np.searchsorted([0, *classes], mask).astype(np.uint8)
        borders = np.empty((20, 1), object)
        borders[:, 0] = [sparse.csc_matrix(mask.shape) for _ in range(20)]
        categories = np.array(classes, np.uint8)[:, None]
        for name, content in (
            (
                "cls",
                {"Boundaries": borders, "Segmentation": mask, "CategoriesPresent": categories},
            ),
            (
                "inst",
                {
                    "Segmentation": objects,
                    "Boundaries": borders[: len(classes)],
                    "Categories": categories,
                },
            ),
        ):
            path = dataset / name / f"{image_id}.mat"
            io.savemat(path, {f"GT{name}": content}, do_compression=True)
        image = Image.fromarray(np.repeat(mask[..., None] * 9, 3, 2))
        image.save(dataset / "img" / f"{image_id}.jpg")
    for name in ("train.txt", "val.txt"):
        ids = [image_id for image_id in masks if lists[image_id] == name]
        (dataset / name).write_text("".join(f"{i}\n" for i in ids))
