"""Finds the image that a list means by any name: an id, a path, the name of a mask."""

import bisect
import collections
from collections.abc import Iterator, KeysView, Mapping, Sequence
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.id_lists import id_error
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.files.paths import count_same_ends
from voc_seg_tfrecord.folder.tree.names import Names

_NO_NAMES = Names()
_FILE_AND_MORE = re.compile(r"(?i)\.(jpe?g|png|bmp|tiff?|webp|gif|npy)[\s,;]")
"""What a line with more than one column has, such as `a.jpg a.png`. It is no name."""


class ImageNames(Mapping[str, str]):
    """The id of an image by any name that a text may have for it.

    A name is an id, or the name of an image or of its mask, with or without an ending; or a path of
    one of these, as it is from any folder upward, on this machine or on another one.

    If an image lies directly in the folder of images, the folders in a path do not matter: lists
    often have those of another machine. If it lies in a folder below, as `city/a.jpg` does, a path
    has to end with that folder too.

    `in` and `[]` take all these names; iteration and `len` have the ids alone, each once.

    Args:
      images: the names of the images below their folder, by id.
      masks: the names of the masks below theirs, by id.
      image_folder: the folder of the images, below the given one.
      mask_folder: the folder of the masks, below the given one.
    """

    def __init__(
        self,
        images: Names = _NO_NAMES,
        masks: Names = _NO_NAMES,
        *,
        image_folder: str = "",
        mask_folder: str = "",
    ):
        self._images = images
        self._masks = masks
        self._image_folder = image_folder
        self._mask_folder = mask_folder

    def __getitem__(self, name: str) -> str:
        meanings = self.meanings_of(name)
        if len(meanings) != 1:
            raise KeyError(name)
        return meanings[0]

    def __contains__(self, name: object) -> bool:
        # Most words of a text name no image, and an exception for each would take long.
        return isinstance(name, str) and len(self.meanings_of(name)) == 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)

    def meanings_of(self, name: str) -> list[str]:
        """Returns the ids of the images that a name may mean: one, several, or none."""
        exact_id = self._images.find_id(name)
        if exact_id is not None:
            return [exact_id]
        unquoted_name = name.strip("\"'")
        if self._is_word_without_image(unquoted_name) or _FILE_AND_MORE.search(unquoted_name):
            return []
        path = _split_path(unquoted_name)
        if not path:
            return []
        path[-1] = _composed_without_ending(path[-1])
        return self._best_matches(path)

    @property
    def stems(self) -> KeysView[str]:
        """The names of images and masks without folders and ending."""
        return self._ids_by_stem.keys()

    def find_below(self, folder: str, start: str) -> list[str]:
        """Returns the ids of the images below a folder; none if there is no such folder.

        Args:
          folder: the folder as a text names it, often as a path on another machine. The longest
            end of the path that is a folder with images counts.
          start: the folder of the text. The path may begin there, or at the given folder.
        """
        parts = [part for part in _split_path(folder) if part.strip(".")]
        for first in range(len(parts)):
            end_of_path = "/".join(parts[first:])
            for top in (start, ""):
                ids = self._ids_below(posixpath.join(top, end_of_path))
                if ids:
                    return ids
        return []

    def count_of_group(self, name: str) -> int:
        """Returns how many images a name stands for, as that of a patient does.

        They lie in a folder of that name, or their names begin with it: `P1` stands for `P1/S1` and
        `P1-S1`, and not for `P10-S1`.
        """
        folder = name.rpartition("/")[2]
        return self._count_by_folder[folder] or self._count_beginning_with(name)

    @functools.cached_property
    def _count_by_folder(self) -> collections.Counter[str]:
        """How many ids each name of a folder stands in: `city` and `a` in `city/a/0001`."""
        counts = collections.Counter[str]()
        for image_id in self._images:
            counts.update({*image_id.split("/")[:-1]})
        return counts

    def keep_inside(self, names: Sequence[str], where: str, given: epath.Path) -> list[str]:
        """Returns the names of a list, in which no path leads out of the given folder.

        A path that does, and that means no image, becomes the name of a missing one: lists often
        have paths of another machine.

        Args:
          names: the names in the list.
          where: the list.
          given: the folder that nothing may leave.

        Raises:
          ListError: if a file lies outside, where such a path leads.
        """
        names_inside: list[str] = []
        for name in names:
            parts = re.split(r"[/\\]", name)
            parts_inside = _drop_ways_out(parts)
            stays_inside = parts_inside == parts
            if stays_inside or self.meanings_of(name):
                names_inside.append(name)
                continue
            _check_leads_to_no_file_outside(name, where, given)
            names_inside.append("/".join(parts_inside) or "?")
        return names_inside

    @functools.cached_property
    def id_by_number(self) -> dict[str, str]:
        """The ids of images called by numbers with zeros before them, by those without zeros.

        So spreadsheets write them: 7 in place of 0007, and 7.0 where a cell of the column is empty.
        """
        ids = {}
        for stem, ids_of_stem in self._ids_by_stem.items():
            if stem.startswith("0") and stem.isdecimal():
                # The id stands in an error as an example, so of several the first is enough.
                ids[f"{int(stem)}"] = ids_of_stem[0]
                ids[f"{int(stem)}.0"] = ids_of_stem[0]
        return ids

    def _count_beginning_with(self, name: str) -> int:
        """Returns how many names of images start with a name followed by a separator.

        Example: `P01-S1` and `P01-S2` start with `P01`. Ids count as names too.
        """
        stems = self._sorted_stems
        count = 0
        for number in range(bisect.bisect_left(stems, name), len(stems)):
            stem = stems[number]
            if not stem.startswith(name):
                break
            next_character = stem[len(name) : len(name) + 1]
            if next_character and not next_character.isalnum():
                count += 1
        return count

    def _is_word_without_image(self, name: str) -> bool:
        """Says whether a name has no folders, and no image has it.

        That is so for most words of a text, and found out much faster than by their parts.
        """
        return _is_bare(name) and _composed_without_ending(name) not in self._ids_by_stem

    def _best_matches(self, path: Sequence[str]) -> list[str]:
        """Returns the ids of the images whose names share the most parts with a path.

        Args:
          path: the parts of the path, the last one without its ending.
        """
        count_by_id = {}
        for image_id in self._ids_by_stem.get(path[-1], ()):
            count_by_id[image_id] = self._count_shared_parts(image_id, path)
        most = max(count_by_id.values(), default=0)
        if most == 0:
            return []
        return [image_id for image_id, count in count_by_id.items() if count == most]

    def _ids_below(self, folder: str) -> list[str]:
        beginning = f"{as_nfc(folder)}/"
        return [
            image_id
            for image_id, path in self._path_by_id.items()
            if as_nfc(path).startswith(beginning)
        ]

    @functools.cached_property
    def _sorted_stems(self) -> list[str]:
        return sorted(self._group_by_stem(self._images))

    @functools.cached_property
    def _path_by_id(self) -> dict[str, str]:
        """The paths of the images below the given folder."""
        return {
            image_id: posixpath.normpath(posixpath.join(self._image_folder, name))
            for image_id, name in self._images.items()
        }

    def _count_shared_parts(self, image_id: str, path: Sequence[str]) -> int:
        """Returns how many parts a path shares with a name of an image, by the best name.

        The names are the id, and the paths of the image and of its mask.

        Args:
          image_id: the id of the image.
          path: the parts of the path, the last one without its ending.
        """
        counts = [
            _count_shared_end(path, "", image_id),
            _count_shared_end(path, self._image_folder, self._images[image_id]),
        ]
        if image_id in self._masks:
            counts.append(_count_shared_end(path, self._mask_folder, self._masks[image_id]))
        return max(counts)

    @functools.cached_property
    def _ids_by_stem(self) -> dict[str, list[str]]:
        """The ids by the names, without folders and ending, that their images or masks have.

        A name that an image has is not looked for among the masks.
        """
        ids_by_stem = self._group_by_stem(self._images)
        for stem, ids in self._group_by_stem(self._masks).items():
            ids_by_stem.setdefault(stem, ids)
        return ids_by_stem

    def _group_by_stem(self, names: Names) -> dict[str, list[str]]:
        """Returns the ids of the images by the stems of their names, and of the ids themselves."""
        ids_by_stem: dict[str, list[str]] = {}
        for image_id, path in names.items():
            if image_id not in self._images:
                continue
            for stem in _stems_of(path, image_id):
                ids_by_stem.setdefault(stem, []).append(image_id)
        return ids_by_stem


