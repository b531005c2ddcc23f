import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from support.encoding import decoded, encoded

from voc_seg_tfrecord.core.errors import ConfigError, ImageError
from voc_seg_tfrecord.core.example import ExampleSpec, KeyedExample, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.core.names import TILE
from voc_seg_tfrecord.core.tiling import Tiling, image_of
from voc_seg_tfrecord.formats import images, jpeg, pillow
from voc_seg_tfrecord.writing.examples import make_example, try_examples
from voc_seg_tfrecord.writing.tiles import cut_tiles

NAMES = ("background", "crack", "hole")
SPEC = ExampleSpec(NAMES, index_rule(3), instances=True)


def raw(height, width, kind="PNG", channels=3, seed=0):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (height, width, channels), np.uint8).squeeze(
        -1 if channels == 1 else ()
    )
    mask = rng.choice(np.array([0, 1, 2, 255], np.uint8), (height, width))
    instances = rng.choice(np.array([0, 1, 7, 255], np.uint8), (height, width))
    return RawExample(
        File(encoded(image, kind), "a.jpg"),
        "sub/a.jpg",
        File(encoded(mask), "a.png"),
        instances=File(encoded(instances), "o.png"),
    )


def tiles(source, tiling):
    example = make_example(source, SPEC)
    return example, dict(cut_all(source, example, tiling))


def cut_all(source, example, tiling):
    others = {name: value for name, value in example.items() if name != "image"}
    image = images.open_image(source.image)
    rest = KeyedExample("sub/a", others)
    cut = cut_tiles(rest, image, tiling, where="a.jpg", background=0)
    return [(tile.key, tile.features) for tile in cut]


@pytest.mark.slow
@settings(max_examples=24)
@given(st.data())
def test_the_tiles_together_are_the_image_and_its_masks(data):
    size = data.draw(st.integers(1, 20))
    tiling = Tiling(size, data.draw(st.integers(0, size - 1)))
    height, width = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    kind = data.draw(st.sampled_from(["PNG", "JPEG", "BMP", "TIFF", "WEBP"]))
    example, found = tiles(raw(height, width, kind, data.draw(st.sampled_from([1, 3]))), tiling)
    for name in ("image", "segmentation_mask", "instance_mask"):
        whole = decoded(example[name])
        seen = np.zeros((height, width), bool)
        for tile in found.values():
            part = decoded(tile[name])
            at = (
                slice(tile["tile/y"], tile["tile/y"] + tile["image/height"]),
                slice(tile["tile/x"], tile["tile/x"] + tile["image/width"]),
            )
            assert (part == whole[at]).all()
            seen[at] = True
        assert seen.all()


def test_a_tile_is_found_where_it_begins_and_nowhere_else():
    tiling = Tiling(4, 1)
    for tile in tiling.tiles(10, 7):
        assert tiling.tile_at(10, 7, tile.top, tile.left) == tile
        assert tiling.tile_at(10, 7, tile.top + 1, tile.left) is None
        assert tiling.tile_at(10, 7, tile.top, tile.left + 1) is None


def test_a_tile_says_where_it_lies_and_has_the_labels_of_its_own_mask():
    example, found = tiles(raw(10, 7), Tiling(4, 1))
    assert list(found) == [f"sub/a_r{r}_c{c}" for r in range(3) for c in range(2)]
    for key, tile in found.items():
        assert tile["image/filename"] == f"{key}.png"
        assert [tile[name] for name in TILE if name not in ("tile/y", "tile/x")] == ["sub/a", 10, 7]
        values = np.unique(decoded(tile["segmentation_mask"]))
        assert tile["labels"] == [v for v in values if v not in (0, 255)]
    last = found["sub/a_r2_c1"]
    assert (last["tile/y"], last["tile/x"]) == (6, 3)
    assert sorted(last) == sorted({*example, *TILE})


def test_a_part_without_any_class_has_no_labels():
    mask = np.zeros((4, 8), np.uint8)
    mask[:, 4:6], mask[:, 6:] = 2, 255
    source = RawExample(
        File(encoded(np.zeros((4, 8, 3), np.uint8)), "a.png"), "a.png", File(encoded(mask), "m")
    )
    example = make_example(source, ExampleSpec(NAMES, index_rule(3)))
    found = dict(cut_all(source, example, Tiling(2)))
    labels = [found[f"sub/a_r0_c{column}"]["labels"] for column in range(4)]
    assert labels == [[], [], [2], []]
    assert (decoded(found["sub/a_r1_c3"]["segmentation_mask"]) == 255).all()


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_an_image_that_is_one_tile_keeps_its_bytes_and_is_not_padded(form):
    source = raw(5, 8, "JPEG")
    _, found = tiles(source, Tiling(8, format=form))
    (tile,) = found.values()
    assert tile["image"] is source.image.data
    assert tile["image/filename"] == "sub/a_r0_c0.jpg"
    assert (tile["image/height"], tile["image/width"]) == (5, 8)
    assert (tile["tile/image_height"], tile["tile/image_width"]) == (5, 8)


