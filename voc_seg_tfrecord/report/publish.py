"""Writes what belongs beside published data: its card and its Croissant file."""

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.report import card, croissant, files
from voc_seg_tfrecord.report.files import DataFile
from voc_seg_tfrecord.report.summary import Summary, summarize


def beside_export(
    builder: tfds.core.DatasetBuilder,
    folder: epath.Path,
    layout: str,
    *,
    published: str | None = None,
    progress: bool = False,
) -> None:
    """Writes `README.md` and `croissant.json` into the folder of an export.

    Into a tree of many files it also writes `SHA256SUMS`.

    Args:
      builder: of the built dataset.
      folder: the folder, which holds the export and nothing else.
      layout: the layout of the export.
      published: the date of publication, such as 2024-05-31; by default that of the release.
      progress: whether to show progress bars on standard error.
    """
    summary = summarize(builder, progress=progress)
    found = files.find(folder)
    if layout == "voc":
        found.append(files.write_sums(folder, found))
    _write(builder, summary, folder, layout, found, published)


def of_built(
    builder: tfds.core.DatasetBuilder,
    folder: epath.Path,
    *,
    published: str | None = None,
    progress: bool = False,
) -> None:
    """Writes `README.md` and `croissant.json` of a dataset as it was built.

    The paths in the Croissant file are relative to the dataset's own folder.

    Args:
      builder: of the built dataset.
      folder: a folder that exists.
      published: the date of publication, such as 2024-05-31; by default that of the release.
      progress: whether to show progress bars on standard error.
    """
    summary = summarize(builder, progress=progress)
    home = epath.Path(builder.data_dir)
    found = [file for file in files.find(home) if file.path not in (card.NAME, croissant.NAME)]
    _write(builder, summary, folder, "tfds", found, published)


def _write(
    builder: tfds.core.DatasetBuilder,
    summary: Summary,
    folder: epath.Path,
    layout: str,
    found: list[DataFile],
    published: str | None,
) -> None:
    texts = {
        card.NAME: card.write(builder, summary, layout),
        croissant.NAME: croissant.write(builder, summary, layout, found, published=published),
    }
    for name, text in texts.items():
        # Half a surrogate pair cannot be written.
        (folder / name).write_bytes(text.encode("utf-8", "replace"))
