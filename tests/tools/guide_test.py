"""The guides have the tables of tools, with a line for each tool whose shapes are drawn."""

import runpy

import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS

script = runpy.run_path(str(REPOSITORY / "docs" / "make_tool_tables.py"))


@pytest.mark.parametrize("page", script["TABLES"])
def test_a_guide_shows_the_table_of_tools(page):
    text = (REPOSITORY / "docs" / "guides" / page).read_text()
    assert script["with_table"](page, text) == text, "run python docs/make_tool_tables.py"


def test_each_tool_whose_shapes_are_drawn_has_a_line():
    assert list(script["SHAPES"]) == [tool.name for tool in SHAPE_TOOLS]
