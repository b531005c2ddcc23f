"""YOLO: a text file per image. A line is a class number, and each point as fractions of the sides.

References:
  https://docs.ultralytics.com/datasets/segment/ and its setting `overlap_mask`: the smaller of two
    polygons lies above. An image without a text file is background.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
import posixpath
import re

from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.spelling import fold_spelling
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.tools.shapes import (
    ADVICE_ON_BOXES,
    BOXES_ALONE,
    Annotation,
    Shape,
    Sheet,
    checked_points,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import (
    DrawnImage,
    Explanation,
    FolderContent,
    FolderFiles,
    ShapeExample,
    ShapeFiles,
    ShapesRow,
    Tool,
    list_class_names,
)
from voc_seg_tfrecord.tools.yolo_names import NumberedNames, find_class_names

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
    """Explains a folder of boxes and no masks."""
    texts = [name for name in content.names if name.lower().endswith(".txt")]
    first_texts = texts[:_MAX_TEXTS_READ]
    have_boxes = any(_FIRST_LINE_OF_A_BOX.match(content.read(name).data) for name in first_texts)
    if content.masks or not have_boxes:
        return None
    return Explanation(
        found=f"{BOXES_ALONE}: {counted(len(texts), 'text')} of YOLO, such as {texts[0]}",
        expected="masks or polygons",
        remedy=ADVICE_ON_BOXES,
    )


def read_folder(files: FolderFiles) -> dict[str, Sheet]:
    """Reads the texts of the images in a folder; nothing if no line of any text is a polygon.

    An image without a text, in a folder of images that have some, is background.

    Raises:
      LayoutError: if not one list of class names is there.
    """
    text_of_image = _match_texts(files)
    texts = [text for text in text_of_image.values() if text]
    if not _have_polygons(files, texts):
        return {}
    names_by_folder = find_class_names(files, texts)
    folders = {posixpath.dirname(image) for image, text in text_of_image.items() if text}
    annotations_by_path: dict[str, list[Annotation]] = {}  # two images may have one text
    classes_by_path: dict[str, NumberedNames] = {}
    for image, text in text_of_image.items():
        classes = names_by_folder.find(text or image)
        if posixpath.dirname(image) not in folders or classes is None:
            continue
        annotation = _read_text(files, text, image, classes)
        annotations_by_path.setdefault(text or image, []).append(annotation)
        classes_by_path[text or image] = classes
    sheets: dict[str, Sheet] = {}
    for path, annotations in annotations_by_path.items():
        classes = classes_by_path[path]
        sheets[path] = Sheet(classes.listed, annotations, classes_file=classes.file)
    return sheets


def _match_texts(files: FolderFiles) -> dict[str, str]:
    """Returns the text of each image, empty for an image without one.

    Nothing is returned for a folder without texts.
    """
    texts = {path for path in files.labels if path.lower().endswith(".txt")}
    if not texts:
        return {}
    text_of_image = {image: text_of(image, texts) for image in files.images}
    unmatched_texts = texts.difference(text_of_image.values())
    if unmatched_texts:
        _match_texts_of_other_spelling(text_of_image, unmatched_texts)
    return text_of_image


def _match_texts_of_other_spelling(
    text_of_image: dict[str, str], unmatched_texts: Iterable[str]
) -> None:
    """Adds texts whose names differ from an image's in case or in their Unicode form alone."""
    text_by_form = {fold_spelling(text): text for text in unmatched_texts}
    for image, text in text_of_image.items():
        if not text:
            form_of_text = text_of(fold_spelling(image), text_by_form.keys())
            text_of_image[image] = text_by_form.get(form_of_text, "")


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


def _have_polygons(files: FolderFiles, texts: Sequence[str]) -> bool:
    """Says whether a line of any text is a polygon."""

    def has_polygon(path: str) -> bool:
        return _POLYGON_LINE.search(files.read(path).data) is not None

    return any(is_polygon for _, is_polygon in ordered_map(has_polygon, texts, ahead=1))


def _read_text(files: FolderFiles, text: str, image: str, classes: NumberedNames) -> Annotation:
    if not text:
        return read(File(b"", image), image, classes)
    try:
        return read(files.read(text), image, classes)
    except MaskError as error:
        return Annotation(text, image, None, error=error)


def write_example(images: Mapping[str, DrawnImage]) -> Iterator[tuple[str, bytes]]:
    """Yields `data.yaml`, and a text in `labels` for each image in `images`."""
    names = list_class_names(images)
    numbered = "".join(f"  {number}: {name}\n" for number, name in enumerate(names))
    yield "data.yaml", f"train: images/train\nval: images/val\nnames:\n{numbered}".encode()
    numbers = {name: number for number, name in enumerate(names)}
    for image_id, image in images.items():
        lines = []
        for name, points in image.outlines.items():
            fractions = [f"{x / image.width:.6f} {y / image.height:.6f}" for x, y in points]
            lines.append(" ".join([str(numbers[name]), *fractions]))
        yield f"labels/{image_id}.txt", "\n".join(lines).encode()


YOLO = Tool(
    name="YOLO",
    shapes=ShapeFiles(
        ending=".txt",
        read_folder=read_folder,
        is_per_image=True,
        find_image="known",
        name_files=("*.yaml", "*.yml"),
    ),
    explain_no_masks=explain_boxes,
    example=ShapeExample(images="images/{id}.jpg", has_splits=True, write=write_example),
    shapes_row=ShapesRow(
        tool="YOLO segmentation",
        files="`images`, `labels` and `data.yaml`, as from Ultralytics or Roboflow",
        pixels="Pillow, with coordinates truncated to whole pixels",
        above="the smaller one",
        classes="`names` of `data.yaml`, or `classes.txt`. The splits are the folders, or else "
        "`train`, `val` and `test` of `data.yaml`",
    ),
)
