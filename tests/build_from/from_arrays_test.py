import numpy as np
import pytest
from support import handwritten
from support.building import examples, version_folders

from voc_seg_tfrecord import VOC_CLASSES, VocSegError, data_source, from_arrays
from voc_seg_tfrecord.core.errors import MaskError

TEN = [str(n) for n in range(10)]


def test_images_and_masks_come_back_equal(tmp_path):
    images, masks = zip(*handwritten.pairs(), strict=True)
    names = ["background", *map(str, range(1, 21))]
    builder = from_arrays(images, masks, name="a", class_names=names, data_dir=tmp_path)
    found = examples(builder, "train")
    for n, (image, mask) in enumerate(zip(images, masks, strict=True)):
        example = found[f"{n:08}.png"]
        assert np.allclose(example["image"], image)
        assert np.allclose(example["segmentation_mask"][..., 0], mask)


def build_small(tmp_path, seed=0, count=4, as_iterator=False, **options):
    rng = np.random.default_rng(seed)
    images = [rng.integers(0, 256, (6, 7, 3), np.uint8) for _ in range(count)]
    masks = [rng.integers(0, 2, (6, 7), np.uint8) for _ in range(count)]
    if as_iterator:
        images, masks = iter(images), iter(masks)
    options = {"name": "x", "class_names": ["a", "b"]} | options
    return from_arrays(images, masks, data_dir=tmp_path, **options)


@pytest.mark.parametrize("as_iterator", [False, True])
@pytest.mark.parametrize("splits", [None, {"train": 0.5, "test": 0.5}])
def test_equal_arrays_give_the_dataset_that_they_were_built_to(tmp_path, splits, as_iterator):
    options = {"splits": splits, "as_iterator": as_iterator}
    first = build_small(tmp_path, **options)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = build_small(tmp_path, **options)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times
    assert again.info.splits["train"].num_examples == first.info.splits["train"].num_examples
    assert len(examples(again, "train")) == first.info.splits["train"].num_examples


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"count": 3},
        {"count": 5},
        {"splits": {"train": 0.5, "test": 0.5}},
        {"filenames": ["1.png", "2.png", "3.png", "4.png"]},
        {"num_shards": 2},
    ],
)
def test_other_arrays_do_not_take_the_place_of_a_dataset(tmp_path, change):
    build_small(tmp_path)
    with pytest.raises(VocSegError, match="the dataset exists already"):
        build_small(tmp_path, **change)


def refilled(values, shape):
    """Yields one array again and again, filled with the next value, as readers of videos do."""
    buffer = np.empty(shape, np.uint8)
    for value in values:
        buffer[:] = value
        yield buffer


@pytest.mark.slow_but_first
@pytest.mark.parametrize("splits", [None, {"train": 0.6, "test": 0.4}])
@pytest.mark.parametrize("fresh", ["images", "masks", "neither"])
def test_an_iterator_may_fill_one_array_again_and_again(tmp_path, fresh, splits):
    numbers = range(40)
    images = [np.full((24, 32, 3), n, np.uint8) for n in numbers]
    masks = [np.full((24, 32), n % 3, np.uint8) for n in numbers]
    builder = from_arrays(
        images if fresh == "images" else refilled(numbers, (24, 32, 3)),
        masks if fresh == "masks" else refilled([n % 3 for n in numbers], (24, 32)),
        name="a",
        class_names=["a", "b", "c"],
        splits=splits,
        data_dir=tmp_path,
    )
    found = {}
    for split in splits or {"train": 1}:
        found |= examples(builder, split)
    for n in numbers:
        example = found[f"{n:08}.png"]
        assert example["image"].max() == example["image"].min() == n
        assert example["segmentation_mask"].max() == n % 3


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
def test_masked_pixels_of_a_mask_are_void(tmp_path, dtype):
    values = np.tile(np.array([0, 1, 2, 1], dtype), (8, 2))
    mask = np.ma.masked_equal(values, 2)
    image = np.zeros((8, 8, 3), np.uint8)
    names = ["a", "b", "c"]
    builder = from_arrays([image], [mask], name="a", class_names=names, data_dir=tmp_path)
    (example,) = examples(builder, "train").values()
    expected = np.where(values == 2, 255, values.astype(np.int64))
    assert np.array_equal(example["segmentation_mask"][..., 0], expected)


def test_an_image_with_masked_or_without_pixels_is_refused_by_its_name(tmp_path):
    image = np.zeros((8, 8, 3), np.uint8)
    mask = np.zeros((8, 8), np.uint8)
    for wrong, words in (
        (np.ma.masked_array(image, image == 0), "00000000.png: a masked array"),
        (image[:0], "00000000.png: an image without pixels"),
    ):
        with pytest.raises(VocSegError, match=words):
            from_arrays([wrong], [mask], name="a", class_names=["a", "b"], data_dir=tmp_path)


