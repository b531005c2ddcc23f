"""Writes the dataset card: a README.md with what the data are, their origin, and how to load them.

For own data it states only what the owner gave. Facts about a release of VOC stand only on the card
of that release.

References:
  https://github.com/huggingface/hub-docs/blob/main/datasetcard.md
"""

import bisect
from collections.abc import Callable, Mapping
import dataclasses
import html
import json
import pathlib
import re
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.record import digests_of
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import IMAGE, INSTANCES, LABEL, MASK, MASKS, OBJECTS, VOID
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.core.requirements import package_version
from voc_seg_tfrecord.exports import columns, yaml_text
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.records import Record

_SIZE_CATEGORIES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M")
"""Hugging Face's names of dataset sizes, in examples."""

_SIZE_BOUNDS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""The first number of examples of each category but the first."""

# Those licenses that Hugging Face knows and that are given to data.
_LICENSES = frozenset(
    (
        *("apache-2.0", "mit", "unlicense", "wtfpl", "mpl-2.0", "bsd-2-clause", "bsd-3-clause"),
        *("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "agpl-3.0", "cc0-1.0", "pddl", "odbl"),
        *("odc-by", "etalab-2.0", "cdla-sharing-1.0", "cdla-permissive-1.0"),
        *("cdla-permissive-2.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
        *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0"),
        *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0"),
        *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    )
)

_TASK_CATEGORIES = {
    LABEL: "image-classification",
    MASK: "image-segmentation",
    OBJECTS: "object-detection",
}
"""Hugging Face's category of the task that a feature is for."""

_TASK_IDS = {MASK: "semantic-segmentation", INSTANCES: "instance-segmentation"}
"""Hugging Face's finer name of that task."""

_MAX_LICENSE_NAME_LENGTH = 80
"""Characters of a license's name; a longer text is the license itself."""


def size_category(examples: int) -> str:
    """Returns the category of a number of examples."""
    return _SIZE_CATEGORIES[bisect.bisect(_SIZE_BOUNDS, examples)]


def license_fields(text: str | None) -> dict[str, str]:
    """Returns the front matter's fields of a license; none if the owner gave no license."""
    if not text:
        return {}
    identifier = "-".join(text.casefold().split())
    if identifier in _LICENSES:
        return {"license": identifier}
    if len(text) > _MAX_LICENSE_NAME_LENGTH or "\n" in text:
        return {"license": "other"}
    return {"license": "other", "license_name": text}


def front_matter(fields: Mapping[str, Any]) -> str:
    """Returns YAML between two lines of `---`."""
    return f"---\n{yaml_text.dump(fields)}---\n"


_SPECIAL_CHARACTER = re.compile(r"([\\`*_{}\[\]()#|~$!^=])")
_ADDRESS = re.compile(r"(https?://[\w./%#?=&~+:-]*[\w/])")


def markdown_word(text: object) -> str:
    """Returns Markdown that shows a text in one line, also in a cell of a table."""
    line = " ".join(str(text).split())
    escaped = _SPECIAL_CHARACTER.sub(r"\\\1", html.escape(line, quote=False))
    # At its beginning these would make a list, a line across, or the end of the front matter.
    return re.sub(r"^(\d*)([-+.])", r"\1\\\2", escaped)


