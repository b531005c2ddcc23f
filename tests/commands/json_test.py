import argparse
import importlib
import json
import re

import numpy as np
import pytest
from support.paths import DUMMY_DATA, REPOSITORY
from support.scoring import write_predictions

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.formats import pillow

# How each row of the page's table is called; `{...}` stand for folders of the test.
CALLS = {
    "check": "check {tree} --class_names voc",
    "check --write_classes": "check {tree} --class_names voc --write_classes {out}/classes.csv",
    "build": "build {tree} --class_names voc --name own --data_dir {out}",
    "build --dry_run": "build {tree} --class_names voc --name own --data_dir {out} --dry_run",
    "build --release": "build --release sample --data_dir {out}",
    "import": "import {deeplab} --name old --class_names voc --data_dir {out}",
    "import --dry_run": "import {deeplab} --dry_run",
    "list": "list --data_dir {out}",
    "verify": "verify {sample}",
    "stats": "stats {sample}@train",
    "diff": "diff {sample} {sample}",
    "leaks": "leaks trainaug voc2012_val",
    "evaluate": "evaluate {sample}@train --predictions {predictions}",
    "submission": "submission --predictions {test} --out {out}/results.tgz",
    "export": "export {sample} --layout voc --out {out}/tree",
}
WRONG = {
    "check": "check {out}/nowhere",
    "check --write_classes": "check {out}/nowhere --write_classes {out}/classes.csv",
    "build": "build {tree} --class_names voc --name own --splits nowhere=0.5",
    "build --dry_run": "build {out}/nowhere --name own --dry_run",
    "build --release": "build --release sample --name own",
    "import": "import {out}/nowhere --name old",
    "import --dry_run": "import {out}/nowhere --dry_run",
    "list": "list --data_dir {deeplab}",
    "verify": "verify nowhere --data_dir {out}",
    "stats": "stats {sample}@trian",
    "diff": "diff {sample} {out}/nowhere",
    "leaks": "leaks trainagu voc2012_val --data_dir {out}",
    "evaluate": "evaluate {sample}@train --predictions {out}/nowhere",
    "submission": "submission {sample}@trian --predictions {test} --out {out}/results.tgz",
    "export": "export nowhere --layout voc --out {out}/tree --data_dir {out}",
}


def documented():
    page = (REPOSITORY / "docs" / "reference" / "command-line.md").read_text()
    table = page[page.index("| command | keys") :].partition("\n\n")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (`.*) \|$", table, re.M)
    return {command: re.findall(r"`(\w+)`", keys) for command, keys in rows}


@pytest.fixture(scope="module")
def world(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    places = {name: folder / name for name in ("deeplab", "predictions", "test")}
    cli.main(["export", str(sample.data_dir), "--layout=deeplab", f"--out={places['deeplab']}"])
    places["deeplab"] = next(places["deeplab"].glob("*train*"))
    write_predictions(sample, places["predictions"])
    places["test"].mkdir()
    png = pillow.encode_png(np.zeros((1, 1), np.uint8))
    for image_id in list_ids("voc2012_test"):
        (places["test"] / f"{image_id}.png").write_bytes(png)
    own = {"sample": sample.data_dir, "tree": DUMMY_DATA}
    return places | own


def call(line, world, out):
    words = [word.format(**world, out=out) for word in line.split()]
    return cli.main([*words, "--json"])


def test_the_page_names_every_command_that_has_json():
    having = set()
    for name in cli.COMMANDS:
        parser = argparse.ArgumentParser()
        importlib.import_module(f"voc_seg_tfrecord.commands.{name}").add_arguments(parser)
        if "--json" in parser.format_help():
            having.add(name.rstrip("_"))
    assert {command.split()[0] for command in documented()} == having
    assert documented().keys() == CALLS.keys() == WRONG.keys()


@pytest.mark.slow_but_first
@pytest.mark.parametrize("command", CALLS)
def test_json_is_one_document_with_the_keys_of_the_page(command, world, tmp_path, capfd):
    assert call(CALLS[command], world, tmp_path) == 0
    assert set(json.loads(capfd.readouterr().out)) == set(documented()[command])


@pytest.mark.parametrize("command", WRONG)
def test_an_error_leaves_standard_output_empty(command, world, tmp_path, capfd):
    assert call(WRONG[command], world, tmp_path) in (1, 2)
    captured = capfd.readouterr()
    if command != "check":  # its report is what is wrong
        assert captured.out == ""
        assert "error: " in captured.err
