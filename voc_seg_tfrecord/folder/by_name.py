"""Finds the files that a text means, by whatever name the text has for them.

`FilesByName` finds files by the ends of their paths. `ImageNames` finds images as lists name them:
by an id, a path on any machine, the name of a mask.
"""

import bisect
import collections
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.id_lists import id_error
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.tree.names import Names

_NO_NAMES = Names()
_FILE_AND_MORE = re.compile(r"(?i)\.(jpe?g|png|bmp|tiff?|webp|gif|npy)[\s,;]")
"""What a line with more than one column has, such as `a.jpg a.png`. It is no name."""


@dataclasses.dataclass(frozen=True)
class Matches:
    """The files that a text may mean.

    Attributes:
      paths: the files.
      shared: how many names at the ends of their paths they share with the text.
    """

    paths: Sequence[str] = ()
    shared: int = 0


class FilesByName:
    r"""Finds files by the end of a path.

    Example: `C:\data\images\1.png` and `s3://b/images/1` mean `set/images/1.png`.

    Paths are compared in Unicode's composed form: macOS writes the letters of a name and their
    marks apart, and tools write them together.

    Args:
      paths: the paths of the files below the given folder. Of several that fit, the first ones come
        first.
    """

    def __init__(self, paths: Iterable[str]):
        self._paths_by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._has_names_with_query = False
        for path in paths:
            self._paths_by_stem[_composed_stem(path)].append(path)
            self._has_names_with_query |= "?" in path

    def at(self, path: str) -> str | None:
        """Returns the file at a path; None if there is none."""
        paths = self._paths_by_stem.get(_composed_stem(path), ())
        if path in paths:
            return path
        composed = _normalize(path)
        return next((each for each in paths if _normalize(each) == composed), None)

    def with_any_ending(self, path: str) -> list[str]:
        """Returns the files at a path and any ending: `a/1.jpg` and `a/1.png` for `a/1`."""
        composed = _normalize(path)
        paths = self._paths_by_stem.get(posixpath.basename(composed), ())
        return [each for each in paths if posixpath.splitext(_normalize(each))[0] == composed]

    def named(self, name: str) -> list[str]:
        """Returns the files of a name, in any folder; it may lack the ending."""
        composed = _normalize(name)
        paths = self._paths_by_stem.get(_composed_stem(name), ())
        of_name = [path for path in paths if posixpath.basename(_normalize(path)) == composed]
        return [*of_name, *self._paths_by_stem.get(composed, ())]

    def find(self, text: str) -> Matches:
        """Returns the files whose paths share the most with a text.

        A file counts if the text is the end of its path, if its path is the end of the text, or if
        both share its name and its folder. A text without the ending of an image or mask stands for
        files of any ending.

        | text | `set/images/1.png` counts |
        | --- | --- |
        | `1.png`, `images/1.png`, `1` | yes: the end of its path |
        | `/data/set/images/1.png` | yes: its path is the end of the text |
        | `old/images/1.png` | yes: the same name and folder |
        | `masks/1.png` | no |

        A text may be an address with a query, such as `1.png?v=1`. The query does not count, unless
        a file has such a name.
        """
        if self._has_names_with_query:
            matches = self._find_path(text)
            if matches.paths:
                return matches
        return self._find_path(text.partition("?")[0])

    def _find_path(self, text: str) -> Matches:
        """Returns the files whose paths share the most with a path; see `find`."""
        parts = _split_path(text)
        if not parts:
            return Matches()
        name_without_ending, ending = posixpath.splitext(parts[-1])
        has_ending = ending.lower() in IMAGE_OR_MASK_ENDINGS
        stem = name_without_ending if has_ending else parts[-1]
        paths_by_shared: dict[int, list[str]] = {0: []}
        for path in self._paths_by_stem.get(stem, ()):
            compared_path = path if has_ending else posixpath.splitext(path)[0]
            compared = _normalize(compared_path).split("/")
            shared = count_same_ends(compared, parts)
            if shared > 1 or shared in (len(parts), len(compared)):
                paths_by_shared.setdefault(shared, []).append(path)
        most = max(paths_by_shared)
        return Matches(paths_by_shared[most], most)


