"""A TFDS builder without files beside it, as the baselines are."""

import tensorflow_datasets as tfds
from tensorflow_datasets.core import dataset_metadata


class Undescribed(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """Has a version, and no README, tags or citation to look for."""

    VERSION = tfds.core.Version("1.0.0")

    @classmethod
    def get_metadata(cls) -> dataset_metadata.DatasetMetadata:
        """Returns nothing: there are no files beside this builder."""
        return dataset_metadata.DatasetMetadata("", "", [])
