"""Finds the polygons of labelling tools in a folder, and the image of each."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import json
import os
import posixpath
import re

from voc_seg_tfrecord.base.errors import LayoutError, MaskError, VocSegError, command, counted
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import below, common, split_word, stem
from voc_seg_tfrecord.folder.files.layouts import Said
from voc_seg_tfrecord.folder.files.sheet_images import SheetImages, composed
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.polygons import coco, cvat, labelme, yolo
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet, as_written, wrong
from voc_seg_tfrecord.trees.drawn_labels import DrawnLabels, classes_of
from voc_seg_tfrecord.trees.layout import ID, Layout
from voc_seg_tfrecord.trees.listing import Listing, Names
from voc_seg_tfrecord.trees.tree import VocTree

# By tool: the ending of its files, a word and a pattern that all of them have, and their reader.
# A folder may have thousands of other files, and most are passed over by the word.
_TOOLS = {
    "labelme": (".json", b'"shapes"', rb'"image(Path|Data)"\s*:', labelme.read),
    "COCO": (".json", b'"annotations"', rb'"images"\s*:\s*\[', coco.read),
    "CVAT": (".xml", b"<annotations", rb"<(image|track)\b", cvat.read),
}
# By the name of another tool: what its JSON files have, and which export is read.
_OTHER_TOOLS = {
    "VIA": (r'"_via_|"shape_attributes"\s*:', "open it in VIA 2, and export it as COCO"),
    "Supervisely": (r'"classTitle"\s*:', "export from Supervisely to COCO or to Pascal VOC"),
    "Label Studio": (r'"original_width"\s*:', "export as COCO, and masks of brushes as PNG"),
}
_UNUSABLE = "unusable polygons"  # errors that do no harm where there are masks
_YOLO_NUMBER = rb"[-+]?(([01](\.\d*)?|\.\d+)([eE][-+]?\d+)?|\d(\.\d*)?[eE]-\d+)"
# Six numbers, and not one word that is none. To repeat a group to the end of a line of megabytes
# would take a gigabyte.
_YOLO_END = rb"([ \t]|[ \t\r]*$)"
_YOLO_LINE = re.compile(
    rb"^(\xef\xbb\xbf)?[ \t]*\d+(\.0*)?(?=([ \t]+%b){6})(?!.*[ \t](?!(%b)?%b)).*$"
    % (_YOLO_NUMBER, _YOLO_NUMBER, _YOLO_END),
    re.M,
)


def find(said: Said, exif: str) -> tuple[VocTree | None, list[VocSegError]]:
    """Returns the tree of the polygons in a folder, None if there are none that can be used.

    Of what the user said, `masks` may be a file of polygons.
    Errors about files that are not used, such as those of boxes, are returned too. What raises
    one are polygons of several tools, two images of one id, and a file that may mean two images.
    """
    listing, options = said.listing, said.options
    every = [*listing.below()]
    files = below(every, options.get("masks", ""))
    # Images of polygons have no parts that the user may name.
    tops = [f"{part}={folder}" if part else folder for part, folder in said.images] or [""]
    there = dict.fromkeys(path for top in tops for path in below(every, top))
    images = [name for name in there if name.lower().endswith(tuple(said.endings))]
    by_tool, problems, others = _read_sheets(listing, files, images)
    try:
        if yolo_files := _find_yolo(listing, files, images):
            by_tool["YOLO"] = _read_yolo(listing, yolo_files)
        if not by_tool:
            return None, problems
        ending = posixpath.splitext(options.get("mask_name", ""))[1].lower()
        by_tool = {t: s for t, s in by_tool.items() if _ENDINGS.get(t) == ending} or by_tool
        (tool, sheets), *more = by_tool.items()
        if not more:
            notes = notes_on(problems)
            if others:
                notes.append(f"{len(others)} files such as {others[0]} are not {tool}'s.")
            return _tree(listing, tool, sheets, images, notes, exif), problems
    except LayoutError as error:
        if error.kind != _UNUSABLE:
            raise
        return None, [error, *problems]
    raise QuestionError(
        listing.root,
        [Alternative(f"{t}'s {min(of)}", choice_of(t, [*of])) for t, of in by_tool.items()],
        to="read the labels, by polygons of several tools",
        expected="polygons of one tool, or a folder of masks that --masks names",
        kind="polygons of several tools",
    )


_ENDINGS = {"labelme": ".json", "YOLO": ".txt"}  # of tools that have a file per image


def choice_of(tool: str, files: Sequence[str]) -> dict[str, str]:
    """Returns the option that chooses the polygons of a tool."""
    if tool in _ENDINGS:
        return {"mask_name": f"{ID}{_ENDINGS[tool]}"}
    return {"masks": files[0] if len(files) == 1 else common(*files) or files[0]}


def notes_on(problems: Sequence[VocSegError]) -> list[str]:
    """Returns notes about files of polygons that are not read, one for each kind of problem."""
    by_found = collections.defaultdict(list)
    for problem in problems:
        by_found[problem.found].append(posixpath.basename(problem.where))
    return [
        f"{name} {f'and {len(more)} more files are' if more else 'is'} not read: {reason}."
        for reason, (name, *more) in by_found.items()
    ]


def _read_sheets(
    listing: Listing, files: Sequence[str], images: Sequence[str]
) -> tuple[dict[str, dict[str, Sheet]], list[VocSegError], list[str]]:
    """Returns what files of JSON and XML hold, errors about some, and those of no tool."""
    by_tool: dict[str, dict[str, Sheet]] = collections.defaultdict(dict)
    problems, others = list[VocSegError](), list[str]()
    read = functools.partial(_read_sheet, os.fspath(listing.root))
    names = [name for name in files if name.lower().endswith((".json", ".xml"))]
    for name, (tool, sheet) in ordered_map(read, names, ahead=1):
        if isinstance(sheet, MaskError):
            problems.append(sheet)
            if tool != "labelme":
                continue
            sheet = _damaged(name, sheet)
        if sheet is None:
            others.append(name)
        else:
            by_tool[tool][name] = sheet
    if sheets := by_tool.get("labelme"):
        folders = {posixpath.dirname(path) for path in (*sheets, *images)}
        stems = {*map(stem, images)}
        likely = [n for n in others if stem(n) in stems and posixpath.dirname(n) in folders]
        for name in likely:
            if error := _not_json(listing, name):
                problems.append(error)
                sheets[name] = _damaged(name, error)
        others = [name for name in others if name not in sheets]
    return by_tool, problems, others


def _damaged(name: str, error: MaskError) -> Sheet:
    """Returns the sheet of a file of labelme's that cannot be read: one image lacks its mask."""
    return Sheet((), [Annotation(name, stem(name), None, error=error)])


