"""What a dataset says of itself: description, citation, homepage, licence, how to get its data."""

import dataclasses
import json
import re

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOID, background_index
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.trees.layout import IMAGES, LISTS, MASKS

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for context59 and context60, VOC2010 with Pascal Context's labels, which no server has;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
With none of them, releases whose archive is registered are downloaded."""


@dataclasses.dataclass(frozen=True)
class Description:
    """What a dataset says of itself; a citation, homepage or licence may be missing."""

    description: str
    citation: str | None
    homepage: str | None
    license: str | None


def dataset_description(config: VocSegConfig, of_releases: str, bibliography: str) -> Description:
    """Returns what a config's dataset says of itself.

    Only a release carries the citation and the page of VOC. What the config says goes first.
    """
    release = config.official
    citation, homepage = None, None
    if release is not None:
        citation = "\n\n".join(_entry(bibliography, key) for key in release.citations)
        homepage = release.page
    return Description(
        _description(config, of_releases),
        citation if config.citation is None else config.citation,
        homepage if config.homepage is None else config.homepage,
        config.license,
    )


def description_of_built(info: tfds.core.DatasetInfo) -> Description:
    """Returns what a built dataset says of itself."""
    proto = info.as_proto
    return Description(
        info.description.strip(),
        info.citation.strip() or None,
        # Without an address, `info.homepage` makes one up of a page that does not exist.
        proto.location.urls[0] if proto.location.urls else None,
        proto.redistribution_info.license.strip() or None,
    )


_CLASSES = ("class_names", "classes")
_TILES = ("tile", "tile_overlap", "tile_format")


def check_same_content(folder: epath.Path, config: VocSegConfig) -> None:
    """Checks that a dataset has the classes and tiles of a config by whose name it is reused.

    TFDS reuses a dataset of the same name, so changed rules would silently be ignored.

    Raises:
      ConfigError: if it was built with other classes, meanings of mask values or tiles.
    """
    path = folder / "metadata.json"
    built = json.loads(storage.read_small(path)).get("config") if path.exists() else None
    if not isinstance(built, dict):
        return  # built by something else; reading it says so
    fields = json.loads(config.to_json())
    for field in (*_CLASSES, *_TILES):
        if built.get(field) != fields.get(field):
            raise ConfigError(
                folder,
                found=f"a dataset that was built with {field} {built.get(field, 'as by default')}",
                expected=f"{field} {fields.get(field, 'as by default')}, as in this config",
                remedy="choose another name for the new dataset, or delete the folder",
            )


def _description(config: VocSegConfig, of_releases: str) -> str:
    release = config.official
    if release is not None and not config.classes:
        return of_releases
    if release is not None:
        text = config.description or release.description
        return f"{text} {_classes(config)} Classes mapped: {config.table.describe()}."
    if config.description:
        return str(config.description)
    if config.task == "images":
        return "Images alone, built by voc_seg_tfrecord."
    if config.task == "classification":
        return "Images with one label each, built by voc_seg_tfrecord."
    return f"Own data for semantic segmentation, built by voc_seg_tfrecord. {_classes(config)}"


def _classes(config: VocSegConfig) -> str:
    names = config.built_class_names
    background = background_index(names, config.built_background)
    background_text = "no class is known to be background"
    if background is not None:
        background_text = f"index {background} is background"
    classes = f"{len(names)} class" if len(names) == 1 else f"{len(names)} classes"
    return f"Masks have one class index per pixel: {classes}, {background_text}, {VOID} is void."


def _entry(bibliography: str, key: str) -> str:
    """Returns the entry of a BibTeX file that has this key."""
    (entry,) = re.findall(rf"^@\w+{{{re.escape(key)},.*?^}}", bibliography, re.M | re.S)
    return str(entry)
