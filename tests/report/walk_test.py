"""The walk of docs/guides/weekly.md: 101 drawn pairs with 25 planted mistakes, to version 1.1.0."""

import json
import shutil

from PIL import Image
import pytest
from support import browser, planted

from voc_seg_tfrecord.audit import diff
from voc_seg_tfrecord.built.dataset import open_built
from voc_seg_tfrecord.commands import cli


@pytest.mark.filterwarnings("ignore:same image in two splits")
@pytest.mark.slow
def test_mistakes_are_found_decided_corrected_and_built_as_the_next_version(tmp_path, capsys):
    root, page = tmp_path / "tree", tmp_path / "page.html"
    right = [planted.draw(number) for number in range(planted.COUNT)]
    drawn = [planted.draw(number) for number in range(planted.COUNT)]
    expected = planted.plant(drawn, 1)
    wrong_images = {n for n in expected if (drawn[n].image != right[n].image).any()}
    planted.write(root, drawn)
    data = ["--data_dir", str(tmp_path / "data")]
    assert cli.main(["build", str(root), "--name=mine", *data]) == 0
    assert cli.main(["check", str(root), "--html", str(page)]) == 0

    with browser.opened(page) as window:
        cards = window.locator("main .card[data-kind]")
        listed = cards.evaluate_all("all => all.map(c => [c.dataset.kind, c.dataset.ids])")
        for _, ids in dict.fromkeys(map(tuple, listed)):
            ids = json.loads(ids)
            window.keyboard.press("n")
            window.keyboard.press("w" if int(ids[-1]) in expected else "r")
        with window.expect_download() as download:
            window.get_by_role("button", name="Save decisions").click()
        download.value.save_as(tmp_path / "decisions.json")
        assert window.noise == []

    decisions = json.loads((tmp_path / "decisions.json").read_text())["decisions"]
    found = {int(i) for d in decisions if d["decision"] == "wrong" for i in d["ids"][-1:]}
    assert len(found) >= 24  # of 25
    back = tmp_path / "back"
    words = ["--ids", str(tmp_path / "decisions.json")]
    assert cli.main(["check", str(root), *words, "--copy_to", str(back)]) == 0
    for number in found:
        Image.fromarray(right[number].mask).save(back / f"SegmentationClass/{number:03}.png")
        if number in wrong_images:
            Image.fromarray(right[number].image).save(root / f"JPEGImages/{number:03}.jpg")
    shutil.copytree(back / "SegmentationClass", root / "SegmentationClass", dirs_exist_ok=True)

    changes = diff.compare(open_built("mine", tmp_path / "data"), root).changes
    assert {int(change.id) for change in changes} == found
    assert {int(change.id) for change in changes if change.image} == wrong_images & found
    assert all(change.mask for change in changes if int(change.id) not in wrong_images)
    assert cli.main(["build", str(root), "--name=mine", "--version=1.1.0", *data]) == 0
    assert open_built("mine", tmp_path / "data").info.full_name.endswith("/1.1.0")
    assert cli.main(["diff", "mine:1.0.0", "mine:1.1.0", *data]) == 1  # val was corrected too
    capsys.readouterr()
    words = ["check", str(root), "--json", "--decisions", str(tmp_path / "decisions.json")]
    assert cli.main(words) == 0
    left = json.loads(capsys.readouterr().out)["label_errors"]
    assert not {int(one["ids"][-1]) for one in left} & found
