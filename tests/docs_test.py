import dataclasses
import itertools
import pathlib
import re
import shutil

import matplotlib as mpl
import pytest
from support import pages
from support.paths import REPOSITORY
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.named_lists import named_lists

# One word is no reason.
REASON = re.compile(r"\S+( \S+){2,}")
EVERY_PAGE = [
    path
    for path in sorted(REPOSITORY.rglob("*.md"))
    if not any(part.startswith(".") for part in path.relative_to(REPOSITORY).parts)
]


def page_name(page):
    return str(page.relative_to(REPOSITORY))


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What the paths of the pages stand for; no dataset is built yet."""
    world = pages.World(tmp_path / "checkout", tmp_path / "datasets")
    world.folder.mkdir()
    for name in ("voc_seg_tfrecord", "checksums", "dummy_data", "benchmarks", "docs"):
        (world.folder / name).symlink_to(REPOSITORY / name)
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr(tfds.core.constants, "DATA_DIR", str(world.data_dir))
    mpl.use("template")  # shows nothing, and does not warn of it
    yield world
    world.end()


def is_slow(page):
    goes_to_a_score = page.stem in ("benchmark", "own-data", "voc2012")
    return page.parent.name == "guides" or goes_to_a_score


PAGES = [
    pytest.param(page, marks=pytest.mark.slow if is_slow(page) else []) for page in pages.PAGES
]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_command_of_a_page_runs_and_prints_what_the_page_shows(page, world, sample):
    if "--config sample" not in page.read_text():  # else the page builds it
        shutil.copytree(pathlib.Path(sample.data_dir).parents[2], world.data_dir)
    skipped = follow(page, world)
    if skipped:
        pytest.skip(f"all else ran; {'; '.join(skipped)}")


@pytest.mark.slow  # without it, .ci/run has neither library yet, and nothing of the pages runs
@pytest.mark.parametrize("name", ["pytorch.md", "jax.md"])
def test_the_pages_of_other_libraries_run_on_other_data_too(name, world, sample):
    shutil.copytree(pathlib.Path(sample.data_dir).parents[2], world.data_dir)
    page = REPOSITORY / "docs" / "guides" / name
    for fence in [*pages.fences_before(page), *pages.fences(page)]:
        if fence.language == "python" and not pages.missing(fence):
            text = re.sub(r'"(voc_seg_tfrecord/)?(jax_)?walls"', '"sample"', fence.text)
            other = dataclasses.replace(fence, text=text)
            assert "the process ended" not in world.run(other)


@pytest.mark.slow
def test_a_reader_can_follow_all_pages_in_their_order_in_one_folder(world):
    for page in pages.IN_ORDER:
        found = pages.fences(page)
        if page.parent.name != "guides":  # what trains is last on these, and run by itself
            found = list(itertools.takewhile(lambda fence: "import keras" not in fence.text, found))
        for fence in pages.fences_before(page):  # its commands have run, and its session has ended
            if fence.language == "python" and not pages.missing(fence):
                world.run(fence)
        follow(page, world, found)


def follow(page, world, found=None):
    """Runs the fences of a page and compares what they print; returns what was skipped.

    By default, the fences are those of the page that it continues, and then its own.
    """
    found = found or [*pages.fences_before(page), *pages.fences(page)]
    skipped = []
    for fence, following in itertools.zip_longest(found, found[1:]):
        if fence.language == "text" or "not run" in fence.marks:
            continue
        if pages.missing(fence):
            skipped.append(f"line {fence.line} needs {pages.missing(fence)}")
            continue
        printed = world.run(fence)
        if following is None or following.language != "text":
            shown, numbers_vary = "", False
        else:
            shown, numbers_vary = following.text, "numbers" in following.marks
        where = f"{page_name(page)}, line {fence.line}"
        assert pages.same(printed, shown, numbers_vary), f"{where} prints:\n{printed}"
    world.end()
    return skipped


@pytest.mark.parametrize("page", pages.PAGES, ids=page_name)
def test_every_fence_says_its_language_and_if_it_is_not_run_the_reason(page):
    for fence in pages.fences(page):
        assert fence.language in ("bash", "python", "text"), f"line {fence.line}"
        assert set(fence.text.split()) != {"..."}, f"line {fence.line}"
        assert REASON.match(fence.marks.get("not run", "it is run here")), f"line {fence.line}"


@pytest.mark.parametrize("page", EVERY_PAGE, ids=page_name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]*)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def anchors(page: pathlib.Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short_and_leads_to_the_docs():
    text = (REPOSITORY / "README.md").read_text()
    assert len(text.splitlines()) < 160
    assert "(docs/index.md)" in text


def test_the_table_of_named_lists_has_each_list_once():
    text = (REPOSITORY / "docs" / "guides" / "benchmark-splits.md").read_text()
    table = text.partition("## Named lists")[2].partition("## ")[0]
    rows = re.findall(r"^\| (`.*`) \| .* \|$", table, re.M)
    shown = [name for names in rows for name in re.findall(r"\w+", names)]
    assert sorted(shown) == sorted(named_lists())


def test_three_dots_on_a_line_stand_for_lines_left_out_and_for_nothing_else():
    assert pages.same("a\nb\nc\n", "a\n...\nc\n")
    assert pages.same("a\nc\n", "a\n...\nc\n")
    assert not pages.same("a\nb\nd\n", "a\n...\nc\n")
    assert not pages.same("a\nb\n", "a\n")


def test_numbers_that_vary_may_have_other_decimals_and_nothing_else():
    assert pages.same("crack  9.5  3\n", "crack  87.62  3\n", numbers_vary=True)
    assert not pages.same("crack  9.5  4\n", "crack  87.62  3\n", numbers_vary=True)
    assert not pages.same("crack  9.5  3\n", "crack  87.62  3\n")
