import contextlib
import io
import pathlib
import re

from building import build

README = (pathlib.Path(__file__).parent.parent / "README.md").read_text()


def fence(marker):
    """Returns the fenced block after a marker."""
    (block,) = re.findall(rf"^<!-- {marker} -->\n```\w*\n(.*?)^```$", README, re.M | re.S)
    return block


def test_the_first_lines_of_python_print_what_the_readme_shows(tmp_path):
    build(tmp_path, "sample")
    code = fence("load").replace("/tmp/tensorflow_datasets", str(tmp_path))
    assert str(tmp_path) in code
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == fence("output")
