"""What may lie beside the data of a folder without being used: a table with a row for each kind.

The first row that holds explains an unused file. A file that no row explains is a leftover.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.words import (
    BACKUP_WORDS,
    DEPTH_WORDS,
    DRAWING_WORDS,
    EDGE_WORDS,
    ILLUSTRATION_WORDS,
    INSTANCE_WORDS,
    MODEL_WORDS,
    PREDICTION_WORDS,
    SPLIT_BY_WORD,
    WORDS_FOR_UNLABELED,
    words,
)
from voc_seg_tfrecord.folder.files.align import NO_AFFIX, list_lengths, parts_of
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.pairs import channel_paths
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.texts import OTHER_ENDINGS, READ_ENDINGS
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

CODE_ENDINGS = frozenset(
    {
        *(".py", ".ipynb", ".sh", ".bash", ".bat", ".ps1", ".m", ".r", ".rmd", ".jl", ".lua"),
        *(".js", ".ts", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".java", ".go", ".rs"),
        *(".pyc", ".prototxt", ".lock"),
    }
)
PROSE_ENDINGS = frozenset({".log", ".md", ".rst", ".html", ".htm", ".tex"})
"""Endings of prose and of logs."""

CONTENT_ENDINGS = frozenset(
    {
        *(".pth", ".pt", ".ckpt", ".onnx", ".weights", ".safetensors", ".tflite", ".pb", ".keras"),
        *(".caffemodel", ".cache", ".mp4", ".avi", ".mov", ".mkv", ".zip", ".tar", ".tgz", ".7z"),
        *(".rar", ".index", ".data", ".pdf"),
    }
)
"""Endings of weights, videos, archives and papers, which hold no list of images."""

COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")

STEMS_OF_DOCUMENTS = re.compile(
    "(readme|licen[cs]e|requirements|changelog|citation|authors|attribution|copyright|notice"
    "|contributing|version|provenance|credits|disclaimer)([^a-z].*)?"
)
"""Names, in small letters and without ending, of what people put beside any data."""

_MAX_COMPARED_FILES = 200
"""Files in use, at most, of which copies with other names are looked for."""

IMAGE_WITHOUT_MASK = "images without a mask"
MASK_WITHOUT_IMAGE = "masks without an image"
IN_NO_SPLIT = "images or masks in no split"


@functools.lru_cache(maxsize=1000)
def _words_of(text: str) -> frozenset[str]:
    """Returns the words in the path of a folder or around an id, which many files share."""
    return frozenset(words(text))


@dataclasses.dataclass(frozen=True)
class UnusedFile:
    """A file that a build does not use.

    Attributes:
      folder: its folder, below the given one; empty for the given one.
      name: its name.
      data: the images and masks beside which it lies.
    """

    folder: str
    name: str
    data: "DataInUse"

    @property
    def path(self) -> str:
        """Its path below the given folder."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def ending(self) -> str:
        """Its ending, in lower case."""
        return ending_of(self.name)

    @property
    def is_picture(self) -> bool:
        """Whether its ending is that of an image or a mask."""
        return self.ending in IMAGE_OR_MASK_ENDINGS

    @functools.cached_property
    def words_beside_name(self) -> frozenset[str] | None:
        """The words that its path has around an image's or mask's name; None without such a name.

        Words of folders in use do not count.
        """
        stem = stem_of(self.name)
        # Most names are whole names of the set, and to take them apart takes time.
        parts = parts_of(stem, self.data.lengths_of_stems)
        for part, around in itertools.chain([(stem, NO_AFFIX)], parts):
            if part in self.data.stems:
                words_of_file = _words_of(self.folder) | _words_of(" ".join(around))
                return words_of_file - self.data.words_of_folders
        # A folder of one image has its name: `a/overlay.png` beside `a/image.png`.
        if posixpath.basename(self.folder) in self.data.stems:
            return _words_of(stem)
        return None


