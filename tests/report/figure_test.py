import io

import matplotlib as mpl
import numpy as np
from PIL import Image
import pytest
from support.python import run_python

import voc_seg_tfrecord
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.report import preview
from voc_seg_tfrecord.report.figure import draw_sheet
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.preview import MAX_EXAMPLES
from voc_seg_tfrecord.report.sheet_example import ExampleGroup, make_sheet_example


@pytest.mark.slow
def test_a_builder_a_name_and_a_folder_give_the_same_figure(sample):
    data_dir = str(sample.data_path.parents[2])
    figures = [
        voc_seg_tfrecord.preview(sample),
        voc_seg_tfrecord.preview("voc_seg_tfrecord/sample", data_dir=data_dir),
        voc_seg_tfrecord.preview(str(sample.data_path)),
        voc_seg_tfrecord.preview(sample.data_path),
    ]
    assert len({figure._repr_png_() for figure in figures}) == 1


def shown(figure):
    return np.asarray(Image.open(io.BytesIO(figure._repr_png_())).convert("RGB"))


@pytest.mark.slow
def test_a_saved_figure_has_the_pixels_that_a_notebook_shows(sample, tmp_path):
    for options in ({}, {"num": 4}, {"num": 1}):
        figure = voc_seg_tfrecord.preview(sample, **options)
        figure.savefig(tmp_path / "a.png")
        saved = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
        assert np.array_equal(saved, shown(figure))


@pytest.mark.slow
def test_a_figure_is_drawn_larger_at_more_dots_per_inch(sample, tmp_path):
    figure = voc_seg_tfrecord.preview(sample, 1)
    figure.savefig(tmp_path / "a.png", dpi=200)
    large = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
    small = shown(figure)
    assert large.shape[:2] == (2 * small.shape[0], 2 * small.shape[1])
    red = voc_seg_tfrecord.voc_palette()[1]
    assert (large == red).all(-1).sum() > 3.5 * (small == red).all(-1).sum() > 1000


@pytest.mark.slow
def test_a_notebook_shows_it_without_pyplot(sample):
    from IPython.core.formatters import DisplayFormatter

    figure = voc_seg_tfrecord.preview(sample, 1)
    data, _ = DisplayFormatter().format(figure)
    (kind,) = (name for name in data if name != "text/plain")
    assert kind == "image/png"
    assert Image.open(io.BytesIO(data[kind])).width > 900


@pytest.mark.slow
def test_pyplot_does_not_know_of_it(sample):
    code = """
import sys
import voc_seg_tfrecord
figure = voc_seg_tfrecord.preview(sys.argv[1], 1)
assert "matplotlib.pyplot" not in sys.modules
assert "tensorflow" not in sys.modules
import matplotlib.pyplot as plt
plt.switch_backend("agg")
print(plt.get_fignums())
"""
    assert run_python("-c", code, sample.data_path) == "[]\n"


@pytest.mark.slow
def test_nobodys_settings_of_matplotlib_are_changed_and_none_change_the_sheet(sample):
    plain = shown(voc_seg_tfrecord.preview(sample))
    settings = {
        "savefig.dpi": 50,
        "image.interpolation": "bilinear",
        "image.origin": "lower",
        "text.color": "red",
        "font.size": 30,
        "font.weight": "bold",
        "font.style": "italic",
        "figure.facecolor": "black",
        "axes.facecolor": "black",
        "savefig.facecolor": "red",
        "figure.dpi": 33,
        "axes.xmargin": 0.4,
        "figure.constrained_layout.use": True,
        "savefig.bbox": "tight",
    }
    with mpl.rc_context(settings):
        before = dict(mpl.rcParams)
        figure = voc_seg_tfrecord.preview(sample)
        assert dict(mpl.rcParams) == before
        assert np.array_equal(shown(figure), plain)


@pytest.mark.slow
def test_what_matplotlib_would_take_for_a_formula_is_written_as_it_is():
    for title in ("$x^{$", r"$\nothing$", "50% & _a {b}"):  # wrong formulas raise an error
        style = ClassStyle((title, title), class_colors(0), 0)
        mask = np.eye(20, dtype=np.uint8)
        example = make_sheet_example(title, np.zeros((20, 20, 3), np.uint8), mask)
        assert shown(draw_sheet(title, [ExampleGroup(None, [example])], style)).any()


@pytest.mark.parametrize("options", [{"ids": []}, {"ids": "2007_000001"}, {"num": 0}])
def test_a_wrong_argument_is_refused(sample, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        voc_seg_tfrecord.preview(sample, **options)


def test_ids_may_be_any_sequence(sample):
    wanted = ["2007_000001", "2010_000004"]
    for ids in (wanted, tuple(wanted), np.array(wanted)):
        assert voc_seg_tfrecord.preview(sample, ids=ids).axes


@pytest.mark.parametrize(
    "wanted",
    [{"num": MAX_EXAMPLES // 10, "by_class": True}, {"ids": ["2007_000001"] * (MAX_EXAMPLES + 1)}],
)
def test_too_many_examples_are_refused_before_any_is_read(sample, monkeypatch, wanted):
    monkeypatch.setattr(preview, "_as_sheet_example", lambda _: pytest.fail("read"))
    with pytest.raises(ConfigError, match=r"num: .* on one sheet"):
        voc_seg_tfrecord.preview(sample, **wanted)


@pytest.mark.parametrize(
    ("wanted", "content"),
    [
        ({"num": 10**6}, "3 examples of train"),
        ({"ids": ["2010_000004"]}, "1 example of validation"),
        ({"split": "train+validation"}, "5 examples of train+validation"),
        ({"split": "train[1:]"}, "2 examples of train[1:]"),
        ({"split": "train[:34%]+test"}, "2 examples of train[:34%]+test"),
        ({"split": "train[:34%]", "by_class": True}, "examples of 1 class of train[:34%]"),
    ],
)
def test_a_figure_says_what_it_shows_and_of_which_splits(sample, wanted, content):
    assert voc_seg_tfrecord.preview(sample, **wanted).content == content
