"""Tries what people do first, with the package that is installed; ends with 0 if all of it works.

It runs in an empty folder, so that nothing is imported from a checkout. `versions.py` starts it.
"""

import importlib
import pathlib
import pkgutil
import subprocess
import sys

SAMPLE = "voc_seg_tfrecord/sample"


def run(*command: str) -> str:
    """Runs a command of this environment; returns what it prints."""
    program = pathlib.Path(sys.executable).parent / command[0]
    result = subprocess.run([program, *command[1:]], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)} ends with {result.returncode}:\n{result.stderr}")
    return result.stdout


def main() -> None:
    """Builds the sample, reads it in each way, and imports every module."""
    data = pathlib.Path.cwd() / "datasets"
    where = ["--data_dir", str(data)]
    build = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord", *where]
    run(*build, "--config", "sample")
    run("voc-seg-tfrecord", "verify", SAMPLE, *where)
    run("voc-seg-tfrecord", "stats", SAMPLE, *where)
    run("voc-seg-tfrecord", "preview", SAMPLE, *where, "--out", "sheet.png")
    run("voc-seg-tfrecord", "export", SAMPLE, *where, "--layout", "voc", "--out", "tree")
    run("voc-seg-tfrecord", "export", SAMPLE, *where, "--layout", "parquet", "--out", "parquet")
    run("voc-seg-tfrecord", "leaks", f"{SAMPLE}@train", f"{SAMPLE}@validation", *where)
    run("voc-seg-tfrecord", "check", "tree", "--class_names", "voc")
    run("voc-seg-tfrecord", "build", "tree", "--name", "again", "--class_names", "voc", *where)

    import tensorflow_datasets as tfds

    import voc_seg_tfrecord

    for module in pkgutil.walk_packages(voc_seg_tfrecord.__path__, "voc_seg_tfrecord."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    builder = tfds.builder(SAMPLE, data_dir=data)
    classes = [list(e["labels"]) for e in tfds.as_numpy(builder.as_dataset(split="train"))]
    assert classes == [[1], [12, 15], [8, 18]], classes
    pipeline = voc_seg_tfrecord.pipeline
    batch = next(iter(pipeline.training_batches(builder, "train", size=32, batch_size=3)))
    assert batch["segmentation_mask"].shape == (3, 32, 32, 1), batch


if __name__ == "__main__":
    main()
