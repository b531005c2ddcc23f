"""Finds the tree of a labeling tool's polygons in a folder: the image of each, and its splits.

An *annotation* is the shapes of one image. The steps:

1. `annotation_files` reads the files, and chooses the one tool whose polygons are read, or asks.
2. `annotated_images` finds the image of each annotation.
3. Here the annotations are sorted by image, the splits are read, and the tree is made: ids,
   classes, notes.
"""

import collections
from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
import os
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, counted, several
from voc_seg_tfrecord.core.layout import ID, Layout
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import (
    SPLIT_BY_WORD,
    UNIONS,
    as_split_name,
    list_splits_in,
    only_split_in,
    parse_split_name,
    split_but_for_number,
    words,
)
from voc_seg_tfrecord.folder.files.annotated_images import AnnotatedImages
from voc_seg_tfrecord.folder.files.annotation_files import ChosenFiles, choose_tool, read_files
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files, paths_below_any, stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.labels import LabelSplit
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFolders
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.shape_classes import number_shape_classes
from voc_seg_tfrecord.tools.shapes import UNUSABLE, Annotation, Shape, shape_error
from voc_seg_tfrecord.tools.tool import FolderFiles


@dataclasses.dataclass(frozen=True)
class FoundPolygons:
    """The polygons of a folder.

    Attributes:
      tree: the tree of the polygons; None if there are none that can be used.
      problems: errors about files that are not used, such as those of boxes.
    """

    tree: VocTree | None
    problems: Sequence[VocSegError]


def find_polygons(given: GivenLayout, exif: str) -> FoundPolygons:
    """Finds the polygons in a folder. The user's option `masks` may name a file of polygons.

    Args:
      given: the folder, and what the user gave of its layout.
      exif: what an EXIF orientation means; see `ShapesPair`.

    Raises:
      VocSegError: about polygons of several tools, two images of one id, or a file that may mean
        two images.
    """
    all_paths = list(given.listing.below())
    image_folders = [folder.path for folder in given.image_folders] or [""]
    image_endings = tuple(given.endings.images)
    paths = paths_below_any(all_paths, image_folders)
    files = FolderFiles(
        root=os.fspath(given.listing.root),
        names=all_paths,
        labels=given.label_paths(),
        images=[path for path in paths if path.lower().endswith(image_endings)],
    )
    found = read_files(files)
    try:
        chosen = choose_tool(given, files, found)
        tree = _make_tree(given, chosen, files.images, exif) if chosen else None
    except LayoutError as error:
        if error.kind != UNUSABLE:
            raise
        return FoundPolygons(None, [error, *found.problems])
    return FoundPolygons(tree, found.problems)


class _FiledAnnotation(NamedTuple):
    """The shapes of an image, and the file in which they stand."""

    file: str
    annotation: Annotation


class _Rivals(NamedTuple):
    """An image, and two annotations with other shapes of it."""

    path: str
    first: _FiledAnnotation
    second: _FiledAnnotation

    @property
    def files(self) -> tuple[str, str]:
        """The files of the annotations."""
        return self.first.file, self.second.file

    def error(self) -> VocSegError:
        """Returns the error about the second annotation, which is the one to remove."""
        expected = "one file for each image"
        if self.second.file == self.first.file:
            first_name, second_name = self.first.annotation.image, self.second.annotation.image
            found = f"other shapes of {self.path} as {second_name} than as {first_name}"
            return shape_error(self.second.file, found, expected)
        found = f"other shapes of {self.path} than {self.first.file}"
        remedy = f"name the file that is right: {command(masks=self.second.file)}"
        return shape_error(self.second.file, found, expected, remedy)


