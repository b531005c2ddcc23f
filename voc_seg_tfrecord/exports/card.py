"""The dataset card: a README.md that says what the data are, where they are from, how to load them.

It says of own data only what its owner said. What belongs to a release of VOC stands only on the
card of that release.

References:
  https://github.com/huggingface/hub-docs/blob/main/datasetcard.md
"""

import bisect
from collections.abc import Mapping
import dataclasses
import html
import json
import math
import pathlib
import re
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
import yaml

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.record import digests_of
from voc_seg_tfrecord.core import description, templates
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import INSTANCES, LABEL, MASK, MASKS, OBJECTS, VOID
from voc_seg_tfrecord.core.package_versions import package_version
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.exports import columns
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record

# Below 1,000 examples, 10,000 and so on.
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M")

# The licences of data among those that Hugging Face knows.
_LICENSES = frozenset(
    {
        *("apache-2.0", "mit", "unlicense", "wtfpl", "mpl-2.0", "bsd-2-clause", "bsd-3-clause"),
        *("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "agpl-3.0", "cc0-1.0", "pddl", "odbl"),
        *("odc-by", "etalab-2.0", "cdla-sharing-1.0", "cdla-permissive-1.0"),
        *("cdla-permissive-2.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
        *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0"),
        *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0"),
        *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    }
)
# Hugging Face's names of what data are for: categories, and kinds of these.
_TASKS = {LABEL: "image-classification", MASK: "image-segmentation", OBJECTS: "object-detection"}
_KINDS = {MASK: "semantic-segmentation", INSTANCES: "instance-segmentation"}

_LONGEST_NAME = 80  # of a licence; a longer text is the licence itself


def size_category(examples: int) -> str:
    """Returns the category of a number of examples."""
    return _SIZES[bisect.bisect([10**n for n in range(3, 8)], examples)]


def license_fields(text: str | None) -> dict[str, str]:
    """Returns the front matter's fields of a licence; none if the owner gave no licence."""
    if not text:
        return {}
    identifier = "-".join(text.casefold().split())
    if identifier in _LICENSES:
        return {"license": identifier}
    named = {"license_name": text} if len(text) <= _LONGEST_NAME and "\n" not in text else {}
    return {"license": "other", **named}


class _Dumper(yaml.SafeDumper):
    """Writes YAML; texts with other line ends in quotes, as PyYAML loses them otherwise."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_Dumper.add_representer(str, _Dumper.represent_str)


def front_matter(fields: Mapping[str, Any]) -> str:
    """Returns YAML between two lines of `---`."""
    options: dict[str, Any] = {"allow_unicode": True, "sort_keys": False, "width": math.inf}
    return f"---\n{yaml.dump(dict(fields), Dumper=_Dumper, **options)}---\n"


_SPECIAL = re.compile(r"([\\`*_{}\[\]()#|~$!^=])")
_ADDRESS = re.compile(r"(https?://[\w./%#?=&~+:-]*\w)")


def markdown_word(text: object) -> str:
    """Returns Markdown that shows a text in one line, also in a cell of a table."""
    line = " ".join(str(text).split())
    escaped = _SPECIAL.sub(r"\\\1", html.escape(line, quote=False))
    # At its beginning these would make a list, a line across, or the end of the front matter.
    return re.sub(r"^(\d*)([-+.])", r"\1\\\2", escaped)


def markdown_block(text: str, language: str = "text") -> str:
    """Returns a text with its lines and blanks untouched, in a fence longer than any within."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def markdown_prose(text: str) -> str:
    """Returns Markdown that shows paragraphs as they are, and addresses as links."""
    lines = []
    for line in text.strip().splitlines():
        parts = enumerate(_ADDRESS.split(line))
        words = (f" <{part}> " if n % 2 else markdown_word(part) for n, part in parts)
        lines.append("".join(words).strip())
    return "\n".join(lines)


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
    """What the records of a dataset hold.

    Attributes:
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
    images, pixels = np.zeros((2, 256), np.int64)
    splits, ids = {}, dict[str, str]()
    for split in builder.info.splits:
        digests, of_images = {}, set[str]()
        counted = records.scan(builder, split, _count, progress=progress)
        for record_id, image_id, of_image, of_mask, of_record in counted:
            images += of_image
            pixels += of_mask
            digests[record_id] = of_record
            of_images.add(image_id)
        splits[split] = fingerprint.of_split(digests)
        ids[split] = id_list_sha256(of_images)
    examples = sum(split.num_examples for split in builder.info.splits.values())
    return Summary(examples, images, pixels, fingerprint.of_dataset(splits), ids)


def _count(record: Record) -> tuple[str, str, np.ndarray, np.ndarray, fingerprint.Digests]:
    """Returns the ids of a record and its image, mask values or labels, pixels, and digests."""
    masks = {name: record.pixels(name) for name in MASKS if name in record.features}
    pixels = count_values(masks[MASK]) if MASK in masks else np.zeros(256, np.int64)
    present = (pixels > 0) + record.label_counts()
    return record.id, dataset.image_of(record), present, pixels, digests_of(record, masks)


NAME = "README.md"
"""The file's name, by which Hugging Face and others find it."""

BUILT = "tfds"
"""The layout of a dataset as it was built, which has a card and is not exported."""

_SAID_ABOVE = ("description", "citation", "homepage", "license")  # fields of a config
_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def write(builder: tfds.core.DatasetBuilder, summary: Summary, layout: str) -> str:
    """Returns the card of a dataset in a layout, the same whenever and wherever it is written."""
    environment = templates.load_templates(
        _TEMPLATES, autoescape=False, word=markdown_word, prose=markdown_prose, block=markdown_block
    )
    config = dataset.config_of(builder)
    fields = {name: value for name, value in config.items() if name not in _SAID_ABOVE}
    names = filter(None, (builder.name, getattr(builder.builder_config, "name", None)))
    shares = summary.pixels / (int(summary.pixels[:VOID].sum()) or 1)  # without void
    context = {
        "title": title(builder),
        "said": description.description_of_built(builder.info),
        "name": "/".join(names),
        "version": builder.info.version,
        "config": json.dumps(fields, ensure_ascii=False, sort_keys=True) if fields else "",
        "features": sorted(builder.info.features),
        "splits": builder.info.splits,
        "ids_sha256": summary.ids_sha256,
        "examples": summary.examples,
        "classes": [
            {"index": n, "name": name, "share": shares[n], "images": int(summary.images[n])}
            for n, name in enumerate(dataset.class_names(builder))
        ],
        "void_share": summary.pixels[VOID] / max(1, summary.pixels.sum()),
        "has_masks": MASK in builder.info.features,
        "has_instances": INSTANCES in builder.info.features,
        "has_labels": LABEL in builder.info.features,
        "layout": layout,
        "is_export": layout != BUILT,
        "fingerprint": summary.fingerprint,
        "writer": package_version(),
        "void": VOID,
    }
    body = environment.get_template("card.md.jinja").render(context)
    return f"{front_matter(_fields(builder, summary, layout))}\n{body.strip()}\n"


def title(builder: tfds.core.DatasetBuilder) -> str:
    """Returns the name of a dataset for people."""
    name = getattr(builder.builder_config, "name", None) or builder.name
    is_official = dataset.config_of(builder).get("release", "") in RELEASES
    return f"Pascal VOC segmentation, {name}" if is_official else name


def _fields(builder: tfds.core.DatasetBuilder, summary: Summary, layout: str) -> dict[str, Any]:
    features = builder.info.features
    tasks = [name for feature, name in _TASKS.items() if feature in features]
    kinds = [name for feature, name in _KINDS.items() if feature in features]
    fields: dict[str, Any] = {"pretty_name": title(builder)}
    fields |= license_fields(description.description_of_built(builder.info).license)
    fields |= {"task_categories": tasks} if tasks else {}
    fields |= {"task_ids": kinds} if kinds else {}
    fields |= {"size_categories": [size_category(summary.examples)]}
    if layout.startswith("parquet"):
        files = [{"split": split, "path": f"data/{split}-*"} for split in builder.info.splits]
        fields |= {"configs": [{"config_name": "default", "data_files": files}]}
        splits = [
            {"name": name, "num_bytes": int(split.num_bytes), "num_examples": split.num_examples}
            for name, split in builder.info.splits.items()
        ]
        described = columns.columns(features, builder.info.full_name)
        named = [{"name": of.name, **columns.as_yaml(of.description)} for of in described]
        info = {"features": named, "splits": splits}
        fields |= {"dataset_info": info}
    return fields
