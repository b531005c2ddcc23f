"""YOLO: a text file per image. A line is a class number, and each point as fractions of the sides.

References:
  https://docs.ultralytics.com/datasets/segment/ and its setting `overlap_mask`: the smaller of two
    polygons lies above. An image without a text file is background.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
import dataclasses
import posixpath
import re
from typing import Any
import unicodedata

import yaml

from voc_seg_tfrecord.core.class_parsers import lines_of_names
from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.tools.shapes import (
    UNUSABLE,
    Annotation,
    ListedClass,
    Shape,
    Sheet,
    as_written,
    checked_points,
    wrong,
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
)

_NUMBER = rb"[-+]?(([01](\.\d*)?|\.\d+)([eE][-+]?\d+)?|\d(\.\d*)?[eE]-\d+)"
# Six numbers, and not one word that is none. To repeat a group to the end of a line of megabytes
# would take a gigabyte.
_END_OF_NUMBER = rb"([ \t]|[ \t\r]*$)"
_LINE_OF_A_POLYGON = re.compile(
    rb"^(\xef\xbb\xbf)?[ \t]*\d+(\.0*)?(?=([ \t]+%b){6})(?!.*[ \t](?!(%b)?%b)).*$"
    % (_NUMBER, _NUMBER, _END_OF_NUMBER),
    re.MULTILINE,
)


# One text file.


def read(file: File, image: str, class_names: Sequence[str]) -> Annotation:
    """Reads the text file of an image.

    Raises:
      MaskError: if a line is not a polygon of a known class.
    """
    lines = file.data.decode("utf-8-sig", "replace").splitlines()
    shapes = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            shapes.append(_read_line(line, f"line {number}", file.where, class_names))
    return Annotation(file.where, image, None, shapes, "smaller")


def _read_line(line: str, place: str, where: str, class_names: Sequence[str]) -> Shape:
    where = f"{where}, {place}"
    try:
        numbers = array("d", (float(word[0]) for word in re.finditer(r"\S+", line)))
    except ValueError:
        first_words = " ".join(line.split(None, 80)[:80])
        expected = "a class number, and x and y of each point"
        raise wrong(where, repr(first_words[:80]), expected) from None
    number = numbers[0]
    points = numbers[1:]
    if number not in range(len(class_names)):
        expected = f"0 to {len(class_names) - 1}, as data.yaml names the classes"
        raise wrong(where, f"the class number {line.split(None, 1)[0][:20]}", expected)
    if len(points) == 4:
        remedy = "export polygons; a mask cannot be made of boxes"
        raise wrong(where, "a box", "polygons, which have at least three points", remedy)
    points = checked_points(points, where, 3)
    for value in points:
        if not -1 <= value <= 2:
            expected = "fractions of the image's sides, 0 to 1"
            raise wrong(where, f"the coordinate {value:g}", expected)
    label = class_names[int(number)]
    return Shape(label, "fractions", f"{place} ({label.strip()[:40]})", points)


# Boxes, which are refused.

_LINE_OF_A_BOX = re.compile(rb"(?m)\s*\d+(?:[ \t]+[01]?\.\d+(?:e-\d+)?){4}\s*$")
_MAX_TEXTS_READ = 8


def explain_boxes(content: FolderContent) -> Explanation | None:
    """Explains a folder of boxes and no masks."""
    texts = [name for name in content.names if name.lower().endswith(".txt")]
    first_texts = texts[:_MAX_TEXTS_READ]
    if content.masks or not any(_LINE_OF_A_BOX.match(content.read(n).data) for n in first_texts):
        return None
    return Explanation(
        found=f"YOLO's text files of boxes and no masks: {len(texts)} files, such as {texts[0]}",
        expected="a mask PNG for each image",
        remedy="annotate masks or polygons; masks cannot be made of boxes",
    )


# The names of classes.


def read_names(file: File) -> tuple[str, ...]:
    """Returns the class names in a file such as `data.yaml`; none if it names no classes.

    A text such as `classes.txt`, which other tools write beside YOLO's files, has one per line.
    """
    if file.where.lower().endswith(".txt"):
        with as_written(file.where, "the name of a class on each line"):
            return tuple(lines_of_names(file.data.decode("utf-8-sig", "replace")))
    with as_written(file.where, "`names` of the classes 0, 1, 2 and so on"):
        data = _load_yaml(file.data)
        if not isinstance(data, dict):
            return ()
        return _names_of_yaml(data)


class _LoaderOfDistinctKeys(yaml.SafeLoader):
    """Refuses a key that an object has twice, of which YAML's own loader drops the first value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        for place, key in enumerate(keys):
            if key in keys[:place]:
                raise ValueError(f"the key {str(key)[:40]} twice")
        return dict(super().construct_mapping(node, deep=deep))