@pytest.mark.slow
def test_a_thousand_images_with_labels_from_an_iterator(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 1000)
    images = (np.full((24, 24, 3), n % 256, np.uint8) for n in range(1000))
    builder = from_arrays(images, labels=labels, name="a", class_names=TEN, data_dir=tmp_path)
    found = examples(builder, "train")
    assert len(found) == 1000
    assert all(found[f"{n:08}.png"]["label"] == labels[n] for n in range(1000))
    assert found["00000300.png"]["image"][0, 0, 0] == 300 % 256


def test_ratios_and_names(tmp_path):
    images, masks = zip(*handwritten.pairs(20), strict=True)
    builder = from_arrays(
        images,
        masks,
        filenames=[f"x{n}.png" for n in range(20)],
        name="a",
        class_names=[str(n) for n in range(21)],
        splits={"train": 0.6, "test": 0.4},
        data_dir=tmp_path,
    )
    train, test = (set(examples(builder, split)) for split in ("train", "test"))
    assert len(train) + len(test) == 20
    assert not train & test
    assert "x0.png" in train | test


@pytest.mark.parametrize(
    ("images", "said", "words"),
    [
        ([np.zeros((4, 4, 3))], {"masks": [np.zeros((4, 4), int)]}, r"float64\[4, 4, 3\]"),
        ([np.zeros((3, 4, 4), "u1")], {"masks": [np.zeros((4, 4), int)]}, "the last axis"),
        ([np.zeros((4, 4, 3), "u1")], {"masks": [np.zeros((4, 5), int)]}, "mask of 5 x 4"),
        ([np.zeros((4, 4, 3), "u1")], {"masks": [np.full((4, 4), 7)]}, "value 7 on 16 pixels"),
        ([np.zeros((4, 4, 3), "u1")], {"masks": [np.zeros((4, 4))]}, "one-hot"),
        ([np.zeros((4, 4, 3), "u1")] * 2, {"masks": [np.zeros((4, 4), int)]}, "fewer masks"),
        ([np.zeros((4, 4, 3), "u1")], {"labels": [0, 1]}, "more labels"),
        ([np.zeros((4, 4, 3), "u1")], {"labels": [5]}, "label 5"),
        ([np.zeros((4, 4, 3), "u1")], {}, "neither masks nor labels"),
        ([np.zeros((4, 4, 3), "u1")] * 2, {"labels": [0, 1], "filenames": ["a", "a"]}, "twice"),
        (
            [np.zeros((4, 4, 3), "u1")] * 2,
            {"labels": [0, 1], "filenames": ["a.png", "a.jpg"]},
            "endings only",
        ),
        (
            [np.zeros((4, 4, 3), "u1")] * 2,
            {"labels": [0, 1], "filenames": ["a"]},
            "fewer filenames",
        ),
        (
            [np.zeros((4, 4, 3), "u1")] * 2,
            {"labels": [0, 1], "filenames": ["a", "b", "c"]},
            "more filenames",
        ),
    ],
)
def test_wrong_arrays_are_named_and_nothing_is_left(tmp_path, images, said, words):
    with pytest.raises(VocSegError, match=words):
        from_arrays(images, **said, name="a", class_names=["x", "y"], data_dir=tmp_path)
    assert version_folders(tmp_path) == []


def test_one_array_of_all_images_and_one_of_all_masks_build(tmp_path):
    images = np.zeros((3, 4, 5, 3), np.uint8)
    masks = np.arange(3, dtype=np.uint8)[:, np.newaxis, np.newaxis] + np.zeros((3, 4, 5), np.uint8)
    names = ["background", "a", "b"]
    builder = from_arrays(images, masks, name="stacked", class_names=names, data_dir=tmp_path)
    built = examples(builder, "train")
    assert [built[f"{n:08}.png"]["segmentation_mask"][0, 0, 0] for n in range(3)] == [0, 1, 2]


def test_a_name_that_means_void_is_void_in_masks_and_a_class_in_labels(tmp_path):
    image, mask = np.zeros((2, 2, 3), np.uint8), np.array([[0, 1], [2, 255]], np.uint8)
    names = ["void", "background", "a"]
    said = {"class_names": names, "data_dir": tmp_path}
    builder = from_arrays([image], [mask], name="masks", **said)
    (example,) = examples(builder, "train").values()
    assert builder.info.features["segmentation_mask"].names == ["background", "a"]
    assert example["segmentation_mask"][..., 0].tolist() == [[255, 0], [1, 255]]
    builder = from_arrays([image], labels=[2], name="labels", **said)
    assert builder.info.features["label"].names == names


