import pickle

from hypothesis import given
from hypothesis import strategies as st
import pytest

from voc_seg_tfrecord.formats import ids as module
from voc_seg_tfrecord.formats.ids import Ids

TEXTS = st.lists(st.text(st.characters(max_codepoint=0xFFFF), max_size=3))


@given(TEXTS)
def test_ids_are_a_sequence_like_the_list_that_they_were_made_of(texts):
    ids = Ids(texts)
    assert list(ids) == texts
    assert ids == texts
    assert len(ids) == len(texts)
    assert [ids[number] for number in range(-len(texts), len(texts))] == texts * 2
    assert ids[1:-1] == texts[1:-1]
    assert ids.repeated == (len(set(texts)) < len(texts))


@given(TEXTS, st.text(max_size=2))
def test_an_id_is_found_by_its_first_number_and_no_other_is(texts, other):
    ids = Ids(texts)
    assert [ids.number(text) for text in texts] == [texts.index(text) for text in texts]
    assert (other in ids) == (other in texts)
    assert (ids.number(other) is None) == (other not in texts)


def test_ids_are_equal_to_the_same_ids_only():
    ids = Ids(["ab", "c"])
    assert ids == Ids(["ab", "c"])
    for others in (["a", "bc"], ["c", "ab"], ["ab"], ["ab", "c", ""]):
        assert ids != Ids(others)
        assert ids != others
    assert ids != "abc"


def test_a_number_beyond_the_last_id_is_an_error():
    for number in (2, -3):
        with pytest.raises(IndexError):
            Ids(["a", "b"])[number]


def test_what_is_no_text_is_no_id():
    assert 1 not in Ids(["1"])


def test_text_beyond_what_narrow_bounds_hold_is_kept(monkeypatch):
    monkeypatch.setattr(module, "_NARROW", "B")
    texts = [f"{number:05}" for number in range(100)]
    assert Ids(texts) == texts


def test_a_copy_in_another_process_finds_its_ids():
    ids = Ids(["a", "b"])
    assert "b" in ids
    copy = pickle.loads(pickle.dumps(ids))
    assert "_table" not in vars(copy)
    assert copy.number("b") == 1
