"""Times `evaluate` beside the loop that people write, and says how much memory it takes.

    python benchmarks/evaluate.py FOLDER [--pairs 1449] [--repeats 5]

The tree, the built dataset and the predictions are made in FOLDER and kept there. Predictions
are the masks moved by 8 pixels. Every run is a process of its own, which does not load TensorFlow,
and the ways take turns. Prints a Markdown table of medians. Memory is counted twice: what scoring
adds to a process that has opened the dataset, and all of the process. The loop that people write
opens masks and predictions with Pillow and counts with `numpy.bincount`; both must find the same
mIoU.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys

import machine
from make_tree import make_tree
import numpy as np
from PIL import Image
from rows import Row, table

from voc_seg_tfrecord import VOID, Builder, VocSegConfig

FULL, QUICK = {"pairs": 1449, "repeats": 5}, {"pairs": 300, "repeats": 2}
_DATASET = "voc_seg_tfrecord/bench_evaluate_%d"

_MEASURED = """
import json, pathlib, sys, time
import numpy as np

def memory(field):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(field + ":"))
    return int(line.split()[1]) / 1024

def measured(score):
    before, wall, cpu = memory("VmHWM"), time.perf_counter(), time.process_time()
    miou = score()
    wall, cpu, after = time.perf_counter() - wall, time.process_time() - cpu, memory("VmHWM")
    assert "tensorflow" not in sys.modules
    print(json.dumps([wall, cpu, after - before, after, miou]))

name, data, tree, predictions = sys.argv[1:]
"""

_OURS = """
import tensorflow_datasets as tfds
from voc_seg_tfrecord import evaluation
builder = tfds.builder(name, data_dir=data)
measured(lambda: evaluation.evaluate(builder, "validation", predictions).miou)
"""

_LOOP = """
from PIL import Image

def score():
    root, counts = pathlib.Path(tree), np.zeros((21, 21), np.int64)
    for image_id in (root / "ImageSets/Segmentation/val.txt").read_text().split():
        truth = np.array(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
        file = pathlib.Path(predictions) / f"{image_id}.png"
        guess = np.array(Image.open(file)) if file.exists() else np.load(file.with_suffix(".npy"))
        counted = truth < 21
        pairs = 21 * truth[counted].astype(int) + guess[counted]
        counts += np.bincount(pairs, minlength=441).reshape(21, 21)
    hits = np.diag(counts)
    return float(np.nanmean(hits / (counts.sum(0) + counts.sum(1) - hits)))

measured(score)
"""


def prepare(folder: pathlib.Path, images: int) -> tuple[pathlib.Path, dict[str, pathlib.Path]]:
    """Makes what is not there yet; returns the tree, and the folders of predictions by kind."""
    import tensorflow_datasets as tfds

    root = make_tree(folder / f"tree_{2 * images}_1", 2 * images)
    name = (_DATASET % images).partition("/")[2]
    config = VocSegConfig(name=name, splits={"validation": "val"})
    builder = Builder(data_dir=folder / "data", config=config)
    with contextlib.redirect_stdout(sys.stderr):  # TFDS prints; the table is to stand alone
        builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=root))
    kinds = {kind: folder / f"predictions_{images}_{kind}" for kind in ("png", "npy")}
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
    return root, kinds


def measure(code: str, *arguments: str | pathlib.Path) -> list[float]:
    """Scores once; returns seconds, CPU seconds, MiB added, MiB in all, and the mIoU."""
    command = [sys.executable, "-c", _MEASURED + code, *arguments]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def rows(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Row]:
    """Measures; `pairs` is how many images are scored."""
    tree, kinds = prepare(folder, pairs)
    ways = {
        (kind, way, code): []
        for kind in kinds
        for way, code in (("Pillow and NumPy in a loop", _LOOP), ("`evaluate`", _OURS))
    }
    for _ in range(repeats):
        for (kind, _, code), runs in ways.items():
            runs.append(measure(code, _DATASET % pairs, folder / "data", tree, kinds[kind]))
    if len({round(run[-1], 9) for runs in ways.values() for run in runs}) > 1:
        raise RuntimeError(f"the ways do not find the same mIoU: {ways}")
    found = []
    for (kind, way, code), runs in ways.items():
        _, cpu, added, total, _ = map(statistics.median, zip(*runs, strict=True))
        figures = {
            "CPU ms each": f"{1000 * cpu / pairs:.2f}",
            "MiB added": f"{added:.0f}",
            "MiB in all": f"{total:.0f}",
        }
        ours, rates = code == _OURS, tuple(pairs / run[0] for run in runs)
        against = "Pillow and NumPy in a loop" if ours else ""
        found.append(
            Row(f"evaluate predictions in {kind} files", way, rates, against, ours, figures)
        )
    return found


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=1449, help="images to score (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (%(default)s)")
    args = parser.parse_args()
    print(machine.description(), "\n")
    print(table(rows(args.folder, pairs=args.pairs, repeats=args.repeats)))


if __name__ == "__main__":
    main()
