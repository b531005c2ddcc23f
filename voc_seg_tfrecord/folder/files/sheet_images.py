"""Finds the image that a file of shapes means by the name that it has for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.image_index import ImageIndex, loosen_stem
from voc_seg_tfrecord.folder.files.paths import (
    common_folder_of_files,
    count_same_ends,
    paths_below,
    stem,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.tools.shapes import Annotation, Sheet, shape_error
from voc_seg_tfrecord.tools.tool import ShapeFiles


@dataclasses.dataclass(frozen=True)
class FiledAnnotation:
    """The shapes of an image, and the file in which they stand."""

    file: str
    annotation: Annotation


@dataclasses.dataclass(frozen=True)
class FoundImage:
    """The image that an annotation means.

    Attributes:
      path: its path.
      is_moved: whether it lies elsewhere than the file states.
    """

    path: str
    is_moved: bool = False


@dataclasses.dataclass(frozen=True)
class _PathsOfName:
    """The images that a name may mean.

    Attributes:
      paths: their paths.
      missing_parts: how many of the folders in the name the paths lack.
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
      root: the folder.
    """

    def __init__(
        self,
        tool: str,
        shapes: ShapeFiles,
        paths: Sequence[str],
        sheets: Mapping[str, Sheet],
        root: epath.Path,
    ):
        self._root = root
        self._tool = tool
        self._shapes = shapes
        self._images = ImageIndex(paths)
        self._annotations = [
            FiledAnnotation(file, annotation)
            for file, sheet in sheets.items()
            for annotation in sheet.annotations
        ]
        self._folders_with_both = _folders_with_both(self._annotations, self._images)

    def find(self, file: str, annotation: Annotation) -> FoundImage | None:
        """Returns the image of an annotation; None if it is not here.

        Most tools write a path. It is looked for in three ways, and the first that finds an image
        counts:

        1. at this path, from the folder of the file;
        2. beside the file, under the file's own name: `a.jpg` for `a.json`;
        3. anywhere, under the name in the file, with as many of its folders as possible.

        Raises:
          MaskError: if the annotation may mean several images.
        """
        if self._shapes.find_image == "known":
            return FoundImage(annotation.image)
        if self._shapes.find_image == "by name":
            return self._find_by_name(file, annotation)
        image = annotation.image
        image_of_file = self._find_at_path(file, image) or self._find_of_file_name(file, image)
        if image_of_file is not None:
            return image_of_file
        image_of_name = self._find_by_name(file, annotation)
        if image_of_name is not None:
            self._check_name_of_file(file, image, image_of_name.path)
        return image_of_name

    def _find_at_path(self, file: str, image: str) -> FoundImage | None:
        """Returns the image at the path that a file has for it; None if there is none.

        Raises:
          MaskError: if another image has the name of the file.
        """
        stated_path = posixpath.normpath(posixpath.join(posixpath.dirname(file), image))
        path = self._images.at_path(stated_path)
        if path is None:
            return None
        beside_file = self._images.with_ending_added(posixpath.splitext(file)[0])
        if beside_file and path not in beside_file:
            raise _names_another_image(file, image, beside_file[0])
        self._check_name_of_file(file, image, path)
        return FoundImage(path)

    def _check_name_of_file(self, file: str, image: str, path: str) -> None:
        """Checks that no other image in the folder of a file's image has the name of the file."""
        path_of_same_name = posixpath.join(posixpath.dirname(path), stem(file))
        of_same_name = self._images.with_ending_added(path_of_same_name)
        if of_same_name and path not in of_same_name:
            raise _names_another_image(file, image, of_same_name[0])

    def _find_of_file_name(self, file: str, image: str) -> FoundImage | None:
        """Returns the image beside a file that has the name of the file; None if there is none.

        The path in the file is one of another folder or machine then.

        Raises:
          MaskError: if the file names another image, which is here too.
        """
        beside_file = self._images.with_ending_added(posixpath.splitext(file)[0])
        if not beside_file:
            return None
        name = as_nfc(posixpath.basename(image))
        for path in beside_file:
            if as_nfc(posixpath.basename(path)) == name:
                return FoundImage(path)
        if self._names_another_image_here(file, image, beside_file):
            raise _names_another_image(file, image, beside_file[0])
        has_other_name = image != "" and stem(image) != stem(file)
        return FoundImage(beside_file[0], is_moved=has_other_name)

    def _names_another_image_here(self, file: str, image: str, beside_file: Sequence[str]) -> bool:
        """Says whether the name in a file is not the file's own, and another image here has it.

        Endings, capitals and blanks at the ends do not count: images may have been converted.
        """
        if loosen_stem(image) == loosen_stem(file):
            return False
        return any(path not in beside_file for path in self._images.with_loose_stem(image))

    def _find_by_name(self, file: str, annotation: Annotation) -> FoundImage | None:
        """Returns the image whose path ends as the name of an image does."""
        matches = self._find_matches(file, annotation)
        if not matches.paths:
            return None
        paths = self._of_stated_size(annotation, matches.paths)
        if len(paths) > 1:
            raise self._question(file, annotation.image, paths)
        path = paths[0]
        splits = _SplitsInNames.of(file, annotation, path)
        if splits.are_of_another_image:
            return None
        _check_split(file, annotation, path, splits)
        return FoundImage(path, is_moved=matches.missing_parts > 0)

    def _find_matches(self, file: str, annotation: Annotation) -> _PathsOfName:
        """Returns the images that a name may mean: those of this file name.

        If they are several, these steps leave some out:

        1. If images that files name lie beside the file, others are not meant.
        2. If a folder has the name of the last folder in the name, others are not meant.
        3. Those whose paths end with most folders of the name come first.
        4. Then each of `_PREFERENCES` is applied, unless it would leave none.
        """
        parts = as_nfc(annotation.image).split("/")
        wanted_parts = [part for part in parts if part not in ("", ".", "..")]
        if not wanted_parts:
            return _PathsOfName([], 0)
        paths = self._beside_file(file, self._images.with_name(wanted_parts[-1]))
        paths = self._in_named_folder(wanted_parts, paths)
        same_counts = {
            path: count_same_ends(as_nfc(path).split("/"), wanted_parts) for path in paths
        }
        highest = max(same_counts.values(), default=0)
        best: Sequence[str] = [path for path in paths if same_counts[path] == highest]
        filed = FiledAnnotation(file, annotation)
        for prefer in _PREFERENCES:
            best = prefer(filed, best) or best
        return _PathsOfName(best, missing_parts=len(wanted_parts) - highest)

    def _beside_file(self, file: str, paths: Sequence[str]) -> Sequence[str]:
        """Returns the images beside a file, if files name images beside them; or all."""
        folder = posixpath.dirname(file)
        if not folder or folder not in self._folders_with_both:
            return paths
        return [path for path in paths if posixpath.dirname(path) == folder]

    def _in_named_folder(self, wanted_parts: Sequence[str], paths: Sequence[str]) -> Sequence[str]:
        """Returns the images in the last folder in the name, if there is such a folder; or all."""
        if len(wanted_parts) < 2 or not self._images.has_folder_named(wanted_parts[-2]):
            return paths
        end = "/".join(["", *wanted_parts[-2:]])
        return [path for path in paths if f"/{as_nfc(path)}".endswith(end)]

    def _of_stated_size(self, annotation: Annotation, paths: Sequence[str]) -> Sequence[str]:
        """Returns the images that have the size in the file, rotated or not; all if none has it."""
        if len(paths) < 2 or annotation.size is None:
            return paths
        stated_size = sorted(annotation.size)
        return [path for path in paths if self._read_size(path) == stated_size] or paths

    def _read_size(self, path: str) -> list[int]:
        """Returns the sides of an image, the shorter one first; none if it cannot be read."""
        try:
            return sorted(pillow.read_size(File.read(self._root / path, ImageError), ImageError))
        except VocSegError:
            return []

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
            if self._is_unambiguous_in(folder)
        ]
        meant = f"the image {image}, which may be {' or '.join(candidates[:3])}"
        remedy = "write the folder before the name in the file, or move the other images away"
        if not alternatives:
            return shape_error(file, meant, "one image of this name", remedy)
        expected = f"one image of this name; otherwise {remedy}"
        return QuestionError(
            file, alternatives, task=f"find {meant}", expected=expected, kind=MaskError.KIND
        )

    def _is_unambiguous_in(self, folder: str) -> bool:
        """Says whether no name is ambiguous or wrong if only the images in a folder count.

        Images that are not in the folder are neither: a question counts them.
        """
        images = paths_below(sorted(self._images.paths), folder)
        # Without sheets, no image beside its file comes before others. Here all are in one folder.
        finder = SheetImages(self._tool, self._shapes, images, {}, self._root)
        try:
            for filed in self._annotations:
                finder.find(filed.file, filed.annotation)
        except VocSegError:
            return False
        return True