def _count_shared_end(path: Sequence[str], folder: str, name: str) -> int:
    """Returns how many parts a path shares with that of a file, counted from the end.

    They share none unless the path is an end of the file's path, or ends with the file's name
    below its folder:

        path                  folder               name          shared
        JPEGImages/a          VOC2012/JPEGImages   a.jpg         2: the path is an end
        /home/x/set/city/a    set                  city/a.jpg    2: it ends with the name
        /home/x/old/a         VOC2012/JPEGImages   a.jpg         1: it ends with the name
        bonn/a                set                  city/a.jpg    0

    Args:
      path: the parts of the path, the last one without its ending.
      folder: the folder of the file.
      name: the name of the file below it.
    """
    parts = _split_path(posixpath.join(folder, name))
    parts[-1] = _composed_without_ending(parts[-1])
    count = count_same_ends(parts, path)
    is_end_of_file = count == len(path)
    ends_with_name = count >= len(name.split("/"))
    return count if is_end_of_file or ends_with_name else 0


def _stems_of(path: str, image_id: str) -> set[str]:
    """Returns the stems of the name of an image's file, and of its id.

    For a plain name such as `a.jpg` with the id `a`, which most files have, both are the id. That
    is returned without taking the names apart, which takes several times as long.
    """
    front, _, ending = path.partition(".")
    is_id_with_ending = front == image_id and "." not in ending and "/" not in path
    if is_id_with_ending and path.isascii():
        return {image_id}
    return {_composed_without_ending(posixpath.basename(name)) for name in (path, image_id)}


