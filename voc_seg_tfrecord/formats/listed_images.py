"""What a text names: the images of one part of it, and what its words mean."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.split_names import (
    WORDS_FOR_NO_SPLIT,
    WORDS_FOR_UNLABELED,
    only_split_in,
    parse_split_name,
)


@dataclasses.dataclass(frozen=True)
class ListedImages:
    """The images that one part of a text names.

    Attributes:
      key: the part: a value of the column of splits, or keys with `/` between; empty for the whole
        text. Of several columns of splits the column's name stands before the value.
      ids: the id of each name in its order; a name of no image stays as it is.
      image_count: how many of the names are images.
      says_split: whether a column or a key says that `key` is a split, whatever it is called.
      unclear: what may divide the images and is not understood, in words; empty if nothing does.
    """

    key: str
    ids: Sequence[str]
    image_count: int
    says_split: bool = False
    unclear: str = ""


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """What the words of a text mean.

    Attributes:
      image_names: the id of an image by any name that a text may have for it.
    """

    image_names: Mapping[str, str]

    def id_of(self, name: str) -> str:
        """Returns the id of an image; the name itself if it is that of no image."""
        return self.image_names.get(name, name)

    def listed(self, key: str, ids: Sequence[str], *, says_split: bool = False) -> ListedImages:
        """Returns what a part of a text names, with the number of images among it."""
        return ListedImages(key, ids, self.count_images(ids), says_split)

    def count_images(self, ids: Iterable[str]) -> int:
        """Returns how many of some ids are those of images."""
        return sum(1 for image_id in ids if image_id in self.image_names)

    def are_splits(self, values: Iterable[str]) -> bool:
        """Says whether values are those of a column of splits.

        They are if they include two different splits: `train`, `val` and `bus`. They also are if
        they include one split, and all others extend a split's name: `train` and `test_easy`. But
        `train` and `bus` may be classes.
        """
        no_name = WORDS_FOR_NO_SPLIT | WORDS_FOR_UNLABELED
        distinct = {value for value in values if value.lower() not in no_name}
        splits = {only_split_in(value) for value in distinct} - {""}
        if len(splits) != 1:
            return len(splits) > 1
        return all(_has_name_of_split(value) for value in distinct)


def _has_name_of_split(value: str) -> bool:
    """Says whether a value is the name of a split or extends one: `test` and `test_easy`."""
    return bool(parse_split_name(value).split)


IMAGE_COLUMNS = (
    "image",
    "image_path",
    "img",
    "img_path",
    "image_file",
    "file_name",
    "filename",
    "file",
    "path",
    "image_id",
    "id",
    "name",
    "key",
    "case",
    "mask",
    "label",
)
"""Names, in lower case, of columns and keys that name images, the usual ones first."""
