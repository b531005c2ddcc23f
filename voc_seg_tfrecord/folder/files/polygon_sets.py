"""Finds the tree of a labeling tool's polygons in a folder: the image of each, and its splits.

A *sheet* is what one file of a tool holds: the shapes of one image (labelme), or of many (COCO). An
*annotation* is the shapes of one image. The steps, from top to bottom:

1. Choose the one tool whose sheets are read, or ask.
2. Match each annotation with its image.
3. Make the tree: ids, classes, splits, notes.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, command, counted
from voc_seg_tfrecord.core.layout import ID, Layout
from voc_seg_tfrecord.core.split_names import (
    UNIONS,
    list_splits_in,
    only_split_in,
    own_split_name,
    parse_split_name,
    split_but_for_number,
)
from voc_seg_tfrecord.folder.files.folder_names import below, common, split_of, stem
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.sheet_images import FiledAnnotation, SheetImages
from voc_seg_tfrecord.folder.files.sheets import (
    SheetsByTool,
    SheetsOfFolder,
    add_sheets_of_folders,
    read_sheets,
    shapes_of,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.labels import LabelSplit
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import tool_named
from voc_seg_tfrecord.tools.shape_classes import number_shape_classes
from voc_seg_tfrecord.tools.shapes import UNUSABLE, Shape, Sheet, wrong
from voc_seg_tfrecord.tools.tool import FolderFiles, Tool


@dataclasses.dataclass(frozen=True)
class FoundPolygons:
    """The polygons of a folder.

    Attributes:
      tree: the tree of the polygons; None if there are none that can be used.
      problems: errors about files that are not used, such as those of boxes.
    """

    tree: VocTree | None
    problems: Sequence[VocSegError]


@dataclasses.dataclass(frozen=True)
class _ChosenSheets:
    """The files of the one tool whose polygons are read.

    Attributes:
      tool: the tool.
      sheets: what its files hold, by their paths.
      notes: what a user should know of the files that are not read.
    """

    tool: Tool
    sheets: Mapping[str, Sheet]
    notes: Sequence[str]


def find_polygons(given: GivenLayout, exif: str) -> FoundPolygons:
    """Finds the polygons in a folder. The user's option `masks` may name a file of polygons.

    Args:
      given: the folder, and what the user gave of its layout.
      exif: what an EXIF orientation means; see `DrawnPair`.

    Raises:
      VocSegError: about polygons of several tools, two images of one id, or a file that may mean
        two images.
    """
    files = _list_files(given)
    sheets = read_sheets(files)
    try:
        add_sheets_of_folders(files, sheets)
        if not sheets.by_tool:
            return FoundPolygons(None, sheets.problems)
        chosen = _choose_sheets(given, sheets)
        tree = _make_tree(given, chosen, files.images, exif)
    except LayoutError as error:
        if error.kind != UNUSABLE:
            raise
        return FoundPolygons(None, [error, *sheets.problems])
    return FoundPolygons(tree, sheets.problems)


def _list_files(given: GivenLayout) -> FolderFiles:
    """Returns the files in the folders that the user named, or all."""
    all_paths = list(given.listing.below())
    folders = [folder.path for folder in given.image_folders] or [""]
    images: dict[str, None] = {}  # in place of an ordered set
    for folder in folders:
        for path in below(all_paths, folder):
            if path.lower().endswith(tuple(given.endings)):
                images[path] = None
    return FolderFiles(
        root=os.fspath(given.listing.root),
        names=all_paths,
        labels=below(all_paths, given.options.get("masks", "")),
        images=list(images),
    )


# Which tool's files are read.


def _choose_sheets(given: GivenLayout, sheets: SheetsOfFolder) -> _ChosenSheets:
    """Chooses the one tool that has polygons in a folder.

    Raises:
      QuestionError: if several tools have some.
      LayoutError: of the kind `UNUSABLE` if the user gave folders of images names.
    """
    by_tool = _chosen_by_ending(sheets.by_tool, given.options.get("mask_name", ""))
    if len(by_tool) > 1:
        raise _question_of_tools(given.listing, by_tool)
    tool_name = next(iter(by_tool))
    sheets_of_tool = by_tool[tool_name]
    _check_folders_have_no_names(given, tool_name, sheets_of_tool)
    notes = notes_on(sheets.problems)
    notes += _notes_on_other_files(tool_name, sheets.other_files)
    return _ChosenSheets(tool_named(tool_name), sheets_of_tool, notes)


def _chosen_by_ending(by_tool: SheetsByTool, mask_name: str) -> SheetsByTool:
    """Returns the tools whose files the user's pattern of names means; all if it means none."""
    ending = posixpath.splitext(mask_name)[1].lower()
    chosen: SheetsByTool = {}
    for name, sheets in by_tool.items():
        shapes = shapes_of(name)
        if shapes.is_per_image and shapes.ending == ending:
            chosen[name] = sheets
    return chosen or by_tool