@dataclasses.dataclass(frozen=True)
class _MatchedShapes:
    """The shapes of the images in a folder. It is filled one annotation at a time.

    Attributes:
      by_path: the annotations of each image, by its path.
      embedded: paths of images that only the file of their shapes holds.
      lost: names of images that are not here.
      moved: the paths of images that lie elsewhere than files state, by the names in the files.
    """

    by_path: dict[str, list[_FiledAnnotation]] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(list)
    )
    embedded: set[str] = dataclasses.field(default_factory=set)
    lost: list[str] = dataclasses.field(default_factory=list)
    moved: dict[str, str] = dataclasses.field(default_factory=dict)

    def list_rivals(self) -> list[_Rivals]:
        """Returns the images of which two annotations differ; the same may stand in two files."""
        rivals: list[_Rivals] = []
        for path, (first, *others) in self.by_path.items():
            for second in others:
                can_be_read = not first.annotation.error and not second.annotation.error
                if can_be_read and _without_positions(first) != _without_positions(second):
                    rivals.append(_Rivals(path, first, second))
        return rivals


def _without_positions(filed: _FiledAnnotation) -> list[Shape]:
    return [shape._replace(position="") for shape in filed.annotation.shapes]


def _match_images(chosen: ChosenFiles, images: AnnotatedImages) -> _MatchedShapes:
    """Finds the image of each annotation."""
    matched = _MatchedShapes()
    for file_path, file in chosen.files.items():
        for annotation in file.annotations:
            filed = _FiledAnnotation(file_path, annotation)
            found = images.find(file_path, annotation)
            if found is not None:
                matched.by_path[found.path].append(filed)
                if found.is_moved:
                    matched.moved[annotation.image] = found.path
            elif annotation.embedded:
                ending = posixpath.splitext(annotation.image)[1] or ".jpg"
                path = chosen.tool.without_ending(file_path) + ending
                matched.embedded.add(path)
                matched.by_path[path].append(filed)
            else:
                matched.lost.append(annotation.image or file_path)
    return matched


def _shapes_of_image(
    annotations: Sequence[_FiledAnnotation], rivals: _Rivals | None
) -> _FiledAnnotation:
    """Returns the shapes of an image that may have several annotations, or what is wrong."""
    errors = [filed.annotation.error for filed in annotations if filed.annotation.error]
    if rivals:
        errors.append(rivals.error())
    last = annotations[-1]
    if not errors:
        return last
    return last._replace(annotation=dataclasses.replace(last.annotation, error=errors[0]))


def _make_tree(given: GivenLayout, chosen: ChosenFiles, paths: Sequence[str], exif: str) -> VocTree:
    """Returns the tree of the images that have shapes of a tool.

    Args:
      given: the folder, and what the user gave of its layout.
      chosen: the tool and its files.
      paths: the images in the folder.
      exif: what an EXIF orientation means.

    Raises:
      QuestionError: if files in several folders have other shapes of an image.
      LayoutError: of the kind `UNUSABLE` if no image is here, or about two images of one id.
    """
    listing = given.listing
    tool = chosen.tool
    matched = _match_images(chosen, AnnotatedImages(tool, chosen.files, paths, given.looks))
    if not matched.by_path:
        raise _no_images_error(listing, chosen, matched.lost)
    rivals = matched.list_rivals()
    _check_one_labeling(listing, matched, rivals)
    rivals_by_path = {one.path: one for one in reversed(rivals)}
    image_folder = common_folder_of_files(*matched.by_path) or "."
    filed_by_id: dict[str, _FiledAnnotation] = {}
    path_by_id: dict[str, str] = {}
    first_uses: dict[str, str] = {}
    for path, annotations in matched.by_path.items():
        image_id = posixpath.splitext(posixpath.relpath(path, image_folder))[0]
        if image_id in path_by_id:
            raise _same_id_error(listing, path, path_by_id[image_id])
        filed = _shapes_of_image(annotations, rivals_by_path.get(path))
        path_by_id[image_id] = path
        filed_by_id[image_id] = filed
        for shape in filed.annotation.shapes:
            first_uses.setdefault(shape.label, f"{filed.file}, {shape.position}")
    classes = number_shape_classes(tool, chosen.files, first_uses, listing.root, listing.below())
    splits: list[LabelSplit] = []
    if not tool.is_per_image:
        splits = _read_splits({i: matched.by_path[path] for i, path in path_by_id.items()})
    labels = DrawnLabels(
        listing.root,
        Names({image_id: filed.file for image_id, filed in filed_by_id.items()}),
        images={
            image_id: posixpath.relpath(path, image_folder) for image_id, path in path_by_id.items()
        },
        label_files={*chosen.files},
        texts_of_classes={file.classes_file for file in chosen.files.values()} - {""},
        splits=splits,
        class_file=classes.class_file,
        tool=tool.name,
        image_folder=listing.root / image_folder,
        values=classes.values,
        shapes={image_id: filed.annotation for image_id, filed in filed_by_id.items()},
        embedded={image_id for image_id, path in path_by_id.items() if path in matched.embedded},
        exif=exif,
    )
    ending_of_files = tool.ending_of(next(iter(chosen.files)))
    layout = Layout(image_folder, ".", mask_name=f"{ID}{ending_of_files}")
    folders = SetFolders(listing, layout, image_endings=given.endings.images)
    files = folders.list_files()
    files = dataclasses.replace(files, images=files.images.with_files(path_by_id))
    notes = [
        *chosen.notes,
        *_notes_on_lost(tool.name, matched.lost),
        *(note for file in chosen.files.values() for note in file.notes),
        *classes.notes,
        *_notes_on_moved(tool.name, matched.moved),
    ]
    return VocTree(listing.root, layout, listing, list(dict.fromkeys(notes)), files, labels)


