import io

import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np
from PIL import Image
import pytest
from support.python import run_python

import voc_seg_tfrecord
from voc_seg_tfrecord.base.errors import ConfigError


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


@pytest.mark.slow
def test_a_notebook_shows_it_without_pyplot(sample):
    from IPython.core.formatters import DisplayFormatter

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
    assert run_python("-c", code, sample.data_path) == "[]\n"


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
