"""Matches the annotations of a labeling tool with the images of a folder."""

import collections
from collections.abc import Mapping
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.sheet_images import FiledAnnotation, SheetImages
from voc_seg_tfrecord.tools.shapes import Shape, Sheet, shape_error


@dataclasses.dataclass(frozen=True)
class ShapeSource:
    """A file of shapes, or a subset in it.

    Attributes:
      file: the file.
      subset: the subset; empty if the file has none.
    """

    file: str
    subset: str


@dataclasses.dataclass(frozen=True)
class RivalShapes:
    """An image, and two files that have other shapes of it."""

    image: str
    files: tuple[str, str]


@dataclasses.dataclass
class MatchedShapes:
    """The shapes of the images in a folder. `match_images` fills it, one annotation at a time.

    Attributes:
      by_path: the shapes of each image, by its path.
      embedded: paths of images that only the file of their shapes holds.
      lost: names of images that are not here.
      moved: the paths of images that lie elsewhere than files state, by the names in the files.
      paths_by_source: the images of each file, and of each subset in one.
      rivals: images whose shapes differ in files of two folders, of which those of the first one
        are in `by_path`.
    """

    by_path: dict[str, FiledAnnotation] = dataclasses.field(default_factory=dict)
    embedded: set[str] = dataclasses.field(default_factory=set)
    lost: list[str] = dataclasses.field(default_factory=list)
    moved: dict[str, str] = dataclasses.field(default_factory=dict)
    paths_by_source: dict[ShapeSource, list[str]] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(list)
    )
    rivals: list[RivalShapes] = dataclasses.field(default_factory=list)

    def add(self, path: str, filed: FiledAnnotation) -> None:
        """Adds the shapes of an image. If it has some already, they must be the same."""
        source = ShapeSource(filed.file, filed.annotation.subset)
        self.paths_by_source[source].append(path)
        first = self.by_path.get(path)
        if first is None:
            self.by_path[path] = filed
        elif _are_rivals(path, first, filed):
            self.rivals.append(RivalShapes(path, (first.file, filed.file)))
        else:
            self.by_path[path] = _with_error_of_both(path, first, filed)


def _are_rivals(path: str, first: FiledAnnotation, second: FiledAnnotation) -> bool:
    """Says whether shapes differ that two people may have drawn, each in a folder of their own."""
    if posixpath.dirname(first.file) == posixpath.dirname(second.file):
        return False
    if first.annotation.error or second.annotation.error:
        return False
    return _error_of_different_shapes(path, first, second) is not None


def match_images(finder: SheetImages, sheets: Mapping[str, Sheet]) -> MatchedShapes:
    """Finds the image of each annotation, and what is wrong if an image has several."""
    matched = MatchedShapes()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            filed = FiledAnnotation(file, annotation)
            found = finder.find(file, annotation)
            if found is not None:
                matched.add(found.path, filed)
                if found.is_moved:
                    matched.moved[annotation.image] = found.path
            elif annotation.embedded:
                path_of_embedded = _path_of_embedded(filed)
                matched.embedded.add(path_of_embedded)
                matched.add(path_of_embedded, filed)
            else:
                matched.lost.append(annotation.image or file)
    return matched


def _path_of_embedded(filed: FiledAnnotation) -> str:
    """Returns the path that an image would have which only the file of its shapes holds."""
    ending = posixpath.splitext(filed.annotation.image)[1] or ".jpg"
    return posixpath.splitext(filed.file)[0] + ending


def _with_error_of_both(
    path: str, first: FiledAnnotation, second: FiledAnnotation
) -> FiledAnnotation:
    """Returns the second annotation of an image, with the first error of these, if there is one.

    Without an error both are the same, so it does not matter which one stays. An error is about the
    second file, which is the one to remove. These are the errors:

    1. The first annotation cannot be read.
    2. The second one cannot be read.
    3. Their shapes differ.
    """
    error = first.annotation.error or second.annotation.error
    if error is None:
        error = _error_of_different_shapes(path, first, second)
    annotation = dataclasses.replace(second.annotation, error=error)
    return FiledAnnotation(second.file, annotation)


def _error_of_different_shapes(
    path: str, first: FiledAnnotation, second: FiledAnnotation
) -> VocSegError | None:
    """Returns the error that two annotations of an image differ; None if they are the same."""
    first_shapes = [_without_position(shape) for shape in first.annotation.shapes]
    second_shapes = [_without_position(shape) for shape in second.annotation.shapes]
    if first_shapes == second_shapes:
        return None
    expected = "one file for each image"
    if second.file == first.file:
        first_name, second_name = first.annotation.image, second.annotation.image
        found = f"other shapes of {path} as {second_name} than as {first_name}"
        return shape_error(second.file, found, expected)
    found = f"other shapes of {path} than {first.file}"
    remedy = f"name the file that is right: {command(masks=second.file)}"
    return shape_error(second.file, found, expected, remedy)


def _without_position(shape: Shape) -> Shape:
    """Returns a shape without its position, because the same one may stand in two files."""
    return shape._replace(position="")
