"""The layouts that a dataset can be exported in, one row each.

A row names the function that writes a split, says which datasets the layout can hold, and has what
the card says of it. A new layout is a writer and a row.
"""

from collections.abc import Callable
import dataclasses

from voc_seg_tfrecord.exports import parquet, writers
from voc_seg_tfrecord.exports.writers import Split

PALETTE = "-palette"
"""What stands behind the name of a layout whose masks are palette PNGs."""

BUILT = "tfds"
"""The layout of a dataset as it was built. It has a card and is not exported."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """What is known of a layout.

    Attributes:
      help: what it writes, for `export --help`.
      masks: what the card says of masks: a numbered list, in Jinja's language.
      load: what the card says of loading, likewise.
      write: writes a split. Returns what differs from the dataset, in sentences. None if nothing
        is exported in this layout.
      needs_masks: whether only datasets with masks can be exported.
      check_split: raises a `ConfigError` if a split's name does not fit; takes the name, and the
        dataset's name.
      is_tree: whether it has one file per image or more, whose digests stand in SHA256SUMS.
      has_columns: whether it is Parquet files, whose columns are described.
      has_bands: whether images may have other bands than RGB of 8 bits.
    """

    help: str
    masks: str
    load: str
    write: Callable[[Split], list[str]] | None = None
    needs_masks: bool = True
    check_split: Callable[[str, str], None] | None = None
    is_tree: bool = False
    has_columns: bool = False
    has_bands: bool = False


_GREY = """\
1. A mask is a greyscale PNG: the value of a pixel is its class. It looks black, and has no palette.
"""
_COLORED = """\
1. A mask is a palette PNG: the index of a pixel is its class, and viewers show it in colours. \
Pillow, NumPy's and PyTorch's formats of `datasets`, and `decode=False` keep the indices. \
**`tf.io.decode_png` turns the colours to grey or RGB, which loses the classes**, and so does \
`convert("RGB")` or `convert("L")`.
"""
_VOID = """\
2. {{ void }} is void. Losses and metrics must ignore it (`ignore_index={{ void }}`).
"""
_INSTANCES = """\
{% if has_instances %}
3. In an instance mask the value of a pixel is the number of its object. 0 is no object, \
{{ void }} is void.
{% endif %}
"""
_READ_RECORDS = """\
```python
import tensorflow as tf

files = tf.io.gfile.glob("path/of/this/folder/{{ (splits | list)[0] }}-*")
ds = tf.data.TFRecordDataset(files)
```

"""
_FEATURES = '{% for name in features %}`{{ name }}`{{ ", " if not loop.last }}{% endfor %}'

LAYOUTS: dict[str, Layout] = {
    "raw": Layout(
        help="TFRecords with pixels in image_raw and label_raw",
        masks="""\
1. A mask is an array of uint8, `height` x `width`: the value of a pixel is its class.
"""
        + _VOID,
        load=_READ_RECORDS
        + """\
A record holds `image_raw` (uint8, `height` x `width` x 3)\
{% if has_masks %}, `label_raw` (uint8, `height` x `width`)\
{% elif has_labels %}, `label` (an integer){% endif %}, `height`, `width` and `name`.
""",
        write=writers.write_raw,
        needs_masks=False,
    ),
    "deeplab": Layout(
        help="TFRecords with DeepLab's features, image/encoded and others",
        masks=_GREY + _VOID,
        load=_READ_RECORDS
        + """\
A record holds `image/encoded`, `image/segmentation/class/encoded`, `image/height`, `image/width` \
and others, as DeepLab reads them.
""",
        write=writers.write_deeplab,
    ),
    "voc": Layout(
        has_bands=True,
        help="a tree with JPEGImages, SegmentationClass and ImageSets",
        masks="""\
1. A mask is a palette PNG: the index of a pixel is its class. The colours are VOC's and mean \
nothing else. Whoever converts a mask to RGB or to grey loses the classes.
"""
        + _VOID
        + _INSTANCES,
        load="""\
```bash
voc-seg-tfrecord build path/of/this/folder --name my_name
```

The tree has VOC's layout: `JPEGImages`, `SegmentationClass`, `ImageSets/Segmentation`, and \
`labelmap.csv` with the class of each value. `sha256sum -c SHA256SUMS` checks \
all files.
""",
        write=writers.write_voc,
        is_tree=True,
    ),
    "parquet": Layout(
        help="every feature as a column, for Hugging Face's datasets.load_dataset(FOLDER)",
        masks=_GREY + _VOID + _INSTANCES,
        load=f"""\
```python
import datasets

ds = datasets.load_dataset("path/of/this/folder")
```

Columns: {_FEATURES}.
""",
        write=parquet.write,
        needs_masks=False,
        check_split=parquet.check_split,
        has_columns=True,
    ),
    BUILT: Layout(
        help="the dataset as it was built",
        masks=_GREY + _VOID + _INSTANCES,
        load=f"""\
```python
import tensorflow_datasets as tfds

builder = tfds.builder_from_directory("path/of/the/dataset/{{{{ version }}}}")
ds = builder.as_dataset(split="{{{{ (splits | list)[0] }}}}")
```

Features: {_FEATURES}. Where the dataset lies in a `data_dir`, \
`tfds.load("{{{{ name }}}}", data_dir=...)` loads it too. Neither needs the package that built it.
""",
    ),
}
"""The layouts by name."""

EXPORTED = tuple(name for name, layout in LAYOUTS.items() if layout.write)
"""The names of those that datasets are exported in, but for parquet with `PALETTE` behind it."""

LAYOUTS[f"parquet{PALETTE}"] = dataclasses.replace(
    LAYOUTS["parquet"], masks=_COLORED + _VOID + _INSTANCES, write=parquet.write_colored
)
