"""The TFDS builder: features and splits. Everything about pixels is in its neighbours."""

from collections.abc import Iterator, Sequence
import functools
import re
from typing import Any, ClassVar

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core.split_builder import SplitGenerator

from voc_seg_tfrecord import configs, pinned, resources, sources
from voc_seg_tfrecord.errors import ConfigError, SplitError, VocSegError
from voc_seg_tfrecord.examples import ExampleSpec, try_example
from voc_seg_tfrecord.labels import VOC_POSES, VOID, voc_palette
from voc_seg_tfrecord.layout import Pair
from voc_seg_tfrecord.pool import ordered_map
from voc_seg_tfrecord.writer import StableExampleWriter


class Builder(tfds.core.GeneratorBasedBuilder):
    """Semantic segmentation data in the Pascal VOC layout."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    DEFAULT_BUILDER_CONFIG_NAME = "2012"
    MANUAL_DOWNLOAD_INSTRUCTIONS = sources.MANUAL_DOWNLOAD_INSTRUCTIONS

    _checksums_path = resources.folder("checksums") / "checksums.tsv"
    _beam_folder: epath.Path | None = None  # set while a build under Beam runs

    def _info(self) -> tfds.core.DatasetInfo:
        """Returns features, citation and metadata; see the package's README for each."""
        config = self.builder_config
        names = list(config.class_names)
        features = {
            "image": tfds.features.Image(
                shape=(None, None, 3), encoding_format="jpeg", doc="The file's own bytes."
            ),
            "image/filename": tfds.features.Text(doc="Name below the image folder."),
            "image/height": np.int32,
            "image/width": np.int32,
            "segmentation_mask": tfds.features.LabeledImage(
                labels=names,
                shape=(None, None, 1),
                encoding_format="png",
                doc=f"Class index a pixel, {VOID} is void.",
            ),
            "labels": tfds.features.Sequence(
                tfds.features.ClassLabel(names=names),
                doc="Classes in the mask, ascending, without background and void.",
            ),
        }
        if config.instance_mask:
            features["instance_mask"] = tfds.features.Image(
                shape=(None, None, 1),
                encoding_format="png",
                use_colormap=True,
                doc=f"Object number a pixel, 0 is background, {VOID} is void.",
            )
        if config.objects:
            features["objects"] = tfds.features.Sequence(
                {
                    "label": tfds.features.ClassLabel(names=names),
                    "bbox": tfds.features.BBoxFeature(),
                    "pose": tfds.features.ClassLabel(names=list(VOC_POSES)),
                    "is_truncated": np.bool_,
                    "is_difficult": np.bool_,
                }
            )
        metadata = self.get_metadata()
        year = config.release or "2012"
        return tfds.core.DatasetInfo(
            builder=self,
            description=metadata.description,
            citation=_citation(metadata.citation, f"pascal-voc-{year}"),
            homepage=f"http://host.robots.ox.ac.uk/pascal/VOC/voc{year}/",
            features=tfds.features.FeaturesDict(features),
            supervised_keys=("image", "segmentation_mask"),
            metadata=tfds.core.MetadataDict(
                ignore_label=VOID, class_names=names, palette=voc_palette().tolist()
            ),
        )

    def _download_and_prepare(
        self,
        dl_manager: tfds.download.DownloadManager,
        download_config: tfds.download.DownloadConfig,
    ) -> None:
        manual = download_config.manual_dir
        if manual is not None and not epath.Path(manual).expanduser().exists():
            raise ConfigError(
                f"--manual_dir {manual}",
                found="no such folder",
                expected=self.MANUAL_DOWNLOAD_INSTRUCTIONS,
            )
        if not (download_config.beam_options or download_config.beam_runner):
            super()._download_and_prepare(dl_manager, download_config)
            return
        from voc_seg_tfrecord import beam  # Apache Beam takes seconds to import

        with (
            beam.exchange(self.data_path) as folder,
            tfds.core.utils.temporary_assignment(self, "_beam_folder", folder),
        ):
            super()._download_and_prepare(dl_manager, download_config)

    def _split_generators(
        self, dl_manager: tfds.download.DownloadManager
    ) -> dict[str, SplitGenerator]:
        """Finds every split's files and checks its list, all before the first record."""
        config = self.builder_config
        pairs = {}
        for split, listed in sources.find_splits(config, dl_manager).items():
            ids = listed.read_ids()
            if config.strict:
                pinned.check_ids(config.release, split, ids, listed.path)
            pairs[split] = listed.tree.pairs(
                split, ids, instances=config.instance_mask, annotations=config.objects
            )
        return {split: self._generate_examples(split, found) for split, found in pairs.items()}

    def _generate_examples(self, split: str, pairs: Sequence[Pair]) -> SplitGenerator:
        """Returns `(image id, example)` of a split: an iterator, or a PTransform for Beam."""
        config = self.builder_config
        spec = ExampleSpec(config.class_names, config.instance_mask, config.objects)
        if self._beam_folder is None:
            return _examples(split, pairs, spec)
        from voc_seg_tfrecord import beam

        return beam.MakeExamples(split, pairs, spec, self._beam_folder)

    def _example_writer(self) -> StableExampleWriter:
        return StableExampleWriter(self.info.file_format)


def _examples(
    split: str, pairs: Sequence[Pair], spec: ExampleSpec
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields `(image id, example)`; after a first problem only looks for more of them."""
    problems: list[VocSegError] = []
    for pair, result in ordered_map(functools.partial(try_example, spec), pairs):
        if isinstance(result, VocSegError):
            problems.append(result)
        elif not problems:
            yield pair.id, result
    if problems:
        raise SplitError(split, problems, len(pairs))


def _citation(bibliography: str, key: str) -> str:
    """Returns the entry of a BibTeX file that has this key."""
    (entry,) = re.findall(rf"^@\w+{{{re.escape(key)},.*?^}}", bibliography, re.M | re.S)
    return entry
