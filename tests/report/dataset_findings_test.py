from voc_seg_tfrecord.audit import leaks
from voc_seg_tfrecord.report.dataset_findings import make_sections


def side(name, role, sha256_by_id):
    return leaks.Side(name, role, sha256_by_id)


def test_a_leak_stands_before_a_note():
    test = side("test", leaks.EVALUATION, {"a": "1"})
    validation = side("validation", leaks.EVALUATION, {"a": "1"})
    train = side("train", leaks.TRAIN, {"a": "1"})
    overlaps = [leaks.find_overlap(test, validation), leaks.find_overlap(train, test)]
    titles = [section.title for section in make_sections({}, overlaps, [])]
    assert titles == ["Training data meets evaluation data", "Images in two splits"]


def test_an_example_is_listed_whether_it_is_shared_by_its_bytes_or_by_its_id():
    first = side("train", leaks.TRAIN, {"a": "1", "2008_000123": "2", "0001": "5"})
    second = side("test", leaks.EVALUATION, {"b": "1", "2008_000123": "3", "0001": "6"})
    (section,) = make_sections({}, [leaks.find_overlap(first, second)], [])
    assert section.text == "train and test share 2 examples."
    assert section.messages == ["a = b", "2008_000123, by its id"]
