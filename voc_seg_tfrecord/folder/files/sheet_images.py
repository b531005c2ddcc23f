"""Finds the image that a file of shapes means by the name that it has for it."""

import collections
from collections.abc import Mapping, Sequence
import contextlib
import functools
import posixpath
import unicodedata

from voc_seg_tfrecord.base.errors import MaskError, VocSegError, counted
from voc_seg_tfrecord.folder.files.folder_names import (
    below,
    common,
    same_parts,
    split_word,
    stem,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet, wrong
from voc_seg_tfrecord.trees.layout import WITH_ARRAYS

composed = functools.partial(unicodedata.normalize, "NFC")
"""Composes a name, as macOS decomposes them."""


class SheetImages:
    """Finds the images of a folder by the names that the files of a tool have for them."""

    def __init__(self, tool: str, paths: Sequence[str], sheets: Mapping[str, Sheet]):
        self._tool = tool
        self._sheets = sheets  # of all files, by which images are counted
        self._paths = {*paths}
        self._by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        self._moved: dict[str, str] = {}  # by what files call them, where images are
        every = (
            (posixpath.dirname(f), a) for f, sheet in sheets.items() for a in sheet.annotations
        )
        # Folders in which files and the images that they name lie beside each other.
        self._beside = {f for f, a in every if posixpath.join(f, a.image) in self._paths}
        self._folders = {path.split("/")[-2] for path in self._paths if "/" in path}
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

        Of several these are the nearest to the file, or else those of its split. Where images lie
        beside the file, or in the folder that it names, others of the same name are not meant.
        """
        wanted = [p for p in composed(image).split("/") if p not in ("", ".", "..")]
        alike = self._by_name.get(wanted[-1], []) if wanted else []
        folder = posixpath.dirname(file)
        if folder in self._beside:
            alike = [path for path in alike if folder in ("", posixpath.dirname(path))]
        if len(wanted) > 1 and wanted[-2] in self._folders:
            alike = [path for path in alike if f"/{path}".endswith("/".join(["", *wanted[-2:]]))]
        same = {path: same_parts(composed(path).split("/"), wanted) for path in alike}
        best = [path for path in alike if same[path] == max(same.values())]
        if len(best) > 1:
            near = {path: len(common(file, path)) for path in best}
            best = [path for path in best if near[path] == max(near.values())]
            best = [p for p in best if split_word(p)[1] == split_word(file)[1]] or best
        return best, len(wanted) - max(same.values(), default=0)

    def _question(self, file: str, image: str, best: Sequence[str]) -> VocSegError:
        """Returns the question which folder is meant: a line for each that has no image twice."""
        every = [(of, a) for of, sheet in self._sheets.items() for a in sheet.annotations]
        places = [self._alike(of, a.image)[0] for of, a in every]
        tops = {top for paths in places if len(paths) > 1 for top in _apart(paths)}
        alternatives = list[Alternative]()
        for top in sorted(tops):
            finder = SheetImages(self._tool, below(sorted(self._paths), top), {})
            with contextlib.suppress(VocSegError):
                for sheet_file, annotation in every:
                    finder.find(sheet_file, annotation)
                alternatives.append(Alternative("", {"images": top}))
        meant = f"the image {image}, which may be {' or '.join(best[:3])}"
        remedy = "write the folder before the name in the file, or move the other images away"
        if not alternatives:
            return wrong(file, meant, "one image of this name", remedy)
        one = f"one image of this name; otherwise {remedy}"
        return QuestionError(
            file, alternatives, to=f"find {meant}", expected=one, kind=MaskError.KIND
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


def _apart(paths: Sequence[str]) -> list[str]:
    """Returns for each path the first folder above it that has no other; none where none is."""
    tops = []
    for path in paths:
        folders = path.split("/")[:-1]
        above = ("/".join(folders[:n]) for n in range(1, len(folders) + 1))
        tops += [top for top in above if below(paths, top) == [path]][:1]
    return tops