class DataInUse:
    """The images and masks of a folder, beside which other files lie.

    Args:
      tree: the images and masks, in use or not.
      used_ids: the ids of all splits.
      replaced_masks: the paths of masks whose images have other masks, because texts state them.
      instances: whether instance masks are read.

    Attributes:
      paths: the files in use.
      reason_by_path: the images and masks that are not in use, and why.
    """

    def __init__(
        self,
        tree: VocTree,
        used_ids: Collection[str],
        *,
        replaced_masks: Collection[str],
        instances: bool,
    ):
        self._tree = tree
        self._are_copies_by_folder: dict[str, bool] = {}
        self.paths: set[str] = set()
        self.reason_by_path = dict.fromkeys(replaced_masks, MASK_WITHOUT_IMAGE)
        self._add_files(
            tree.images.items(),
            used_ids=tree.images.find_ids(used_ids),
            partners=tree.masks,
            reason_if_alone=IMAGE_WITHOUT_MASK,
        )
        if tree.channels > 1:
            for path in [*self.paths]:
                self.paths.update(map(str, channel_paths(path, tree.channels)))
        masks = [(tree.labels.list_files(), tree.masks)]
        if instances:
            masks.append((tree.instances.items(), tree.instances))
        for files, names in masks:
            self._add_files(
                files,
                used_ids=names.find_ids(used_ids),
                partners=tree.images,
                reason_if_alone=MASK_WITHOUT_IMAGE,
            )
        self.paths |= tree.labels.label_files - self.reason_by_path.keys()

    def _add_files(
        self,
        files: Iterable[tuple[str, str]],
        *,
        used_ids: Collection[str],
        partners: Collection[str],
        reason_if_alone: str,
    ) -> None:
        """Adds the images, or the masks, to `paths` or to `reason_by_path`.

        Args:
          files: the id and the path of each file.
          used_ids: the ids of those in use.
          partners: the ids of the files of the other kind: of images, those of masks.
          reason_if_alone: why a file without a partner is not used.
        """
        for image_id, path in files:
            if image_id in used_ids:
                self.paths.add(path)
            elif image_id in partners:
                self.reason_by_path.setdefault(path, IN_NO_SPLIT)
            else:
                self.reason_by_path.setdefault(path, reason_if_alone)

    @functools.cached_property
    def stems(self) -> set[str]:
        """The names of all images and masks, in use or not, without endings; and their ids."""
        names = map(posixpath.basename, itertools.chain(self.paths, self.reason_by_path))
        return {*map(stem_of, names), *map(posixpath.basename, self._tree.images)}

    @functools.cached_property
    def lengths_of_stems(self) -> list[int]:
        """How long `stems` are, the longest first."""
        return list_lengths(self.stems)

    @functools.cached_property
    def stems_of_folder(self) -> set[str]:
        """The names of all pictures of the folder, without endings."""
        assert self._tree.listing
        stems: set[str] = set()
        for names in self._tree.listing.files_by_folder.values():
            pictures = [name for name in names if ending_of(name) in IMAGE_OR_MASK_ENDINGS]
            stems.update(map(stem_of, pictures))
        return stems

    @functools.cached_property
    def words_of_folders(self) -> set[str]:
        """The words in the folders in use."""
        folders = {posixpath.dirname(path) for path in self.paths}
        return {word for folder in folders for word in words(folder)}

    @functools.cached_property
    def words_of_paths(self) -> set[str]:
        """The words in the folders and names in use."""
        return {word for path in self.paths for word in words(path)}

    @functools.cached_property
    def _looks(self) -> Looks:
        return Looks(self._tree.given)

    @functools.cached_property
    def _paths_by_stem(self) -> dict[str, list[str]]:
        """The files in use, by their names without endings."""
        paths: dict[str, list[str]] = collections.defaultdict(list)
        for path in self.paths:
            paths[stem_of(posixpath.basename(path))].append(path)
        return paths

    @functools.cached_property
    def _paths_by_length(self) -> dict[int, list[str]]:
        """The files in use, by their length in bytes; empty if these are too many to compare."""
        paths: dict[int, list[str]] = collections.defaultdict(list)
        if len(self.paths) <= _MAX_COMPARED_FILES:
            for path in self.paths:
                paths[self._looks.length(path)].append(path)
        return paths

    def are_copies(self, folder: str) -> bool:
        """Says whether a few pictures of a folder have the same bytes as files in use."""
        if folder not in self._are_copies_by_folder:
            assert self._tree.listing
            unused_pictures: list[str] = []
            for name in self._tree.listing.files_by_folder[folder]:
                file = UnusedFile(folder, name, self)
                if file.is_picture and file.path not in self.paths:
                    unused_pictures.append(file.path)
            have_copies = all(map(self._has_copy, few(unused_pictures)))
            self._are_copies_by_folder[folder] = have_copies
        return self._are_copies_by_folder[folder]

    def _has_copy(self, path: str) -> bool:
        others = self._paths_by_stem.get(stem_of(posixpath.basename(path)))
        if others is None:
            others = self._paths_by_length.get(self._looks.length(path), [])
        return any(self._looks.are_same(path, other) for other in others)