def _question_of_tools(listing: Listing, by_tool: SheetsByTool) -> QuestionError:
    """Returns the question which tool's polygons are meant."""
    per_image = [shapes_of(name) for name in by_tool if shapes_of(name).is_per_image]
    count_of_ending = collections.Counter(shapes.ending for shapes in per_image)
    alternatives: list[Alternative] = []
    for name, sheets in by_tool.items():
        files = list(sheets)
        shares_ending = count_of_ending[shapes_of(name).ending] > 1
        options = choice_of(name, files, shares_ending=shares_ending)
        alternatives.append(Alternative(f"{name}'s {min(files)}", options))
    return QuestionError(
        listing.root,
        alternatives,
        to="read the labels, by polygons of several tools",
        expected="polygons of one tool, or a folder of masks that --masks names",
        kind="polygons of several tools",
    )


def choice_of(tool: str, files: Sequence[str], *, shares_ending: bool = False) -> dict[str, str]:
    """Returns the option that chooses the polygons of a tool.

    | the tool's files                | option                                               |
    |---------------------------------|------------------------------------------------------|
    | one for each image              | their ending: `--mask-name {id}.json`                |
    | the same, with a shared ending  | their folder; the ending, if the root is that folder |
    | one for many images             | the file, or the folder of several                   |

    Args:
      tool: the tool's name.
      files: the paths of its files.
      shares_ending: whether files of another tool, one for each image, have the same ending.
    """
    shapes = shapes_of(tool)
    folder_is_needed = shares_ending and common(*files) != ""
    if shapes.is_per_image and not folder_is_needed:
        return {"mask_name": f"{ID}{shapes.ending}"}
    return _choice_of_files(files)


def _choice_of_files(files: Sequence[str]) -> dict[str, str]:
    """Returns the option that names a file, or the folder of several files."""
    folder = common(*files)
    if len(files) == 1 or not folder:
        return {"masks": files[0]}
    return {"masks": folder}


def _check_folders_have_no_names(given: GivenLayout, tool: str, files: Iterable[str]) -> None:
    """Checks that the user gave folders alone: polygons are not read in parts such as `train=a`."""
    named = [folder for folder in given.image_folders if folder.part]
    if not named:
        return
    part = f"{named[0].part}={named[0].path}"
    folders = ",".join(folder.path or "." for folder in given.image_folders)
    raise LayoutError(
        given.listing.root / min(files),
        found=f"{tool}'s polygons, and a name for a folder of their images, {part}",
        expected="folders without names: polygons are one set, and their files or lists divide it",
        remedy=f"give {command(images=folders)}",
        kind=UNUSABLE,
    )


def notes_on(problems: Sequence[VocSegError]) -> list[str]:
    """Returns notes about files of polygons that are not read, one for each kind of problem."""
    files_by_reason: dict[str, list[str]] = collections.defaultdict(list)
    for problem in problems:
        files_by_reason[problem.found].append(posixpath.basename(problem.where))
    notes: list[str] = []
    for reason, files in files_by_reason.items():
        if len(files) == 1:
            notes.append(f"{files[0]} is not read: {reason}.")
        else:
            more_files = counted(len(files) - 1, "more file")
            notes.append(f"{files[0]} and {more_files} are not read: {reason}.")
    return notes


def _notes_on_other_files(tool: str, files: Sequence[str]) -> list[str]:
    """Returns a note on files that look like a tool's by their names, and that no tool wrote."""
    if not files:
        return []
    if len(files) == 1:
        return [f"{files[0]} is not {tool}'s."]
    return [f"{counted(len(files), 'file')} such as {files[0]} are not {tool}'s."]


# Which image each annotation means.


@dataclasses.dataclass(frozen=True)
class _ShapeSource:
    """A file of shapes, or a subset in it.

    Attributes:
      file: the file.
      subset: the subset; empty if the file has none.
    """

    file: str
    subset: str


