"""The dataset card: a README.md that says what the data are, where they are from, how to load them.

It says of own data only what its owner said. What belongs to a release of VOC stands only on the
card of that release.
"""

from collections.abc import Mapping, Sequence
import json
import pathlib
from typing import Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord import about
from voc_seg_tfrecord.cards import front_matter, markdown
from voc_seg_tfrecord.cards.summary import Summary
from voc_seg_tfrecord.facts.releases import RELEASES, Release
from voc_seg_tfrecord.features import INSTANCES, LABEL, MASK, OBJECTS
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.wording import versions

NAME = "README.md"
"""The name of the file, by which Hugging Face and others find it."""

_SAID_ABOVE = ("description", "citation", "homepage", "license")  # fields of a config
_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def write(builder: tfds.core.DatasetBuilder, summary: Summary, layout: str) -> str:
    """Returns the card of a dataset, which is the same whenever and wherever it is written.

    Args:
      builder: of the built dataset.
      summary: of the same.
      layout: the layout that it was exported in; `tfds` for the dataset as it was built.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "word": markdown.word,
        "prose": markdown.prose,
        "block": markdown.block,
    }
    body = environment.get_template("card.md.jinja").render(
        title=title(builder),
        said=about.of_built(builder.info),
        name=_tfds_name(builder),
        version=builder.info.version,
        config=_config(builder),
        features=sorted(builder.info.features),
        splits=summary.splits,
        examples=summary.examples,
        classes=_class_rows(summary),
        void_share=_void_share(summary),
        has_masks=MASK in builder.info.features,
        has_instances=INSTANCES in builder.info.features,
        has_labels=LABEL in builder.info.features,
        layout=layout,
        fingerprint=summary.fingerprint,
        writer=versions.package(),
        void=VOID,
    )
    return f"{front_matter.write(_fields(builder, summary, layout))}\n{body.strip()}\n"


def title(builder: tfds.core.DatasetBuilder) -> str:
    """Returns the name of a dataset for people."""
    name = getattr(builder.builder_config, "name", None) or builder.name
    release = release_of(builder)
    return name if release is None else f"Pascal VOC segmentation, {name}"


def release_of(builder: tfds.core.DatasetBuilder) -> Release | None:
    """Returns the release that a dataset was built from; None for own data."""
    said = (builder.info.metadata or {}).get("config") or {}
    return RELEASES.get(said.get("release", ""))


def _tfds_name(builder: tfds.core.DatasetBuilder) -> str:
    config = getattr(builder.builder_config, "name", None)
    return f"{builder.name}/{config}" if config else builder.name


def _config(builder: tfds.core.DatasetBuilder) -> str:
    """Returns how a dataset was built, as JSON; empty if the dataset does not hold it."""
    said = (builder.info.metadata or {}).get("config") or {}
    fields = {name: value for name, value in said.items() if name not in _SAID_ABOVE}
    return json.dumps(fields, ensure_ascii=False, sort_keys=True) if fields else ""


def _class_rows(summary: Summary) -> list[Mapping[str, Any]]:
    """Returns index, name, share of pixels without void, and images, of each class."""
    pixels = sum(split.pixels for split in summary.splits.values())
    images = sum(split.images for split in summary.splits.values())
    classes = int(pixels[:VOID].sum()) or 1
    return [
        {"index": n, "name": name, "share": pixels[n] / classes, "images": int(images[n])}
        for n, name in enumerate(summary.class_names)
    ]


def _void_share(summary: Summary) -> float:
    """Returns the share of void among all pixels."""
    pixels = sum(split.pixels for split in summary.splits.values())
    return float(pixels[VOID] / max(1, pixels.sum()))


def _fields(
    builder: tfds.core.DatasetBuilder, summary: Summary, layout: str
) -> dict[str, str | Sequence[Any]]:
    """Returns the front matter's fields."""
    tasks, kinds = _tasks(builder)
    fields: dict[str, str | Sequence[Any]] = {"pretty_name": title(builder)}
    fields |= front_matter.license_fields(about.of_built(builder.info).license)
    fields |= {"task_categories": tasks} if tasks else {}
    fields |= {"task_ids": kinds} if kinds else {}
    fields |= {"size_categories": [front_matter.size_category(summary.examples)]}
    if layout == "parquet":
        files = [{"split": split, "path": f"data/{split}-*"} for split in summary.splits]
        fields |= {"configs": [{"config_name": "default", "data_files": files}]}
    return fields


def _tasks(builder: tfds.core.DatasetBuilder) -> tuple[list[str], list[str]]:
    """Returns Hugging Face's names of what the data are for: categories, and kinds of these."""
    features = builder.info.features
    tasks = {LABEL: "image-classification", MASK: "image-segmentation", OBJECTS: "object-detection"}
    kinds = {MASK: "semantic-segmentation", INSTANCES: "instance-segmentation"}
    return (
        [name for feature, name in tasks.items() if feature in features],
        [name for feature, name in kinds.items() if feature in features],
    )
