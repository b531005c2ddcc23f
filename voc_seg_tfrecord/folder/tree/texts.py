"""The text files of a tree: id lists, class files and tables. Each is read once."""

from collections.abc import Iterable

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below

_LIST_ENDING = ".txt"


class TreeTexts:
    """Finds the id lists of a tree, and reads texts.

    Args:
      lists: the folder of id lists.
      listing: the files that were listed already, or None.
    """

    def __init__(self, lists: epath.Path, listing: Listing | None = None):
        self._lists = lists
        self._listing = listing
        self._file_by_path: dict[epath.Path, File] = {}
        self._file_name_by_list: dict[str, str] | None = None

    def read(
        self, path: epath.Path, error: type[LayoutError] | type[ListError] = LayoutError
    ) -> File:
        """Returns a text file; a second call with the same path returns the same object.

        Raises:
          VocSegError: of the class `error`, if the file cannot be read.
        """
        if path not in self._file_by_path:
            self._file_by_path[path] = File.read(path, error)
        return self._file_by_path[path]

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the id list `name`, whether it exists or not."""
        return self._lists / self._find_lists().get(name, f"{name}{_LIST_ENDING}")

    def list_names(self) -> list[str]:
        """Returns the names of the id lists in their folder."""
        return list(self._find_lists())

    def _find_lists(self) -> dict[str, str]:
        """Returns the names of the files of lists, by their names without `.txt`."""
        if self._file_name_by_list is None:
            files = files_below(self._lists, self._listing, deep=False)
            self._file_name_by_list = _name_lists(files)
        return self._file_name_by_list


def _name_lists(files: Iterable[str]) -> dict[str, str]:
    """Returns the text files among files, by their names without `.txt`.

    If `train.txt` and `train.TXT` both exist, `train.txt` wins: it comes later in sorted order, so
    it replaces the other one.
    """
    file_by_name: dict[str, str] = {}
    for file in sorted(files):
        if file.lower().endswith(_LIST_ENDING):
            file_by_name[file[: -len(_LIST_ENDING)]] = file
    return file_by_name
