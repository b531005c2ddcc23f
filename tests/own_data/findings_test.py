import json

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.own_data.findings import IGNORED, Finding, Report, finding_of, summary


def test_an_error_is_a_finding_that_stops_a_build():
    finding = finding_of(MaskError("m.png", found="value 3", kind="unknown mask value"))
    assert finding == Finding("unknown mask value", "m.png", "m.png: value 3", "stops")


def test_a_report_is_ok_if_nothing_stops_a_build():
    assert Report([Finding("note", "x", "y", IGNORED)]).ok
    assert not Report([Finding("mask", "x", "y")]).ok


def test_a_summary_is_json_and_names_first_what_stops_a_build():
    found = [
        Finding("a note", "x", "y", IGNORED),
        Finding("mask", "m", "n"),
        Finding("mask", "o", "p"),
    ]
    rows = json.loads(json.dumps(summary(Report(found))))["findings"]
    assert [(row["kind"], row["count"]) for row in rows] == [("mask", 2), ("a note", 1)]
