"""Writes a built dataset in a layout that other code reads, and what belongs beside published data.

This is the dataset's card and its Croissant file. See `layouts` for the layouts.
"""

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import staging, storage
from voc_seg_tfrecord.base.errors import ConfigError, StorageError
from voc_seg_tfrecord.base.names import MASK
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.exports import card, croissant
from voc_seg_tfrecord.exports.card import Summary, summarize
from voc_seg_tfrecord.exports.croissant import DataFile
from voc_seg_tfrecord.exports.layouts import BUILT, EXPORTED, LAYOUTS, Layout, find_layout
from voc_seg_tfrecord.exports.records import Split
from voc_seg_tfrecord.formats import id_lists
from voc_seg_tfrecord.formats.id_lists import show_name

_WITHOUT_MASKS = [name for name in EXPORTED if not LAYOUTS[name].needs_masks]
_OURS = b"Fingerprint of "  # stands in each card and in each Croissant file


def export(
    builder: tfds.core.DatasetBuilder,
    out: PathLike,
    *,
    layout: str,
    num_shards: int | None = None,
    described: bool = False,
    published: str | None = None,
) -> list[str]:
    """Writes a built dataset in another layout, and nothing outside its folder.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`, `deeplab`, `voc`, `parquet`, `parquet-palette` (masks as palette
        PNGs) or `coco-panoptic`; see `layouts.LAYOUTS` and docs/guides/publishing.md.
      num_shards: files per split. By default 1 file of TFRecords, and Parquet files of about
        500 MB.
      described: whether to add `README.md` and `croissant.json`, and `SHA256SUMS` to a tree of
        many files (False).
      published: the date of publication, such as 2024-05-31; by default that of the release.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      ConfigError: if there is no such layout, if the folder is not empty or cannot be made, or if
        the layout cannot hold the dataset: it needs masks, or other names of splits.
      RecordError: if the name of an image or a split cannot be that of a file below the folder.
      StorageError: if the folder cannot be written, or the dataset cannot be read. The folder is
        there only if the export is complete.
    """
    folder = epath.Path(out).expanduser()
    folder = folder.resolve()  # so that "." has a name and a parent
    row = find_layout(layout)
    assert row.write is not None  # of a layout that datasets are exported in
    _check(builder, folder, row)
    staging.check_folder(folder.parent, "--out")
    with storage.as_storage_error(folder), staging.staged_folder(folder) as incomplete:
        incomplete.mkdir()
        notes = []
        for split in builder.info.splits:
            if count := row.write(Split(builder, split, incomplete, num_shards)):
                notes.append(_rotated(split, count))
        if described:
            summary = summarize(builder, progress=True)
            found = croissant.find_files(incomplete)
            if row.is_tree:
                found.append(croissant.write_sums(incomplete, found))
            _describe(builder, summary, incomplete, layout, found, published)
    return notes


def _check(builder: tfds.core.DatasetBuilder, folder: epath.Path, layout: Layout) -> None:
    """Checks all that can be checked before the first record is read."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            folder,
            found="a folder that is not empty",
            expected="a new folder",
            remedy="name a new or empty folder",
        )
    if MASK not in builder.info.features and layout.needs_masks:
        raise ConfigError(
            builder.info.full_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy=f"export it as {' or '.join(_WITHOUT_MASKS)}, or read it with tfds.load",
        )
    for split in builder.info.splits:
        id_lists.check_name(split, f"{builder.info.full_name}, split {show_name(split)}")
        if layout.check_split is not None:
            layout.check_split(split, builder.info.full_name)


def _rotated(split: str, count: int) -> str:
    images = "1 image was" if count == 1 else f"{count} images were"
    return (
        f"{split}: {images} written without EXIF, XMP and texts, because readers would rotate "
        "as they say, away from the mask; the compressed pixels are the same"
    )


def write_card(
    builder: tfds.core.DatasetBuilder,
    out: PathLike,
    *,
    published: str | None = None,
    progress: bool = False,
) -> list[epath.Path]:
    """Writes the card and the Croissant file of a dataset as it was built.

    Files of these names are replaced if this package wrote them.

    Args:
      builder: of the built dataset.
      out: the folder for `README.md` and `croissant.json`, which is made if it is not there; or a
        file whose name ends with `.md`, for the card alone. The paths in the Croissant file are
        relative to the dataset's own folder, which may be this folder.
      published: the date of publication, such as 2024-05-31; by default that of the release.
      progress: whether to show progress bars on standard error.

    Returns:
      The files that were written.

    Raises:
      ConfigError: if somebody else's file has one of the names.
      RecordError: if a record cannot be read.
      StorageError: if a file cannot be written.
    """
    path = epath.Path(out).expanduser()
    alone = path.suffix.lower() == ".md"
    folder, name = (path.parent, path.name) if alone else (path, card.NAME)
    places = [folder / name] if alone else [folder / name, folder / croissant.NAME]
    for place in places:
        _check_ours(place)
    with storage.as_storage_error(folder):
        summary = summarize(builder, progress=progress)
        folder.mkdir(parents=True, exist_ok=True)
        if alone:
            _save(places[0], card.write(builder, summary, BUILT))
            return places
        home = epath.Path(builder.data_dir)
        found = [
            file
            for file in croissant.find_files(home)
            if file.path not in (card.NAME, croissant.NAME)
        ]
        _describe(builder, summary, folder, BUILT, found, published)
    return places


def _check_ours(path: epath.Path) -> None:
    """Checks that no file is at a path, or one that this package wrote."""
    try:
        ours = _OURS in storage.read_bytes(path, storage.LIMITS[StorageError])
    except OSError:
        ours = False
    if path.exists() and not ours:
        raise ConfigError(
            path,
            found="a file that voc_seg_tfrecord did not write",
            expected="none, or an earlier card or Croissant file of this package",
            remedy="name another folder, or move the file away",
        )


def _describe(
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
        _save(folder / name, text)


def _save(path: epath.Path, text: str) -> None:
    # Half a surrogate pair cannot be written.
    with staging.staged_file(path) as file:
        file.write_bytes(text.encode("utf-8", "replace"))
