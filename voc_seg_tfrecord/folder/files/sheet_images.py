"""Finds the image that a file of shapes means by the name that it has for it."""

import collections
from collections.abc import Mapping, Sequence
import contextlib
import functools
import posixpath
import unicodedata

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted
from voc_seg_tfrecord.core.layout import WITH_ARRAYS
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.folder.files.folder_names import below, common, same_parts, split_word, stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.tools.shapes import Annotation, Sheet, wrong
from voc_seg_tfrecord.tools.tool import ShapeFiles

composed = functools.partial(unicodedata.normalize, "NFC")
"""Composes a name, as macOS decomposes them."""


class SheetImages:
    """Finds the images of a folder by the names that the files of a tool have for them.

    Args:
      tool: the tool's name.
      shapes: its files.
      paths: the images in the folder.
      sheets: what all files of the tool hold, by their paths.
    """

    def __init__(
        self, tool: str, shapes: ShapeFiles, paths: Sequence[str], sheets: Mapping[str, Sheet]
    ):
        self._tool = tool
        self._shapes = shapes
        self._paths = {*paths}
        self._annotations = [
            (file, annotation) for file, sheet in sheets.items() for annotation in sheet.annotations
        ]
        self._folders_with_both: set[str] = set()  # files, and beside them images that they name
        for file, annotation in self._annotations:
            folder = posixpath.dirname(file)
            if posixpath.join(folder, annotation.image) in self._paths:
                self._folders_with_both.add(folder)
        self._names_of_folders = {path.split("/")[-2] for path in self._paths if "/" in path}
        self._paths_by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._paths_by_name: dict[str, list[str]] = collections.defaultdict(list)
        # Of a.jpg and a.png, the latter may be a mask.
        for path in sorted(paths, key=_place_of_ending):
            self._paths_by_stem[posixpath.splitext(path)[0]].append(path)
            name = composed(posixpath.basename(path))
            self._paths_by_name[name].append(path)
            # The names of a video's frames may lack the ending.
            self._paths_by_name[posixpath.splitext(name)[0]].append(path)
        self._paths_by_form_of_stem: dict[str, list[str]] = collections.defaultdict(list)
        for path in paths:
            self._paths_by_form_of_stem[_form_of_stem(path)].append(path)
        self._moved: dict[str, str] = {}  # by what files call them: where images are

    def find(self, file: str, annotation: Annotation) -> str | None:
        """Returns the path of an annotation's image; None if it is not here.

        Raises:
          MaskError: if the annotation may mean several images.
        """
        if self._shapes.find_image == "known":
            return annotation.image
        if self._shapes.find_image == "by name":
            return self._find_by_name(file, annotation)
        path = self._find_beside(file, annotation.image)
        if path is None:
            path = self._find_by_name(file, annotation)
            self._check_name_of_file(file, annotation.image, path)
        return path

    def _find_beside(self, file: str, image: str) -> str | None:
        """Returns the image at the path that a file has for it, or else that of the file's name.

        Raises:
          MaskError: if the file is called as one image, and names another one that is here too.
        """
        named = posixpath.normpath(posixpath.join(posixpath.dirname(file), image))
        of_same_name = self._paths_by_stem.get(posixpath.splitext(file)[0], [])
        if named in self._paths:
            if of_same_name and named not in of_same_name:
                raise _names_another_image(file, image, of_same_name[0])
            self._check_name_of_file(file, image, named)
            return named
        if not of_same_name:
            return None
        # The path is one of another folder or machine, of which the name is left.
        name = composed(posixpath.basename(image))
        for path in of_same_name:
            if composed(posixpath.basename(path)) == name:
                return path
        if self._is_another_image(file, image, of_same_name):
            raise _names_another_image(file, image, of_same_name[0])
        if image and stem(image) != stem(file):
            self._moved[image] = of_same_name[0]
        return of_same_name[0]

    def _is_another_image(self, file: str, image: str, of_same_name: Sequence[str]) -> bool:
        """Says whether an image that is here is called as a file says, and not as the file.

        Endings, capitals and blanks at the ends do not count: images may have been converted.
        """
        form = _form_of_stem(image)
        if form == _form_of_stem(file):
            return False
        paths = self._paths_by_form_of_stem.get(form, [])
        return any(path not in of_same_name for path in paths)

    def _check_name_of_file(self, file: str, image: str, path: str | None) -> None:
        """Checks that no other image beside the one that a file names is called as the file."""
        if path is None:
            return
        place = posixpath.join(posixpath.dirname(path), stem(file))
        of_same_name = self._paths_by_stem.get(place, [])
        if of_same_name and path not in of_same_name:
            raise _names_another_image(file, image, of_same_name[0])

    def _find_by_name(self, file: str, annotation: Annotation) -> str | None:
        """Returns the image whose path ends as the name of an image does."""
        image = annotation.image
        candidates, lacking = self._most_alike(file, annotation)
        if not candidates:
            return None
        if len(candidates) > 1:
            raise self._question(file, image, candidates)
        path = candidates[0]
        top = posixpath.join(common(file, path), "")
        split_of_path = split_word(posixpath.dirname(path.removeprefix(top)))[1]
        split_of_name = split_word(posixpath.dirname(image))[1]
        split_of_file = split_word(file.removeprefix(top))[1]
        split_of_subset = only_split_in(annotation.subset)
        wanted_split = split_of_name or split_of_subset or split_of_file
        if split_of_path and wanted_split and split_of_path != wanted_split:
            if split_of_name:
                return None
            if split_of_subset:
                raise wrong(
                    file,
                    f"the image {image} of the subset {annotation.subset}, and {path}, which lies "
                    "in the folder of another split",
                    "the images of a subset in its own folder",
                    "move the image, or correct the subset in the file",
                )
            raise wrong(
                file,
                f"the image {image}, and {path}, which lies in the folder of another split",
                "the images of the file's own split",
                "write the folder before the name, or rename the file if it is of no split",
            )
        if lacking:
            self._moved[image] = path
        return path

    def _most_alike(self, file: str, annotation: Annotation) -> tuple[list[str], int]:
        """Returns the images whose paths end most as a name does, and how many parts they lack.

        Of several these are the ones in the folder of the image's subset, the nearest to the file,
        or else those of its split. Where images lie beside the file, or in the folder that it
        names, others of the same name are not meant.
        """
        parts = composed(annotation.image).split("/")
        wanted = [part for part in parts if part not in ("", ".", "..")]
        if not wanted:
            return [], 0
        candidates = self._paths_by_name.get(wanted[-1], [])
        folder = posixpath.dirname(file)
        if folder and folder in self._folders_with_both:
            candidates = [path for path in candidates if posixpath.dirname(path) == folder]
        if len(wanted) > 1 and wanted[-2] in self._names_of_folders:
            ending = "/".join(["", *wanted[-2:]])
            candidates = [path for path in candidates if f"/{path}".endswith(ending)]
        same = {path: same_parts(composed(path).split("/"), wanted) for path in candidates}
        most = max(same.values(), default=0)
        candidates = [path for path in candidates if same[path] == most]
        if len(candidates) > 1 and annotation.subset:
            in_folder = [path for path in candidates if _lies_in(path, annotation.subset)]
            candidates = in_folder or candidates
        if len(candidates) > 1:
            candidates = self._nearest(file, candidates)
        return candidates, len(wanted) - most

    def _nearest(self, file: str, paths: Sequence[str]) -> list[str]:
        """Returns the paths that share most folders with a file, those of its split if any are."""
        shared = {path: len(common(file, path)) for path in paths}
        nearest = [path for path in paths if shared[path] == max(shared.values())]
        split = split_word(file)[1]
        return [path for path in nearest if split_word(path)[1] == split] or nearest

    def _question(self, file: str, image: str, candidates: Sequence[str]) -> VocSegError:
        """Returns the question which folder is meant: a line for each that has no image twice."""
        tops: set[str] = set()
        for other_file, annotation in self._annotations:
            paths, _ = self._most_alike(other_file, annotation)
            if len(paths) > 1:
                tops.update(_folders_of_one(paths))
        alternatives = list[Alternative]()
        for top in sorted(tops):
            images = below(sorted(self._paths), top)
            finder = SheetImages(self._tool, self._shapes, images, {})
            with contextlib.suppress(VocSegError):
                for sheet_file, annotation in self._annotations:
                    finder.find(sheet_file, annotation)
                alternatives.append(Alternative("", {"images": top}))
        meant = f"the image {image}, which may be {' or '.join(candidates[:3])}"
        remedy = "write the folder before the name in the file, or move the other images away"
        if not alternatives:
            return wrong(file, meant, "one image of this name", remedy)
        expected = f"one image of this name; otherwise {remedy}"
        return QuestionError(
            file, alternatives, to=f"find {meant}", expected=expected, kind=MaskError.KIND
        )

    def notes(self) -> list[str]:
        """Returns a note on images that lie elsewhere than files say."""
        if not self._moved:
            return []
        name, path = min(self._moved.items())
        where = f"in other places than {self._tool}'s files say, such as {name}, read from {path}"
        return [f"{counted(len(self._moved), 'image')} {where}."]


def _form_of_stem(path: str) -> str:
    """Returns what is the same of names that differ in ending, capitals or blanks alone."""
    return composed(stem(path.strip())).casefold().strip()


def _names_another_image(file: str, image: str, of_same_name: str) -> MaskError:
    return wrong(
        file,
        f"the shapes of {image}, and {of_same_name} has the name of the file",
        "the shapes of the image of the same name",
        "rename the file as its image, or correct the name of the image in it",
    )


def _lies_in(path: str, subset: str) -> bool:
    """Says whether a file lies in a folder that is called as a subset, or says the same split."""
    split = only_split_in(subset)
    for folder in path.split("/")[:-1]:
        if folder.lower() == subset.lower() or (split and only_split_in(folder) == split):
            return True
    return False


def _place_of_ending(path: str) -> int:
    return WITH_ARRAYS.index(posixpath.splitext(path)[1].lower())


def _folders_of_one(paths: Sequence[str]) -> list[str]:
    """Returns for each path the outermost folder above it that has no other of the paths.

    A path all of whose folders have another one is left out.
    """
    tops = []
    for path in paths:
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            top = "/".join(folders[:depth])
            if below(paths, top) == [path]:
                tops.append(top)
                break
    return tops