def _no_images_error(listing: Listing, chosen: ChosenFiles, lost: Sequence[str]) -> LayoutError:
    """Returns the error that no image of a tool's files is here."""
    first_file, first_lost = min(chosen.files), min(lost, default="")
    return LayoutError(
        listing.root,
        found=f"{chosen.tool.name}'s {first_file}, but no image {first_lost}".strip(),
        expected="the images beside their polygons",
        remedy="put the images into the folder, under the names in the file",
        kind=UNUSABLE,
    )


def _same_id_error(listing: Listing, path: str, first_path: str) -> LayoutError:
    return LayoutError(
        listing.root / path,
        found="polygons of two images with the same id: this one and "
        f"{posixpath.basename(first_path)}",
        expected="images whose names differ before the ending, because ids have no ending",
        remedy="rename one of them, in the file of the polygons too; if one is the mask of "
        "the other, name the file to read with --masks",
    )


def _check_one_labeling(
    listing: Listing, matched: _MatchedShapes, rivals: Sequence[_Rivals]
) -> None:
    """Checks that nobody else labeled the same images, in other files.

    Raises:
      QuestionError: if files of one folder differ in most of their images, as `train/damage.json`
        and `train/doors.json`, with a line for the files of one name but for its split; or if files
        of two folders differ in any image, with a line for each folder.
    """
    if not rivals:
        return
    image_counts = collections.Counter[str]()
    labels_by_file: dict[str, set[str]] = collections.defaultdict(set)
    for annotations in matched.by_path.values():
        for filed in annotations:
            image_counts[filed.file] += 1
            labels_by_file[filed.file].update(shape.label for shape in filed.annotation.shapes)
    rival_files: set[str] = set()
    rival_folders: set[str] = set()
    for (first, second), count in collections.Counter(rival.files for rival in rivals).items():
        folders = {posixpath.dirname(first), posixpath.dirname(second)}
        if len(folders) > 1:
            rival_folders |= folders
        elif first != second and 2 * count > min(image_counts[first], image_counts[second]):
            rival_files |= {first, second}
    if rival_files:
        raise _ask_which_files(listing, rival_files, labels_by_file)
    if rival_folders:
        images = counted(len({rival.path for rival in rivals}), "image")
        first, second = rivals[0].files
        raise QuestionError(
            listing.root,
            [Alternative("", {"masks": folder or "."}) for folder in sorted(rival_folders)],
            facts=[
                f"{images} with other shapes in another folder, such as {rivals[0].path} in "
                f"{first} and {second}"
            ],
            task="read the shapes",
            expected="shapes of one person for each image",
            kind="shapes in several folders",
        )


