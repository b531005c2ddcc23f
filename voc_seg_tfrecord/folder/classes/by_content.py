"""Class files of any name: texts that say what the masks use, such as `class_dict_seg.csv`.

They are read only if no file of a known name, such as `labelmap.txt`, names the classes. A file
that fits the masks less surely is not read, and `folder.class_names` then asks for names.
"""

from collections.abc import Container, Set
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.names import VOID, Color
from voc_seg_tfrecord.core.words import only_split_in
from voc_seg_tfrecord.folder.companions import (
    CODE_ENDINGS,
    CONTENT_ENDINGS,
    ENDINGS_OF_COMPANIONS,
    STEMS_OF_DOCUMENTS,
)
from voc_seg_tfrecord.folder.mask_survey import Survey
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import ClassFile, ClassFileFormat, read_class_file
from voc_seg_tfrecord.tools.class_texts import TABLE, parse_json, parse_list
from voc_seg_tfrecord.tools.registry import class_file_named

MAX_TEXTS_OF_AN_ENDING = 8
"""If a folder has more files of one ending, they are taken for one per image."""

MAX_TEXTS = 200
"""How many files may name the classes at most; those of the upper folders come first."""

MAX_TEXT_BYTES = 1 << 16

_LIST = ClassFileFormat(name="", parse=parse_list, expected="lines such as crack,128,0,0")
_JSON = ClassFileFormat(name="", parse=parse_json, expected="objects with names and colors")
_FORMAT_BY_ENDING = {".csv": _LIST, ".tsv": _LIST, ".txt": _LIST, ".json": _JSON}
_ENDINGS_OF_TEXTS = (*_FORMAT_BY_ENDING, ".yaml", ".yml", ".names", ".xml")
_ENDINGS_OF_CODE_AND_ARCHIVES = CODE_ENDINGS | CONTENT_ENDINGS - {".pdf"} | {".h5", ".gz"}
_WORDS_OF_CLASS_FILES = re.compile(
    "class|label|legend|categor|colou?rs?($|[-_. ])|colou?rmap|palette|names|ontology|taxonomy"
    "|codes"
)
_SECOND_NUMBERS = re.compile("train_?id", re.IGNORECASE)
"""The title of a column that numbers the classes once more."""


@dataclasses.dataclass(frozen=True)
class SingleFile:
    """A file that may name the classes: a folder has few of its ending, and it is no picture.

    Attributes:
      path: its path below the given folder.
      text: its first `MAX_TEXT_BYTES` bytes; empty unless `is_text`.
      is_text: whether its ending is that of a text, and it can be read.
      is_called_class_file: whether its name says classes, labels, colors or the like.
    """

    path: str
    text: str
    is_text: bool
    is_called_class_file: bool

    @property
    def name(self) -> str:
        """Its name with its ending."""
        return posixpath.basename(self.path)

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines that are not empty, without blanks around them."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


def find_by_content(tree: VocTree) -> list[ClassFile]:
    """Returns the class files of any name that fit the masks, and those of the same names.

    Files of the same name in other folders are returned even if they do not fit: each export may
    have its own. The caller asks the user if the returned files contradict each other.
    """
    if tree.labels.origin:
        return []
    class_files: list[tuple[SingleFile, ClassFile]] = []
    for file in list_single_files(tree):
        class_file = _parse(tree, file)
        if class_file is not None:
            class_files.append((file, class_file))
    if not class_files:
        return []
    survey = tree.labels.survey(tree.labels.names, all_colors=True)
    fitting_names: set[str] = set()
    for file, class_file in class_files:
        if _fits_masks(file, class_file, survey):
            fitting_names.add(file.name)
    return [class_file for file, class_file in class_files if file.name in fitting_names]


def _parse(tree: VocTree, file: SingleFile) -> ClassFile | None:
    """Returns a file as a class file; None if it is none whose classes have values or colors."""
    file_format = class_file_named(file.name) or _FORMAT_BY_ENDING.get(ending_of(file.name))
    if file_format is None or file_format.needs_its_folder or not file.text:
        return None
    if file.name == TABLE:  # the user's table of classes is read elsewhere
        return None
    source = posixpath.relpath(file.path, tree.root_below_given or ".")
    file_format = dataclasses.replace(file_format, name=source, is_common=True)
    try:
        class_file = read_class_file(tree.given / file.path, file_format, (), tree.texts.read)
    except LayoutError:
        return None
    return None if class_file.has_names_alone else class_file