def _not_json(listing: Listing, name: str) -> MaskError | None:
    """Returns the error about a JSON file that is cut off or overwritten, but not empty."""
    try:
        file = File.read(listing.root / name, MaskError)
        if name.lower().endswith(".json") and file.data.strip():
            with as_written(file.where, "labelme's JSON, to its end"):
                json.loads(file.data.decode("utf-8-sig"))
    except MaskError as error:
        return error
    return None


def _read_sheet(root: str, name: str) -> tuple[str, Sheet | MaskError | None]:
    """Returns the tool that wrote a file, and what the file holds, or what is wrong with it."""
    tool = ""
    try:
        file = File.read(posixpath.join(root, name), MaskError)
        for tool, (ending, word, pattern, reader) in _TOOLS.items():
            if not name.lower().endswith(ending) or word not in file.data:
                continue
            if re.search(pattern, file.data):
                return tool, reader(file)
        for tool, (text, remedy) in _OTHER_TOOLS.items():
            if re.search(text.encode(), file.data):
                raise wrong(
                    name, f"{tool}'s JSON", "polygons of labelme, COCO, YOLO or CVAT", remedy
                )
    except MaskError as error:
        return tool, error
    return "", None


def _find_yolo(
    listing: Listing, files: Sequence[str], images: Sequence[str]
) -> dict[str, str | None]:
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


