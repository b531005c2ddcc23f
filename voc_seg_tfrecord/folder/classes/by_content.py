"""Class files of any name: texts that say what the masks use, such as `class_dict_seg.csv`.

They count if no file of a known name names the classes. What only may be a class file is a doubt;
see `meaning.default_names`.
"""

from collections.abc import Container, Iterator, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.class_csv import TABLE
from voc_seg_tfrecord.core.class_files import ClassFile, read_class_file
from voc_seg_tfrecord.core.class_json import parse_json
from voc_seg_tfrecord.core.class_lists import parse_list
from voc_seg_tfrecord.core.class_parsers import ClassFileFormat
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey
from voc_seg_tfrecord.tools.registry import class_file_named

MAX_TEXTS_OF_A_KIND = 8
"""In a folder with more files of an ending, there is one for each image."""

MAX_TEXTS = 200
"""How many files may name the classes at most; those of the upper folders come first."""

MAX_TEXT_BYTES = 1 << 16

_LIST = ClassFileFormat(name="", parse=parse_list, expected="lines such as crack,128,0,0")
_JSON = ClassFileFormat(name="", parse=parse_json, expected="objects with names and colors")
_FORMAT_BY_ENDING = {".csv": _LIST, ".tsv": _LIST, ".txt": _LIST, ".json": _JSON}
_ENDINGS_OF_TEXTS = (*_FORMAT_BY_ENDING, ".yaml", ".yml", ".names", ".xml")
_ENDINGS_OF_OTHERS = (".py", ".ipynb", ".sh", ".pt", ".pth", ".h5", ".onnx", ".ckpt", ".zip", ".gz")
_NAMES_OF_OTHERS = re.compile(
    "(readme|licen[cs]e|requirements|changelog|citation|authors|attribution|copyright|notice"
    "|contributing|version)([^a-z].*)?"
)
"""Names, in small letters and without ending, of what people put beside any data."""

_WORDS_OF_CLASS_FILES = re.compile(
    "class|label|legend|categor|colou?rs?($|[-_. ])|colou?rmap|palette|names|ontology|taxonomy"
    "|codes"
)
_OTHER_NUMBERS = re.compile("train_?id", re.IGNORECASE)
"""The title of a column that numbers the classes once more."""


@dataclasses.dataclass(frozen=True)
class SingleFile:
    """A file that is no picture, and of which a folder has not one for each image.

    Attributes:
      path: its path below the given folder.
      text: its first `MAX_TEXT_BYTES` characters; empty if it is no text.
      is_text: whether its ending is that of a text.
      is_called_class_file: whether its name says classes, labels, colors or the like.
    """

    path: str
    text: str
    is_text: bool
    is_called_class_file: bool

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines that are not empty, without blanks around them."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


def find_by_content(tree: VocTree) -> list[ClassFile]:
    """Returns the class files of any name that say what all masks use.

    Two that contradict each other are both returned: then the user is asked. So are files of the
    same name in other folders, whatever they say: each export may have its own.
    """
    if tree.labels.origin:
        return []
    parsed = [(file, _parse(tree, file)) for file in list_single_files(tree)]
    read = [(file, class_file) for file, class_file in parsed if class_file is not None]
    if not read:
        return []
    survey = tree.labels.survey(tree.labels.names, all_colors=True)
    names: set[str] = set()
    for file, class_file in read:
        if _says_what_masks_use(file, class_file, survey):
            names.add(posixpath.basename(file.path))
    return [one for file, one in read if posixpath.basename(file.path) in names]


def _parse(tree: VocTree, file: SingleFile) -> ClassFile | None:
    """Returns what a file says if its classes have values or colors; None if they have none."""
    name = posixpath.basename(file.path)
    file_format = class_file_named(name) or _FORMAT_BY_ENDING.get(ending_of(name))
    if file_format is None or file_format.needs_its_folder or not file.text or name == TABLE:
        return None
    source = posixpath.relpath(file.path, tree.root_below_given or ".")
    file_format = dataclasses.replace(file_format, name=source, is_common=True)
    try:
        class_file = read_class_file(tree.given / file.path, file_format, (), tree.texts.read)
    except LayoutError:
        return None
    return None if class_file.has_names_alone else class_file


