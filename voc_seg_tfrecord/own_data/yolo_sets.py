"""Finds the text files of YOLO's polygons in a folder, and what its YAML file says of them."""

from collections.abc import Mapping, Sequence
import posixpath
import re

from voc_seg_tfrecord.base.errors import LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.own_data.image_names import composed
from voc_seg_tfrecord.polygons import yolo
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet
from voc_seg_tfrecord.trees.listing import Listing

UNUSABLE = "unusable polygons"
"""The kind of errors that do no harm where there are masks."""
_NUMBER = rb"[-+]?(([01](\.\d*)?|\.\d+)([eE][-+]?\d+)?|\d(\.\d*)?[eE]-\d+)"
# Six numbers, and not one word that is none. To repeat a group to the end of a line of megabytes
# would take a gigabyte.
_END = rb"([ \t]|[ \t\r]*$)"
_YOLO_LINE = re.compile(
    rb"^(\xef\xbb\xbf)?[ \t]*\d+(\.0*)?(?=([ \t]+%b){6})(?!.*[ \t](?!(%b)?%b)).*$"
    % (_NUMBER, _NUMBER, _END),
    re.M,
)


def find(listing: Listing, files: Sequence[str], images: Sequence[str]) -> dict[str, str | None]:
    """Returns the text file of each image in folders of images that have some, None without one.

    There are none if no line of any text is a polygon.
    """
    texts = {f for f in files if f.lower().endswith(".txt")}
    pairs = {image: yolo.text_of(image, texts) for image in images} if texts else {}
    # Names that differ in case or in their Unicode form alone mean the same.
    alike = {composed(text).casefold(): text for text in texts.difference(pairs.values())}
    for image in [image for image in pairs if alike and not pairs[image]]:
        pairs[image] = alike.get(yolo.text_of(composed(image).casefold(), alike.keys()) or "")
    found = filter(None, pairs.values())
    lines = ordered_map(
        lambda t: _YOLO_LINE.search(File.read(listing.root / t, MaskError).data), found, ahead=1
    )
    if not any(line for _, line in lines):
        return {}
    folders = {posixpath.dirname(image) for image, text in pairs.items() if text}
    return {image: text for image, text in pairs.items() if posixpath.dirname(image) in folders}


def read(listing: Listing, files: Mapping[str, str | None]) -> dict[str, Sheet]:
    """Reads the text files of images; an error if not one list of names is there."""
    by_names: dict[tuple[str, ...], str] = {}
    refused = list[VocSegError]()
    for path in _name_files(listing):
        try:
            by_names.setdefault(yolo.read_names(File.read(listing.root / path)), path)
        except (LayoutError, MaskError) as error:  # perhaps a file of another program
            refused.append(error)
    by_names.pop((), None)
    if refused and not by_names:
        raise refused[0].changed(type="LayoutError", kind=UNUSABLE)
    if len(by_names) != 1:
        raise LayoutError(
            listing.root / next(filter(None, files.values())),
            found=f"polygons of YOLO, and {len(by_names)} files that name their classes "
            f"{' and '.join(by_names.values())}".strip(),
            expected="one file data.yaml with `names`",
            remedy="write one, such as `names: [crack, hole]`, or remove the others",
            kind=UNUSABLE,
        )
    (names,) = by_names
    sheets: dict[str, Sheet] = {}
    for image, text_file in files.items():
        path = text_file or image
        try:
            text = File.read(listing.root / path, MaskError) if text_file else File(b"", image)
            annotation = yolo.read(text, image, names)
        except MaskError as error:
            annotation = Annotation(path, image, None, error=error)
        others = sheets[path].annotations if path in sheets else ()
        sheets[path] = Sheet(names, [*others, annotation])
    return sheets


def _name_files(listing: Listing) -> list[str]:
    """Returns the files of YAML, and `classes.txt`, those of outer folders first."""
    ends = (".yaml", ".yml", "/classes.txt")
    files = [path for path in listing.below() if f"/{path}".lower().endswith(ends)]
    return sorted(files, key=lambda path: (path.count("/"), path))
