"""The tiles that a dataset's source gives, to compare them with its records.

Records are in no order of images, so to decode the image of each record would be to decode each
image once for every tile of it. Here each image is cut once, and a digest of each tile is kept.
"""

from collections.abc import Iterable, Mapping
import dataclasses
import functools
import hashlib
from typing import Any, Self

import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.examples.grid import image_of
from voc_seg_tfrecord.examples.make import ExampleSpec, try_examples
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.features import FILENAME
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.pool import THREADS, ordered_map

_Digested = list[tuple[str, bytes]]


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a tile comes from, and the digest of the record that it has to have."""

    item: Item
    digest: bytes


@dataclasses.dataclass(frozen=True)
class TileOriginals:
    """A tiled dataset's source; it answers as `source_records.Originals` does.

    Attributes:
      features: the dataset's features, which turn examples into records.
      spec: what examples hold.
      splits: the tiles of the source, by split and id.
      unusable: the images whose files cannot be used, by split and id, with the reason.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: Mapping[str, Mapping[str, Origin]]
    unusable: Mapping[str, Mapping[str, VocSegError]]

    @classmethod
    def of(
        cls,
        features: tfds.features.FeaturesDict,
        spec: ExampleSpec,
        splits: Mapping[str, Iterable[Item]],
        *,
        progress: bool = False,
    ) -> Self:
        """Cuts each image once."""
        trusted = dataclasses.replace(spec, decoding="none")
        digested = functools.partial(_digests, features, trusted)
        found: dict[str, dict[str, Origin]] = {}
        unusable: dict[str, dict[str, VocSegError]] = {}
        for split, items in splits.items():
            found[split], unusable[split] = {}, {}
            made = ordered_map(digested, items, ahead=THREADS)
            bar = tqdm(made, desc=f"source of {split}", unit=" images", disable=not progress)
            for item, tiles in bar:
                if isinstance(tiles, VocSegError):
                    unusable[split][item.id] = tiles
                else:
                    found[split] |= {tile: Origin(item, digest) for tile, digest in tiles}
        return cls(features, trusted, found, unusable)

    def agrees(self, split: str, record: Record) -> bool:
        """Says whether a record is, byte for byte, what its files give."""
        origin = self.splits[split].get(record.id)
        return origin is not None and origin.digest == _digest(record)

    def record(self, split: str, wanted: str) -> Record | None:
        """Returns the record that a tile must have, None if the source has no such tile.

        Raises:
          VocSegError: if the files of its image cannot be used.
        """
        origin = self.splits[split].get(wanted)
        if origin is None:
            error = self.unusable[split].get(image_of(wanted) or "")
            if error is not None:
                raise error
            return None
        made = try_examples(self.spec, origin.item)
        if isinstance(made, VocSegError):
            raise made
        (example,) = (example for _, example in made if _id(example) == wanted)
        return records.parse(self.features.serialize_example(example))


def _digests(
    features: tfds.features.FeaturesDict, spec: ExampleSpec, item: Item
) -> _Digested | VocSegError:
    made = try_examples(spec, item)
    if isinstance(made, VocSegError):
        return made
    return [
        (_id(example), _digest(records.parse(features.serialize_example(example))))
        for _, example in made
    ]


def _id(example: Mapping[str, Any]) -> str:
    return image_id(example[FILENAME])


def _digest(record: Record) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(record.features):
        value = record.features[name].SerializeToString(deterministic=True)
        digest.update(f"{name} {len(value)} ".encode() + value)
    return digest.digest()