@dataclasses.dataclass(frozen=True)
class Companion:
    """A kind of file that may lie unused beside the data: a row of the table.

    Attributes:
      name: the name of the row.
      one: what one such file is.
      many: what several are.
      option: the options that use such files; empty if there are none.
      example: the path of such a file beside `images/1.jpg` with `masks/1.png`.
      holds: says whether a file is of this kind.
      endings: the endings by which alone it holds, in small letters. Whatever such a file is
        called, it says neither splits nor classes: `train.tfw`.
    """

    name: str
    one: str
    many: str
    option: str = ""
    example: str = ""
    holds: Callable[[UnusedFile], bool] = lambda _: True
    endings: tuple[str, ...] = ()

    def describe_count(self, count: int) -> str:
        """Returns how many files there are, and what they are: `3 images without a mask`."""
        return f"1 {self.one}" if count == 1 else f"{count:,} {self.many}"


_SIDECAR_ENDINGS = (".tfw", ".jgw", ".pgw", ".xmp", ".ovr", ".prj", ".thm", ".aux.xml")


def _is_sidecar(file: UnusedFile) -> bool:
    return file.name.lower().endswith(_SIDECAR_ENDINGS)


def _has_reason(reason: str) -> Callable[[UnusedFile], bool]:
    return lambda file: file.data.reason_by_path.get(file.path) == reason


def _is_called(kind_words: Collection[str]) -> Callable[[UnusedFile], bool]:
    """Returns the predicate of pictures that have one of some words beside an image's name."""

    def holds(file: UnusedFile) -> bool:
        if not file.is_picture or file.words_beside_name is None:
            return False
        return not file.words_beside_name.isdisjoint(kind_words)

    return holds


_HELD_OUT_WORDS = WORDS_FOR_UNLABELED.union(
    word for word, split in SPLIT_BY_WORD.items() if split in ("validation", "test")
)


def _is_of_held_out_split(file: UnusedFile) -> bool:
    words_of_unused_alone = _words_of(file.folder) - file.data.words_of_folders
    return file.is_picture and not words_of_unused_alone.isdisjoint(_HELD_OUT_WORDS)


def _is_beside_set(file: UnusedFile) -> bool:
    return file.is_picture and file.path not in file.data.reason_by_path


def _is_copy(file: UnusedFile) -> bool:
    return _is_beside_set(file) and file.data.are_copies(file.folder)


def _has_name_of_image(file: UnusedFile) -> bool:
    return _is_beside_set(file) and stem_of(file.name) in file.data.stems


def _is_about_one_image(file: UnusedFile) -> bool:
    if file.ending in (".json", ".xml") and file.words_beside_name is not None:
        return True
    return not file.is_picture and stem_of(file.name) in file.data.stems_of_folder


def _is_illustration(file: UnusedFile) -> bool:
    words_of_path = _words_of(file.folder).union(words(file.name))
    words_of_unused_alone = words_of_path - file.data.words_of_paths
    return file.is_picture and not words_of_unused_alone.isdisjoint(ILLUSTRATION_WORDS)


def _is_document(file: UnusedFile) -> bool:
    if STEMS_OF_DOCUMENTS.fullmatch(stem_of(file.name).lower()):
        return True
    endings = CODE_ENDINGS | PROSE_ENDINGS | CONTENT_ENDINGS
    return file.ending in endings or file.ending in COMPRESSED_ENDINGS


def _is_class_file(file: UnusedFile) -> bool:
    return file.name in CLASS_FILE_NAMES


def _is_text(file: UnusedFile) -> bool:
    return file.ending in (*READ_ENDINGS, *OTHER_ENDINGS) and not _is_class_file(file)


_AS_MASKS = "--masks or --mask_name"

