"""Finds the image that a list, or a file of shapes, means by any name: an id, a path, a mask's."""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import functools
import itertools
import posixpath
import re
import unicodedata

from voc_seg_tfrecord.base.errors import MaskError, VocSegError, command, counted
from voc_seg_tfrecord.own_data.folder_names import common_folder, split_word
from voc_seg_tfrecord.own_data.question import Rival, question
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet, wrong
from voc_seg_tfrecord.trees.layout import PICTURES, WITH_ARRAYS
from voc_seg_tfrecord.trees.listing import Names

_NONE = Names()
_TWO_FILES = re.compile(r"(?i)\.(jpe?g|png|bmp|tiff?|webp|gif|npy)[\s,;]")


class ImageNames(Mapping[str, str]):
    """The id of an image by any name that a text may have for it.

    A name is an id, or the name of an image or of its mask, with or without an ending; or a path of
    one of these, as it is from any folder upward, on this machine or on another one. A path whose
    last folder is another than the file's means another file.

    Args:
      images: the images' names below a folder, by id.
      masks: the masks' names likewise.
      *tops: where both folders lie below the given one.

    Attributes:
      ambiguous: by name, the ids of several images that it may mean; filled while names are asked.
    """

    def __init__(self, images: Names = _NONE, masks: Names = _NONE, *tops: str):
        self._images, self._masks, self._tops = images, masks, tops
        self.ambiguous: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> str:
        image_id = self._images.written(name) or self._find(name)
        if image_id is None:
            raise KeyError(name)
        return image_id

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)

    def below(self, folder: str, place: str) -> list[str]:
        """Returns the ids of the images below a folder that a text in some place names.

        Of the path any end may be a folder, alone or below the place.
        """
        parts = [part for part in folder.replace("\\", "/").split("/") if part.strip(".")]
        ends = ("/".join(parts[n:]) for n in range(len(parts)))
        for start in (f"{posixpath.join(top, end)}/" for end in ends for top in (place, "")):
            if ids := [image_id for image_id, path in self._paths if path.startswith(start)]:
                return ids
        return []

    @functools.cached_property
    def _paths(self) -> list[tuple[str, str]]:
        top = self._tops[0]
        return [(i, posixpath.normpath(posixpath.join(top, n))) for i, n in self._images.items()]

    def _find(self, name: str) -> str | None:
        text = name.strip("\"'")
        parts = [p for p in text.replace("\\", "/").split("/") if p not in ("", ".", "..")]
        if not parts or _TWO_FILES.search(name):
            return None
        asked = [*parts[:-1], _id_stem(parts[-1])]
        same = {i: self._shared(i, asked) for i in self._by_stem.get(asked[-1], ())}
        most = max(same.values(), default=0)
        best = [image_id for image_id, count in same.items() if count == most] if most else []
        if len(best) > 1:
            self.ambiguous[name] = best
        return best[0] if len(best) == 1 else None

    def _shared(self, image_id: str, asked: Sequence[str]) -> int:
        """Returns how many parts at their ends an id's names share with a path; 0 if it is none."""
        counts = [0]
        for top, below in (
            ("", image_id),
            (self._tops[0], self._images[image_id]),
            (self._tops[1], self._masks.get(image_id, "")),
        ):
            own = below.split("/")
            whole = [p for p in posixpath.join(top, below).split("/") if p not in ("", ".")]
            whole[-1:] = [_id_stem(whole[-1])] if whole else []
            count = _same_parts(whole, asked)
            if below and (count == len(asked) or count >= len(own)):
                counts.append(count)
        return max(counts)

    @functools.cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        """The ids of files by their names without folders and ending; those of images first."""
        owners: dict[str, list[str]] = {}
        for names in (self._images, self._masks):
            of_names: dict[str, list[str]] = {}
            for image_id, path in names.items():
                if image_id not in self._images:
                    continue
                stems = {image_id}
                # Of most names nothing has to be taken off, and looking at each takes long.
                plain = path.count(".") == 1 and path.isascii() and "/" not in path
                if not plain or path.partition(".")[0] != image_id:
                    stems = {_id_stem(name.rpartition("/")[2]) for name in (path, image_id)}
                for stem in stems:
                    if stem not in owners:
                        of_names.setdefault(stem, []).append(image_id)
            owners |= of_names
        return owners


def _id_stem(name: str) -> str:
    """Returns a name without the ending of an image or mask, in the Unicode form that lists use."""
    stem, _, ending = name.rpartition(".")
    name = stem if stem and f".{ending.lower()}" in PICTURES else name
    return name if name.isascii() else unicodedata.normalize("NFC", name)


composed = functools.partial(unicodedata.normalize, "NFC")
"""Composes a name, as macOS decomposes them."""


def below(paths: Iterable[str], top: str) -> list[str]:
    """Returns the paths at or below one; all if it is empty."""
    top = posixpath.normpath(top)
    if top == ".":
        return [*paths]
    return [path for path in paths if path == top or path.startswith(f"{top}/")]