class ImageNames(Mapping[str, str]):
    """The id of an image by any name that a text may have for it.

    A name is an id, or the name of an image or of its mask, with or without an ending; or a path of
    one of these, as it is from any folder upward, on this machine or on another one.

    If an image lies directly in the folder of images, the folders in a path do not matter: lists
    often have those of another machine. If it lies in a folder below, as `city/a.jpg` does, a path
    has to end with that folder too.

    `in` and `[]` take all these names; iteration and `len` have the ids alone, each once.

    Args:
      images: the paths of the images below the given folder, by id.
      masks: the paths of the masks, by id.
      image_folder: the folder of all images; empty for the given one.
      mask_folder: the folder of all masks, likewise.
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
        self._top_of_images = posixpath.join(image_folder, "")
        self._top_of_masks = posixpath.join(mask_folder, "")

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
        name = name.strip("\"'")
        # That is so for most words of a text, and found out much faster than by their parts.
        is_bare = "/" not in name and "\\" not in name
        if is_bare and _composed_without_ending(name) not in self._ids_by_stem:
            return []
        path = _split_path(name)
        if not path or _FILE_AND_MORE.search(name):
            return []
        path[-1] = _composed_without_ending(path[-1])
        ids_by_count: dict[int, list[str]] = {0: []}
        for image_id in self._ids_by_stem.get(path[-1], ()):
            count = self._count_shared_parts(image_id, path)
            ids_by_count.setdefault(count, []).append(image_id)
        most = max(ids_by_count)
        return ids_by_count[most] if most else []

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
            for top in (start, ""):
                beginning = as_nfc(posixpath.join(top, *parts[first:], ""))
                paths = self._composed_path_by_id.items()
                ids = [image_id for image_id, path in paths if path.startswith(beginning)]
                if ids:
                    return ids
        return []

    @functools.cached_property
    def _composed_path_by_id(self) -> dict[str, str]:
        return {image_id: as_nfc(path) for image_id, path in self._images.items()}

    def count_of_group(self, name: str) -> int:
        """Returns how many images a name stands for, as that of a patient does.

        They lie in a folder of that name, or their names begin with it and a separator: `P1` stands
        for `P1/S1` and `P1-S1`, and not for `P10-S1`. Ids count as names too.
        """
        count = self._count_by_folder[name.rpartition("/")[2]]
        if count:
            return count
        stems = self._sorted_stems
        for number in range(bisect.bisect_left(stems, name), len(stems)):
            if not stems[number].startswith(name):
                break
            next_character = stems[number][len(name) : len(name) + 1]
            if next_character and not next_character.isalnum():
                count += 1
        return count

    @functools.cached_property
    def _count_by_folder(self) -> collections.Counter[str]:
        """How many ids each name of a folder stands in: `city` and `a` in `city/a/0001`."""
        counts = collections.Counter[str]()
        for image_id in self._images:
            counts.update({*image_id.split("/")[:-1]})
        return counts

    @functools.cached_property
    def _sorted_stems(self) -> list[str]:
        return sorted(self._group_by_stem(self._images))

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
            parts_inside = [part for part in _drop_dots(parts) if part[1:] != ":"]  # no drive `C:`
            if parts_inside == parts or self.meanings_of(name):
                names_inside.append(name)
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(where), name))
            is_outside = not f"{path}/".startswith(f"{given}/")
            if is_outside and epath.Path(path).is_file():
                raise id_error(where, name, "leaves the folder")
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

    def _count_shared_parts(self, image_id: str, path: Sequence[str]) -> int:
        """Returns how many parts a path shares with a name of an image, by the best name.

        The names are the id, and the paths of the image and of its mask. A name shares none unless
        the path is an end of it, or ends with the part of it that lies below its folder:

            path                  folder               name          shared
            JPEGImages/a          VOC2012/JPEGImages   a.jpg         2: the path is an end
            /home/x/set/city/a    set                  city/a.jpg    2: it ends with the name
            /home/x/old/a         VOC2012/JPEGImages   a.jpg         1: it ends with the name
            bonn/a                set                  city/a.jpg    0

        Args:
          image_id: the id of the image.
          path: the parts of the path, the last one without its ending.
        """
        names = [("", image_id), (self._top_of_images, self._images[image_id])]
        if image_id in self._masks:
            names.append((self._top_of_masks, self._masks[image_id]))
        best = 0
        for top, name in names:
            parts = _split_path(name)
            parts[-1] = _composed_without_ending(parts[-1])
            count = count_same_ends(parts, path)
            name_below_top = name.removeprefix(top)
            if count == len(path) or count > name_below_top.count("/"):
                best = max(best, count)
        return best

    @functools.cached_property
    def _ids_by_stem(self) -> dict[str, list[str]]:
        """The ids by the names, without folders and ending, that their images or masks have.

        A name that an image has is not looked for among the masks.
        """
        return self._group_by_stem(self._masks) | self._group_by_stem(self._images)

    def _group_by_stem(self, names: Names) -> dict[str, list[str]]:
        """Returns the ids of the images by the stems of their names, and of the ids themselves."""
        ids_by_stem: dict[str, list[str]] = {}
        for image_id, path in names.items():
            if image_id not in self._images:
                continue
            name = path.rpartition("/")[2]
            front, _, ending = name.partition(".")
            if front == image_id and "." not in ending and name.isascii():
                stems = {image_id}  # of most files; taking names apart takes several times as long
            else:
                names_of_image = (name, posixpath.basename(image_id))
                stems = {_composed_without_ending(each) for each in names_of_image}
            for stem in stems:
                ids_by_stem.setdefault(stem, []).append(image_id)
        return ids_by_stem


def count_same_ends(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Returns how many folders and names two paths share at their ends."""
    count = 0
    for part, wanted_part in zip(reversed(path), reversed(wanted), strict=False):
        if part != wanted_part:
            break
        count += 1
    return count


def _composed_stem(path: str) -> str:
    """Returns the name of a file without its folders and ending, in the form that lists use."""
    return posixpath.splitext(_normalize(path))[0].rpartition("/")[2]


def _normalize(text: str) -> str:
    """Returns a path with slashes, in the Unicode form that lists use."""
    if text.isascii() and "\\" not in text:
        return text
    return as_nfc(text).replace("\\", "/")


def _split_path(path: str) -> list[str]:
    """Returns the folders and the name in a path of any system, in the form that lists use."""
    return _drop_dots(_normalize(path).split("/"))


def _drop_dots(parts: Sequence[str]) -> list[str]:
    """Returns the parts of a path that are names."""
    return [part for part in parts if part not in ("", ".", "..")]


def _composed_without_ending(name: str) -> str:
    """Returns a name without the ending of an image or mask, in the Unicode form that lists use."""
    stem, _, ending = name.rpartition(".")
    has_ending = stem != "" and f".{ending.lower()}" in IMAGE_OR_MASK_ENDINGS
    return as_nfc(stem if has_ending else name)
