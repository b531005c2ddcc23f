"""What a text names: the images of one place in it, and what its words mean."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses


@dataclasses.dataclass(frozen=True)
class ListedImages:
    """The images that one place of a text names.

    Attributes:
      key: the place: a value of the column of splits, or keys with `/` between; empty for the whole
        text. Of several columns of splits the column's name stands before the value.
      ids: the id of each name in its order; a name of no image stays as it is.
      found: how many of the names are images.
      says_split: whether a column or a key says that `key` is a split, whatever it is called.
    """

    key: str
    ids: Sequence[str]
    found: int
    says_split: bool = False


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """What the words of a text mean.

    Attributes:
      image_names: the id of an image by any name that a text may have for it.
      split_of: returns the split that a word means; empty if it means none, or says more.
    """

    image_names: Mapping[str, str]
    split_of: Callable[[str], str]

    def id_of(self, name: str) -> str:
        """Returns the id of an image; the name itself if it is that of no image."""
        return self.image_names.get(name, name)

    def listed(self, key: str, ids: Sequence[str], *, says_split: bool = False) -> ListedImages:
        """Returns what a place names, with the number of images among it."""
        return ListedImages(key, ids, self.count_images(ids), says_split)

    def count_images(self, ids: Iterable[str]) -> int:
        """Returns how many of some ids are those of images."""
        return sum(1 for image_id in ids if image_id in self.image_names)

    def are_splits(self, values: Iterable[str]) -> bool:
        """Says whether values are splits: two of them at least, or one beside words like splits."""
        distinct = {*values}
        known = {value for value in distinct if self.split_of(value)}
        if len({self.split_of(value) for value in known}) > 1:
            return True
        return bool(known) and distinct - known <= LIKE_SPLITS | NO_SPLIT


LIKE_SPLITS = frozenset({"eval", "evaluation", "holdout", "unlabeled", "unlabelled"})
"""Words that are splits beside the name of one."""

NO_SPLIT = frozenset(
    {"", "-", "none", "nan", "na", "ignore", "ignored", "unused", "exclude", "excluded"}
)
"""Values, in lower case, of images in no split."""

IMAGE_COLUMNS = (
    *("image", "image_path", "img", "img_path", "image_file", "file_name", "filename", "file"),
    *("path", "image_id", "id", "name", "key", "case", "mask", "label"),
)
"""Names, in lower case, of columns and keys that name images, the usual ones first."""
