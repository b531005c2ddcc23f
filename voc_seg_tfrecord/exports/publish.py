"""Writes what belongs beside published data: its card and its Croissant file."""

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import staging, storage
from voc_seg_tfrecord.base.errors import ConfigError, StorageError
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.exports import card, croissant
from voc_seg_tfrecord.exports.card import Summary, summarize
from voc_seg_tfrecord.exports.croissant import DataFile
from voc_seg_tfrecord.exports.layouts import BUILT, LAYOUTS

_OURS = b"Fingerprint of "  # stands in each card and in each Croissant file


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
    found = croissant.find_files(folder)
    if LAYOUTS[layout].is_tree:
        found.append(croissant.write_sums(folder, found))
    _write(builder, summary, folder, layout, found, published)


def of_built(
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
        _write(builder, summary, folder, BUILT, found, published)
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
        _save(folder / name, text)


def _save(path: epath.Path, text: str) -> None:
    # Half a surrogate pair cannot be written.
    with staging.staged_file(path) as file:
        file.write_bytes(text.encode("utf-8", "replace"))
