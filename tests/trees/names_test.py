from hypothesis import given
from hypothesis import strategies as st
import pytest

from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.naming import ANY, Naming

NAMINGS = (ANY, Naming(suffix="_mask"), Naming.parse("gt_{id}.png"), Naming.parse("a/b_{id}_c"))


@given(st.from_regex(r"[ab_/c]{0,9}[ab_c]", fullmatch=True), st.sampled_from(NAMINGS))
def test_the_name_of_an_id_is_the_one_that_the_id_came_from(stem, naming):
    image_id = naming.id_of(f"{stem}.png")
    assert image_id is None or naming.name_of(image_id, ".png") == f"{stem}.png"


def test_each_name_keeps_its_own_ending_and_ids_are_sorted():
    names = Names()
    for image_id, ending in (("b", ".jpg"), ("c", ".PNG"), ("a", ".jpeg")):
        names.add(image_id, ending)
    names.finish(len)
    assert list(names.items()) == [("a", "a.jpeg"), ("b", "b.jpg"), ("c", "c.PNG")]


def test_an_id_that_is_not_there_has_no_name():
    names = Names()
    names.add("a", ".jpg")
    names.finish(len)
    with pytest.raises(KeyError):
        names["b"]


def test_names_of_two_folders_share_their_ids():
    images, masks = Names(), None
    images.add("2007_000001", ".jpg")
    images.finish(len)
    masks = Names(other=images)
    masks.add("".join(["2007_", "000001"]), ".png")
    masks.finish(len)
    assert next(iter(masks)) is next(iter(images))
