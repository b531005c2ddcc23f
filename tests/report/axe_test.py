"""axe-core finds nothing on any page. It comes from npm: `npm pack axe-core`, then unpack it.

AXE_CORE names its file `axe.min.js`.
"""

import os
import pathlib

import pytest
from support import browser, shared_pictures

from voc_seg_tfrecord.commands import cli

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("AXE_CORE"), reason="AXE_CORE is not set"),
]


@pytest.fixture(scope="module")
def folder(sample, tmp_path_factory):
    from support.paths import DUMMY_DATA
    from support.scoring import write_predictions

    out = tmp_path_factory.mktemp("axe")
    write_predictions(sample, out / "predictions")
    tree = str(DUMMY_DATA / "VOCdevkit" / "VOC2012")
    built = str(sample.data_dir)
    cli.main(["check", tree, "--class_names=voc", f"--html={out}/check.html"])
    cli.main(["report", built, f"--out={out}/report.html"])
    words = [f"--predictions={out}/predictions", f"--html={out}/evaluate.html"]
    cli.main(["evaluate", f"{built}@train", *words])
    data = shared_pictures.write_datasets(out / "leaking")
    cli.main(["leaks", data.our_dataset, data.their_dataset, f"--html={out}/leaks.html"])
    return out


@pytest.mark.parametrize("page", ["check", "report", "evaluate", "leaks"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing(folder, page, scheme, width):
    axe = pathlib.Path(os.environ["AXE_CORE"]).read_text()
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with browser.opened(folder / f"{page}.html", bypass_csp=True, **options) as window:
        window.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        window.evaluate(axe)
        found = window.evaluate("axe.run()")["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
