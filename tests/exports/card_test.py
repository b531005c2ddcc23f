import json
import re

from markdown_it import MarkdownIt
import numpy as np
import pytest
from support.building import ODD_NAMES, build, examples, odd_names
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds
import yaml

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.build_from.run import from_arrays
from voc_seg_tfrecord.exports import card
from voc_seg_tfrecord.exports.card import summarize
from voc_seg_tfrecord.exports.export import BASE_LAYOUTS, write_card

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def read(text):
    """Returns the front matter and the body of a card."""
    _, matter, body = re.split(r"^---$", text, maxsplit=2, flags=re.M)
    return yaml.safe_load(matter), body


def written(builder, layout="tfds"):
    return card.write(builder, summarize(builder), layout)


def cells(body, heading):
    """Returns the rows of the table below a heading."""
    section = body.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tokens = [t for t in PARSER.parse(section) if t.type in ("inline", "tr_open")]
    rows = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif rows:
            rows[-1].append("".join(child.content for child in token.children))
    return rows[1:]


def test_the_front_matter_is_in_the_terms_of_hugging_face(sample):
    matter, _ = read(written(sample, "parquet"))
    assert list(matter.pop("dataset_info")) == ["features", "splits"]
    assert matter == {
        "pretty_name": "sample",
        "task_categories": ["image-segmentation", "object-detection"],
        "task_ids": ["semantic-segmentation", "instance-segmentation"],
        "size_categories": ["n<1K"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": split, "path": f"data/{split}-*"} for split in sample.info.splits
                ],
            }
        ],
    }
    assert "configs" not in read(written(sample, "voc"))[0]


def test_shares_and_images_of_classes_are_those_of_the_masks(sample):
    rows = cells(read(written(sample))[1], "Classes")
    masks = [
        example["segmentation_mask"]
        for split in sample.info.splits
        for example in examples(sample, split).values()
    ]
    values = np.concatenate([mask.ravel() for mask in masks])
    valid = values[values != 255]
    for index, name in enumerate(sample.info.features["segmentation_mask"].names):
        share = f"{(valid == index).mean():.3%}"
        images = sum(index in mask for mask in masks)
        assert rows[index][:4] == [str(index), name, share, str(images)]
    assert f"is {(values == 255).mean():.3%} of all pixels" in written(sample)


def test_splits_and_the_fingerprint_are_those_that_verify_finds(sample):
    text, report = written(sample), verify.verify(sample)
    counts = {"test": "1", "train": "3", "validation": "2"}
    rows = [[name, counts[name], report.splits[name].ids_sha256] for name in counts]
    assert cells(read(text)[1].partition("The ids are hashed")[0], "Splits") == rows
    assert f"\n{report.fingerprint}\n" in text


def test_names_of_classes_show_as_they_are_whatever_they_mean_in_markdown(tmp_path):
    built = odd_names(tmp_path)
    names = built.info.features["segmentation_mask"].names
    assert len(names) == len(ODD_NAMES)
    text = written(built)
    rows = cells(read(text)[1], "Classes")
    assert [row[1] for row in rows] == [" ".join(name.split()) for name in names]
    assert not any(token.type == "html_block" for token in PARSER.parse(text))


def own_card(folder, **fields):
    """Returns the card of own data of which their owner said this."""
    names = [f"class {n}" for n in range(21)]
    config = VocSegConfig(name="mine", class_names=names, splits={"train": "train"}, **fields)
    return written(build(folder, config, DUMMY_DATA / "VOCdevkit" / "VOC2012"))


def test_own_data_say_nothing_of_voc_and_only_what_their_owner_said(tmp_path):
    text = written(odd_names(tmp_path / "one"))
    assert not re.search("pascal|everingham|citation|license", text, re.IGNORECASE)
    assert "license" not in read(text)[0]
    text = own_card(
        tmp_path / "two",
        description="Walls.\n\nSee https://example.org/walls.",
        citation="@misc{walls, title={Walls}}",
        homepage="https://example.org/walls/",
        license="CC BY 4.0",
    )
    assert "\n## Citation\n\n```bibtex\n@misc{walls, title={Walls}}\n```\n" in text
    assert "\n## License\n\nCC BY 4.0\n" in text
    assert read(text)[0]["license"] == "cc-by-4.0"
    assert "Page: <https://example.org/walls/>" in text
    assert "catalog" not in text


def test_nothing_that_an_owner_says_is_more_than_text(tmp_path):
    text = own_card(
        tmp_path,
        description="---\n# One\n<script>alert(1)</script>\n\n==\n| a | b |",
        citation="```\n</pre><b>",
        homepage="https://example.org/><script>",
        license="<img src=x onerror=alert(1)>",
    )
    tokens = PARSER.parse(read(text)[1])
    inline = [child for token in tokens for child in token.children or ()]
    assert not [token for token in [*tokens, *inline] if token.type.startswith("html")]
    headings = [tokens[n + 1].content for n, t in enumerate(tokens) if t.type == "heading_open"]
    assert headings[0] == "mine"
    assert len(headings) == len(set(headings)) == 8


