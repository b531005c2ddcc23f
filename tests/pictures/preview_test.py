import io
import subprocess
import sys

from IPython.core.formatters import DisplayFormatter
import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np
from PIL import Image
import pytest
from support.paths import REPOSITORY

import voc_seg_tfrecord
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.pictures import pick
from voc_seg_tfrecord.pictures.preview import Wanted, draw
from voc_seg_tfrecord.pictures.sheet import MAX_EXAMPLES


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(num=MAX_EXAMPLES // 10, by_class=True),
        Wanted(ids=["2007_000001"] * (MAX_EXAMPLES + 1)),
    ],
)
def test_too_many_examples_are_refused_before_any_is_read(sample, monkeypatch, wanted):
    for module in (pick, pick):
        monkeypatch.setattr(module, "decoded", lambda _: pytest.fail("read"))
    with pytest.raises(ConfigError, match=r"num: .* on one sheet"):
        draw(sample, wanted)


def test_a_large_number_means_all_where_a_split_is_small(sample):
    assert draw(sample, Wanted(num=10**6)).content == "3 examples of train"


@pytest.mark.parametrize(
    ("split", "content"),
    [
        ("train+validation", "5 examples of train+validation"),
        ("train[1:]", "2 examples of train[1:]"),
        ("train[:34%]+test", "2 examples of train[:34%]+test"),
    ],
)
def test_slices_and_sums_of_splits_are_splits(sample, split, content):
    assert draw(sample, Wanted(split=split)).content == content
    assert "classes" in draw(sample, Wanted(split=split, by_class=True)).content


def test_ids_name_only_the_splits_that_they_are_in(sample):
    assert draw(sample, Wanted(ids=["2010_000004"])).content == "1 example of validation"


def test_no_class_at_all_says_so(sample, monkeypatch):
    monkeypatch.setattr(pick, "by_class", lambda *_: {0: [], 1: []})
    with pytest.raises(ConfigError, match="no example of any class in train"):
        draw(sample, Wanted(by_class=True))


def test_a_builder_a_name_and_a_folder_give_the_same_figure(sample):
    data_dir = str(sample.data_path.parents[2])
    figures = [
        voc_seg_tfrecord.preview(sample),
        voc_seg_tfrecord.preview("voc_seg_tfrecord/sample", data_dir=data_dir),
        voc_seg_tfrecord.preview(str(sample.data_path)),
        voc_seg_tfrecord.preview(sample.data_path),
    ]
    pixels = [f.axes[0].images[0].get_array() for f in figures]
    assert all((p == pixels[0]).all() for p in pixels)


def test_a_saved_figure_has_the_pixels_of_the_sheet(sample, tmp_path):
    for options in ({}, {"columns": 3}, {"num": 1}):
        figure = voc_seg_tfrecord.preview(sample, **options)
        figure.savefig(tmp_path / "a.png")
        saved = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
        drawn = figure.axes[0].images[0].get_array()
        assert saved.shape == drawn.shape
        assert (saved == drawn).all()


def test_a_notebook_shows_it_without_pyplot(sample):
    figure = voc_seg_tfrecord.preview(sample, 1)
    shown, _ = DisplayFormatter().format(figure)
    (kind,) = (name for name in shown if name != "text/plain")
    assert kind == "image/png"
    assert Image.open(io.BytesIO(shown[kind])).width > 900


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
    words = [sys.executable, "-c", code, str(sample.data_path)]
    result = subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert result.stdout == "[]\n"


def test_nobodys_settings_of_matplotlib_are_changed_and_none_change_the_sheet(sample):
    plain = np.asarray(voc_seg_tfrecord.preview(sample).axes[0].images[0].get_array())
    with mpl.rc_context({"savefig.dpi": 50, "image.interpolation": "bilinear"}):
        before = dict(mpl.rcParams)
        figure = voc_seg_tfrecord.preview(sample)
        assert dict(mpl.rcParams) == before
        shown = Image.open(io.BytesIO(figure._repr_png_())).convert("RGB")
    assert (np.asarray(shown) == plain).all()


def test_it_is_a_figure_of_matplotlib(sample):
    assert isinstance(voc_seg_tfrecord.preview(sample), Figure)


@pytest.mark.parametrize("options", [{"ids": []}, {"ids": "2007_000001"}, {"num": 0}])
def test_a_wrong_argument_is_refused(sample, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        voc_seg_tfrecord.preview(sample, **options)


def test_ids_may_be_any_sequence(sample):
    wanted = ["2007_000001", "2010_000004"]
    for ids in (wanted, tuple(wanted), np.array(wanted)):
        assert voc_seg_tfrecord.preview(sample, ids=ids).axes
