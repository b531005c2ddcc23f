import argparse
import re
import runpy

import pytest
from support import pages
from support.paths import REPOSITORY

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import make_features

REFERENCE = REPOSITORY / "docs" / "reference"
site = runpy.run_path(str(REPOSITORY / "docs" / "make_reference.py"))


def names_in_configs(tables):
    """Returns the names that a config has for the fields, in whichever column they stand."""
    return re.findall(r"^\| (?:`--.*? \| )?`([\w.]+)`", tables, re.M)


@pytest.mark.slow  # the pages are made anew before a release, not with every message
@pytest.mark.parametrize("page", site["pages"](), ids=lambda page: page.name)
def test_a_page_of_the_reference_holds_what_the_script_makes(page):
    text = page.read_text()
    assert site["fill"](text) == text, "run python docs/make_reference.py"


def test_the_reference_documents_every_public_name():
    page = (REFERENCE / "api.md").read_text()
    documented = {*re.findall(r"^### (\w+)$", page, re.M)}
    documented |= {*re.findall(r"^`voc_seg_tfrecord\.(\w+)`$", page, re.M)}
    documented |= {*re.findall(r"`voc_seg_tfrecord\.(\w+)`", page.partition("<!-- made")[0])}
    public = {*voc_seg_tfrecord.__all__, *voc_seg_tfrecord._FUNCTIONS, *voc_seg_tfrecord._MODULES}
    assert public <= documented


def test_a_docstring_becomes_lists_of_its_sections():
    text = site["as_markdown"]("Does it.\n\nArgs:\n  a: one\n    line.\n\nReturns:\n  A b.\n")
    assert text == "Does it.\n\n**Args**\n\n- `a`: one line.\n\n**Returns**\n\nA b."


def test_an_argument_that_several_functions_share_becomes_a_link():
    text = site["as_markdown"](
        "Does it.\n\nArgs:\n  a: one\n    line.\n  b: two\n", {"a": "one line."}
    )
    assert text.endswith(
        "- `b`: two\n- `a`: [as in other functions](#arguments-of-several-functions)"
    )


def test_the_table_of_fields_has_every_field_that_a_config_takes():
    fields = {name for name in names_in_configs(site["fields"]()) if "." not in name}
    with pytest.raises(ConfigError) as caught:
        VocSegConfig(name="x", no_such_field=1)
    taken = caught.value.expected.removeprefix("one of ").split(", ")
    of_tfds = {"version", "release_notes", "supported_versions", "tags"}
    assert fields == {*taken} - of_tfds - {"packaged_tree"}


@pytest.mark.parametrize(
    "config",
    [
        VocSegConfig(name="a", release="2012_aug", objects=True),
        VocSegConfig(name="b", tile=8),
        VocSegConfig(name="c", task="classification"),
        VocSegConfig(name="d", release="2012_test"),
    ],
    ids=lambda config: config.name,
)
def test_the_page_on_features_has_every_feature(config):
    table = (REFERENCE / "features.md").read_text()
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in row.split("`")}
    assert {*make_features(config)} <= named


def test_the_tables_of_options_have_every_command_and_option():
    text = site["options"]()
    assert re.findall(r"^### (\w+)$", text, re.M) == [name.rstrip("_") for name in cli.COMMANDS]
    page = (REFERENCE / "command-line.md").read_text()
    for parser in site["command_parsers"]().values():
        for action in parser._actions:
            if action.option_strings and action.help != argparse.SUPPRESS and action.dest != "help":
                assert f"`{action.option_strings[0]}" in page


def test_a_cell_of_a_table_shows_what_markdown_would_swallow():
    row = site["table"](("a",), [("x|y <z> *b* `c_d*`",)]).splitlines()[-1]
    assert row == r"| x\|y \<z> \*b\* `c_d*` |"


def test_every_page_is_in_the_navigation_once():
    assert sorted(pages.IN_ORDER) == sorted(pages.PAGES)
