"""YOLO: a text file per image. A line is a class number, and each point as fractions of the sides.

A file of YAML, `data.yaml`, names the classes; or `classes.txt`, which other tools write.

References:
  https://docs.ultralytics.com/datasets/segment/ and its setting `overlap_mask`: the smaller of two
    polygons lies above. An image without a text file is background.
"""

from array import array
import collections
from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.spelling import fold_spelling
from voc_seg_tfrecord.core.threads import MAX_GROUP_ITEMS, ordered_map
from voc_seg_tfrecord.formats.texts import load_document
from voc_seg_tfrecord.tools.class_texts import parse_list, split_lines
from voc_seg_tfrecord.tools.shapes import (
    ADVICE_ON_BOXES,
    BOXES_ALONE,
    UNUSABLE,
    Annotation,
    AnnotationFile,
    ListedClass,
    Shape,
    as_written,
    checked_points,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import (
    Explanation,
    FolderContent,
    FolderFiles,
    ShapeTool,
)

# A polygon is a line of a class number and six fractions or more, and of nothing else.
#   it matches          0 0.1 0.1 0.9 0.1 0.5 0.9
#   it does not match   0 0.5 0.5 0.2 0.1                     (a box: four fractions)
#   it does not match   0 0.1 0.1 0.9 0.1 0.5 0.9 car         (another word)
#   it does not match   0 52 40 80 40 60 90                   (pixels)
_BEGIN = rb"^(\xef\xbb\xbf)?[ \t]*"  # a byte order mark, and blanks
_CLASS_NUMBER = rb"\d+(\.0*)?"
_FRACTION = rb"[-+]?(([01](\.\d*)?|\.\d+)([eE][-+]?\d+)?|\d(\.\d*)?[eE]-\d+)"
_END_OF_WORD = rb"([ \t]|[ \t\r]*$)"
_SIX_FRACTIONS_FOLLOW = rb"(?=([ \t]+%b){6})" % _FRACTION
# A blank with neither a fraction nor another blank behind it: that before `car` in `0.1 car`.
_BLANK_BEFORE_OTHER_WORD = rb"[ \t](?!(%b)?%b)" % (_FRACTION, _END_OF_WORD)
# To repeat a group of fractions to the end would take a gigabyte on a line of megabytes.
_NO_OTHER_WORD_FOLLOWS = rb"(?!.*%b)" % _BLANK_BEFORE_OTHER_WORD
_POLYGON_LINE = re.compile(
    _BEGIN + _CLASS_NUMBER + _SIX_FRACTIONS_FOLLOW + _NO_OTHER_WORD_FOLLOWS, re.MULTILINE
)

_MIN_ACCEPTED_FRACTION = -1
_MAX_ACCEPTED_FRACTION = 2

NAMES_OF_YAML = ("*.yaml", "*.yml")
"""Patterns of the names of files that name classes, beside `classes.txt`."""

_NAMES_OF_LISTS = ("data.yaml", "data.yml", "classes.txt")
"""What YOLO's lists of class names are called. An error in one of them counts, also if another
file names classes."""


@dataclasses.dataclass(frozen=True)
class NumberedNames:
    """The names of classes, in the order of their numbers, and the file that has them."""

    names: Sequence[str]
    file: str

    @functools.cached_property
    def listed(self) -> list[ListedClass]:
        """The classes with their positions in the file."""
        return [ListedClass(name, f"class {number}") for number, name in enumerate(self.names)]


def read(file: File, image: str, classes: NumberedNames) -> Annotation:
    """Reads the text file of an image.

    Raises:
      MaskError: if a line is not a polygon of a known class.
    """
    lines = file.data.decode("utf-8-sig", "replace").splitlines()
    shapes = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            shapes.append(_read_line(line, f"line {number}", file.where, classes))
    return Annotation(file.where, image, None, shapes, "smaller")


def _read_line(line: str, position: str, file: str, classes: NumberedNames) -> Shape:
    where = f"{file}, {position}"
    try:
        # One word at a time: a list of all words of a line of megabytes takes ten times as much.
        numbers = array("d", (float(word[0]) for word in re.finditer(r"\S+", line)))
    except ValueError:
        first_words = " ".join(line.split(None, 80)[:80])
        expected = "a class number, and x and y of each point"
        raise shape_error(where, repr(first_words[:80]), expected) from None
    number = numbers[0]
    points = numbers[1:]
    if number not in range(len(classes.names)):
        expected = f"0 to {len(classes.names) - 1}, which {classes.file} names"
        raise shape_error(where, f"the class number {line.split(None, 1)[0][:20]}", expected)
    if len(points) == 4:
        expected = "polygons, which have at least three points"
        raise shape_error(where, "a box", expected, ADVICE_ON_BOXES)
    points = checked_points(points, where, 3)
    for value in points:
        # Tools write points a little outside of the image, which are cut to it.
        if not _MIN_ACCEPTED_FRACTION <= value <= _MAX_ACCEPTED_FRACTION:
            expected = "fractions of the image's sides, 0 to 1"
            raise shape_error(where, f"the coordinate {value:g}", expected)
    label = classes.names[int(number)]
    return Shape(label, "fractions", position_with_label(position, label), points)


_FIRST_LINE_OF_A_BOX = re.compile(rb"\s*\d+([ \t]+%b){4}[ \t\r]*(\n|\Z)" % _FRACTION)
"""Matches a text that begins with a class number, the center, width and height: `3 .5 .5 .2 .1`."""

_MAX_TEXTS_READ = 8


def explain_boxes(content: FolderContent) -> Explanation | None:
    """Explains a folder of boxes, or of empty texts, and no masks."""
    texts = [name for name in content.names if name.lower().endswith(".txt")]
    first_texts = texts[:_MAX_TEXTS_READ]
    data_of_texts = [content.read(name).data for name in first_texts]
    have_boxes = any(_FIRST_LINE_OF_A_BOX.match(data) for data in data_of_texts)
    are_empty = len(texts) > 1 and not any(data.strip() for data in data_of_texts)
    if content.masks:
        return None
    if are_empty:
        return Explanation(
            found=f"{counted(len(texts), 'text')} without a line, such as {texts[0]}: as YOLO "
            "writes images without objects",
            expected="a text with polygons for at least one image",
            remedy="export the labels again, or name the folder of masks with --masks",
        )
    if not have_boxes:
        return None
    return Explanation(
        found=f"{BOXES_ALONE}: {counted(len(texts), 'text')} of YOLO, such as {texts[0]}",
        expected="masks or polygons",
        remedy=ADVICE_ON_BOXES,
    )


def read_folder(files: FolderFiles) -> dict[str, AnnotationFile]:
    """Reads the texts of the images in a folder; nothing if no line of any text is a polygon.

    An image without a text, in a folder of images that have some, is background.

    Raises:
      LayoutError: if not one list of class names is there.
    """
    text_of_image = _match_texts(files)
    texts = [text for text in text_of_image.values() if text]

    def has_polygon(path: str) -> bool:
        return _POLYGON_LINE.search(files.read(path).data) is not None

    answers = ordered_map(has_polygon, texts, group_items=MAX_GROUP_ITEMS)
    if not any(is_polygon for _, is_polygon in answers):
        return {}
    names_by_folder = find_class_names(files, texts)
    folders = {posixpath.dirname(image) for image, text in text_of_image.items() if text}
    annotations_by_path = collections.defaultdict[str, list[Annotation]](list)
    by_path: dict[str, AnnotationFile] = {}
    for image, text in text_of_image.items():
        path = text or image
        above = [folder for folder in names_by_folder if _is_above(folder, path)]
        if posixpath.dirname(image) not in folders or not above:
            continue
        classes = names_by_folder[above[0]]
        annotations = annotations_by_path[path]  # two images may have one text
        annotations.append(_read_text(files, text, image, classes))
        by_path[path] = AnnotationFile(annotations, classes.listed, classes_file=classes.file)
    return by_path


def _match_texts(files: FolderFiles) -> dict[str, str]:
    """Returns the text of each image, empty for an image without one.

    If an image has none, one whose name differs in case or in its Unicode form alone is taken.
    Nothing is returned for a folder without texts.
    """
    texts = {path for path in files.labels if path.lower().endswith(".txt")}
    if not texts:
        return {}
    text_of_image = {image: text_of(image, texts) for image in files.images}
    unmatched_texts = texts.difference(text_of_image.values())
    text_by_form = {fold_spelling(text): text for text in unmatched_texts}
    for image, text in text_of_image.items():
        if text_by_form and not text:
            form_of_text = text_of(fold_spelling(image), text_by_form.keys())
            text_of_image[image] = text_by_form.get(form_of_text, "")
    return text_of_image


def text_of(image: str, texts: Set[str]) -> str:
    """Returns the text file of an image: beside it, or in `labels` if it is in `images`.

    Returns:
      One of `texts`; empty if the image has none.
    """
    stem = posixpath.splitext(image)[0]
    *folders, name = stem.split("/")
    for depth in reversed(range(len(folders))):
        if folders[depth] != "images":
            continue
        folders_of_labels = [*folders[:depth], "labels", *folders[depth + 1 :]]
        path = "/".join([*folders_of_labels, f"{name}.txt"])
        if path in texts:
            return path
    beside = f"{stem}.txt"
    return beside if beside in texts else ""


def _read_text(files: FolderFiles, text: str, image: str, classes: NumberedNames) -> Annotation:
    if not text:
        return read(File(b"", image), image, classes)
    try:
        return read(files.read(text), image, classes)
    except MaskError as error:
        return Annotation(text, image, None, error=error)


def find_class_names(files: FolderFiles, texts: Sequence[str]) -> dict[str, NumberedNames]:
    """Returns the class names of the texts in each folder and below it; the empty one holds all.

    Folders beside each other, such as those of two annotators, may have a list each, which numbers
    the classes of the texts in its folder.

    Args:
      files: the files of the folder.
      texts: the paths of the texts of polygons, of which errors name the first one.

    Raises:
      LayoutError: if there is no list of names, or two for one text that contradict each other.
    """
    lists: list[NumberedNames] = []
    errors = list[VocSegError]()
    for path in _paths_of_names(files.names):
        try:
            names = read_names(files.read(path))
        except (LayoutError, MaskError) as error:
            if posixpath.basename(path).lower() in _NAMES_OF_LISTS:
                raise error.changed(type="LayoutError", kind=UNUSABLE) from None
            errors.append(error)  # perhaps a file of another program
            continue
        if names:
            lists.append(NumberedNames(names, path))
    different = {tuple(map(str.strip, one.names)): one for one in reversed(lists)}
    if len(different) == 1:
        return {"": lists[0]}
    by_folder = _by_own_folder(lists, texts)
    if by_folder:
        return by_folder
    if errors and not lists:
        raise errors[0].changed(type="LayoutError", kind=UNUSABLE)
    found = "polygons of YOLO, without a file that names their classes"
    remedy = "write one, such as `names: [crack, hole]`"
    if lists:
        remedy += ", or remove the others"
        shown = " and ".join(one.file for one in reversed(different.values()))
        found = f"polygons of YOLO, and {len(different)} files that name their classes {shown}"
    raise LayoutError(
        posixpath.join(files.root, texts[0]),
        found=found,
        expected="one file data.yaml with `names`",
        remedy=remedy,
        kind=UNUSABLE,
    )


def _by_own_folder(
    lists: Sequence[NumberedNames], texts: Sequence[str]
) -> dict[str, NumberedNames]:
    """Returns several lists by their folders; none unless each text has exactly one above it."""
    by_folder = {posixpath.dirname(listed.file): listed for listed in lists}
    if len(by_folder) < len(lists) or "" in by_folder:
        return {}
    for text in texts:
        if sum(_is_above(folder, text) for folder in by_folder) != 1:
            return {}
    return by_folder


def _is_above(folder: str, path: str) -> bool:
    """Says whether a file lies in a folder or below it; all lie below the empty one."""
    return not folder or path.startswith(f"{folder}/")


def _paths_of_names(names: Sequence[str]) -> list[str]:
    """Returns the files of YAML, and `classes.txt`, those of outer folders first."""
    endings = (".yaml", ".yml", "/classes.txt")
    paths = [path for path in names if f"/{path}".lower().endswith(endings)]
    return sorted(paths, key=lambda path: (path.count("/"), path))


def read_names(file: File) -> tuple[str, ...]:
    """Returns the class names in a file; none if it is YAML that names no classes.

    Raises:
      MaskError: if the file does not name the classes 0, 1, 2 and so on.
    """
    if file.where.lower().endswith(".txt"):
        with as_written(file.where, "the name of a class on each line"):
            return _names_of_text(file.data.decode("utf-8-sig"))
    with as_written(file.where, "`names` of the classes 0, 1, 2 and so on"):
        data = load_document(file.data.decode("utf-8-sig"), ".yaml")
        return _names_of_yaml(data) if isinstance(data, dict) else ()


def _names_of_text(text: str) -> tuple[str, ...]:
    """Returns the names of `classes.txt`, whose lines may hold the numbers, too: `0 cat`."""
    entries = parse_list(text)
    for line in split_lines(text):
        if line.startswith("#"):
            raise ValueError(f"{line[:80]!r}, which may be a comment or a name")
    values = [entry.value for entry in entries]
    if values != list(range(len(entries))) or any(entry.color for entry in entries):
        raise ValueError("numbers that are not 0, 1, 2 and so on, or colors")
    return tuple(entry.name for entry in entries)


def _names_of_yaml(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = data.get("names")
    if not names:
        return ()
    if not isinstance(names, list | dict):
        raise ValueError(f"the names {names[:40]!r}, which are no list")
    if "kpt_shape" in data:
        raise ValueError("kpt_shape, which says that the labels are keypoints")
    if isinstance(names, dict):
        names = [names[str(number)] for number in range(len(names))]
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"the name {name}, which is no word")
    if data.get("nc", str(len(names))) != str(len(names)):
        raise ValueError(f"{len(names)} names, and {str(data['nc'])[:40]} as nc")
    return tuple(names)


YOLO = ShapeTool(
    name="YOLO",
    explain_no_masks=explain_boxes,
    endings=(".txt",),
    find_image="known",
)