class SheetImages:
    """Finds the images of a folder by the names that the files of a tool have for them."""

    def __init__(self, tool: str, paths: Sequence[str], sheets: Mapping[str, Sheet]):
        self._tool = tool
        self._sheets = sheets  # of all files, by which images are counted
        self._paths = {*paths}
        self._by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        self._moved: dict[str, str] = {}  # by what files call them, where images are
        # Of a.jpg and a.png, the latter may be a mask.
        for path in sorted(
            paths, key=lambda p: WITH_ARRAYS.index(posixpath.splitext(p)[1].lower())
        ):
            self._by_stem[posixpath.splitext(path)[0]].append(path)
            name = composed(posixpath.basename(path))
            for key in (name, posixpath.splitext(name)[0]):  # CVAT calls frames without ending
                self._by_name[key].append(path)

    def find(self, file: str, annotation: Annotation) -> str | None:
        """Returns the path of an annotation's image; an error if it may be several."""
        image = annotation.image
        if self._tool == "YOLO":
            return image
        if self._tool == "labelme":
            named = posixpath.normpath(posixpath.join(posixpath.dirname(file), image))
            below_root = posixpath.splitext(file)[0]
            beside = self._by_stem.get(below_root, [])
            if beside and named in self._paths and named not in beside:
                raise wrong(
                    file,
                    f"the shapes of {image}, and {beside[0]} beside it",
                    "the shapes of the image of the same name",
                    "rename the file as its image, or correct imagePath in it",
                )
            if named in self._paths:
                return named
            if beside:
                if stem(image) not in ("", stem(file)):
                    self._moved[image] = beside[0]
                return beside[0]
        return self._by_suffix(file, image)

    def _alike(self, file: str, image: str) -> tuple[list[str], int]:
        """Returns the images whose paths end most as a name does, and how many parts they lack.

        Of several these are the nearest to the file, or else those of its split.
        """
        wanted = [p for p in composed(image).split("/") if p not in ("", ".", "..")]
        alike = self._by_name.get(wanted[-1], []) if wanted else []
        same = {path: _same_parts(composed(path).split("/"), wanted) for path in alike}
        best = [path for path in alike if same[path] == max(same.values())]
        if len(best) > 1:
            near = {path: len(common(file, path)) for path in best}
            best = [path for path in best if near[path] == max(near.values())]
            best = [p for p in best if split_word(p)[1] == split_word(file)[1]] or best
        return best, len(wanted) - max(same.values(), default=0)

    def _question(self, file: str, image: str, best: Sequence[str]) -> MaskError:
        """Returns the question which folder is meant: a line for each that has no image twice."""
        every = [(of, a) for of, sheet in self._sheets.items() for a in sheet.annotations]
        places = [self._alike(of, a.image)[0] for of, a in every]
        tops = {top for paths in places if len(paths) > 1 for top in _apart(paths)}
        rivals = list[Rival]()
        for top in sorted(tops):
            finder = SheetImages(self._tool, below(sorted(self._paths), top), {})
            with contextlib.suppress(VocSegError):
                there = {finder.find(of, a) for of, a in every} - {None}
                rivals.append(Rival(counted(len(there), "image"), command(images=top)))
        meant = f"the image {image}, which may be {' or '.join(best[:3])}"
        remedy = "write the folder before the name in the file, or move the other images away"
        if not rivals:
            return wrong(file, meant, "one image of this name", remedy)
        one = f"one image of this name; otherwise {remedy}"
        return question(
            MaskError, file, rivals, to=f"find {meant}", expected=one, kind=MaskError.KIND
        )

    def _by_suffix(self, file: str, image: str) -> str | None:
        """Returns the image whose path ends as the name of an image does."""
        best, lacking = self._alike(file, image)
        if not best:
            return None
        if len(best) > 1:
            raise self._question(file, image, best)
        path = best[0]
        top = posixpath.join(common(file, path), "")
        of_path = split_word(posixpath.dirname(path.removeprefix(top)))[1]
        of_name = split_word(posixpath.dirname(image))[1]
        of_file = of_name or split_word(file.removeprefix(top))[1]
        if not of_path or not of_file or of_path == of_file:
            if lacking:
                self._moved[image] = path
            return path
        if of_name:
            return None
        raise wrong(
            file,
            f"the image {image}, and {path}, which lies in the folder of another split",
            "the images of the file's own split",
            "write the folder before the name, or rename the file if it is of no split",
        )

    def notes(self) -> list[str]:
        """Returns a note on images that lie elsewhere than files say."""
        if not self._moved:
            return []
        name, path = min(self._moved.items())
        where = f"in other places than {self._tool}'s files say, such as {name}, read from {path}"
        return [f"{counted(len(self._moved), 'image')} {where}."]


def common(*paths: str) -> str:
    """Returns the folder in which all files lie; empty for the root."""
    return common_folder([posixpath.dirname(path) for path in paths])


def _apart(paths: Sequence[str]) -> list[str]:
    """Returns for each path the first folder above it that has no other; none where none is."""
    tops = []
    for path in paths:
        folders = path.split("/")[:-1]
        above = ("/".join(folders[:n]) for n in range(1, len(folders) + 1))
        tops += [top for top in above if below(paths, top) == [path]][:1]
    return tops


def _same_parts(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Returns how many folders and names two paths share at their ends."""
    parts = zip(reversed(path), reversed(wanted), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], parts))


def stem(path: str) -> str:
    """Returns the name of a file without its folders and ending."""
    return posixpath.splitext(posixpath.basename(path))[0]
