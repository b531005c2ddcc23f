"""Times `evaluate` on 1,449 drawn images, and says how much memory it takes.

    python benchmarks/evaluate.py FOLDER [--images 1449] [--repeats 5]

The tree, the built dataset and the predictions are made in FOLDER and kept there. Predictions
are the masks moved by 8 pixels. Every run is a process of its own. Prints a Markdown table of
medians. Memory is counted twice: what scoring adds to a process that has opened the dataset, and
all of the process, which does not load TensorFlow.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from make_tree import make_tree
import numpy as np
from PIL import Image

from voc_seg_tfrecord import VOID, Builder, VocSegConfig

_DATASET = "voc_seg_tfrecord/bench_evaluate"

_CALL = """
import json, pathlib, sys, time
import tensorflow_datasets as tfds
from voc_seg_tfrecord import evaluation

def memory(field):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(field + ":"))
    return int(line.split()[1]) / 1024

builder = tfds.builder(sys.argv[1], data_dir=sys.argv[2])
before, wall, cpu = memory("VmHWM"), time.perf_counter(), time.process_time()
result = evaluation.evaluate(builder, "validation", sys.argv[3])
wall, cpu, after = time.perf_counter() - wall, time.process_time() - cpu, memory("VmHWM")
assert "tensorflow" not in sys.modules
print(json.dumps([wall, cpu, after - before, after, result.images]))
"""


def prepare(folder: pathlib.Path, images: int) -> dict[str, pathlib.Path]:
    """Makes what is not there yet; returns the folders of predictions by their kind."""
    import tensorflow_datasets as tfds

    root = make_tree(folder / f"tree_{2 * images}", 2 * images)
    config = VocSegConfig(name="bench_evaluate", splits={"validation": "val"}, masks_by="index")
    builder = Builder(data_dir=folder / "data", config=config)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=root))
    kinds = {kind: folder / f"predictions_{kind}" for kind in ("png", "npy")}
    for kind, target in kinds.items():
        if target.exists():
            continue
        target.mkdir()
        for image_id in (root / "ImageSets/Segmentation/val.txt").read_text().split():
            mask = np.asarray(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
            moved = np.roll(np.where(mask == VOID, 0, mask), 8, axis=1).astype(np.uint8)
            if kind == "npy":
                np.save(target / f"{image_id}.npy", moved)
            else:
                Image.fromarray(moved).save(target / f"{image_id}.png")
    return kinds


def measure(data: pathlib.Path, predictions: pathlib.Path) -> list[float]:
    """Scores once; returns seconds, CPU seconds, MiB added, MiB in all, and images."""
    command = [sys.executable, "-c", _CALL, _DATASET, data, predictions]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--images", type=int, default=1449, help="images to score (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (%(default)s)")
    args = parser.parse_args()
    kinds = prepare(args.folder, args.images)
    print("| predictions | images/s | CPU ms per image | MiB added | MiB in all |")
    print("|---|---:|---:|---:|---:|")
    for kind, folder in kinds.items():
        runs = [measure(args.folder / "data", folder) for _ in range(args.repeats)]
        wall, cpu, added, total, images = map(statistics.median, zip(*runs, strict=True))
        cells = f"{images / wall:.0f} | {1000 * cpu / images:.2f} | {added:.0f} | {total:.0f}"
        print(f"| {kind} | {cells} |")


if __name__ == "__main__":
    main()