def _folders_with_both(annotations: Iterable[FiledAnnotation], images: ImageIndex) -> set[str]:
    """Returns the folders that have files of annotations, and beside them images that they name."""
    folders: set[str] = set()
    for filed in annotations:
        folder = posixpath.dirname(filed.file)
        if images.at_path(posixpath.join(folder, filed.annotation.image)) is not None:
            folders.add(folder)
    return folders


# Which of several images of one name is meant.


def _prefer_folder_of_subset(filed: FiledAnnotation, paths: Sequence[str]) -> Sequence[str]:
    """Returns the paths in a folder that is called as the image's subset, or as its split."""
    subset = filed.annotation.subset
    return [path for path in paths if _lies_in(path, subset)] if subset else []


def _prefer_nearest(filed: FiledAnnotation, paths: Sequence[str]) -> Sequence[str]:
    """Returns the paths that share most folders with the file."""
    shared_lengths = {path: len(common_folder_of_files(filed.file, path)) for path in paths}
    longest = max(shared_lengths.values(), default=0)
    return [path for path in paths if shared_lengths[path] == longest]


def _prefer_split_of_file(filed: FiledAnnotation, paths: Sequence[str]) -> Sequence[str]:
    """Returns the paths that name the split of the file."""
    split = split_of(filed.file)
    return [path for path in paths if split_of(path) == split] if split else []


