import re
import runpy

import pytest
from support import pages
from support.paths import REPOSITORY

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.features import make_features
from voc_seg_tfrecord.reading import find

REFERENCE = REPOSITORY / "docs" / "reference"
site = runpy.run_path(str(REPOSITORY / "docs" / "make_reference.py"))


def first_cells(table):
    return re.findall(r"^\| `([^`]+)`", table, re.M)


def test_the_reference_documents_every_name_that_the_package_gives_out():
    documented = re.findall(r"^::: (\S+)$", (REFERENCE / "api.md").read_text(), re.M)
    modules = {f"voc_seg_tfrecord.{path}" for path in voc_seg_tfrecord._MODULES.values()}
    assert modules <= {*documented}
    names = {path.rpartition(".")[2] for path in documented}
    assert {*voc_seg_tfrecord.__all__, *voc_seg_tfrecord._FUNCTIONS} - {"VocSegError"} <= names
    assert voc_seg_tfrecord.VocSegError.__module__ in documented


def test_the_table_of_fields_has_every_field_that_a_config_takes():
    fields = first_cells(site["config_fields"]())
    with pytest.raises(ConfigError) as caught:
        VocSegConfig(name="x", no_such_field=1)
    taken = caught.value.expected.removeprefix("one of ").split(", ")
    of_tfds = {"version", "release_notes", "supported_versions", "description", "tags"}
    assert {*fields} == {*taken} - of_tfds - {"packaged_tree"}


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
    assert re.findall(r"^## (\w+)$", text, re.M) == [name.rstrip("_") for name in cli.COMMANDS]
    for option in (
        "NAME`: `cracks",
        "ROOT",
        "--class_names CLASS_NAMES",
        "--tile_overlap PIXELS",
        "--csv",
    ):
        assert f"`{option}`" in text


def test_the_table_of_errors_has_the_first_words_and_the_advice_of_an_error(tmp_path):
    with pytest.raises(ConfigError) as caught:
        find.find_dataset("nowhere", tmp_path)
    (row,) = (m for m in site["messages"]() if m.found.startswith("no such dataset in"))
    assert caught.value.found.startswith("no such dataset in")
    assert caught.value.remedy == row.remedy


def test_a_cell_of_a_table_shows_what_markdown_would_swallow():
    row = site["table"](("a",), [("x|y <z> *b* `c_d*`",)]).splitlines()[-1]
    assert row == r"| x\|y \<z> \*b\* `c_d*` |"


def test_every_page_is_in_the_navigation_once():
    assert sorted(pages.IN_ORDER) == sorted(pages.PAGES)
