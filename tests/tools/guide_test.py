"""The guides' tables of tools are those of the registry."""

import runpy

import pytest
from support.paths import REPOSITORY

script = runpy.run_path(str(REPOSITORY / "docs" / "make_tool_tables.py"))


@pytest.mark.parametrize("page", script["TABLES"])
def test_a_guide_shows_the_table_of_the_registry(page):
    text = (REPOSITORY / "docs" / "guides" / page).read_text()
    assert script["with_table"](page, text) == text, "run python docs/make_tool_tables.py"