def markdown_block(text: str, language: str = "text") -> str:
    """Returns a text with its lines and blanks untouched, in a fence longer than any within."""
    runs_of_backticks = re.findall(r"`+", text)
    longest = max(map(len, runs_of_backticks), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def markdown_prose(text: str) -> str:
    """Returns Markdown that shows paragraphs as they are, and addresses as links."""
    lines = []
    for line in text.strip().splitlines():
        words = []
        for number, part in enumerate(_ADDRESS.split(line)):
            is_address = number % 2 == 1  # texts and addresses take turns
            words.append(f" <{part}> " if is_address else markdown_word(part))
        lines.append("".join(words).strip())
    return "\n".join(lines)


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
    """The contents of a dataset's records.

    Attributes:
      examples: how many there are.
      images: how many images have each mask value, or each label, int64 `[256]`.
      pixels: how many pixels have each mask value, int64 `[256]`; zeros without masks.
      fingerprint: of the dataset.
      ids_sha256: of the image ids of each split; see `id_lists.id_list_sha256`.
    """

    examples: int
    images: np.ndarray
    pixels: np.ndarray
    fingerprint: str
    ids_sha256: Mapping[str, str]


def summarize(builder: tfds.core.DatasetBuilder, *, progress: bool = False) -> Summary:
    """Reads each record of a built dataset once.

    Raises:
      RecordError: if a record cannot be read.
    """
    images = np.zeros(256, np.int64)
    pixels = np.zeros(256, np.int64)
    fingerprints = {}
    ids_sha256 = {}
    for split in builder.info.splits:
        digests: dict[str, fingerprint.Digests] = {}
        image_ids: set[str] = set()
        for record in records.scan(builder, split, _summarize_record, progress=progress):
            images += record.present
            pixels += record.pixels
            digests[record.id] = record.digests
            image_ids.add(record.image_id)
        fingerprints[split] = fingerprint.of_split(digests)
        ids_sha256[split] = id_list_sha256(image_ids)
    return Summary(
        examples=sum(split.num_examples for split in builder.info.splits.values()),
        images=images,
        pixels=pixels,
        fingerprint=fingerprint.of_dataset(fingerprints),
        ids_sha256=ids_sha256,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _RecordSummary:
    """The part of a `Summary` that one record adds.

    Attributes:
      id: its id.
      image_id: the id of its image, which of a tile is another one.
      present: 1 for each mask value or label that it has, int64 `[256]`.
      pixels: how many pixels have each mask value, int64 `[256]`.
      digests: of its image and masks.
    """

    id: str
    image_id: str
    present: np.ndarray
    pixels: np.ndarray
    digests: fingerprint.Digests


def _summarize_record(record: Record) -> _RecordSummary:
    masks = {name: record.pixels(name) for name in MASKS if name in record.features}
    pixels = count_values(masks[MASK]) if MASK in masks else np.zeros(256, np.int64)
    return _RecordSummary(
        record.id,
        record.image_id,
        present=(pixels > 0) + record.label_counts(),
        pixels=pixels,
        digests=digests_of(record, masks),
    )


NAME = "README.md"
"""The file's name, by which Hugging Face and others find it."""

BUILT = "tfds"
"""The layout of a dataset as it was built, which has a card and is not exported."""

_FIELDS_IN_PROSE = ("description", "citation", "homepage", "license")
"""Fields of a config that the card shows above the config."""

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def load_templates(folder: pathlib.Path, *, autoescape: bool, **filters: Callable[..., str]) -> Any:
    """Returns Jinja's environment of a folder's templates, in which an unknown name is an error."""
    import jinja2  # of cards and pages only

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= filters
    return environment


def write(builder: tfds.core.DatasetBuilder, summary: Summary, layout: str) -> str:
    """Returns the card of a dataset in a layout, the same whenever and wherever it is written."""
    environment = load_templates(
        _TEMPLATES, autoescape=False, word=markdown_word, prose=markdown_prose, block=markdown_block
    )
    config = metadata.config_of(builder)
    fields = {name: value for name, value in config.items() if name not in _FIELDS_IN_PROSE}
    config_name = getattr(builder.builder_config, "name", None)
    pixels_without_void = int(summary.pixels[:VOID].sum())
    classes = []
    for index, class_name in enumerate(metadata.class_names(builder)):
        share = summary.pixels[index] / (pixels_without_void or 1)
        images = int(summary.images[index])
        classes.append({"index": index, "name": class_name, "share": share, "images": images})
    context = {
        "title": title(builder),
        "about": metadata.description_of(builder),
        "name": f"{builder.name}/{config_name}" if config_name else builder.name,
        "version": builder.info.version,
        "config": json.dumps(fields, ensure_ascii=False, sort_keys=True) if fields else "",
        "features": sorted(builder.info.features),
        "splits": builder.info.splits,
        "ids_sha256": summary.ids_sha256,
        "examples": summary.examples,
        "classes": classes,
        "has_default_names": metadata.has_default_names(builder),
        "void_share": summary.pixels[VOID] / max(1, summary.pixels.sum()),
        "has_masks": MASK in builder.info.features,
        "has_instances": INSTANCES in builder.info.features,
        "has_labels": LABEL in builder.info.features,
        "has_arrays": columns.holds_arrays(builder.info.features[IMAGE]),
        "layout": layout,
        "is_export": layout != BUILT,
        "fingerprint": summary.fingerprint,
        "writer": package_version(),
        "void": VOID,
    }
    body = environment.get_template("card.md.jinja").render(context)
    head = front_matter(_front_matter_fields(builder, summary, layout))
    return f"{head}\n{body.strip()}\n"


def title(builder: tfds.core.DatasetBuilder) -> str:
    """Returns the name of a dataset for people."""
    name = getattr(builder.builder_config, "name", None) or builder.name
    is_official = metadata.release_of(builder) in RELEASES
    return f"Pascal VOC segmentation, {name}" if is_official else name


def _front_matter_fields(
    builder: tfds.core.DatasetBuilder, summary: Summary, layout: str
) -> dict[str, Any]:
    """Returns the fields by which Hugging Face finds and loads a dataset."""
    features = builder.info.features
    fields: dict[str, Any] = {"pretty_name": title(builder)}
    fields |= license_fields(metadata.description_of(builder).license)
    tasks = [name for feature, name in _TASK_CATEGORIES.items() if feature in features]
    if tasks:
        fields["task_categories"] = tasks
    task_ids = [name for feature, name in _TASK_IDS.items() if feature in features]
    if task_ids:
        fields["task_ids"] = task_ids
    fields["size_categories"] = [size_category(summary.examples)]
    if layout.startswith("parquet"):
        fields |= _parquet_fields(builder)
    return fields


def _parquet_fields(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    """Returns the fields by which `datasets` knows splits and columns of Parquet files."""
    files = []
    splits = []
    for name, split in builder.info.splits.items():
        files.append({"split": name, "path": f"data/{name}-*"})
        size = int(split.num_bytes)
        splits.append({"name": name, "num_bytes": size, "num_examples": split.num_examples})
    features = []
    for column in columns.make_columns(builder.info.features, builder.info.full_name):
        features.append({"name": column.name, **columns.as_yaml(column.description)})
    return {
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": features, "splits": splits},
    }