def test_jpeg_tiles_are_encoded_again_only_when_they_were_asked_for():
    source = raw(40, 40, "JPEG")
    for form, magic, ending in (("png", b"\x89PNG", ".png"), ("jpeg", b"\xff\xd8", ".jpg")):
        _, found = tiles(source, Tiling(16, format=form))
        assert all(tile["image"].startswith(magic) for tile in found.values())
        assert all(tile["image/filename"].endswith(ending) for tile in found.values())


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
def test_an_image_is_decoded_once_for_all_its_tiles(monkeypatch, kind):
    decoded = []
    source = raw(30, 30, kind)
    example = make_example(source, SPEC)
    decoded.clear()
    for name in ("decode", "undo_png_filters"):
        decode = getattr(pillow, name)

        def note(*args, decode=decode, **options):
            decoded.append(args)
            return decode(*args, **options)

        monkeypatch.setattr(pillow, name, note)
    monkeypatch.setattr(images, "check_readable", lambda *_: None)
    monkeypatch.setattr(jpeg, "find_doubt_by_both_decoders", lambda *_: None)
    assert len(cut_all(source, example, Tiling(4))) == 64
    assert len(decoded) == 3  # image, mask and instance mask


def test_a_jpeg_whose_pixels_are_damaged_is_an_error_that_names_its_file():
    source = raw(64, 64, "PNG")
    broken = bytearray(source.image.data)
    broken[len(broken) // 2] ^= 0xFF

    class Item:
        id = "a"

        def read(self):
            return RawExample(File(bytes(broken), "a.jpg"), "a.jpg", source.mask, source.instances)

    spec = ExampleSpec(NAMES, index_rule(3), tiling=Tiling(16))
    found = try_examples(spec, Item())
    assert isinstance(found, ImageError)
    assert "a.jpg" in str(found)


@st.composite
def grids(draw):
    size = draw(st.integers(1, 12))
    overlap = draw(st.integers(0, size - 1))
    return Tiling(size, overlap), draw(st.integers(1, 40)), draw(st.integers(1, 40))


@given(grids())
def test_tiles_lie_inside_cover_all_and_have_one_size(grid):
    tiling, height, width = grid
    covered = np.zeros((height, width), int)
    for tile in tiling.tiles(height, width):
        assert tile.height == min(tiling.size, height)
        assert tile.width == min(tiling.size, width)
        assert 0 <= tile.top <= height - tile.height
        assert 0 <= tile.left <= width - tile.width
        covered[tile.window] += 1
    assert (covered > 0).all()


@given(grids())
def test_owned_parts_cover_each_pixel_once_and_belong_to_the_first_tile(grid):
    tiling, height, width = grid
    first = np.full((height, width), -1)
    owner = np.full((height, width), -1)
    for number, tile in enumerate(tiling.tiles(height, width)):
        seen = first[tile.window]
        seen[seen < 0] = number
        part = owner[tile.window][tile.own]
        assert (part < 0).all()
        part[:] = number
    assert (owner == first).all()


def starts(tiling, length):
    return [tile.top for tile in tiling.tiles(length, 1)]


@given(grids())
def test_no_tile_is_there_twice_and_neighbors_share_at_least_the_overlap(grid):
    tiling, height, _ = grid
    gaps = np.diff(starts(tiling, height))
    assert (gaps > 0).all()
    assert (gaps <= tiling.size - tiling.overlap).all()
    assert (gaps[:-1] == tiling.size - tiling.overlap).all()


def test_the_last_tiles_are_moved_inside():
    assert starts(Tiling(512), 1200) == [0, 512, 688]
    assert starts(Tiling(512, 64), 1408) == [0, 448, 896]
    assert starts(Tiling(512), 512) == starts(Tiling(512), 3) == [0]


def test_the_name_of_a_tile_tells_its_image_even_if_that_looks_like_a_tile():
    tile = list(Tiling(4).tiles(8, 12))[5]
    assert tile.name("a/b_r1_c2") == "a/b_r1_c2_r1_c2"
    assert image_of(tile.name("a/b_r1_c2")) == "a/b_r1_c2"
    assert image_of("a_r1") is None


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"size": 0}, "option tile: 0"),
        ({"size": 2.0}, "option tile: 2.0"),
        ({"size": 8, "overlap": 8}, "option tile_overlap: 8\n  expected: 0 to 7"),
        ({"size": 8, "overlap": -1}, "option tile_overlap: -1"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(said, found):
    with pytest.raises(ConfigError) as refused:
        Tiling(**said)
    assert found in str(refused.value)


@pytest.mark.parametrize("tiling", [None, Tiling(4), Tiling(64)])
def test_an_image_whose_name_no_file_may_have_is_refused_whole_and_in_tiles(tiling):
    class Item:
        id = "a"

        def read(self):
            return dataclasses.replace(raw(10, 7), filename="a\x01/..\\b?.png")

    error = try_examples(dataclasses.replace(SPEC, tiling=tiling), Item())
    assert isinstance(error, ImageError)
    assert error.remedy == "rename the image and its mask"