def _ask_which_files(
    listing: Listing, rival_files: Set[str], labels_by_file: Mapping[str, Collection[str]]
) -> QuestionError:
    """Returns the question which files of one folder to read, with a line for each name of them."""
    files_by_name: dict[tuple[str, ...], list[str]] = {}
    for file in labels_by_file:
        words_of_name = words(stem(file))
        name = tuple(word for word in words_of_name if word not in SPLIT_BY_WORD)
        files_by_name.setdefault(name, []).append(file)
    alternatives = []
    for files in files_by_name.values():
        if not rival_files.isdisjoint(files):
            labels: set[str] = set()
            for file in files:
                labels.update(labels_by_file[file])
            labels.discard("")  # of shapes without a class
            difference = f"shapes of {several(sorted(labels))}" if labels else ""
            alternatives.append(Alternative(difference, {"masks": ",".join(files)}))
    return QuestionError(
        listing.root,
        alternatives,
        facts=[f"files of one folder have other shapes, such as {min(rival_files)}"],
        task="read the shapes",
        expected="one labeling of each image",
        kind="several labelings of an image",
    )


def _read_splits(annotations_by_id: Mapping[str, Sequence[_FiledAnnotation]]) -> list[LabelSplit]:
    """Returns the splits that the names of files of many images state, or those of subsets in them.

    Images without one are left to the step that chooses splits. One source alone divides nothing,
    so its images are to be divided, but those that are called validation or test must not become
    train. A union such as `trainval` is dropped beside train or validation alone.
    """
    ids_by_source: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for image_id, annotations in annotations_by_id.items():
        for filed in annotations:
            ids_by_source[filed.file, filed.annotation.subset].append(image_id)
    splits: list[LabelSplit] = []
    for (file, subset), ids in ids_by_source.items():
        split_name = _split_of_source(file, subset)
        if split_name:
            splits.append(LabelSplit(split_name, file, subset, ids))
    if len(ids_by_source) == 1:
        held_out = ("validation", "test")
        return [one for one in splits if split_but_for_number(one.split) in held_out]
    if any(split.split in ("train", "validation") for split in splits):
        return [split for split in splits if split.split not in UNIONS]
    return splits


def _split_of_source(file: str, subset: str) -> str:
    """Returns the split that the name of a subset, a file or its folder states; or nothing.

    The first of these that applies:

    1. A subset is a split, whatever its name: `Train` is train, and `north` is `north`.
    2. The file's name is a split: `instances_val2017.json`.
    3. The file's name has two splits, as `train_test.json`: which image is in which is unknown.
    4. A folder above has the name of a split, the nearest first: `val/labels.json`.

    Other than for files of records (`file_splits`), a name with two splits is no error.
    """
    if subset:
        return only_split_in(subset) or as_split_name(subset)
    folder, name = posixpath.split(file)
    split = parse_split_name(stem(name)).split
    if split or list_splits_in(stem(name)):
        return split
    for part in reversed(folder.split("/")):
        split_of_folder = only_split_in(part) or split_of(part)
        if split_of_folder:
            return split_of_folder
    return ""


def _notes_on_lost(tool: str, lost: Sequence[str]) -> list[str]:
    """Returns a note on images that only the files of a tool name."""
    if not lost:
        return []
    verb = "is" if len(lost) == 1 else "are"
    images = counted(len(lost), "image")
    return [f"{images} {verb} in {tool}'s files and not here: {several(sorted(lost), 1)}."]


def _notes_on_moved(tool: str, moved: Mapping[str, str]) -> list[str]:
    """Returns a note on images that lie elsewhere than at the path in the files of a tool."""
    if not moved:
        return []
    name, path = min(moved.items())
    images = counted(len(moved), "image")
    return [f"{images} in other places than {tool}'s files say, such as {name}, read from {path}."]
