"""The Croissant file of a dataset: JSON-LD that search engines and libraries read.

It names each file with its sha256, and the fields of the records where `mlcroissant` can read
them, which is in Parquet files. It is plain JSON, and written as such: importing `mlcroissant`,
which brings pandas and networkx, would take most of the time of a small export. The tests let
`mlcroissant` read and validate the file, and write it again.

References:
  https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0.
"""

from collections.abc import Iterator, Sequence
import json
import re
from typing import Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord import about
from voc_seg_tfrecord.cards import card, files, record_sets
from voc_seg_tfrecord.cards.files import SUMS, DataFile
from voc_seg_tfrecord.cards.summary import Summary

NAME = "croissant.json"
"""The name of the file."""

_OWN_WORDS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{word: f"cr:{word}" for word in _OWN_WORDS.split()},
}
"""What the words of the file mean: the context of the specification's appendix."""

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
    said = about.of_built(builder.info)
    release = card.release_of(builder)
    fingerprint = f"Fingerprint of its {summary.examples} examples: {summary.fingerprint}."
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": card.title(builder),
        "description": f"{said.description}\n\n{fingerprint}".strip(),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "citeAs": said.citation,
        "datePublished": published or (release.published if release else ""),
        "license": said.license,
        "url": said.homepage,
        "version": str(builder.info.version),
        "distribution": list(_distribution(layout, found)),
        "recordSet": list(record_sets.of_parquet(builder)) if layout == "parquet" else [],
    }
    known = {name: value for name, value in described.items() if value}
    return json.dumps(known, ensure_ascii=False, indent=2) + "\n"


def _distribution(layout: str, found: Sequence[DataFile]) -> Iterator[dict[str, Any]]:
    """Yields the files. Of a tree's many, the file of their digests has a digest here."""
    sets: dict[str, set[str]] = {}
    for file in found:
        pattern = _pattern(layout, file.path)
        if pattern:
            sets.setdefault(pattern, set()).add(file.kind)
        if pattern and layout in files.TREES:
            continue
        told = f"sha256 of each file of the tree, as `sha256sum -c {SUMS}` checks them"
        yield {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path,
            **({"description": told} if file.path == SUMS else {}),
            "contentSize": f"{file.size} B",
            "contentUrl": file.path,
            "encodingFormat": file.kind,
            "sha256": file.sha256,
        }
    for pattern, kinds in sorted(sets.items()):
        yield {
            "@type": "cr:FileSet",
            "@id": pattern,
            "name": pattern,
            "encodingFormat": sorted(kinds),
            "includes": pattern,
        }


def _pattern(layout: str, path: str) -> str:
    """Returns the pattern of the set that a file belongs to; empty if it belongs to none."""
    found = re.match(_IN_SETS.get(layout, r"(?!)"), path)
    ending = ".parquet" if layout == "parquet" else ""
    return f"{found[1]}/{found[2]}*{ending}" if found else ""