def _says_what_masks_use(file: SingleFile, class_file: ClassFile, survey: Survey) -> bool:
    """Says whether a file has all colors in use, or all values and the name of a class file.

    At least half of its classes must occur, so that it is no file of other labels.
    """
    colors = {entry.color for entry in class_file.entries}
    used_colors = {pixel.color for pixel in survey.pixels if not _is_void(pixel)}
    if class_file.has_colors and used_colors <= colors and 2 * len(used_colors) >= len(colors):
        return True
    if not file.is_called_class_file or _OTHER_NUMBERS.search(file.text):
        return False
    values = {entry.value for entry in class_file.entries}
    used_values = {pixel.value for pixel in survey.pixels} - {VOID}
    return used_values <= values and 2 * len(used_values) >= len(values)


def _is_void(pixel: StoredPixel) -> bool:
    return pixel.kind == "palette" and pixel.value == VOID


def list_single_files(tree: VocTree) -> list[SingleFile]:
    """Returns the files that may name the classes: no pictures, lists of images, README or code."""
    if tree.listing is None:
        return []
    paths: list[str] = []
    for folder, names in tree.listing.files_by_folder.items():
        paths += [posixpath.join(folder, name) for name in _list_few_of_a_kind(names)]
    paths.sort(key=lambda path: path.count("/"))
    stems = _stems_of_pictures(tree)
    files = [_read_single_file(tree, path) for path in paths[:MAX_TEXTS]]
    return [file for file in files if not _is_about_images(file, stems)]


def _list_few_of_a_kind(names: Sequence[str]) -> Iterator[str]:
    """Yields the files of a folder that are no pictures or code, and not one for each image."""
    by_ending: dict[str, list[str]] = {}
    for name in names:
        ending = ending_of(name)
        if ending not in IMAGE_OR_MASK_ENDINGS and ending not in _ENDINGS_OF_OTHERS:
            by_ending.setdefault(ending, []).append(name)
    for names_of_ending in by_ending.values():
        if len(names_of_ending) > MAX_TEXTS_OF_A_KIND:
            continue
        for name in names_of_ending:
            if not _NAMES_OF_OTHERS.fullmatch(stem_of(name).lower()):
                yield name


def _stems_of_pictures(tree: VocTree) -> set[str]:
    """Returns the names of all pictures without their endings, and the ids of the set."""
    assert tree.listing
    stems: set[str] = {posixpath.basename(image_id) for image_id in tree.images}
    for names in tree.listing.files_by_folder.values():
        stems.update(stem_of(name) for name in names if ending_of(name) in IMAGE_OR_MASK_ENDINGS)
    return stems


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
    """Says whether a file belongs to an image by its name, or lists images or splits."""
    stem = stem_of(posixpath.basename(file.path))
    beginnings = [stem[: match.start()] for match in re.finditer("[-_.]", stem)]
    if only_split_in(stem) or any(beginning in stems for beginning in (stem, *beginnings)):
        return True
    if ending_of(file.path) == ".json":
        return _names_images_in_json(file.text, stems)
    return _names_images(file, stems)


def _names_images_in_json(text: str, stems: Container[str]) -> bool:
    """Says whether a string of JSON is the name of an image file, as in annotations."""
    for string in re.findall(r'"((?:[^"\\]|\\.)*)"', text):
        name = posixpath.basename(string)
        if name.lower().endswith(IMAGE_ENDINGS) and stem_of(name) in stems:
            return True
    return False


def _names_images(file: SingleFile, stems: Container[str]) -> bool:
    """Says whether half of the lines of a text name images, as a list or a table does.

    A number may be an id, but in a class file it is a value.
    """
    count = 0
    for line in file.lines:
        words = [word for word in re.split(r"[\s,;\"']+", line) if word]
        if file.is_called_class_file:
            words = [word for word in words if not word.isdigit()]
        count += any(stem_of(posixpath.basename(word)) in stems for word in words)
    return bool(file.lines) and 2 * count >= len(file.lines)
