"""Tries what people do first, with the package that is installed; ends with 0 if all of it works.

It runs in an empty folder, so that nothing is imported from a checkout. `versions.py` starts it.
Where TensorFlow is not installed, as with `voc_seg_tfrecord_lite`, it leaves out what needs it.
"""

import importlib
import importlib.util
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
    has_tensorflow = importlib.util.find_spec("tensorflow") is not None
    if has_tensorflow:
        build = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord", *where]
        run(*build, "--config", "sample")
    else:
        run("voc-seg-tfrecord", "build", "--release", "sample", *where)
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

    source = voc_seg_tfrecord.data_source(SAMPLE, "train", data_dir=data)
    assert [list(example["labels"]) for example in source] == [[1], [12, 15], [8, 18]]
    if not has_tensorflow:
        return
    for module in pkgutil.walk_packages(voc_seg_tfrecord.__path__, "voc_seg_tfrecord."):
        if (
            not module.name.endswith("__main__") and ".torch" not in module.name
        ):  # which needs PyTorch
            importlib.import_module(module.name)
    builder = tfds.builder(SAMPLE, data_dir=data)
    classes = [list(e["labels"]) for e in tfds.as_numpy(builder.as_dataset(split="train"))]
    assert classes == [[1], [12, 15], [8, 18]], classes
    pipeline = voc_seg_tfrecord.pipeline
    batch = next(iter(pipeline.training_batches(builder, "train", size=32, batch_size=3)))
    assert batch["segmentation_mask"].shape == (3, 32, 32, 1), batch


if __name__ == "__main__":
    main()
