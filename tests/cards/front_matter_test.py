import pytest
from support.published import ODD_NAMES
import yaml

from voc_seg_tfrecord.cards import front_matter

LINES = ["a\nb", "a\x85b", "a\u2028b", "\x7f", "\ufeffx", "a\tb", "\ufffe"]


@pytest.mark.parametrize("text", [*ODD_NAMES, *LINES])
def test_yaml_reads_each_text_as_it_was(text):
    fields = {"name": text, "list": [text, "b"], "deep": [{"a": text, "b": [{"c": text}]}]}
    written = front_matter.write(fields)
    first, *body, last = written.split("\n")[:-1]
    assert (first, last) == ("---", "---")
    assert "---" not in body
    assert yaml.safe_load("\n".join(body)) == fields


@pytest.mark.parametrize(
    ("examples", "category"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (2913, "1K<n<10K"), (10**9, "10M<n<100M")],
)
def test_sizes_have_the_names_of_hugging_face(examples, category):
    assert front_matter.size_category(examples) == category


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        (None, {}),
        ("", {}),
        ("CC BY 4.0", {"license": "cc-by-4.0"}),
        ("MIT", {"license": "mit"}),
        ("Only for Tuesdays", {"license": "other", "license_name": "Only for Tuesdays"}),
        ("Copyright\nAll rights reserved", {"license": "other"}),
    ],
)
def test_a_licence_is_told_only_if_somebody_told_it(said, fields):
    assert front_matter.license_fields(said) == fields
