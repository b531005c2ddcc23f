"""Finds the image that an annotation file means by the name that it has for it."""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
import re
import urllib.parse

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.layout import IMAGE_OR_ARRAY_ENDINGS
from voc_seg_tfrecord.core.spelling import as_nfc, visible_form
from voc_seg_tfrecord.core.words import only_split_in
from voc_seg_tfrecord.folder.by_name import FilesByName, count_same_ends
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files, stem
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.tools.shapes import Annotation, AnnotationFile, shape_error
from voc_seg_tfrecord.tools.tool import ShapeTool

_BEFORE_A_PATH = re.compile("(?i)^(?:file|[a-z]):")


@dataclasses.dataclass(frozen=True)
class FoundImage:
    """The image that an annotation means.

    Attributes:
      path: its path.
      is_moved: whether it lies elsewhere than the file states.
    """

    path: str
    is_moved: bool = False


class AnnotatedImages:
    """Finds the images of a folder by the names that the annotation files of a tool have for them.

    Where several images fit, JPEGs come first: of `a.jpg` and `a.png`, the latter may be a mask.

    Args:
      tool: the tool.
      files: what all files of the tool hold, by their paths.
      paths: the images in the folder.
      looks: what was seen of the images.
    """

    def __init__(
        self,
        tool: ShapeTool,
        files: Mapping[str, AnnotationFile],
        paths: Sequence[str],
        looks: Looks,
    ):
        self._tool = tool
        self._looks = looks
        self._paths = sorted(paths, key=_rank_of_ending)
        self._images = FilesByName(self._paths)
        self._folders_with_both: set[str] = set()
        """The folders that have annotation files, and beside them images that they name."""
        for file_path, file in files.items():
            folder = posixpath.dirname(file_path)
            for annotation in file.annotations:
                path = posixpath.join(folder, annotation.image)
                if self._images.at(path) is not None:
                    self._folders_with_both.add(folder)

    @functools.cached_property
    def _folder_names(self) -> Set[str]:
        """The names of the folders of images."""
        folders = {posixpath.dirname(path) for path in self._paths}
        return {as_nfc(posixpath.basename(folder)) for folder in folders}

    @functools.cached_property
    def _paths_by_loose_stem(self) -> Mapping[str, Sequence[str]]:
        """The images by `_loosen_stem`."""
        paths_by_stem: dict[str, list[str]] = {}
        for path in self._paths:
            paths_by_stem.setdefault(_loosen_stem(path), []).append(path)
        return paths_by_stem

    def find(self, file: str, annotation: Annotation) -> FoundImage | None:
        """Returns the image of an annotation; None if it is not here.

        Most tools write a path. It is looked for in three ways, and the first that finds an image
        counts:

        1. at this path, from the folder of the file;
        2. beside the file, under the file's own name: `a.jpg` for `a.json`;
        3. anywhere, under the name in the file, with as many of its folders as possible.

        Raises:
          VocSegError: if the annotation may mean several images.
        """
        if self._tool.find_image == "known":
            return FoundImage(annotation.image)
        if self._tool.find_image == "by name":
            return self._find_by_name(file, annotation)
        image = annotation.image
        name_of_file = self._tool.without_ending(file)
        beside_file = self._images.with_any_ending(name_of_file)
        path = self._images.at(posixpath.normpath(posixpath.join(posixpath.dirname(file), image)))
        if path is not None:
            _check_is_one_of(beside_file, path, file, image)
            found: FoundImage | None = FoundImage(path)
        elif beside_file:
            return self._find_beside(file, posixpath.basename(name_of_file), image, beside_file)
        else:
            found = self._find_by_name(file, annotation)
        if found is not None:
            folder = posixpath.dirname(found.path)
            of_same_name = self._images.with_any_ending(
                posixpath.join(folder, posixpath.basename(name_of_file))
            )
            _check_is_one_of(of_same_name, found.path, file, image)
        return found

    def _find_beside(
        self, file: str, name_of_file: str, image: str, beside_file: Sequence[str]
    ) -> FoundImage:
        """Returns the image beside a file that has the name of the file.

        The path in the file is one of another folder or machine then. Endings, capitals and blanks
        at the ends of names do not count: images may have been converted.

        Args:
          file: the path of the file.
          name_of_file: its name without the ending of the tool's files.
          image: the image, as the file has it.
          beside_file: the images beside the file that have its name.

        Raises:
          MaskError: if the file names another image, which is here too.
        """
        name = as_nfc(posixpath.basename(image))
        for path in beside_file:
            if as_nfc(posixpath.basename(path)) == name:
                return FoundImage(path)
        if _loosen_stem(image) != _loosen(name_of_file):
            for path in self._paths_by_loose_stem.get(_loosen_stem(image), ()):
                _check_is_one_of(beside_file, path, file, image)
        has_other_name = image != "" and stem(image) != name_of_file
        return FoundImage(beside_file[0], is_moved=has_other_name)

    def _find_by_name(self, file: str, annotation: Annotation) -> FoundImage | None:
        """Returns the image whose path ends as the name of an image does.

        Raises:
          VocSegError: if the image lies in a folder of another split than its subset or its file,
            or if several images are meant; then it asks for the folder.
        """
        parts = as_nfc(annotation.image).split("/")
        wanted_parts = [part for part in parts if part not in ("", ".", "..")]
        paths = self._list_meant(file, annotation, wanted_parts)
        if len(paths) > 1 and annotation.size is not None:
            sides = sorted(annotation.size)  # it may have been shown rotated
            of_size = [path for path in paths if self._looks.sides_of_image(path) == sides]
            paths = of_size or paths
        if len(paths) > 1:
            raise _which_folder(file, annotation.image, paths)
        if not paths:
            return None
        path = paths[0]
        if _lies_in_split_of_another_image(file, annotation, path):
            return None
        same_count = _count_same_ends(path, wanted_parts)
        return FoundImage(path, is_moved=same_count < len(wanted_parts))

    def _list_meant(
        self, file: str, annotation: Annotation, wanted_parts: Sequence[str]
    ) -> Sequence[str]:
        """Returns the images that a name may mean: those of this file name.

        If they are several, these steps leave some out:

        1. If images that files name lie beside the file, others are not meant.
        2. If a folder has the name of the last folder in the name, others are not meant.
        3. Those remain whose paths end with most folders of the name; of these, those in a folder
           that is called as the image's subset, or as its split; then those that share most folders
           with the file; then those that name the split of the file.
        """
        if not wanted_parts:
            return []
        paths = self._images.named(wanted_parts[-1])
        folder = posixpath.dirname(file)
        if folder and folder in self._folders_with_both:
            paths = [path for path in paths if posixpath.dirname(path) == folder]
        if len(wanted_parts) > 1 and wanted_parts[-2] in self._folder_names:
            paths = [path for path in paths if _count_same_ends(path, wanted_parts) > 1]
        if len(paths) < 2:
            return paths
        split_of_file = split_of(file)
        paths_by_rank: dict[tuple[int, bool, int, bool], list[str]] = {}
        for path in paths:
            names_split_of_file = split_of_file != "" and split_of(path) == split_of_file
            rank = (
                _count_same_ends(path, wanted_parts),
                _lies_in(path, annotation.subset),
                len(common_folder_of_files(file, path)),
                names_split_of_file,
            )
            paths_by_rank.setdefault(rank, []).append(path)
        return paths_by_rank[max(paths_by_rank)]


