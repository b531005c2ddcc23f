from voc_seg_tfrecord.audit.record import TilePlace
from voc_seg_tfrecord.audit.verify import Fault, _tile_faults
from voc_seg_tfrecord.core.tiling import Tiling

TILING = Tiling(4)


def places(ids, side):
    return {tile_id: TilePlace("wall", (side, side), (0, 0)) for tile_id in ids}


def test_a_missing_tile_is_named():
    there = places(["wall_r0_c0", "wall_r1_c0", "wall_r1_c1"], 8)
    (found,) = _tile_faults("train", there, TILING)
    assert found == Fault(
        "train", "wall_r0_c1", "missing, although the image has other tiles", True
    )


def test_many_tiles_with_wrong_ids_are_one_finding():
    wrong_ids = [f"x{number}" for number in range(40 * 40)]
    (found,) = _tile_faults("train", places(wrong_ids, 160), TILING)
    assert found == Fault("train", "wall", "missing: 1,600 of its tiles", True)


def test_tiles_that_give_different_sizes_of_their_image_are_a_finding():
    both = places(["wall_r0_c0"], 8) | places(["wall_r0_c1"], 9)
    (found,) = _tile_faults("train", both, TILING)
    assert (found.id, found.is_missing) == ("wall", False)
    assert found.found == "its tiles give different sizes of the image: [(8, 8), (9, 9)]"
