from markdown_it import MarkdownIt
import pytest
from support.published import ODD_NAMES

from voc_seg_tfrecord.cards import markdown

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def shown(text):
    """Returns the text of a page, and fails if it has any element of its own."""
    paragraph, inline, _ = PARSER.parse(text)
    assert paragraph.type == "paragraph_open"
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    return "".join(child.content for child in inline.children)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_shows_as_it_is(name):
    assert shown(markdown.word(name)) == " ".join(name.split())


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_in_a_table_stays_in_its_cell(name):
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {markdown.word(name)} | end |\n")
    cells = [token for token in tokens if token.type == "inline"]
    assert [cell.content for cell in cells[-1:]] == ["end"]
    assert "".join(child.content for child in cells[-2].children) == " ".join(name.split())


def test_paragraphs_stay_and_addresses_become_links():
    tokens = PARSER.parse(markdown.prose("One <b>.\n\n# two, see https://example.org/a_b_c."))
    inline = [token for token in tokens if token.type == "inline"]
    assert len(inline) == 2
    assert inline[0].children[0].content == "One <b>."
    assert "https://example.org/a_b_c" in [c.attrGet("href") for c in inline[1].children]
    assert not any(token.type == "heading_open" for token in tokens)


def test_a_fence_is_longer_than_any_within():
    (token,) = PARSER.parse(markdown.block("a\n````\nb\n```", "json"))
    assert (token.info, token.content) == ("json", "a\n````\nb\n```\n")