def _count_same_ends(path: str, wanted_parts: Sequence[str]) -> int:
    """Returns how many folders and names a path shares with the end of an image's name."""
    return count_same_ends(as_nfc(path).split("/"), wanted_parts)


def _rank_of_ending(path: str) -> int:
    return IMAGE_OR_ARRAY_ENDINGS.index(posixpath.splitext(path)[1].lower())


def _loosen_stem(path: str) -> str:
    """Returns what is the same of names that differ in capitals, blanks or how they are written.

    Endings do not matter, nor does how a program writes a path: `C:b.png`, `file:a%20b.png`.
    """
    plain_path = urllib.parse.unquote(_BEFORE_A_PATH.sub("", path.strip()).rstrip("/"))
    return _loosen(stem(plain_path))


def _loosen(stem_of_path: str) -> str:
    """Returns the same of a name without its ending."""
    name = visible_form(stem_of_path).casefold()
    while posixpath.splitext(name)[1] in IMAGE_OR_ARRAY_ENDINGS:
        name = posixpath.splitext(name)[0]
    return name


def _check_is_one_of(of_same_name: Sequence[str], path: str, file: str, image: str) -> None:
    """Checks that the image of a file is one of those that have the name of the file, if any have.

    Raises:
      MaskError: if it is another one.
    """
    if of_same_name and path not in of_same_name:
        raise shape_error(
            file,
            f"the shapes of {image}, and {of_same_name[0]} has the name of the file",
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


def _lies_in_split_of_another_image(file: str, annotation: Annotation, path: str) -> bool:
    """Says whether the name in a file is that of an image in a folder of another split.

    Where the name has no split, that of the image's subset counts, or else that of the file. A
    folder above both the file and the image tells nothing.

    Raises:
      MaskError: if the image lies in a folder of another split than its subset or its file.
    """
    common_top = posixpath.join(common_folder_of_files(file, path), "")
    split_of_path = split_of(posixpath.dirname(path.removeprefix(common_top)))
    split_of_name = split_of(posixpath.dirname(annotation.image))
    split_of_subset = only_split_in(annotation.subset)
    split = split_of_name or split_of_subset or split_of(file.removeprefix(common_top))
    if not split_of_path or split in ("", split_of_path):
        return False
    if split_of_name:
        return True
    found = f"{path}, which lies in the folder of another split"
    if split_of_subset:
        raise shape_error(
            file,
            f"the image {annotation.image} of the subset {annotation.subset}, and {found}",
            "the images of a subset in its own folder",
            "move the image, or correct the subset in the file",
        )
    raise shape_error(
        file,
        f"the image {annotation.image}, and {found}",
        "the images of the file's own split",
        "write the folder before the name, or rename the file if it is of no split",
    )


def _which_folder(file: str, image: str, paths: Sequence[str]) -> VocSegError:
    """Returns the question which folder is meant: a line for each that has one of the images."""
    top = posixpath.join(common_folder_of_files(*paths), "")
    folders: set[str] = set()
    for path in paths:
        folder, slash, _ = path.removeprefix(top).partition("/")
        if slash:
            folders.add(f"{top}{folder}")
    alternatives = [Alternative("", {"images": folder}) for folder in sorted(folders)]
    meant = f"the image {image}, which may be {' or '.join(paths[:3])}"
    remedy = "write the folder before the name in the file, or move the other images away"
    if not alternatives:
        return shape_error(file, meant, "one image of this name", remedy)
    expected = f"one image of this name; otherwise {remedy}"
    return QuestionError(
        file,
        alternatives,
        task=f"find {meant}",
        expected=expected,
        kind="several images of one name",
    )
