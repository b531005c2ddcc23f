"""A user's code with every public name: what type checkers have to accept.

It is never run. tests/types_test.py has mypy and pyright check it, strictly.
"""

from collections.abc import Callable, Iterator, Mapping
import pathlib
from typing import Any, assert_type

from matplotlib.figure import Figure
import numpy as np
import numpy.typing as npt

import voc_seg_tfrecord
from voc_seg_tfrecord import (
    VOC_CLASSES,
    VOID,
    Builder,
    VocSegConfig,
    VocSegError,
    arrays,
    builder_from_tree,
    data_source,
    evaluation,
    find_label_errors,
    from_arrays,
    import_records,
    leaks,
    pipeline,
    preview,
    report,
    splits,
    stats,
    verify,
    voc_palette,
)
from voc_seg_tfrecord.reading.data_source import DataSource


def build(root: pathlib.Path) -> Builder:
    config = VocSegConfig(name="cracks", class_names=["background", "crack"], tile=512)
    assert_type(config.name, str)
    assert_type(config.missing_mask in ("error", "skip"), bool)
    assert_type(Builder(config=config, data_dir=root).builder_config, VocSegConfig)
    images: Iterator[npt.NDArray[np.uint8]] = iter([np.zeros((8, 8, 3), np.uint8)])
    built = from_arrays(images, labels=[1], name="a", class_names=VOC_CLASSES, data_dir=root)
    assert_type(built, Builder)
    built = import_records([root / "a.tfrecord"], name="records", splits={"train": 1.0}, seed=1)
    assert_type(built, Builder)
    try:
        built = builder_from_tree(root, name="cracks", data_dir="/data", num_shards=2)
    except VocSegError as error:
        assert_type((error.where, error.found, error.kind), tuple[str, str, str])
    assert_type(built, Builder)
    assert_type(voc_seg_tfrecord.__version__, str)
    assert_type(voc_palette(), npt.NDArray[np.uint8])
    void: list[int] = [VOID]
    assert_type(void, list[int])
    return voc_seg_tfrecord.builder_from_tree(str(root), name="again", overwrite=True)


def read(builder: Builder) -> None:
    example: dict[str, Any] = next(iter(pipeline.read(builder, "train", seed=1)))
    example = next(iter(pipeline.training_batches(builder, size=(32, 48), batch_size=3)))
    example = next(iter(pipeline.evaluation_batches(builder, ["2007_000032"], batch_size=3)))
    pairs = pipeline.labeled_unlabeled_batches(builder, labeled="x", size=32, batch_size=3)
    few, many = next(iter(pairs))
    example = few | many
    examples = pipeline.read(builder, "train+validation", epochs=None, balance="classes")
    example = next(iter(pipeline.padded_batch(examples, 3, multiple=32)))
    seed = pipeline.example_seed(example, seed=0)
    assert_type(pipeline.decode(example), dict[str, Any])
    assert_type(pipeline.resize(example, 32), dict[str, Any])
    assert_type(pipeline.center_crop_or_pad(example, 32), dict[str, Any])
    assert_type(pipeline.random_crop_or_pad(example, (32, 48), seed=seed), dict[str, Any])
    assert_type(pipeline.random_flip(example, seed=seed), dict[str, Any])
    assert_type(pipeline.random_scale(example, seed=seed, scales=(0.5, 1)), dict[str, Any])
    assert_type(pipeline.random_scaled_crop(example, 32, seed=seed), dict[str, Any])
    layers: list[Callable[..., Any]] = []
    assert_type(pipeline.augment(example, layers), dict[str, Any])
    assert_type(pipeline.one_hot(example, 21), dict[str, Any])
    assert_type(pipeline.sample_weights(example), dict[str, Any])
    whole = pipeline.stitch(builder, [(example, np.zeros((8, 8)))], overlap="average")
    assert_type(next(whole)[0], str)
    assert_type(pipeline.tiles_of(builder, {"a": (8, 8)}), list[str])


def read_without_tensorflow(example: Mapping[str, Any]) -> None:
    rng = np.random.default_rng(0)
    assert_type(arrays.center_crop_or_pad(example, 32), dict[str, Any])
    assert_type(arrays.random_crop_or_pad(example, (32, 48), rng), dict[str, Any])
    assert_type(arrays.random_flip(example, rng), dict[str, Any])
    assert_type(arrays.random_scaled_crop(example, 32, rng, flip=False), dict[str, Any])
    source = data_source("sample", "train", "data", ids="semi_92", partial=True, decode=False)
    part: DataSource = source.shard(0, 2)[:5]
    assert_type(part[0], dict[str, Any])
    assert_type(arrays.scale_step((0.5, 2), 0.25), float)
    assert_type(arrays.find_fill_values(example), dict[str, int])
    assert_type(arrays.parse_size("size", 32), tuple[int, int])
    assert_type(arrays.SAMPLE_WEIGHT, str)
    size: arrays.Size = (32, 48)
    assert_type(arrays.random_flip(arrays.center_crop_or_pad(example, size), rng), dict[str, Any])
    tiles = [(tile, np.zeros((8, 8))) for tile in source]
    assert_type(next(arrays.stitch("field", tiles, overlap="blend"))[0], str)
    assert_type(arrays.tiles_of("field", {"a": (8, 8)}), list[str])


