import pickle

from voc_seg_tfrecord import errors


def test_a_message_names_file_found_expected_and_remedy():
    error = errors.MaskError("m.png", found="value 21", expected="0 to 20", remedy="mend it")
    assert str(error) == "m.png: value 21\n  expected: 0 to 20\n  what to do: mend it"


def test_a_split_shows_the_first_problems_and_counts_all():
    problems = [errors.MaskError(f"{n}.png", found="wrong") for n in range(8)]
    text = str(errors.SplitError("train", problems, 20))
    assert "8 of 20 examples" in text
    assert "4.png" in text
    assert "5.png" not in text
    assert "and 3 more" in text


def test_errors_survive_pickling():
    problem = errors.MaskError("m.png", found="value 21", remedy="mend it")
    for error in (problem, errors.SplitError("train", [problem], 3)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
