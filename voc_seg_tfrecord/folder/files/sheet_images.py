"""Finds the image that a file of shapes means by the name that it has for it."""

import collections
from collections.abc import Iterable, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
import unicodedata

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted
from voc_seg_tfrecord.core.layout import WITH_ARRAYS
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.folder.files.folder_names import below, common, same_parts, split_of, stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.tools.shapes import Annotation, Sheet, wrong
from voc_seg_tfrecord.tools.tool import ShapeFiles

composed = functools.partial(unicodedata.normalize, "NFC")
"""Composes the letters of a name with their marks, which macOS writes apart."""


@dataclasses.dataclass(frozen=True)
class FiledAnnotation:
    """The shapes of an image, and the file in which they stand."""

    file: str
    annotation: Annotation


@dataclasses.dataclass(frozen=True)
class _PathsOfName:
    """The images that a name may mean.

    Attributes:
      paths: their paths.
      missing_parts: how many folders of the name none of the paths has.
    """

    paths: Sequence[str]
    missing_parts: int


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
            FiledAnnotation(file, annotation)
            for file, sheet in sheets.items()
            for annotation in sheet.annotations
        ]
        self._folders_with_both = _folders_with_both(self._annotations, self._paths)
        self._names_of_folders = {path.split("/")[-2] for path in self._paths if "/" in path}
        # Of a.jpg and a.png, the latter may be a mask.
        paths_by_rank = sorted(paths, key=_rank_of_ending)
        self._paths_by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._paths_by_name: dict[str, list[str]] = collections.defaultdict(list)
        for path in paths_by_rank:
            self._paths_by_stem[posixpath.splitext(path)[0]].append(path)
            name = composed(posixpath.basename(path))
            self._paths_by_name[name].append(path)
            # The names of a video's frames may lack the ending.
            self._paths_by_name[posixpath.splitext(name)[0]].append(path)
        self._paths_by_form_of_stem: dict[str, list[str]] = collections.defaultdict(list)
        for path in paths:
            self._paths_by_form_of_stem[_form_of_stem(path)].append(path)
        self._path_of_moved_image: dict[str, str] = {}  # by the names that files have for them

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
            self._path_of_moved_image[image] = of_same_name[0]
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
        path_of_same_name = posixpath.join(posixpath.dirname(path), stem(file))
        of_same_name = self._paths_by_stem.get(path_of_same_name, [])
        if of_same_name and path not in of_same_name:
            raise _names_another_image(file, image, of_same_name[0])

    def _find_by_name(self, file: str, annotation: Annotation) -> str | None:
        """Returns the image whose path ends as the name of an image does."""
        matches = self._find_matches(file, annotation)
        if not matches.paths:
            return None
        if len(matches.paths) > 1:
            raise self._question(file, annotation.image, matches.paths)
        path = matches.paths[0]
        if not _is_of_same_split(path, file, annotation):
            return None
        if matches.missing_parts:
            self._path_of_moved_image[annotation.image] = path
        return path

    def _find_matches(self, file: str, annotation: Annotation) -> _PathsOfName:
        """Returns the images whose paths end most as a name does.

        Of several these are the ones in the folder of the image's subset, the nearest to the file,
        or else those of its split. Where images lie beside the file, or in the folder that it
        names, others of the same name are not meant.
        """
        parts = composed(annotation.image).split("/")
        wanted_parts = [part for part in parts if part not in ("", ".", "..")]
        if not wanted_parts:
            return _PathsOfName([], 0)
        of_same_name = self._paths_by_name.get(wanted_parts[-1], [])
        paths = self._in_named_folder(wanted_parts, self._without_distant(file, of_same_name))
        same = {path: same_parts(composed(path).split("/"), wanted_parts) for path in paths}
        most = max(same.values(), default=0)
        best = [path for path in paths if same[path] == most]
        if len(best) > 1 and annotation.subset:
            in_folder_of_subset = [path for path in best if _lies_in(path, annotation.subset)]
            best = in_folder_of_subset or best
        if len(best) > 1:
            best = _nearest(file, best)
        return _PathsOfName(best, missing_parts=len(wanted_parts) - most)

    def _without_distant(self, file: str, paths: Sequence[str]) -> Sequence[str]:
        """Leaves out images elsewhere, if images that files name lie beside the file."""
        folder = posixpath.dirname(file)
        if not folder or folder not in self._folders_with_both:
            return paths
        return [path for path in paths if posixpath.dirname(path) == folder]

    def _in_named_folder(self, wanted_parts: Sequence[str], paths: Sequence[str]) -> Sequence[str]:
        """Leaves out images elsewhere, if there is a folder of the name that the file says."""
        if len(wanted_parts) < 2 or wanted_parts[-2] not in self._names_of_folders:
            return paths
        end = "/".join(["", *wanted_parts[-2:]])
        return [path for path in paths if f"/{path}".endswith(end)]

    def _question(self, file: str, image: str, candidates: Sequence[str]) -> VocSegError:
        """Returns the question which folder is meant: a line for each that has no image twice."""
        folders: set[str] = set()
        for filed in self._annotations:
            paths = self._find_matches(filed.file, filed.annotation).paths
            if len(paths) > 1:
                folders.update(_folders_of_one(paths))
        alternatives = [
            Alternative("", {"images": folder})
            for folder in sorted(folders)
            if self._can_find_all_in(folder)
        ]
        meant = f"the image {image}, which may be {' or '.join(candidates[:3])}"
        remedy = "write the folder before the name in the file, or move the other images away"
        if not alternatives:
            return wrong(file, meant, "one image of this name", remedy)
        expected = f"one image of this name; otherwise {remedy}"
        return QuestionError(
            file, alternatives, to=f"find {meant}", expected=expected, kind=MaskError.KIND
        )

    def _can_find_all_in(self, folder: str) -> bool:
        """Says whether no name is ambiguous or wrong if only the images in a folder count."""
        images = below(sorted(self._paths), folder)
        finder = SheetImages(self._tool, self._shapes, images, {})
        try:
            for filed in self._annotations:
                finder.find(filed.file, filed.annotation)
        except VocSegError:
            return False
        return True

    def notes(self) -> list[str]:
        """Returns a note on images that lie elsewhere than files say."""
        if not self._path_of_moved_image:
            return []
        name, path = min(self._path_of_moved_image.items())
        images = counted(len(self._path_of_moved_image), "image")
        return [
            f"{images} in other places than {self._tool}'s files say, such as {name}, read from "
            f"{path}."
        ]


