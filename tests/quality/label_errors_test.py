import csv
import io
import json

import pytest
from support import planted

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.quality import finding as findings
from voc_seg_tfrecord.quality.kinds import MISLABELED_REGION
from voc_seg_tfrecord.writing.copies import SameImageInTwoSplits


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("planted") / "signs"
    drawn = [planted.draw(1000 + number) for number in range(planted.COUNT)]
    expected = planted.plant(drawn, seed=1)
    planted.write(root, drawn)
    fixes = root.parent / "fixes.csv"
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        status = cli.main(["check", str(root), "--json", "--csv", str(fixes)])
    return root, {f"{n:03}": kind for n, kind in expected.items()}, status, out.getvalue(), fixes


def named(findings):
    """Which ids have a finding of which kind; of copies the later one."""
    return {(finding["ids"][-1], finding["kind"]) for finding in findings if finding["ids"]}


@pytest.mark.slow
def test_a_check_names_all_planted_mistakes_and_no_good_image(world):
    _, expected, status, printed, _ = world
    found = named(json.loads(printed)["label_errors"])
    assert status == 0
    assert set(expected.items()) <= found
    assert len({image_id for image_id, _ in found} - expected.keys()) <= 5


@pytest.mark.slow
def test_the_table_of_fixes_has_a_row_for_each_with_place_and_advice(world):
    root, expected, _, _, fixes = world
    rows = list(csv.DictReader(fixes.read_text().splitlines()))
    by_file = {(row["file"], row["kind"]): row for row in rows}
    for image_id, kind in expected.items():
        row = by_file[f"SegmentationClass/{image_id}.png", kind]
        assert (root / row["file"]).exists()
        assert row["split"] in ("train", "validation")
        assert int(row["width"]) > 0
        assert row["what to do"]
    scores = [float(row["score"]) for row in rows if row["kind"].startswith("mask does not fit")]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.filterwarnings("ignore:same image in two splits")
@pytest.mark.slow
def test_python_finds_the_same_in_the_folder_and_in_the_built_dataset(world, tmp_path, monkeypatch):
    root, _, _, printed, _ = world
    monkeypatch.setattr(
        processes, "MIN_ITEMS_PER_PROCESS", 20
    )  # the command had too few images for processes
    monkeypatch.setattr(processes.threads, "USED_CORES", 2)
    in_folder = voc_seg_tfrecord.find_label_errors(root)
    builder = voc_seg_tfrecord.builder_from_tree(
        root, name="signs", data_dir=tmp_path, verbose=False
    )
    built = voc_seg_tfrecord.find_label_errors(builder)
    by_name = voc_seg_tfrecord.find_label_errors("signs", data_dir=tmp_path, fits=False)
    as_dicts = json.loads(json.dumps([findings.as_dict(finding) for finding in in_folder]))
    assert as_dicts == json.loads(printed)["label_errors"]
    kinds = {(finding.kind, finding.ids[0]) for finding in built}
    assert len(kinds & {(finding.kind, finding.ids[0]) for finding in in_folder}) > 20
    only_by_looking = {"mask does not fit its image", MISLABELED_REGION.name}
    assert {f.kind for f in built} - {f.kind for f in by_name} == only_by_looking


@pytest.mark.parametrize("options", [{"class_names": ["a"]}, {"fit": False}])
def test_an_option_of_a_folder_is_refused_for_a_built_dataset(sample, options):
    with pytest.raises(ConfigError, match=f"find_label_errors: {next(iter(options))}"):
        voc_seg_tfrecord.find_label_errors(sample, **options)


@pytest.mark.slow
def test_the_report_of_the_built_dataset_shows_the_suspicious_labels(world, tmp_path):
    root = world[0]
    with pytest.warns(SameImageInTwoSplits):
        voc_seg_tfrecord.builder_from_tree(root, name="signs", data_dir=tmp_path, verbose=False)
    out = tmp_path / "report.html"
    cli.main(["report", "signs", "--data_dir", str(tmp_path), "--out", str(out)])
    text = out.read_text()
    assert text.count(">the mask may be mirrored<") >= 1  # below its image
    assert "> Mask does not fit its image <" in text


def test_without_the_fit_no_mask_is_said_not_to_fit(world, capsys):
    cli.main(["check", str(world[0]), "--no_fit"])
    printed = capsys.readouterr().out
    assert "warning: speck (" in printed
    assert "fit its image" not in printed
