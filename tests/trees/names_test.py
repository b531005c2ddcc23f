from hypothesis import given
from hypothesis import strategies as st
import pytest

from voc_seg_tfrecord.trees import names as module
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


def test_names_of_two_folders_hold_the_same_ids_once():
    images = Names()
    for image_id in ("b", "a"):
        images.add(image_id, ".jpg")
    images.finish(len)
    masks = Names(other=images)
    for image_id in ("a", "b"):
        masks.add(image_id, ".png")
    masks.finish(len)
    assert masks._ids is images._ids
    assert dict(masks) == {"a": "a.png", "b": "b.png"}


@pytest.mark.parametrize("there", ["", "a", "b", "ac", "abc", "cd", "0ab"])
def test_names_beside_others_hold_their_own_ids(there):
    images = Names()
    for image_id in "ab":
        images.add(image_id, ".jpg")
    images.finish(len)
    masks = Names(other=images)
    for image_id in there:
        masks.add(image_id, ".png")
    masks.finish(len)
    assert dict(masks) == {image_id: f"{image_id}.png" for image_id in there}


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from([".jpg", ".JPG", ".png"])), unique=True
    ),
    st.integers(1, 4),
)
def test_names_are_the_same_however_many_are_sorted_at_a_time(files, part):
    def rank(name):
        return name.endswith("png"), name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PART", part)
        names = Names()
        for image_id, ending in files:
            names.add(image_id, ending)
        names.finish(rank)
    all_names = {i: sorted((i + e for j, e in files if j == i), key=rank) for i, _ in files}
    assert dict(names) == {i: all_names[i][0] for i in sorted(all_names)}
    assert list(names) == sorted(all_names)
    assert names.twins == {i: found for i, found in all_names.items() if len(found) > 1}