@dataclasses.dataclass
class _MatchedShapes:
    """The shapes of the images in a folder. `_match_images` fills it, one annotation at a time.

    Attributes:
      by_path: the shapes of each image, by its path.
      embedded: paths of images that only the file of their shapes holds.
      lost: names of images that are not here.
      paths_by_source: the images of each file, and of each subset in one.
    """

    by_path: dict[str, FiledAnnotation] = dataclasses.field(default_factory=dict)
    embedded: set[str] = dataclasses.field(default_factory=set)
    lost: list[str] = dataclasses.field(default_factory=list)
    paths_by_source: dict[_ShapeSource, list[str]] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(list)
    )

    def add(self, path: str, filed: FiledAnnotation) -> None:
        """Adds the shapes of an image. If it has some already, they must be the same."""
        source = _ShapeSource(filed.file, filed.annotation.subset)
        self.paths_by_source[source].append(path)
        first = self.by_path.get(path)
        if first is None:
            self.by_path[path] = filed
        else:
            self.by_path[path] = _with_error_of_both(path, first, filed)


def _match_images(finder: SheetImages, sheets: Mapping[str, Sheet]) -> _MatchedShapes:
    """Finds the image of each annotation, and what is wrong if an image has several."""
    matched = _MatchedShapes()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            filed = FiledAnnotation(file, annotation)
            path = finder.find(file, annotation)
            if path is not None:
                matched.add(path, filed)
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
        return wrong(second.file, found, expected)
    found = f"other shapes of {path} than {first.file}"
    remedy = f"name the file that is right: {command(masks=second.file)}"
    return wrong(second.file, found, expected, remedy)


def _without_position(shape: Shape) -> Shape:
    """Returns a shape without its position, because the same one may stand in two files."""
    return shape._replace(position="")


# The tree of the images that have shapes.


@dataclasses.dataclass(frozen=True)
class _LabeledImage:
    """An image that has shapes.

    Attributes:
      id: its name without the ending.
      name: its path below the folder in which all images with shapes lie.
      path: its path below the given folder.
      filed: its shapes, and their file.
      is_embedded: whether only the file of its shapes holds it.
    """

    id: str
    name: str
    path: str
    filed: FiledAnnotation
    is_embedded: bool


def _make_tree(
    given: GivenLayout, chosen: _ChosenSheets, paths: Sequence[str], exif: str
) -> VocTree:
    """Returns the tree of the images that have shapes of a tool.

    Args:
      given: the folder, and what the user gave of its layout.
      chosen: the tool and its files.
      paths: the images in the folder.
      exif: what an EXIF orientation means.

    Raises:
      LayoutError: of the kind `UNUSABLE` if no image is here, or about two images of one id.
    """
    listing = given.listing
    tool = chosen.tool
    assert tool.shapes
    finder = SheetImages(tool.name, tool.shapes, paths, chosen.sheets)
    matched = _match_images(finder, chosen.sheets)
    if not matched.by_path:
        raise _no_images_error(listing, chosen, matched)
    image_folder = common(*matched.by_path) or "."
    images = _list_labeled_images(matched, image_folder)
    _check_ids_differ(listing, images)
    classes = number_shape_classes(
        tool, chosen.sheets, _first_uses_of_labels(images), listing.root, listing.below()
    )
    splits: list[LabelSplit] = []
    if not tool.shapes.is_per_image:
        splits = _splits_of_sources(matched, images)
    labels = DrawnLabels(
        listing.root,
        Names({image.id: image.filed.file for image in images}),
        images={image.id: image.name for image in images},
        label_files={*chosen.sheets},
        splits=splits,
        class_file=classes.class_file,
        tool=tool.name,
        image_folder=listing.root / image_folder,
        values=classes.values,
        shapes={image.id: image.filed.annotation for image in images},
        embedded={image.id for image in images if image.is_embedded},
        exif=exif,
    )
    ending_of_sheets = posixpath.splitext(next(iter(chosen.sheets)))[1]
    layout = Layout(image_folder, ".", mask_name=f"{ID}{ending_of_sheets}")
    files = SetFiles(
        listing.root,
        layout,
        listing,
        image_endings=given.endings,
        named_images=labels.images,
    )
    notes = [
        *chosen.notes,
        *_notes_on_lost(tool.name, matched.lost),
        *_notes_of_sheets(chosen.sheets),
        *classes.notes,
        *finder.notes(),
    ]
    different_notes = list(dict.fromkeys(notes))
    return VocTree(listing.root, layout, listing, different_notes, files, labels)


def _no_images_error(
    listing: Listing, chosen: _ChosenSheets, matched: _MatchedShapes
) -> LayoutError:
    """Returns the error that no image of a tool's files is here."""
    first_lost = min(matched.lost, default="")
    return LayoutError(
        listing.root,
        found=f"{chosen.tool.name}'s {min(chosen.sheets)}, but no image {first_lost}".strip(),
        expected="the images beside their polygons",
        remedy="put the images into the folder, under the names in the file",
        kind=UNUSABLE,
    )