def _folders_with_both(annotations: Iterable[FiledAnnotation], paths: Set[str]) -> set[str]:
    """Returns the folders that have files of annotations, and beside them images that they name."""
    folders: set[str] = set()
    for filed in annotations:
        folder = posixpath.dirname(filed.file)
        if posixpath.join(folder, filed.annotation.image) in paths:
            folders.add(folder)
    return folders


def _is_of_same_split(path: str, file: str, annotation: Annotation) -> bool:
    """Says whether an image lies in no folder of another split than its name says.

    Raises:
      MaskError: if it lies in the folder of another split than its subset or file says.
    """
    image = annotation.image
    common_top = posixpath.join(common(file, path), "")
    split_of_path = split_of(posixpath.dirname(path.removeprefix(common_top)))
    split_of_name = split_of(posixpath.dirname(image))
    split_of_subset = only_split_in(annotation.subset)
    split_of_file = split_of(file.removeprefix(common_top))
    if not split_of_path:
        return True
    if split_of_name:
        return split_of_name == split_of_path
    if split_of_subset:
        if split_of_subset != split_of_path:
            raise wrong(
                file,
                f"the image {image} of the subset {annotation.subset}, and {path}, which lies "
                "in the folder of another split",
                "the images of a subset in its own folder",
                "move the image, or correct the subset in the file",
            )
        return True
    if split_of_file and split_of_file != split_of_path:
        raise wrong(
            file,
            f"the image {image}, and {path}, which lies in the folder of another split",
            "the images of the file's own split",
            "write the folder before the name, or rename the file if it is of no split",
        )
    return True


def _nearest(file: str, paths: Sequence[str]) -> list[str]:
    """Returns the paths that share most folders with a file, those of its split if any are."""
    shared_lengths = {path: len(common(file, path)) for path in paths}
    longest = max(shared_lengths.values())
    nearest = [path for path in paths if shared_lengths[path] == longest]
    split = split_of(file)
    of_split = [path for path in nearest if split_of(path) == split]
    return of_split or nearest


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
    """Says whether a file lies in a folder that is called as a subset, or as its split."""
    split = only_split_in(subset)
    for folder in path.split("/")[:-1]:
        if folder.lower() == subset.lower() or (split and only_split_in(folder) == split):
            return True
    return False


def _rank_of_ending(path: str) -> int:
    return WITH_ARRAYS.index(posixpath.splitext(path)[1].lower())


def _folders_of_one(paths: Sequence[str]) -> list[str]:
    """Returns for each path the outermost folder above it that has no other of the paths.

    A path all of whose folders have another one is left out.
    """
    folders_of_one: list[str] = []
    for path in paths:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if below(paths, folder) == [path]:
                folders_of_one.append(folder)
                break
    return folders_of_one