def select(builder: Builder, root: pathlib.Path) -> None:
    assert_type(splits.ids("semi_92"), tuple[str, ...])
    assert_type(splits.named(), dict[str, splits.NamedList])
    assert_type(splits.identify("0" * 64), str)
    assert_type(splits.pascal5i(0), splits.Fold)
    rounds: tuple[splits.CrossValidationRound, ...] = splits.cross_validation("scans")
    assert_type([one.train for one in rounds], list[str])
    episodes: tuple[splits.Episode, ...] = splits.pascal5i(0).episodes(shots=5)
    assert_type([episode.support for episode in episodes], list[tuple[str, ...]])
    assert_type(splits.val_outside_sbd_train(root), tuple[str, ...])
    features: tuple[str, ...] = splits.LABELS
    assert_type([str(name) for name in features], list[str])
    selected = splits.load(builder, "train", "semi_92", partial=True)
    selected = splits.only(selected, ["2007_000032"])
    assert_type(splits.labeled_unlabeled(selected, "semi_92"), tuple[Any, Any])


def examine(builder: Builder, root: pathlib.Path) -> None:
    report.write(builder, "report.html", splits=["train"])
    report.write("voc_seg_tfrecord/2012", pathlib.Path("report.html"), data_dir="/data")
    computed = stats.compute(builder, ["train"], progress=True)
    assert_type(computed, dict[str, stats.Stats])
    both = stats.total(computed) + computed["train"]
    assert_type((both.pixels, both.sizes), tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]])
    assert_type(both.objects, npt.NDArray[np.int64] | None)
    assert_type((both.share, both.void_share), tuple[npt.NDArray[np.float64], float])
    assert_type(both.median_frequency_weights(), npt.NDArray[np.float32])
    assert_type(stats.count_objects(np.zeros((8, 8)), np.zeros((8, 8))), npt.NDArray[np.int64])

    for error in find_label_errors(builder):
        assert_type(error.score, float)
    assert_type(preview(builder, num=9, split="train"), Figure)
    assert_type(preview("voc_seg_tfrecord/sample", by_class=True, data_dir=root), Figure)

    verified = verify.verify(builder, verify.find_originals(builder, root))
    assert_type(verified, verify.VerificationReport)
    faults: list[verify.Fault] = verified.faults
    assert_type([fault.found for fault in faults], list[str])
    assert_type(verified.splits, Mapping[str, verify.SplitReport])

    sides = leaks.read_splits(builder, ["train", "validation"])
    sides = [
        *sides,
        leaks.read_named_list("semi_92"),
        leaks.read_list_file(root, "list", leaks.guess_role("val")),
    ]
    assert_type(sides, list[leaks.Side])
    assert_type(leaks.compare(sides, sides), list[leaks.Overlap])
    assert_type(leaks.training_first(sides), list[leaks.Side])
    assert_type(leaks.names_one_photo("a", *sides[:2]), bool)
    overlap = leaks.find_overlap(*sides[:2])
    assert_type(overlap.is_leak, bool)
    assert_type(overlap.similar_pairs, tuple[leaks.SimilarPair, ...])
    assert_type([pair.is_confirmed for pair in overlap.similar_pairs], list[bool | None])
    assert_type(overlap.part_pairs, tuple[leaks.PartPair, ...])
    assert_type(leaks.voc2012_id("a"), str)


def score(builder: Builder, root: pathlib.Path) -> None:
    result = evaluation.evaluate(builder, ["validation"], root, boundary=0.02)
    assert_type(result, evaluation.Result)
    assert_type((result.iou, result.miou), tuple[npt.NDArray[np.float64], float])
    assert_type((result.present, result.absent), tuple[npt.NDArray[np.bool_], tuple[str, ...]])
    confusion = evaluation.Confusion(VOC_CLASSES)
    confusion.update(np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.int64))
    assert_type(confusion.merge(confusion).result(), evaluation.Result)
    assert_type(confusion.matrix, npt.NDArray[np.int64])
    assert_type(evaluation.keras_metric(21).get_config(), dict[str, Any])
