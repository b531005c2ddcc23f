"""Builds a drawn tree on Apache Flink and compares the records with those of a plain build.

    benchmarks/flink.sh FOLDER [--pairs 2913] [--task_managers 1 2] [--no-kill]

Prints seconds as a Markdown table. At last it kills one of two task managers during a build.
"""

import argparse
import pathlib
import shutil
import signal
import sys
import threading
import time

import apache_beam
from flink_cluster import Cluster, cluster, missing
from make_tree import make_tree
import tensorflow_datasets as tfds

import voc_seg_tfrecord

SHARDS = 16
"""Flink sorts one worker's part of a shard as one record, which has to fit its sort buffer."""


def build(root: pathlib.Path, out: pathlib.Path, *flags: str) -> tfds.core.DatasetBuilder:
    """Builds the tree below `out`, on Beam if there are flags for it."""
    config = voc_seg_tfrecord.VocSegConfig(name="bench")
    builder = voc_seg_tfrecord.Builder(data_dir=out, config=config)
    options = apache_beam.options.pipeline_options.PipelineOptions(flags=list(flags))
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(
            manual_dir=root, num_shards=SHARDS, beam_options=options if flags else None
        )
    )
    return builder


def same_records(left: tfds.core.DatasetBuilder, right: tfds.core.DatasetBuilder) -> bool:
    """Says whether two builds have the same records in the same order."""
    import tensorflow as tf

    def read(builder, split):
        return tf.data.TFRecordDataset([str(p) for p in builder.info.splits[split].filepaths])

    for split in left.info.splits:
        ones, others = read(left, split), read(right, split)
        pairs = tf.data.Dataset.zip(ones, others).map(tf.equal)
        lengths = [builder.info.splits[split].num_examples for builder in (left, right)]
        if len(set(lengths)) > 1 or not all(pairs.as_numpy_iterator()):
            return False
    return True


def kill_one(flink: Cluster, tasks: int) -> None:
    """Kills a task manager without warning, once so many tasks are finished."""
    while flink.finished_tasks() < tasks:
        time.sleep(0.2)
    flink.task_managers[0].kill()
    print("Killed a task manager.", file=sys.stderr)


def _timed(*args) -> tuple[tfds.core.DatasetBuilder, float]:
    start = time.perf_counter()
    return build(*args), time.perf_counter() - start


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--pairs", type=int, default=2913, help="images with masks in the tree (%(default)s)"
    )
    parser.add_argument("--task_managers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--no-kill", action="store_true")
    args = parser.parse_args()
    if lacks := missing(args.folder):
        sys.exit(f"{lacks}; run benchmarks/flink.sh")
    # So that the cluster is taken down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    root = make_tree(args.folder / f"tree_{args.pairs}", args.pairs)
    work = args.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    generator, seconds = _timed(root, work / "generator")
    lines = [f"| without Beam, one process | {seconds:.1f} | |"]
    for count in args.task_managers:
        out = work / f"flink{count}"
        with cluster(args.folder, work / f"cluster{count}", task_managers=count) as flink:
            builder, seconds = _timed(root, out, *flink.beam_flags)
        same = "the same" if same_records(generator, builder) else "DIFFERENT"
        lines.append(f"| Flink, {count} task managers | {seconds:.1f} | {same} |")
        shutil.rmtree(out)
    if not args.no_kill:
        lines.append(_killed(args.folder, root, work, generator))
    print(
        "\n".join(
            [
                f"\n{args.pairs} images with masks:\n",
                "| | seconds | records |",
                "|---|---|---|",
                *lines,
            ]
        )
    )
    shutil.rmtree(work)


def _killed(
    software: pathlib.Path,
    root: pathlib.Path,
    work: pathlib.Path,
    generator: tfds.core.DatasetBuilder,
) -> str:
    # Each has room for the other's work.
    with cluster(software, work / "cluster_kill", slots=2, parallelism=2) as flink:
        threading.Thread(target=kill_one, args=(flink, 8), daemon=True).start()
        out = work / "killed"
        try:
            builder, seconds = _timed(root, out, *flink.beam_flags)
        except Exception as error:
            left = list(out.glob("voc_seg_tfrecord/*/[0-9]*"))
            return f"| one of two killed | failed: {str(error)[:200]!r} | folders left: {left} |"
    same = "the same" if same_records(generator, builder) else "DIFFERENT"
    return f"| Flink, one of two killed | {seconds:.1f} | {same} |"


if __name__ == "__main__":
    main()