def _load_yaml(data: bytes) -> Any:
    """Returns the content of YAML.

    Raises:
      ValueError: if it cannot be read, or has an alias, by which a few bytes may stand for
        gigabytes.
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(data)):
            raise ValueError("an alias (*), which is not read")
        return yaml.load(data, _LoaderOfDistinctKeys)
    except yaml.YAMLError as error:
        raise ValueError(f"not readable as YAML: {str(error)[:100]}") from None


def _names_of_yaml(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = data.get("names")
    if isinstance(names, list | dict) and "kpt_shape" in data:
        raise ValueError("kpt_shape, which says that the labels are keypoints")
    if isinstance(names, dict):
        by_number = {int(number): name for number, name in names.items()}
        names = [by_number[number] for number in range(len(names))]
    if not names:
        return ()
    for name in names:
        if type(name) not in (str, int, float):
            raise ValueError(f"the name {name}, which is no word without quotes")
    if data.get("nc", len(names)) != len(names):
        raise ValueError(f"{len(names)} names, and {str(data['nc'])[:40]} as nc")
    return tuple(str(name) for name in names)


@dataclasses.dataclass(frozen=True)
class _ClassNames:
    """The names of classes, in the order of their numbers, and the file that has them."""

    names: Sequence[str]
    file: str

    def as_classes(self) -> list[ListedClass]:
        return [ListedClass(name, f"class {number}") for number, name in enumerate(self.names)]


def _find_names(files: FolderFiles, first_text: str) -> _ClassNames:
    """Returns the class names of a folder, whose first text of polygons errors name.

    Raises:
      LayoutError: if not one list of names is there.
    """
    found: dict[tuple[str, ...], _ClassNames] = {}
    refused = list[VocSegError]()
    for path in _name_files(files.names):
        try:
            names = read_names(files.read(path))
        except (LayoutError, MaskError) as error:  # perhaps a file of another program
            refused.append(error)
            continue
        if names:
            words = tuple(name.strip() for name in names)
            found.setdefault(words, _ClassNames(names, path))
    if refused and not found:
        raise refused[0].changed(type="LayoutError", kind=UNUSABLE)
    if len(found) != 1:
        count = f"{len(found)} files that name their classes"
        shown = " and ".join(class_names.file for class_names in found.values())
        raise LayoutError(
            posixpath.join(files.root, first_text),
            found=f"polygons of YOLO, and {count} {shown}".strip(),
            expected="one file data.yaml with `names`",
            remedy="write one, such as `names: [crack, hole]`, or remove the others",
            kind=UNUSABLE,
        )
    (class_names,) = found.values()
    return class_names


def _name_files(names: Sequence[str]) -> list[str]:
    """Returns the files of YAML, and `classes.txt`, those of outer folders first."""
    endings = (".yaml", ".yml", "/classes.txt")
    files = [path for path in names if f"/{path}".lower().endswith(endings)]
    return sorted(files, key=lambda path: (path.count("/"), path))


# The texts of a folder.


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
    class_names = _find_names(files, texts[0])
    classes = class_names.as_classes()
    folders = {posixpath.dirname(image) for image, text in text_of_image.items() if text}
    sheets: dict[str, Sheet] = {}
    for image, text in text_of_image.items():
        if posixpath.dirname(image) not in folders:
            continue
        path = text or image
        annotation = _read_text(files, text, image, class_names.names)
        others = sheets[path].annotations if path in sheets else ()
        annotations = [*others, annotation]
        sheets[path] = Sheet(classes, annotations, classes_file=class_names.file)
    return sheets


def _match_texts(files: FolderFiles) -> dict[str, str]:
    """Returns the text of each image, empty for an image without one."""
    texts = {path for path in files.labels if path.lower().endswith(".txt")}
    if not texts:
        return {}
    text_of_image = {image: text_of(image, texts) for image in files.images}
    # Names that differ in case or in their Unicode form alone mean the same.
    unmatched = texts.difference(text_of_image.values())
    by_form = {_spelling(text): text for text in unmatched}
    for image, text in text_of_image.items():
        if by_form and not text:
            text_of_image[image] = by_form.get(text_of(_spelling(image), by_form.keys()), "")
    return text_of_image


def _spelling(path: str) -> str:
    """Returns what is the same of names that differ in case or in their Unicode form alone."""
    return unicodedata.normalize("NFC", path).casefold()


def text_of(image: str, texts: Set[str]) -> str:
    """Returns the text file of an image: beside it, or in `labels` if it is in `images`.

    Returns:
      One of `texts`; empty if the image has none.
    """
    stem = posixpath.splitext(image)[0]
    *folders, name = stem.split("/")
    for place in reversed(range(len(folders))):
        if folders[place] == "images":
            above, below = folders[:place], folders[place + 1 :]
            path = "/".join([*above, "labels", *below, f"{name}.txt"])
            if path in texts:
                return path
    beside = f"{stem}.txt"
    return beside if beside in texts else ""


def _have_polygons(files: FolderFiles, texts: Sequence[str]) -> bool:
    def has_polygon(path: str) -> bool:
        return _LINE_OF_A_POLYGON.search(files.read(path).data) is not None

    return any(found for _, found in ordered_map(has_polygon, texts, ahead=1))


def _read_text(files: FolderFiles, text: str, image: str, class_names: Sequence[str]) -> Annotation:
    if not text:
        return read(File(b"", image), image, class_names)
    try:
        return read(files.read(text), image, class_names)
    except MaskError as error:
        return Annotation(text, image, None, error=error)


def write_example(images: Mapping[str, DrawnImage]) -> Iterator[tuple[str, bytes]]:
    """Yields `data.yaml`, and a text in `labels` for each image in `images`."""
    names = dict.fromkeys(name for image in images.values() for name in image.outlines)
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
        files="`images`, `labels` and `data.yaml`, as Ultralytics or Roboflow lay them out",
        pixels="Pillow at fractions of the sides, cut to whole pixels",
        above="the smaller one",
        classes="`names`, or `classes.txt`, which may not contradict it; its `train`, `val` and "
        "`test` where no folder is called as a split is",
    ),
)