def test_a_release_carries_its_own_citation(tmp_path):
    config = VocSegConfig(name="part", release="2012", strict=False)
    text = written(build(tmp_path, config, DUMMY_DATA))
    assert "Everingham" in text
    assert read(text)[0]["pretty_name"] == "Pascal VOC segmentation, part"


@pytest.mark.slow_but_first
@pytest.mark.parametrize("layout", ["tfds", *BASE_LAYOUTS])
def test_a_card_is_the_same_wherever_the_dataset_lies(tmp_path, layout):
    first, second = (odd_names(tmp_path / place) for place in ("here", "there"))
    again = tfds.builder_from_directory(second.data_dir)
    assert written(first, layout) == written(again, layout)
    assert str(tmp_path) not in written(first, layout)


def test_a_card_of_parquet_says_the_bytes_of_each_split_without_which_datasets_warns(tmp_path):
    built = odd_names(tmp_path)
    said = {s["name"]: s for s in read(written(built, "parquet"))[0]["dataset_info"]["splits"]}
    for name, split in built.info.splits.items():
        assert said[name]["num_bytes"] == split.num_bytes > 0
        assert said[name]["num_examples"] == split.num_examples


def test_images_with_one_label_each_have_a_card_too(tmp_path):
    images = [np.zeros((5, 6, 3), np.uint8)] * 3
    built = from_arrays(
        images, labels=[1, 0, 1], name="x", class_names=["a", "no"], data_dir=tmp_path
    )
    matter, body = read(written(built, "raw"))
    assert matter["task_categories"] == ["image-classification"]
    assert cells(body, "Classes") == [["0", "a", "1"], ["1", "no", "2"]]
    assert "Masks" not in body


def test_the_config_on_the_card_is_the_one_that_built_it(tmp_path):
    built = odd_names(tmp_path)
    (config,) = re.findall(r"```json\n(.*)\n```", written(built))
    assert json.loads(config)["name"] == "x"


def test_a_card_beside_the_dataset_leaves_it_as_it_is(tmp_path):
    built = odd_names(tmp_path)
    for _ in range(2):
        write_card(built, built.data_dir)
    report = verify.verify(tfds.builder_from_directory(built.data_dir))
    assert not report.splits["train"].faults


LINES = ["a\nb", "a\x85b", "a\u2028b", "\x7f", "\ufeffx", "a\tb", "\ufffe"]


@pytest.mark.parametrize("text", [*ODD_NAMES, *LINES])
def test_yaml_reads_each_text_as_it_was(text):
    fields = {"name": text, "list": [text, "b"], "deep": [{"a": text, "b": [{"c": text}]}]}
    fields |= {"map": {"0": text, "b": {"1": [{"c": text, "d": {"e": text}}]}}}
    written = card.front_matter(fields)
    first, *body, last = written.split("\n")[:-1]
    assert (first, last) == ("---", "---")
    assert "---" not in body
    assert yaml.safe_load("\n".join(body)) == fields


@pytest.mark.parametrize(
    ("examples", "category"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (2913, "1K<n<10K"), (10**9, "10M<n<100M")],
)
def test_sizes_have_the_names_of_hugging_face(examples, category):
    assert card.size_category(examples) == category


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
def test_a_license_is_told_only_if_somebody_told_it(said, fields):
    assert card.license_fields(said) == fields


def shown(text):
    """Returns the text of a page, and fails if it has any element of its own."""
    paragraph, inline, _ = PARSER.parse(text)
    assert paragraph.type == "paragraph_open"
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    return "".join(child.content for child in inline.children)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_shows_as_it_is(name):
    assert shown(card.markdown_word(name)) == " ".join(name.split())


def test_paragraphs_stay_and_addresses_become_links():
    tokens = PARSER.parse(card.markdown_prose("One <b>.\n\n# two, see https://example.org/a_b_c."))
    inline = [token for token in tokens if token.type == "inline"]
    assert len(inline) == 2
    assert inline[0].children[0].content == "One <b>."
    assert "https://example.org/a_b_c" in [c.attrGet("href") for c in inline[1].children]
    assert not any(token.type == "heading_open" for token in tokens)


def test_a_fence_is_longer_than_any_within():
    (token,) = PARSER.parse(card.markdown_block("a\n````\nb\n```", "json"))
    assert (token.info, token.content) == ("json", "a\n````\nb\n```\n")
