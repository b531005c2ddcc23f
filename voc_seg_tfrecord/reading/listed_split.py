"""Makes a list of image ids stand where the name of a split may stand."""

from collections.abc import Collection, Sequence


class ListedSplit(str):
    """The examples whose image ids are in a list. As text it is the list's name.

    It equals that text, which is the name of no split. So where splits are keys, keep this object
    and read records by it. Tiles are in it if their image is.

    Attributes:
      splits: the splits that are searched, in this order.
      ids: the list.
    """

    splits: tuple[str, ...]
    ids: frozenset[str]

    def __new__(cls, name: str, splits: Sequence[str], ids: Collection[str]) -> "ListedSplit":
        """Returns the examples of some splits that a list of ids has."""
        listed = super().__new__(cls, name)
        listed.splits = tuple(splits)
        listed.ids = frozenset(ids)
        return listed