_PREFERENCES: tuple[Callable[[FiledAnnotation, Sequence[str]], Sequence[str]], ...] = (
    _prefer_folder_of_subset,
    _prefer_nearest,
    _prefer_split_of_file,
)
"""What is preferred among images of one name, in the order in which it is applied."""


# Splits.


@dataclasses.dataclass(frozen=True)
class _SplitsInNames:
    """The splits of an image that names tell; each is empty if there is none.

    Attributes:
      of_path: the split of the folders in which the image lies.
      of_name: that of the folders in the name that the file has for it.
      of_subset: that of its subset in the file.
      of_file: that of the file's own path.
    """

    of_path: str
    of_name: str
    of_subset: str
    of_file: str

    @classmethod
    def of(cls, file: str, annotation: Annotation, path: str) -> "_SplitsInNames":
        """Reads them. A folder above both the file and the image tells nothing."""
        common_top = posixpath.join(common_folder_of_files(file, path), "")
        return cls(
            of_path=split_of(posixpath.dirname(path.removeprefix(common_top))),
            of_name=split_of(posixpath.dirname(annotation.image)),
            of_subset=only_split_in(annotation.subset),
            of_file=split_of(file.removeprefix(common_top)),
        )

    @property
    def are_of_another_image(self) -> bool:
        """Whether the name in the file is that of an image in a folder of another split."""
        return bool(self.of_name and self.of_path) and self.of_name != self.of_path


def _check_split(file: str, annotation: Annotation, path: str, splits: _SplitsInNames) -> None:
    """Checks that an image lies in no folder of another split than its subset or its file.

    A split in the image's own name counts before that of the subset, and this before the file's.

    Raises:
      MaskError: if it does.
    """
    if not splits.of_path or splits.of_name:
        return
    if splits.of_subset:
        if splits.of_subset != splits.of_path:
            raise shape_error(
                file,
                f"the image {annotation.image} of the subset {annotation.subset}, and {path}, "
                "which lies in the folder of another split",
                "the images of a subset in its own folder",
                "move the image, or correct the subset in the file",
            )
        return
    if splits.of_file and splits.of_file != splits.of_path:
        raise shape_error(
            file,
            f"the image {annotation.image}, and {path}, which lies in the folder of another split",
            "the images of the file's own split",
            "write the folder before the name, or rename the file if it is of no split",
        )


def _names_another_image(file: str, image: str, of_same_name: str) -> MaskError:
    return shape_error(
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


def _folders_of_one(paths: Sequence[str]) -> list[str]:
    """Returns for each path the outermost folder above it that has no other of the paths.

    A path all of whose folders have another one is left out.
    """
    folders_of_one: list[str] = []
    for path in paths:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if paths_below(paths, folder) == [path]:
                folders_of_one.append(folder)
                break
    return folders_of_one