def halves(values):
    """Masks of 4 x 6 pixels, the left half of the one value, the right half of the other."""
    return [
        np.repeat(np.array([[left] * 3 + [right] * 3], np.uint8), 4, axis=0)
        for left, right in values
    ]


def test_0_and_255_are_the_two_classes_as_in_a_build_of_files(tmp_path):
    images = [np.zeros((4, 6, 3), np.uint8)] * 3
    masks = halves([(0, 255), (0, 0), (255, 255)])
    said = {"name": "two", "class_names": ["background", "crack"]}
    with pytest.warns(UserWarning, match="So 0 is background and 255 is crack"):
        built = from_arrays(images, masks, data_dir=tmp_path / "list", **said)
    with pytest.warns(UserWarning, match="255 is crack"):
        from_arrays(images, np.stack(masks), data_dir=tmp_path / "array", **said)
    source = data_source(str(built.data_path), "train")
    found = {example["image/filename"]: example for example in source}
    for number, mask in enumerate(masks):
        example = found[f"{number:08}.png".encode()]
        assert np.array_equal(example["segmentation_mask"][..., 0], (mask == 255).astype(np.uint8))
        assert list(example["labels"]) == ([1] if mask.any() else [])
    with pytest.raises(MaskError, match=r"(?s)only the values 0 and 255.*list or an array"):
        from_arrays(images, iter(masks), data_dir=tmp_path / "iterator", **said)


def test_masks_of_255_alone_tell_neither_void_nor_the_second_class(tmp_path):
    images, masks = np.zeros((2, 4, 4, 3), np.uint8), np.full((2, 4, 4), 255, np.uint8)
    with pytest.raises(MaskError, match="two classes with the value 255 alone"):
        from_arrays(images, masks, name="x", class_names=["background", "crack"], data_dir=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([(0, 255), (1, 0)], ["background", "crack"]),
        ([(0, 255), (0, 0)], ["background", "crack", "hole"]),
        ([(0, 0), (0, 0)], ["background", "crack"]),
    ],
)
def test_255_stays_void_where_it_can_be(tmp_path, values, names):
    images, masks = [np.zeros((4, 6, 3), np.uint8)] * 2, halves(values)
    for place, given in (("list", masks), ("iterator", iter(masks))):
        built = from_arrays(images, given, name="x", class_names=names, data_dir=tmp_path / place)
        source = data_source(str(built.data_path), "train")
        found = {e["image/filename"]: e["segmentation_mask"][..., 0] for e in source}
        assert all(
            np.array_equal(found[f"{n:08}.png".encode()], mask) for n, mask in enumerate(masks)
        )


@pytest.mark.parametrize(
    ("labels", "words"),
    [([0, 0.9], r"00000001\.png: the label 0\.9"), (np.eye(2), r"a label of shape \[2\]")],
)
def test_labels_that_are_no_class_index_are_refused(tmp_path, labels, words):
    images = [np.zeros((4, 4, 3), np.uint8)] * 2
    with pytest.raises(VocSegError, match=words):
        from_arrays(images, labels=labels, name="x", class_names=TEN, data_dir=tmp_path)
    assert version_folders(tmp_path) == []


@pytest.mark.parametrize("labels", [np.array([[1], [0]]), [1.0, 0.0], np.array([True, False])])
def test_labels_may_be_numbers_of_any_kind(tmp_path, labels):
    images = [np.zeros((4, 4, 3), np.uint8)] * 2
    built = from_arrays(images, labels=labels, name="x", class_names=TEN, data_dir=tmp_path)
    found = examples(built, "train")
    assert [found[f"{n:08}.png"]["label"] for n in range(2)] == [1, 0]


def test_an_empty_name_is_refused(tmp_path):
    said = {"name": "x", "class_names": TEN, "data_dir": tmp_path}
    with pytest.raises(VocSegError, match="the name '', which names no file"):
        from_arrays([np.zeros((4, 4, 3), np.uint8)], labels=[1], filenames=[""], **said)


def test_names_that_differ_after_a_dot_have_ids_of_their_own(tmp_path):
    images = [np.zeros((4, 4, 3), np.uint8)] * 2
    said = {"name": "x", "class_names": TEN, "data_dir": tmp_path}
    built = from_arrays(images, labels=[0, 1], filenames=["img.1", "img.2"], **said)
    assert set(examples(built, "train")) == {"img.1", "img.2"}


def test_voc_stands_for_its_21_classes(tmp_path):
    image, mask = np.zeros((2, 2, 3), np.uint8), np.full((2, 2), 15, np.uint8)
    built = from_arrays([image], [mask], name="x", class_names=["voc"], data_dir=tmp_path)
    assert built.info.features["segmentation_mask"].names == list(VOC_CLASSES)
