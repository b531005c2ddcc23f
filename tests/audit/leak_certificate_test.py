"""Certificates of `leaks`: what they state, what their self-test finds, how they are repeated."""

import json

import pytest
from support import pictures, shared_pictures

from voc_seg_tfrecord.audit import leak_certificate, leak_self_test, leaks
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.reading.dataset import open_built


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("certified")
    turned = pictures.encode_again(pictures.draw_photo(1).swapaxes(0, 1)[:, ::-1], 90)
    blank = pictures.draw_images_without_structure()["black"]
    ours = shared_pictures.build(
        root, "ours", shared_pictures.draw(1, 2, 3), {"blank": blank, **shared_pictures.draw(4)}
    )
    theirs = shared_pictures.build(
        root, "theirs", shared_pictures.draw(8), {"turned": turned, **shared_pictures.draw(2)}
    )
    clean = shared_pictures.build(root, "clean", shared_pictures.draw(20), shared_pictures.draw(21))
    builders = {"ours": ours, "theirs": theirs, "clean": clean}
    return {name: str(builder.data_dir) for name, builder in builders.items()}


@pytest.fixture(scope="module")
def certificate(built, tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "certificate.json"
    assert cli.main(["leaks", built["ours"], built["theirs"], "--certificate", str(file)]) == 1
    return file


@pytest.mark.slow
def test_a_certificate_states_sides_pairs_and_the_self_test(certificate):
    stated = json.loads(certificate.read_text())
    assert stated["result"] == "pairs found: 1 same bytes, 1 same picture"
    by_level = {pair["level"]: pair for pair in stated["pairs"]}
    assert by_level["same bytes"]["first_id"] == "photo_2"
    pair = by_level["same picture"]
    assert (pair["first_id"], pair["second_id"]) == ("photo_1", "turned")
    assert pair["transformation"] == "rotated by 90 degrees"
    train, validation = stated["first"]["splits"]
    assert (train["images"], train["compared"], train["left_out"]) == (3, 3, {})
    assert validation["left_out"] == {"too little structure": 1}
    assert stated["self_test"]["images"] == 7  # all that have signs
    found = {
        change["change"]: (change["copies"], change["found"], change["others"])
        for change in stated["self_test"]["changes"]
    }
    assert found == dict.fromkeys(leak_self_test.CHANGES, (7, 7, 0))


@pytest.mark.slow
def test_what_is_not_found_is_said_with_the_recall_and_what_is_not_claimed(built, tmp_path, capsys):
    file = tmp_path / "clean.json"
    assert cli.main(["leaks", built["ours"], built["clean"], "--certificate", str(file)]) == 0
    out = capsys.readouterr().out
    assert "none found of the changes in the self-test, with its recall" in out
    assert "encoded as JPEG 75        100.0% found, 0 others" in out
    assert "no contamination" in " ".join(json.loads(file.read_text())["not_claimed"])


@pytest.mark.slow
def test_a_certificate_is_repeated_from_the_same_data_and_from_its_index(
    built, certificate, tmp_path, capsys
):
    call = ["leaks", built["ours"], built["theirs"], "--verify_certificate", str(certificate)]
    assert cli.main(call) == 0
    assert f"{certificate}: repeated" in capsys.readouterr().out
    index = str(tmp_path / "theirs.jsonl")
    assert cli.main(["leaks", built["theirs"], "--write_index", index]) == 0
    call[2] = index
    assert cli.main(call) == 0


@pytest.mark.slow
def test_other_data_contradict_a_certificate(built, certificate, capsys):
    call = ["leaks", built["ours"], built["clean"], "--verify_certificate", str(certificate)]
    assert cli.main([*call, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["repeated"] is False
    text = "\n".join(document["contradictions"])
    assert "pair stated and not found" in text
    assert "images of" in text


@pytest.mark.parametrize(
    ("change", "contradicts"),
    [
        (lambda c: c["versions"].update(pillow="1.0"), False),
        (lambda c: c["first"].update(index_sha256="0" * 64), False),
        (lambda c: c["pairs"][-1].update(different_bits=99), False),
        (lambda c: c["constants"].update(min_side_px=40), True),
        (lambda c: c["first"]["splits"][0].update(files_sha256="0" * 64), True),
        (lambda c: c["first"]["splits"][1].update(left_out={}), True),
        (lambda c: c["pairs"].pop(), True),
        (lambda c: c["pairs"][-1].update(level="same bytes"), True),
        (lambda c: c["self_test"]["changes"][0].update(found=1), True),
        (lambda c: c["self_test"]["changes"].pop(), True),
    ],
)
def test_versions_and_few_signs_may_differ_and_nothing_else(certificate, change, contradicts):
    stated = json.loads(certificate.read_text())
    change(stated)
    repetition = leak_certificate.compare_certificates(stated, json.loads(certificate.read_text()))
    assert bool(repetition.contradictions) == contradicts
    assert contradicts or repetition.notes


@pytest.mark.parametrize("text", ["", "[]", "{}", f'{{"format": "{leak_certificate.FORMAT}"}}'])
def test_another_file_is_no_certificate(built, tmp_path, text, capsys):
    other = tmp_path / "other.json"
    other.write_text(text)
    call = ["leaks", built["ours"], built["clean"], "--verify_certificate", str(other)]
    assert cli.main(call) == 1
    assert "expected: a file that leaks --certificate wrote" in capsys.readouterr().err


@pytest.mark.slow
def test_at_most_200_images_are_changed_and_the_same_ones_each_time(built, monkeypatch):
    monkeypatch.setattr(leak_self_test, "MAX_IMAGES", 2)
    sides = leaks.read_splits(open_built(built["ours"]), ["train", "validation"])
    first = leak_self_test.run_self_test(sides)
    assert (first.images, first.searched) == (2, 4)
    assert leak_self_test.run_self_test(sides[::-1]) == first


def test_indexes_alone_have_no_self_test(built, tmp_path, capsys):
    files = []
    for name in ("ours", "theirs"):
        files.append(str(tmp_path / f"{name}.jsonl"))
        assert cli.main(["leaks", built[name], "--write_index", files[-1]]) == 0
    capsys.readouterr()
    certificate = tmp_path / "c.json"
    assert cli.main(["leaks", *files, "--certificate", str(certificate)]) == 1
    assert "no self-test: no side has images at hand" in capsys.readouterr().out
    assert json.loads(certificate.read_text())["self_test"]["changes"] == []


@pytest.mark.slow
def test_a_changed_side_is_named_though_the_other_side_has_its_name(tmp_path, capsys):
    old = shared_pictures.build(tmp_path / "a", "one", shared_pictures.draw(1, 2), {})
    other = shared_pictures.build(tmp_path / "b", "one", shared_pictures.draw(3), {})
    new = shared_pictures.build(tmp_path / "c", "one", shared_pictures.draw(1, 4), {})
    certificate = str(tmp_path / "c.json")
    call = [str(other.data_path), "--certificate", certificate]
    cli.main(["leaks", str(old.data_path), *call])
    capsys.readouterr()
    again = [str(other.data_path), "--verify_certificate", certificate]
    assert cli.main(["leaks", str(new.data_path), *again]) == 1
    assert "files_sha256 of the first side's" in capsys.readouterr().out
