"""The Croissant file of a dataset: JSON-LD that search engines and libraries read.

It names each file with its sha256, and the fields of the records where `mlcroissant` can read
them, which is in Parquet files.

References:
  https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0.
"""

from collections.abc import Iterator, Sequence
import json
import re
from typing import TYPE_CHECKING

import tensorflow_datasets as tfds

from voc_seg_tfrecord import about
from voc_seg_tfrecord.cards import card, files, record_sets
from voc_seg_tfrecord.cards.files import SUMS, DataFile
from voc_seg_tfrecord.cards.summary import Summary

if TYPE_CHECKING:
    import mlcroissant as mlc

NAME = "croissant.json"
"""The name of the file."""

_IN_SETS = {
    "voc": r"(JPEGImages|SegmentationClass|SegmentationObject)/()",
    "coco-panoptic": r"(images/[^/]+|annotations/panoptic_[^/]+)/()",
    "parquet": r"(data)/(\w+-)\d{5}-of-\d{5}\.parquet",
}
"""Which files of a layout are a set: its folder, and what their names begin with."""


def write(
    builder: tfds.core.DatasetBuilder,
    summary: Summary,
    layout: str,
    found: Sequence[DataFile],
    *,
    published: str | None = None,
) -> str:
    """Returns the Croissant file of a dataset.

    What nobody has said of the dataset is left out: date, licence, citation.

    Args:
      builder: of the built dataset.
      summary: of the same.
      layout: the layout that it was exported in; `tfds` for the dataset as it was built.
      found: its files. Their paths are relative to the folder of the Croissant file.
      published: the date of publication, such as 2024-05-31; by default that of the release.
    """
    import mlcroissant as mlc

    said = about.of_built(builder.info)
    release = card.release_of(builder)
    fingerprint = f"Fingerprint of its {summary.examples} examples: {summary.fingerprint}."
    metadata = mlc.Metadata(
        name=card.title(builder),
        description=f"{said.description}\n\n{fingerprint}".strip(),
        cite_as=said.citation,
        license=[said.license] if said.license else None,
        url=said.homepage,
        version=str(builder.info.version),
        date_published=published or (release.published if release else "") or None,
        distribution=list(_distribution(layout, found)),
        record_sets=list(record_sets.of_parquet(builder)) if layout == "parquet" else [],
    )
    return json.dumps(metadata.to_json(), ensure_ascii=False, indent=2) + "\n"


def _distribution(
    layout: str, found: Sequence[DataFile]
) -> Iterator["mlc.FileObject | mlc.FileSet"]:
    """Yields the files. Of a tree's many, the file of their digests has a digest here."""
    import mlcroissant as mlc

    sets: dict[str, set[str]] = {}
    for file in found:
        pattern = _pattern(layout, file.path)
        if pattern:
            sets.setdefault(pattern, set()).add(file.kind)
        if pattern and layout in files.TREES:
            continue
        yield mlc.FileObject(
            id=file.path,
            name=file.path,
            description=f"sha256 of each file of the tree, as `sha256sum -c {SUMS}` checks them"
            if file.path == SUMS
            else None,
            content_url=file.path,
            content_size=f"{file.size} B",
            encoding_formats=[file.kind],
            sha256=file.sha256,
        )
    for pattern, kinds in sorted(sets.items()):
        yield mlc.FileSet(
            id=pattern, name=pattern, includes=[pattern], encoding_formats=sorted(kinds)
        )


def _pattern(layout: str, path: str) -> str:
    """Returns the pattern of the set that a file belongs to; empty if it belongs to none."""
    found = re.match(_IN_SETS.get(layout, r"(?!)"), path)
    ending = ".parquet" if layout == "parquet" else ""
    return f"{found[1]}/{found[2]}*{ending}" if found else ""
