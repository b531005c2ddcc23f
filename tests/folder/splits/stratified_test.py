from fractions import Fraction
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from support.python import run_python

from voc_seg_tfrecord.folder.splits.by_ratio import assign
from voc_seg_tfrecord.folder.splits.stratified import apportion, stratify

RATIOS = {"train": 0.6, "validation": 0.2, "test": 0.2}
SHARES = [Fraction(str(ratio)) for ratio in RATIOS.values()]
LABELS = st.lists(st.sets(st.integers(0, 4)), min_size=5, max_size=40)


def numbered(labels):
    return {f"img_{n}": sorted(found) for n, found in enumerate(labels)}


def covered(classes, splits):
    """How many pairs of a class and a split that has it there are."""
    return sum(len({c for i in ids for c in classes[i]}) for ids in splits)


@given(LABELS, st.integers(0, 5))
@settings(max_examples=40)
def test_numbers_are_exact_and_each_id_is_in_one_split(labels, seed):
    classes = numbered(labels)
    splits = stratify(classes, RATIOS, seed)
    assert [len(ids) for ids in splits.values()] == apportion(len(classes), SHARES)
    assert sorted(i for ids in splits.values() for i in ids) == sorted(classes)


@given(st.lists(st.sets(st.integers(0, 3)), min_size=5, max_size=8), st.integers(0, 3))
@settings(max_examples=24)
def test_each_class_is_in_each_split_wherever_a_division_of_that_size_allows_it(labels, seed):
    classes = numbered(labels)
    _, second, third = apportion(len(classes), SHARES)
    every = 3 * len({c for found in labels for c in found})
    possible = any(
        covered(classes, (set(classes) - {*b, *c}, b, c)) == every
        for b in itertools.combinations(classes, second)
        for c in itertools.combinations(sorted(set(classes) - set(b)), third)
    )
    found = covered(classes, stratify(classes, RATIOS, seed).values())
    assert not possible or found == every


def test_a_rare_class_is_in_every_split_where_a_hash_leaves_it_out():
    classes = {f"img_{n}": [0] + [1] * (n < 3) for n in range(300)}
    ratios = {"train": 0.8, "validation": 0.1, "test": 0.1}
    by_hash = assign(classes, ratios, 0)
    assert covered(classes, by_hash.values()) < 6
    splits = stratify(classes, ratios, 0)
    assert covered(classes, splits.values()) == 6
    assert [len(ids) for ids in splits.values()] == [240, 30, 30]


def test_frequent_classes_are_shared_out_by_the_ratios():
    classes = {f"img_{n}": [0] + [1] * (n % 2) + [2] * (n % 10 == 0) for n in range(1000)}
    splits = stratify(classes, RATIOS, 4)
    for c, images in ((1, 500), (2, 100)):
        shares = [sum(c in classes[i] for i in ids) / images for ids in splits.values()]
        assert shares == pytest.approx(list(RATIOS.values()), abs=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sets(st.integers(0, 3))), min_size=3, max_size=60),
    st.integers(0, 5),
    st.booleans(),
)
@settings(max_examples=60)
def test_no_group_is_divided(members, seed, by_hash):
    classes = {f"v{group}_{n}": found for n, (group, found) in enumerate(members)}
    groups = {image_id: image_id.partition("_")[0] for image_id in classes}
    divide = assign if by_hash else stratify
    splits = divide(classes, RATIOS, seed, groups)
    assert sorted(i for ids in splits.values() for i in ids) == sorted(classes)
    places = [{groups[i] for i in ids} for ids in splits.values()]
    assert sum(map(len, places)) == len(set(groups.values()))
    assert by_hash or all(places) or len(set(groups.values())) < len(RATIOS)


def test_groups_of_equal_size_come_as_near_the_ratios_as_they_can():
    groups = {f"v{n // 10}_{n}": f"v{n // 10}" for n in range(200)}
    splits = stratify(dict.fromkeys(groups, (0,)), RATIOS, 0, groups)
    assert [len(ids) for ids in splits.values()] == [120, 40, 40]


def test_another_seed_gives_another_assignment():
    classes = numbered([{n % 3} for n in range(50)])
    assert stratify(classes, RATIOS, 0) != stratify(classes, RATIOS, 1)


def test_the_order_of_ids_and_of_their_classes_changes_nothing():
    classes = numbered([{n % 3, n % 7} for n in range(60)])
    turned = {i: classes[i][::-1] for i in reversed(classes)}
    assert stratify(classes, RATIOS, 0) == stratify(turned, RATIOS, 0)


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_an_assignment_is_the_same_in_every_process_and_pinned(hash_seed):
    code = (
        "from voc_seg_tfrecord.folder.splits.stratified import stratify\n"
        "classes = {f'img_{n}': {n % 3, n % 7, 10 + n % 11} for n in range(40)}\n"
        "print(stratify(classes, {'train': 0.8, 'validation': 0.1, 'test': 0.1}, 0)['test'])"
    )
    printed = run_python("-c", code, PYTHONHASHSEED=hash_seed)
    assert printed == "['img_19', 'img_27', 'img_31', 'img_32']\n"


@pytest.mark.parametrize(
    "parts", ["000", "100", "110", "111", "211", "311", "522", (60, 20, 20), (61, 20, 20)]
)
def test_a_number_is_divided_by_the_largest_remainder_and_first_one_for_each(parts):
    parts = [*map(int, parts)]
    assert apportion(sum(parts), SHARES) == parts


def test_small_shares_get_one_too():
    shares = [Fraction("0.98"), Fraction("0.01"), Fraction("0.01")]
    assert apportion(10, shares) == [8, 1, 1]
