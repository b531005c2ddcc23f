"""How a dataset describes itself, and what may lie in `--manual_dir`."""

import dataclasses
import re

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.layout import IMAGES, LISTS, MASKS
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.core.releases import Release

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for context59 and context60, VOC2010 with Pascal Context's labels, which cannot be downloaded;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
Without any of these, the archive of a release is downloaded if its checksum is registered."""


@dataclasses.dataclass(frozen=True)
class Description:
    """How a dataset describes itself; a citation, homepage or license may be missing."""

    description: str
    citation: str | None
    homepage: str | None
    license: str | None


def dataset_description(
    config: VocSegConfig, release_description: str, bibliography: str
) -> Description:
    """Returns the description of a config's dataset.

    Only a release has the citation and the page of VOC. The config's own texts take precedence.

    Args:
      config: the config.
      release_description: the description of a release's dataset.
      bibliography: the text of a BibTeX file with the citations of all releases.
    """
    release = config.official
    citation = config.citation
    homepage = config.homepage
    if release is not None and citation is None:
        entries = _read_bibliography(bibliography)
        citation = "\n\n".join(entries[key] for key in release.citations)
    if release is not None and homepage is None:
        homepage = release.page
    text = _describe_dataset(config, release_description)
    return Description(text, citation, homepage, config.license)


def description_of_built(info: tfds.core.DatasetInfo) -> Description:
    """Returns the description of a built dataset."""
    proto = info.as_proto
    return Description(
        info.description.strip(),
        info.citation.strip() or None,
        # Without an address, `info.homepage` makes one up, of a page that does not exist.
        proto.location.urls[0] if proto.location.urls else None,
        proto.redistribution_info.license.strip() or None,
    )


_BIBTEX_ENTRY = re.compile(r"^(@\w+{([^,]+),.*?^})", re.M | re.S)


def _read_bibliography(text: str) -> dict[str, str]:
    """Returns the entries of a BibTeX file by their keys."""
    return {key: entry for entry, key in _BIBTEX_ENTRY.findall(text)}


def _describe_dataset(config: VocSegConfig, release_description: str) -> str:
    """Returns the text of a dataset; see `dataset_description`."""
    if config.official is not None:
        return _describe_release(config, config.official, release_description)
    if config.description:
        return str(config.description)
    if config.task == "images":
        return "Images without labels, built by voc_seg_tfrecord."
    if config.task == "classification":
        return "Images with one label each, built by voc_seg_tfrecord."
    classes = _describe_classes(config)
    return f"Own data for semantic segmentation, built by voc_seg_tfrecord. {classes}"


def _describe_release(config: VocSegConfig, release: Release, release_description: str) -> str:
    """Returns the text of a release's dataset, or of a part of it."""
    text = config.description or release.description
    if config.classes:
        return f"{text} {_describe_classes(config)} Classes mapped: {config.table.describe()}."
    is_text_of_release = text == release.description
    return release_description if is_text_of_release else str(text)


def _describe_classes(config: VocSegConfig) -> str:
    names = config.built_class_names
    index = background_index(names, config.built_background)
    background = "no class is known to be background"
    if index is not None:
        background = f"index {index} is background"
    classes = counted(len(names), "class")
    return f"Masks have one class index per pixel: {classes}, {background}, {VOID} is void."