def _read_yolo(listing: Listing, files: Mapping[str, str | None]) -> dict[str, Sheet]:
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
        raise refused[0].changed(type="LayoutError", kind=_UNUSABLE)
    if len(by_names) != 1:
        raise LayoutError(
            listing.root / next(filter(None, files.values())),
            found=f"polygons of YOLO, and {len(by_names)} files that name their classes "
            f"{' and '.join(by_names.values())}".strip(),
            expected="one file data.yaml with `names`",
            remedy="write one, such as `names: [crack, hole]`, or remove the others",
            kind=_UNUSABLE,
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


def _tree(
    listing: Listing,
    tool: str,
    sheets: dict[str, Sheet],
    images: Sequence[str],
    notes: Sequence[str],
    exif: str,
) -> VocTree:
    finder = SheetImages(tool, images, sheets)
    shapes: dict[str, tuple[str, Annotation]] = {}
    images_of_split: dict[str, list[str]] = collections.defaultdict(list)
    lost, embedded = list[str](), set[str]()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            path = finder.find(file, annotation)
            if path is None and annotation.embedded:
                ending = posixpath.splitext(annotation.image)[1] or ".jpg"
                path = posixpath.splitext(file)[0] + ending
                embedded.add(path)
            if path is None:
                lost.append(annotation.image or file)
                continue
            images_of_split[split_word(file)[0]].append(path)
            # The same shapes may stand at other places of two files.
            first_file, first = shapes.get(path, (file, annotation))
            error = first.error or annotation.error
            held, new = ([s[:2] + s[3:] for s in a.shapes] for a in (first, annotation))
            if not error and held != new:
                found = f"other shapes of {path} than {first_file}"
                remedy = f"name the file that is right: {command(masks=file)}"
                if file == first_file:
                    found = f"other shapes of {path} as {annotation.image} than as {first.image}"
                    remedy = ""
                error = wrong(file, found, "one file for each image", remedy)
            annotation = dataclasses.replace(annotation, error=error)
            shapes[path] = file, annotation
    if not shapes:
        raise LayoutError(
            listing.root,
            found=f"{tool}'s {min(sheets)}, but no image {min(lost, default='')}".strip(),
            expected="the images beside their polygons",
            remedy="put the images into the folder, under the names in the file",
            kind=_UNUSABLE,
        )
    top = common(*shapes) or "."
    names = {path: posixpath.relpath(path, top) for path in shapes}
    ids = {path: posixpath.splitext(name)[0] for path, name in names.items()}
    _check_unique(listing, ids)
    if lost:
        are = f"{counted(len(lost), 'image')} {'is' if len(lost) == 1 else 'are'}"
        notes = [*notes, f"{are} in {tool}'s files and not here, such as {min(lost)}."]
    used = {shape.label for _, annotation in shapes.values() for shape in annotation.shapes}
    class_file, values, class_notes = classes_of(tool, sheets.values(), used, listing)
    notes = [*notes, *(note for sheet in sheets.values() for note in sheet.notes), *class_notes]
    splits = dict[str, list[str]]()
    if tool in ("COCO", "CVAT") and len(sheets) > 1:
        splits, split_notes = _splits(images_of_split, ids)
        notes += split_notes
    ending = posixpath.splitext(next(iter(sheets)))[1]
    labels = DrawnLabels(
        listing.root,
        Names({ids[path]: file for path, (file, _) in shapes.items()}),
        images={ids[path]: name for path, name in names.items()},
        sheets={*sheets},
        splits=splits,
        class_file=class_file,
        tool=tool,
        image_folder=listing.root / top,
        values=values,
        shapes={ids[path]: annotation for path, (_, annotation) in shapes.items()},
        embedded={ids[path] for path in embedded},
        exif=exif,
    )
    layout = Layout(top, ".", mask_name=f"{ID}{ending}")
    notes = [*dict.fromkeys([*notes, *finder.notes()])]
    return VocTree(listing.root, layout, listing, notes, labels)


def _splits(
    images: Mapping[str, Sequence[str]], ids: Mapping[str, str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Returns ids by split, if files called as splits have all images; and notes."""
    named = {word: [ids[path] for path in paths] for word, paths in images.items() if word}
    unnamed = {ids[path] for path in images.get("", ())}
    if unnamed <= {image_id for of_word in named.values() for image_id in of_word}:
        return named, []
    words = ", ".join(named)
    note = f"Not all files are called as splits, so these make none: {words}."
    return {}, [note] if named else []


def _check_unique(listing: Listing, ids: Mapping[str, str]) -> None:
    owners: dict[str, str] = {}
    for path, image_id in ids.items():
        if (owner := owners.setdefault(image_id, path)) != path:
            raise LayoutError(
                listing.root / path,
                found=f"polygons of this image, and of {posixpath.basename(owner)} beside it",
                expected="images whose names differ before the ending, which is no part of an id",
                remedy="rename one of them, in the file of the polygons too; of an image and its "
                "mask, name the file to read with --masks",
            )
