import pytest

from voc_seg_tfrecord.audit import matching
from voc_seg_tfrecord.audit.matching import BY_IMAGE, BY_NAME, ComparedExample


def examples(text):
    """Returns examples, given as `split/id=image`; of `?` the image is not known."""
    found = []
    for word in text.split():
        place, _, image = word.partition("=")
        split, _, image_id = place.partition(":")
        found.append(ComparedExample(image_id, split, None if image == "?" else image))
    return found


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        # Folders of two splits may have the same id for different images.
        ("train:0001=A test:0001=B", "test:0001=A dev:0001=B", "test:0001>test:0001"),
        # An image whose id has only its last part in common moved where its bytes did.
        ("val:val/1=A val:val/2=B", "train:train/1=C train:x=B", "val:val/2>train:x"),
        ("val:val/2=B", "train:train/x=B train:train/2=B", "val:val/2>train:train/2"),
        ("val:a/1=A val:b/1=A", "train:c/1=A train:d/1=A", "val:a/1>train:c/1 val:b/1>train:d/1"),
        # Nobody knows which of several copies is which.
        ("train:a=A train:b=A", "train:c=A train:d=A", ""),
        ("train:a=A", "train:c=A train:d=A", ""),
        ("train:a=A train:b=A", "train:a=A train:c=A", "train:a>train:a train:b>train:c"),
        ("train:a=?", "train:b=?", ""),
    ],
)
def test_examples_are_matched_by_image(before, after, pairs):
    matches = matching.match(examples(before), examples(after), BY_IMAGE)
    shown = [f"{a.split}:{a.id}>{b.split}:{b.id}" for a, b in matches.pairs]
    assert " ".join(sorted(shown)) == pairs
    matched = [*sum(matches.pairs, ())]
    assert sorted(e.id for e in [*matches.lost, *matches.new, *matched]) == sorted(
        e.id for e in examples(f"{before} {after}")
    )


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ("train:0001=A", "test:0001=B", "train:0001>test:0001"),
        ("val:val/1=? train:train/1=?", "train:all/1=?", "train:train/1>train:all/1"),
        ("val:val/1=?", "train:all/1=?", "val:val/1>train:all/1"),
        (
            "train:a/1=A train:b/1=B",
            "val:c/1=B train:d/1=A",
            "train:a/1>train:d/1 train:b/1>val:c/1",
        ),
    ],
)
def test_examples_of_a_new_version_are_matched_by_name_too(before, after, pairs):
    rules = (*BY_IMAGE, *BY_NAME)
    matches = matching.match(examples(before), examples(after), rules)
    shown = [f"{a.split}:{a.id}>{b.split}:{b.id}" for a, b in matches.pairs]
    assert " ".join(sorted(shown)) == pairs
