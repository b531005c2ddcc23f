"""The paths of files by id, whatever Unicode form an id or a path is written in."""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
import functools
import posixpath
import types

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ANY
from voc_seg_tfrecord.core.names import unprintable
from voc_seg_tfrecord.core.spelling import as_nfc, fold_spelling
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below


class Names(Mapping[str, str]):
    """The names of files below a folder, by id.

    An id finds the file of the same id, or else the one whose id differs in its Unicode form alone:
    macOS writes names in another form than most programs. If two files differ so, it finds neither.

    Args:
      files: the names by id, in the order of ids.
      names_by_ambiguous_id: the names of all files of each id that has several.

    Attributes:
      names_by_ambiguous_id: the names of all files of each id that has several.
    """

    def __init__(
        self,
        files: Mapping[str, str] = types.MappingProxyType({}),
        names_by_ambiguous_id: Mapping[str, Sequence[str]] = types.MappingProxyType({}),
    ):
        self._files = files
        self.names_by_ambiguous_id = names_by_ambiguous_id

    def __getitem__(self, image_id: str) -> str:
        id_of_file = self.find_id(image_id)
        if id_of_file is None:
            raise KeyError(image_id)
        return self._files[id_of_file]

    def __contains__(self, image_id: object) -> bool:
        if image_id in self._files:
            return True
        return isinstance(image_id, str) and self.find_id(image_id) is not None

    def items(self) -> ItemsView[str, str]:
        """The ids and their names."""
        return self._files.items()

    def values(self) -> ValuesView[str]:
        """The names."""
        return self._files.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def with_files(self, name_by_id: Mapping[str, str]) -> "Names":
        """Returns these names and others, which replace those of their ids.

        Args:
          name_by_id: the one name of each id.
        """
        ambiguous = self.names_by_ambiguous_id.items()
        remaining = {image_id: names for image_id, names in ambiguous if image_id not in name_by_id}
        return Names(dict(sorted({**self._files, **name_by_id}.items())), remaining)

    def without(self, image_ids: Iterable[str]) -> "Names":
        """Returns the names of the other ids."""
        remaining = {**self._files}
        ambiguous = {**self.names_by_ambiguous_id}
        for image_id in image_ids:
            del remaining[image_id]
            ambiguous.pop(image_id, None)
        return Names(remaining, ambiguous)

    def find_id(self, image_id: str) -> str | None:
        """Returns an id in the Unicode form of its file's name; None if there is no such file."""
        if image_id in self._files:
            return image_id
        if image_id.isascii():
            return None
        ids = self._ids_by_form.get(as_nfc(image_id), [])
        return ids[0] if len(ids) == 1 else None

    def find_ids(self, image_ids: Iterable[str]) -> set[str]:
        """Returns the ids that have files, each as `find_id` returns it."""
        wanted_ids = set(image_ids)
        found_ids = wanted_ids & self._files.keys()
        for image_id in wanted_ids - found_ids:
            id_of_file = self.find_id(image_id)
            if id_of_file is not None:
                found_ids.add(id_of_file)
        return found_ids

    def find_similar_id(self, image_id: str) -> str:
        """Returns the id of a file that looks like one that has none; empty if none does.

        Upper and lower case look alike, and so do Unicode forms.
        """
        return self._id_by_look.get(fold_spelling(image_id), "")

    @functools.cached_property
    def _ids_by_form(self) -> dict[str, list[str]]:
        """The ids that are not ASCII, by their form NFC."""
        ids: dict[str, list[str]] = {}
        for image_id in self:
            if not image_id.isascii():
                ids.setdefault(as_nfc(image_id), []).append(image_id)
        return ids

    @functools.cached_property
    def _id_by_look(self) -> dict[str, str]:
        """One id of each look: the last one, if several look alike."""
        return {fold_spelling(image_id): image_id for image_id in self}


def index_files(
    root: epath.Path,
    endings: Sequence[str],
    *,
    folder: str = "",
    listing: Listing | None = None,
) -> Names:
    """Returns the files at and below a folder by id, which is the name below it without the ending.

    There are none if there is no such folder. See `index_names`.

    Args:
      root: the folder below which the paths of the files are.
      endings: what the files end with; see `index_names`.
      folder: the folder of the files, below the root.
      listing: what was listed already.
    """
    where = root / folder
    files: list[tuple[str, str]] = []
    for name in files_below(where, listing):
        file_id = ANY.id_of(name)
        if file_id:
            files.append((file_id, posixpath.join(folder, name)))
    return index_names(files, where, endings)


def index_names(
    files: Iterable[tuple[str, str]], folder: epath.Path, endings: Sequence[str]
) -> Names:
    """Returns the names of files by id.

    Args:
      files: the id and the name of each file.
      folder: where the files lie, for errors.
      endings: in lower case, in order of preference; other files are skipped.

    Returns:
      Names below `folder` by id. If an id has several files, its name is the one with the first of
      `endings`, and `names_by_ambiguous_id` has all of them.

    Raises:
      LayoutError: if the name of a file has control characters or is not UTF-8.
    """
    rank_by_ending = {ending: rank for rank, ending in enumerate(endings)}
    name_by_id: dict[str, str] = {}
    names_by_ambiguous_id: dict[str, list[str]] = {}
    for image_id, name in files:
        if ending_of(name) not in rank_by_ending:
            continue
        if image_id not in name_by_id:
            name_by_id[image_id] = name
            continue
        if image_id not in names_by_ambiguous_id:
            names_by_ambiguous_id[image_id] = [name_by_id[image_id]]
        names_by_ambiguous_id[image_id].append(name)
    for image_id, names in names_by_ambiguous_id.items():
        names.sort(key=lambda name: (rank_by_ending[ending_of(name)], name))
        name_by_id[image_id] = names[0]
    sorted_names = {image_id: name_by_id[image_id] for image_id in sorted(name_by_id)}
    strange_names = [name for i, name in sorted_names.items() if unprintable(i) or "\\" in i]
    if strange_names:
        raise LayoutError(
            folder,
            found=f"the file name {strange_names[0]!r}, which has a control character or a "
            f"backslash, or is not UTF-8. It is the first of {len(strange_names)} such names",
            expected="names of printable UTF-8 characters, which every system allows",
            remedy="rename the file, and its mask with it",
        )
    return Names(sorted_names, names_by_ambiguous_id)