UNLABELED_IMAGES = Companion(
    "unlabeled images",
    one="image without a mask",
    many=IMAGE_WITHOUT_MASK,
    example="images/9.jpg",
    holds=_has_reason(IMAGE_WITHOUT_MASK),
)
PAIRS_IN_NO_SPLIT = Companion(
    "in no split",
    one="image or mask in no split",
    many=IN_NO_SPLIT,
    example="images/8.jpg",
    holds=_has_reason(IN_NO_SPLIT),
)
MASKS_WITHOUT_IMAGES = Companion(
    "masks without an image",
    one="mask without an image",
    many=MASK_WITHOUT_IMAGE,
    holds=_has_reason(MASK_WITHOUT_IMAGE),
)

COMPANIONS: Sequence[Companion] = (
    Companion(
        "predictions",
        one="prediction",
        many="predictions",
        option=_AS_MASKS,
        example="predictions/1_pred.png",
        holds=_is_called(PREDICTION_WORDS | MODEL_WORDS),
    ),
    Companion(
        "instances",
        one="file of instances, by its name",
        many="files of instances, by their names",
        option=f"{_AS_MASKS}, or --instance_masks for VOC",
        example="instances/1_instance.png",
        holds=_is_called(INSTANCE_WORDS),
    ),
    Companion(
        "edges",
        one="picture of edges",
        many="pictures of edges",
        option=_AS_MASKS,
        example="edges/1_edges.png",
        holds=_is_called(EDGE_WORDS),
    ),
    Companion(
        "depth",
        one="depth picture",
        many="depth pictures",
        option=_AS_MASKS,
        example="depth/1_depth.png",
        holds=_is_called(DEPTH_WORDS),
    ),
    Companion(
        "drawings",
        one="overlay or color picture of labels",
        many="overlays or color pictures of labels",
        option=_AS_MASKS,
        example="overlays/1_overlay.png",
        holds=_is_called(DRAWING_WORDS),
    ),
    Companion(
        "backups",
        one="backup, older file or thumbnail",
        many="backups, older files or thumbnails",
        option=_AS_MASKS,
        example="old/1_old.png",
        holds=_is_called(BACKUP_WORDS),
    ),
    UNLABELED_IMAGES,
    PAIRS_IN_NO_SPLIT,
    Companion(
        "copies",
        one="copy of a file in use",
        many="copies of files in use",
        example="more/copy.jpg",
        holds=_is_copy,
    ),
    Companion(
        "illustrations",
        one="figure or other illustration",
        many="figures or other illustrations",
        example="docs/a.png",
        holds=_is_illustration,
    ),
    Companion(
        "held-out images",
        one="unlabeled picture of a held-out split",
        many="unlabeled pictures of a held-out split",
        example="test/images/0.jpg",
        holds=_is_of_held_out_split,
    ),
    Companion(
        "other pictures",
        one="picture named like an image in use",
        many="pictures named like images in use",
        option="--images or --masks",
        example="infrared/1.jpg",
        holds=_has_name_of_image,
    ),
    Companion(
        "sidecars",
        one="sidecar file of a picture",
        many="sidecar files of pictures",
        example="orthophoto.tfw",
        holds=_is_sidecar,
        endings=_SIDECAR_ENDINGS,
    ),
    Companion(
        "boxes",
        one="annotation file of one image",
        many="annotation files of one image each",
        example="boxes/1.xml",
        holds=_is_about_one_image,
    ),
    Companion(
        "class files",
        one="class file",
        many="class files",
        example="labelmap.txt",
        holds=_is_class_file,
    ),
    Companion(
        "documents",
        one="file of documentation, code, logs, weights or archives",
        many="files of documentation, code, logs, weights or archives",
        example="code.py",
        holds=_is_document,
    ),
    Companion(
        "texts",
        one="list, table or other text",
        many="lists, tables or other texts",
        example="scores.csv",
        holds=_is_text,
    ),
)
"""The rows, in the order in which they are asked."""

ENDINGS_OF_COMPANIONS = tuple(ending for row in COMPANIONS for ending in row.endings)
"""Endings of files that say neither splits nor classes."""

UNEXPLAINED_PICTURES: Sequence[Companion] = (
    MASKS_WITHOUT_IMAGES,
    Companion("pictures", one="picture", many="pictures", holds=lambda file: file.is_picture),
)
"""Pictures that no row of `COMPANIONS` explains. The build asks about them."""

OTHER_FILES = Companion("other files", one="file of another kind", many="files of other kinds")

LEFTOVERS: Sequence[Companion] = (*UNEXPLAINED_PICTURES, OTHER_FILES)
"""What a file is that no row of `COMPANIONS` explains. The last one holds for all files."""