def _list_labeled_images(matched: _MatchedShapes, image_folder: str) -> list[_LabeledImage]:
    """Returns the images that have shapes, in the order in which the files name them first."""
    images: list[_LabeledImage] = []
    for path, filed in matched.by_path.items():
        name = posixpath.relpath(path, image_folder)
        image_id = posixpath.splitext(name)[0]
        images.append(_LabeledImage(image_id, name, path, filed, path in matched.embedded))
    return images


def _check_ids_differ(listing: Listing, images: Sequence[_LabeledImage]) -> None:
    first_by_id: dict[str, _LabeledImage] = {}
    for image in images:
        first = first_by_id.setdefault(image.id, image)
        if first is image:
            continue
        raise LayoutError(
            listing.root / image.path,
            found=f"polygons of this image, and of {posixpath.basename(first.path)} beside it",
            expected="images whose names differ before the ending, which is no part of an id",
            remedy="rename one of them, in the file of the polygons too; if one is the mask of "
            "the other, name the file to read with --masks",
        )


def _first_uses_of_labels(images: Iterable[_LabeledImage]) -> dict[str, str]:
    """Returns where the first shape of each label stands: `a.json, shape 3 (crack)`."""
    first_uses: dict[str, str] = {}
    for image in images:
        for shape in image.filed.annotation.shapes:
            first_uses.setdefault(shape.label, f"{image.filed.file}, {shape.position}")
    return first_uses


def _notes_on_lost(tool: str, lost: Sequence[str]) -> list[str]:
    """Returns a note on images that only the files of a tool name."""
    if not lost:
        return []
    verb = "is" if len(lost) == 1 else "are"
    images = counted(len(lost), "image")
    return [f"{images} {verb} in {tool}'s files and not here, such as {min(lost)}."]


def _notes_of_sheets(sheets: Mapping[str, Sheet]) -> list[str]:
    notes: list[str] = []
    for sheet in sheets.values():
        notes += sheet.notes
    return notes


# The splits that files of many images state.


def _splits_of_sources(
    matched: _MatchedShapes, images: Sequence[_LabeledImage]
) -> list[LabelSplit]:
    """Returns the splits that the names of files state, or those of subsets in files.

    Images without one are left to the step that chooses splits.
    """
    id_by_path = {image.path: image.id for image in images}
    splits: list[LabelSplit] = []
    for source, paths in matched.paths_by_source.items():
        split_name = _split_of_source(source)
        if split_name:
            ids = [id_by_path[path] for path in paths]
            splits.append(LabelSplit(split_name, source.file, source.subset, ids))
    if len(matched.paths_by_source) == 1:
        return _keep_held_out_splits(splits)
    return _drop_unions(splits)


def _keep_held_out_splits(splits: Sequence[LabelSplit]) -> list[LabelSplit]:
    """Keeps validation and test of the only source of a folder.

    One source divides nothing, so its images are to be divided: `train.json` alone states no split.
    But images that are called validation or test must not become train.
    """
    held_out = ("validation", "test")
    return [split for split in splits if split_but_for_number(split.split) in held_out]


def _drop_unions(splits: Sequence[LabelSplit]) -> list[LabelSplit]:
    """Drops splits such as `trainval` if a source of train or validation alone is beside them."""
    has_train_or_validation = any(split.split in ("train", "validation") for split in splits)
    if not has_train_or_validation:
        return list(splits)
    return [split for split in splits if split.split not in UNIONS]


def _split_of_source(source: _ShapeSource) -> str:
    """Returns the split that the name of a subset, a file or its folder states; or nothing.

    The first of these that applies:

    1. A subset is a split, whatever its name: `Train` is train, and `north` is `north`.
    2. The file's name is a split: `instances_val2017.json`.
    3. The file's name has two splits, as `train_test.json`: which image is in which is unknown.
    4. A folder above has the name of a split, the nearest first: `val/labels.json`.
    """
    if source.subset:
        return only_split_in(source.subset) or own_split_name(source.subset)
    folder, name = posixpath.split(source.file)
    split = parse_split_name(stem(name)).split
    if split:
        return split
    if list_splits_in(stem(name)):
        return ""
    for part in reversed(folder.split("/")):
        split_of_folder = only_split_in(part) or split_of(part)
        if split_of_folder:
            return split_of_folder
    return ""
