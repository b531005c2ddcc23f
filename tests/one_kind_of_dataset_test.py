"""Every public function that reads a built dataset takes its builder, its name or its folder."""

import os

import numpy as np
from PIL import Image
import pytest

import voc_seg_tfrecord
from voc_seg_tfrecord import evaluation, pipeline, report, splits, stats, verify


def ids_of(batches):
    return sorted(name for batch in batches.as_numpy_iterator() for name in batch["id"].tolist())


def write_report(dataset, folder, **where):
    page = folder / "page.html"
    report.write(dataset, page, fits=False, **where)
    return page.read_bytes()


def score(dataset, folder, **where):
    predictions = folder / "predictions"
    predictions.mkdir(exist_ok=True)
    for example in voc_seg_tfrecord.data_source(dataset, "validation", **where):
        name = example["image/filename"].decode().removesuffix(".jpg")
        Image.fromarray(example["segmentation_mask"][..., 0] % 21).save(predictions / f"{name}.png")
    return evaluation.evaluate(dataset, "validation", predictions, **where).miou


CALLS = {
    "data_source": lambda d, _, **w: len(voc_seg_tfrecord.data_source(d, "train", **w)),
    "evaluate": score,
    "evaluation_batches": lambda d, _, **w: ids_of(
        pipeline.evaluation_batches(d, "train", batch_size=2, **w)
    ),
    "find_label_errors": lambda d, _, **w: voc_seg_tfrecord.find_label_errors(d, fits=False, **w),
    "preview": lambda d, _, **w: len(voc_seg_tfrecord.preview(d, 1, **w).axes),
    "read": lambda d, _, **w: len([*pipeline.read(d, "train", **w)]),
    "report.write": write_report,
    "splits.load": lambda d, _, **w: len([*splits.load(d, "train", "trainaug", partial=True, **w)]),
    "stats.compute": lambda d, _, **w: stats.compute(d, **w)["train"].as_dict(),
    "training_batches": lambda d, _, **w: np.stack(
        [
            batch["image"]
            for batch in pipeline.training_batches(
                d, "train", size=8, batch_size=2, epochs=1, **w
            ).as_numpy_iterator()
        ]
    ).tolist(),
    "verify": lambda d, _, **w: verify.verify(d, **w).fingerprint,
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("call", CALLS)
def test_a_dataset_is_its_builder_its_name_or_its_folder(call, sample, tmp_path):
    read = CALLS[call]
    by_builder = read(sample, tmp_path)
    assert read(sample.data_path, tmp_path) == by_builder
    assert read(os.fspath(sample.data_path), tmp_path) == by_builder
    data_dir = sample.data_path.parents[2]
    assert read("voc_seg_tfrecord/sample", tmp_path, data_dir=data_dir) == by_builder