def _drop_ways_out(parts: Sequence[str]) -> list[str]:
    """Returns the parts of a path without those that may lead out of a folder: `..`, `/`, `C:`."""
    return [part for part in _drop_dots(parts) if not _is_drive(part)]


def _check_leads_to_no_file_outside(name: str, where: str, given: epath.Path) -> None:
    """Checks that a path in a list is not that of a file outside of the given folder.

    Raises:
      ListError: if it is.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(where), name))
    is_outside = not f"{path}/".startswith(f"{given}/")
    if is_outside and epath.Path(path).is_file():
        raise id_error(where, name, "leaves the folder")


def _is_bare(name: str) -> bool:
    """Says whether a name has no folders before it."""
    return "/" not in name and "\\" not in name


def _split_path(path: str) -> list[str]:
    """Returns the folders and the name in a path of any system, in the form that lists use."""
    return _drop_dots(as_nfc(path).replace("\\", "/").split("/"))


def _drop_dots(parts: Sequence[str]) -> list[str]:
    """Returns the parts of a path that are names."""
    return [part for part in parts if part not in ("", ".", "..")]


def _is_drive(part: str) -> bool:
    """Says whether a part of a path is the letter of a drive, such as `C:`."""
    return part[1:] == ":"


def _composed_without_ending(name: str) -> str:
    """Returns a name without the ending of an image or mask, in the Unicode form that lists use."""
    stem, _, ending = name.rpartition(".")
    has_ending = stem != "" and f".{ending.lower()}" in IMAGE_OR_MASK_ENDINGS
    return as_nfc(stem if has_ending else name)
