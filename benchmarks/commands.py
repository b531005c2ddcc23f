"""Times the commands that read built data.

    python benchmarks/commands.py FOLDER [--pairs 2913] [--repeats 5]

Each command is a process of its own, and its figures are those of the process from start to end:
`MiB` is the peak of its memory. They are compared with a loop over `tfds.load` that counts the
pixels of each class and nothing more. Predictions are the masks moved by 8 pixels.
"""

from functools import partial
import pathlib

from make_tree import build, ids_of, make_tree
import measuring
from measuring import Way
import numpy as np
from PIL import Image

from voc_seg_tfrecord import VOID

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 500, "repeats": 2}
TASK, LOOP = "look at all examples", "loop over `tfds.load`, pixels only"
COUNT_PIXELS = """
import sys, numpy as np, tensorflow_datasets as tfds
for split in ("train", "validation"):
    pixels = np.zeros(256, np.int64)
    dataset = tfds.load(sys.argv[1], split=split, data_dir=sys.argv[2])
    for example in dataset.as_numpy_iterator():
        pixels += np.bincount(example["segmentation_mask"].ravel(), minlength=256)
"""


def commands(folder: pathlib.Path, root: pathlib.Path, config: str) -> dict[str, list[object]]:
    """Returns the arguments of each command, by its name in the table."""
    name, out = f"voc_seg_tfrecord/{config}", folder / "out.html"
    source = ["--source", root]
    png = ["--predictions", folder / f"{config}_predictions"]
    arguments = {
        "verify": ["verify", name],
        "verify --source": ["verify", name, *source],
        "stats": ["stats", name],
        "leaks": ["leaks", f"{name}@train", f"{name}@validation"],
        "report": ["report", name, "--out", out],
        "evaluate": ["evaluate", f"{name}@validation", *png],
    }
    found = {key: [*words, "--data_dir", folder / "data"] for key, words in arguments.items()}
    return {**found, "check --html": ["check", root, "--class_names", "voc", "--html", out]}


def predict(root: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes predictions of the validation split unless they are there."""
    if folder.exists():
        return
    folder.mkdir()
    for image_id in ids_of(root, "val"):
        mask = np.asarray(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
        moved = np.roll(np.where(mask == VOID, 0, mask), 8, axis=1).astype(np.uint8)
        Image.fromarray(moved).save(folder / f"{image_id}.png")


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Runs every command on a dataset of so many images with instance masks, in turns."""
    folder, config = folder.resolve(), f"bench{pairs}"
    root = make_tree(folder, pairs)
    build(root, folder / "data", name=config, instance_mask=True)
    predict(root, folder / f"{config}_predictions")
    run = partial(measuring.run_command, "-c", COUNT_PIXELS, f"voc_seg_tfrecord/{config}")
    ways = [Way(TASK, LOOP, partial(run, folder / "data"), pairs)]
    for name, words in commands(folder, root, config).items():
        run = partial(measuring.run_command, "-m", "voc_seg_tfrecord", *words)
        against = [LOOP] if name.split()[0] in ("verify", "stats", "leaks") else []
        images = pairs // 2 if name == "evaluate" else pairs
        ways.append(Way(TASK, f"`{name}`", run, images, against))
    measuring.take_turns(ways, repeats)
    return ways


if __name__ == "__main__":
    measuring.main(__doc__, measure, **FULL)