def _fits_masks(file: SingleFile, class_file: ClassFile, survey: Survey) -> bool:
    """Says whether a file has all colors in use, or all values and the name of a class file.

    At least half of its colors or values must be in use, so that a file of other data with more
    classes does not fit.
    """
    if class_file.has_colors:
        used_colors: set[Color | None] = set()
        for pixel in survey.pixels:
            is_palette_void = pixel.kind == "palette" and pixel.value == VOID
            if not is_palette_void:
                used_colors.add(pixel.color)
        if _are_most_of(used_colors, {entry.color for entry in class_file.entries}):
            return True
    if not file.is_called_class_file or _SECOND_NUMBERS.search(file.text):
        return False
    used_values = {pixel.value for pixel in survey.pixels} - {VOID}
    return _are_most_of(used_values, {entry.value for entry in class_file.entries})


def _are_most_of(used: Set[object], listed: Set[object]) -> bool:
    """Says whether all values or colors in use are listed, and at least half of the list is."""
    half = len(listed) / 2
    return used <= listed and len(used) >= half


def list_single_files(tree: VocTree) -> list[SingleFile]:
    """Returns the files that may name the classes: no pictures, lists of images, README or code."""
    if tree.listing is None:
        return []
    paths: list[str] = []
    stems: set[str] = {posixpath.basename(image_id) for image_id in tree.images}
    for folder, names in tree.listing.files_by_folder.items():
        by_ending: dict[str, list[str]] = {}
        for name in names:
            by_ending.setdefault(ending_of(name), []).append(name)
        for ending, names_of_ending in by_ending.items():
            if ending in IMAGE_OR_MASK_ENDINGS:
                stems.update(map(stem_of, names_of_ending))
            elif ending in _ENDINGS_OF_CODE_AND_ARCHIVES:
                continue
            elif len(names_of_ending) <= MAX_TEXTS_OF_AN_ENDING:
                for name in names_of_ending:
                    is_companion = name.lower().endswith(ENDINGS_OF_COMPANIONS)
                    if not is_companion and not STEMS_OF_DOCUMENTS.fullmatch(stem_of(name).lower()):
                        paths.append(posixpath.join(folder, name))
    paths.sort(key=lambda path: path.count("/"))
    files = [_read_single_file(tree, path) for path in paths[:MAX_TEXTS]]
    return [file for file in files if not _is_about_images(file, stems)]


def _read_single_file(tree: VocTree, path: str) -> SingleFile:
    is_text = ending_of(path) in _ENDINGS_OF_TEXTS
    is_called_class_file = _WORDS_OF_CLASS_FILES.search(stem_of(posixpath.basename(path)).lower())
    text = ""
    if is_text:
        try:
            with storage.open_file(tree.given / path) as file:
                text = file.read(MAX_TEXT_BYTES).decode("utf-8", "replace")
        except OSError:
            is_text = False
    return SingleFile(path, text, is_text, is_called_class_file is not None)


def _is_about_images(file: SingleFile, stems: Container[str]) -> bool:
    """Says whether a file is about images, not classes.

    | file | example |
    | --- | --- |
    | is named after a split | `train.txt` |
    | is named after an image | `0001_points.txt` beside `0001.jpg` |
    | lists images | a JSON with the string `images/0001.jpg` |
    | lists images in half of its lines | a table of images and scores |

    A number counts as the name of an image, unless the file has the name of a class file.

    Args:
      file: the file.
      stems: the names of all pictures without their endings.
    """
    stem = stem_of(file.name)
    if only_split_in(stem):
        return True
    beginnings = [stem[: match.start()] for match in re.finditer("[-_.]", stem)]
    if any(beginning in stems for beginning in (stem, *beginnings)):
        return True
    if ending_of(file.path) == ".json":
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', file.text)
        images = [string for string in strings if string.lower().endswith(IMAGE_ENDINGS)]
        return any(_stem_of_path(image) in stems for image in images)
    lines_with_images: list[str] = []
    for line in file.lines:
        for word in re.split(r"[\s,;\"']+", line):
            may_be_value = file.is_called_class_file and word.isdigit()
            if word and not may_be_value and _stem_of_path(word) in stems:
                lines_with_images.append(line)
                break
    half = len(file.lines) / 2
    return bool(file.lines) and len(lines_with_images) >= half


def _stem_of_path(path: str) -> str:
    return stem_of(posixpath.basename(path))
