"""Finds the polygons of labelling tools in a folder, and the image of each."""

import collections
from collections.abc import Iterable, Mapping, Sequence, Set
import contextlib
import dataclasses
import posixpath
import re
from typing import cast

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import LayoutError, MaskError
from voc_seg_tfrecord.base.names import VOID, background_index, unprintable
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.formats.class_files import ClassFile, is_void_name
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.masks import stored
from voc_seg_tfrecord.own_data.folder_names import common_folder, split_word
from voc_seg_tfrecord.polygons import coco, cvat, labelme, yolo
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet, wrong
from voc_seg_tfrecord.trees.layout import ID, Layout
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.polygon_tree import PolygonPair, Polygons, PolygonTree
from voc_seg_tfrecord.trees.tree import VocTree

# By ending: words that all are in a file of a tool, and its reader.
_TOOLS = {
    "labelme": (".json", (rb'"shapes"\s*:\s*\[', rb'"image(Path|Data)"\s*:'), labelme.read),
    "COCO": (".json", (rb'"annotations"\s*:\s*\[', rb'"images"\s*:\s*\['), coco.read),
    "CVAT": (".xml", (rb"<annotations>", rb"<(image|track)\b"), cvat.read),
}
_SAMPLE = 50  # files of a folder by which it is seen that it holds no polygons
_YOLO_LINE = re.compile(rb"\A\s*\d+([ \t]+[-+.\de]+){6,}\s*$", re.MULTILINE)


def find(listing: Listing, said: Mapping[str, str]) -> tuple[PolygonTree | None, list[MaskError]]:
    """Returns the tree of the polygons in a folder, None if there are none.

    Args:
      listing: all that lies in the folder.
      said: the fields of the layout that the user gave; `masks` may be a file of polygons.

    Returns:
      The tree, and errors about files of tools that hold something else, such as boxes.

    Raises:
      LayoutError: if there are polygons of several tools, or of images that are not there.
    """
    files = _below(listing.below(), said.get("masks", ""))
    images = [f for f in listing.below() if f.lower().endswith(IMAGE_SUFFIXES)]
    images = _below(images, said.get("images", ""))
    sheets: dict[str, dict[str, Sheet]] = collections.defaultdict(dict)
    others = list[MaskError]()
    for tool, (ending, patterns, reader) in _TOOLS.items():
        unlike = collections.Counter[str]()  # files of a folder that are not the tool's
        for name in (f for f in files if f.lower().endswith(ending)):
            folder = posixpath.dirname(name)
            if unlike[folder] > _SAMPLE:  # VOC has thousands of XML files
                continue
            file = File.read(listing.root / name, MaskError)
            if not all(re.search(pattern, file.data) for pattern in patterns):
                unlike[folder] += 1
            else:
                try:
                    sheets[tool][name] = reader(file)
                except MaskError as error:
                    others.append(error)
                    if tool == "labelme":  # one image cannot be used
                        sheets[tool][name] = Sheet((), [Annotation(name, "", None, error=error)])
    if yolo_files := _yolo_files(listing, files, images):
        sheets["YOLO"] = _read_yolo(listing, yolo_files)
    if len(sheets) > 1:
        shown = "; ".join(f"{tool}'s {min(found)}" for tool, found in sheets.items())
        raise LayoutError(
            listing.root,
            found=f"polygons of several tools: {shown}",
            expected="polygons of one tool",
            remedy="name the file or the folder of one of them with --masks",
        )
    for tool, found in sheets.items():
        notes = [f"{epath.Path(e.where).name} is not read: {e.found}." for e in others]
        return _tree(listing, tool, found, images, notes), others
    return None, others


def _below(paths: Iterable[str], top: str) -> list[str]:
    """Returns the paths at or below one; all if it is empty."""
    top = posixpath.normpath(top)
    return [p for p in paths if top in (".", p) or p.startswith(f"{top}/")]


def _yolo_files(
    listing: Listing, files: Sequence[str], images: Sequence[str]
) -> dict[str, str | None]:
    """Returns the text file of each image in folders of images that have some, None without one."""
    texts = {f for f in files if f.lower().endswith(".txt")}
    names = {posixpath.basename(text)[:-4] for text in texts}
    if not any(posixpath.basename(image).rpartition(".")[0] in names for image in images):
        return {}
    pairs = {image: _label_of(image, texts) for image in images}
    some = [text for text in pairs.values() if text][:_SAMPLE]
    if not any(_YOLO_LINE.search(File.read(listing.root / t, MaskError).data) for t in some):
        return {}
    folders = {posixpath.dirname(image) for image, text in pairs.items() if text}
    return {image: text for image, text in pairs.items() if posixpath.dirname(image) in folders}


def _label_of(image: str, texts: Set[str]) -> str | None:
    stem = posixpath.splitext(image)[0]
    *above, name = stem.split("/")
    places = [stem]
    for place, folder in enumerate(above):
        if folder == "images":
            places.append("/".join([*above[:place], "labels", *above[place + 1 :], name]))
    return next((f"{place}.txt" for place in places[::-1] if f"{place}.txt" in texts), None)


def _read_yolo(listing: Listing, files: Mapping[str, str | None]) -> dict[str, Sheet]:
    found: dict[tuple[str, ...], str] = {}
    for path in sorted(listing.below(), key=lambda path: (path.count("/"), path)):
        if path.lower().endswith((".yaml", ".yml")):
            with contextlib.suppress(LayoutError, MaskError):  # a file of another program
                found.setdefault(yolo.read_names(File.read(listing.root / path)), path)
    found.pop((), None)
    if len(found) != 1:
        raise LayoutError(
            listing.root,
            found=f"polygons of YOLO, and {len(found)} files that name their classes "
            f"{' and '.join(found.values())}".strip(),
            expected="one file data.yaml with `names`",
            remedy="write one, such as `names: [crack, hole]`, or remove the others",
        )
    (names,) = found
    sheets = {}
    for image, text_file in files.items():
        path = text_file or image
        try:
            text = File.read(listing.root / path, MaskError) if text_file else File(b"", image)
            (annotation,) = yolo.read(text, names).annotations
        except MaskError as error:
            annotation = Annotation(path, "", None, error=error)
        sheets[path] = Sheet(names, [dataclasses.replace(annotation, image=image)])
    return sheets


def _tree(
    listing: Listing,
    tool: str,
    sheets: Mapping[str, Sheet],
    images: Sequence[str],
    notes: Sequence[str],
) -> PolygonTree:
    place = _Images(images)
    shapes: dict[str, tuple[str, Annotation]] = {}
    lost, embedded = list[str](), set[str]()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            path = place.of(tool, file, annotation)
            if path is None and annotation.embedded:
                ending = posixpath.splitext(annotation.image)[1] or ".jpg"
                path = posixpath.splitext(file)[0] + ending
                embedded.add(path)
            if path is None:
                lost.append(annotation.image or file)
            elif path in shapes and shapes[path][1].shapes != annotation.shapes:
                found = f"other shapes of {path} than {shapes[path][0]}"
                remedy = f"name the file that is right: {command(masks=file)}"
                error = wrong(file, found, "one file for each image", remedy)
                annotation = dataclasses.replace(annotation, error=error)
            if path is not None:
                shapes[path] = file, annotation
    if not shapes:
        raise LayoutError(
            listing.root,
            found=f"{tool}'s {min(sheets)}, but no image {min(lost, default='')}".strip(),
            expected="the images beside their polygons",
            remedy="put the images into the folder, under the names in the file",
        )
    common = common_folder([posixpath.dirname(path) for path in shapes])
    ids = {path: posixpath.splitext(posixpath.relpath(path, common or "."))[0] for path in shapes}
    notes = [*dict.fromkeys([*notes, *(note for sheet in sheets.values() for note in sheet.notes)])]
    if lost:
        notes.append(f"{len(lost)} images in {tool}'s files are not here, such as {min(lost)}.")
    names = [*dict.fromkeys(name for sheet in sheets.values() for name in sheet.class_names)]
    used = {shape.label for _, annotation in shapes.values() for shape in annotation.shapes}
    if groups := {group for sheet in sheets.values() for group in sheet.groups} & {*names} - used:
        names = [name for name in names if name not in groups]
        notes.append(f"{', '.join(sorted(groups))} only groups other classes, so it is none.")
    if tool == "labelme":
        names = sorted(
            {shape.label for _, annotation in shapes.values() for shape in annotation.shapes}
        )
        notes.append("labelme does not number classes, so they are sorted by name.")
    entries, values = _numbered(names, listing)
    splits = collections.defaultdict(list)
    for path, (file, _) in shapes.items():
        splits[split_word(file)[0]].append(ids[path])
    polygons = Polygons(
        tool,
        ClassFile(f"{tool}'s files", entries),
        values,
        images={ids[path]: posixpath.relpath(path, common or ".") for path in shapes},
        shapes={ids[path]: annotation.to_json() for path, (_, annotation) in shapes.items()},
        files={ids[path]: file for path, (file, _) in shapes.items()},
        embedded={ids[path] for path in embedded},
        splits={} if "" in splits or len(sheets) == len(shapes) else splits,
    )
    ending = posixpath.splitext(next(iter(sheets)))[1]
    layout = Layout(common or ".", ".", mask_name=f"{ID}{ending}")
    return PolygonTree(listing.root, layout, listing, notes, polygons=polygons)


def _numbered(names: Sequence[str], listing: Listing) -> tuple[tuple[Entry, ...], dict[str, int]]:
    """Returns background and the classes after it, and the value of each label in masks."""
    if strange := [name for name in names if unprintable(name)]:
        raise LayoutError(
            listing.root,
            found=f"the class name {strange[0]!r}",
            expected="names without control characters",
            remedy="rename the class in the tool, and export again",
        )
    void = [name for name in names if is_void_name(name)]
    classes = [name for name in names if name not in void]
    place = background_index(classes)
    background = "background" if place is None else classes.pop(place)
    if len(classes) >= VOID - 1:
        raise LayoutError(
            listing.root,
            found=f"{len(classes)} classes",
            expected=f"at most {VOID - 2} classes and background, which a mask can hold",
            remedy="merge classes in the tool",
        )
    entries = tuple(Entry(value, name) for value, name in enumerate([background, *classes]))
    return entries, {e.name: e.value for e in entries} | dict.fromkeys(void, VOID)


class _Images:
    """The images of a folder, by the names that files of tools have for them."""

    def __init__(self, paths: Sequence[str]):
        self._paths = paths
        self._by_stem: dict[str, list[str]] = collections.defaultdict(list)
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        # Of a.jpg and a.png, the latter may be a mask.
        for path in sorted(
            paths, key=lambda p: IMAGE_SUFFIXES.index(posixpath.splitext(p)[1].lower())
        ):
            self._by_stem[posixpath.splitext(path)[0]].append(path)
            self._by_name[posixpath.basename(path)].append(path)

    def of(self, tool: str, file: str, annotation: Annotation) -> str | None:
        """Returns the path of an annotation's image, None if there is none.

        Raises:
          MaskError: if several images may be meant.
        """
        if tool == "YOLO":
            return annotation.image
        said = posixpath.normpath(posixpath.join(posixpath.dirname(file), annotation.image))
        if tool == "labelme":
            beside = self._by_stem.get(posixpath.splitext(file)[0], [])
            named = [
                path for path in self._by_name.get(posixpath.basename(said), []) if path == said
            ]
            if beside and named and named[0] not in beside:
                raise wrong(
                    file,
                    f"the shapes of {annotation.image}, and {beside[0]} beside it",
                    "the shapes of the image of the same name",
                    "rename the file as its image, or correct imagePath in it",
                )
            if found := named or beside:
                return found[0]
        name = posixpath.basename(annotation.image)
        found = [p for p in self._by_name.get(name, ()) if f"/{p}".endswith(f"/{annotation.image}")]
        found = found or self._by_name.get(name, [])
        if len(found) > 1:  # those in the file's own folder or split
            near = [p for p in found if p.startswith(posixpath.join(posixpath.dirname(file), ""))]
            near = near or [p for p in found if split_word(p)[1] == split_word(file)[1]]
            found = near or found
        if len(found) > 1:
            raise wrong(
                file,
                f"the image {annotation.image}, which may be {' or '.join(found[:3])}",
                "one image of this name",
                "write the folder before the name",
            )
        return found[0] if found else None


def choose(tree: VocTree, polygons: PolygonTree) -> VocTree:
    """Returns the masks of a folder that has polygons too, if both have the same pixels.

    Raises:
      LayoutError: if they have not, with the options that choose each.
    """
    tool, files = polygons.polygons.tool, [*dict.fromkeys(polygons.polygons.files.values())]
    if not (different := _different(tree, polygons)):
        tree.notes = [*tree.notes, f"The masks are read. {tool}'s polygons have the same pixels."]
        return tree
    of_image = tool in ("labelme", "YOLO")
    pattern = f"{ID}{posixpath.splitext(files[0])[1]}"
    take = command(mask_name=pattern) if of_image else command(masks=files[0])
    first = next(iter(tree.masks.values()))
    masks = posixpath.join(tree.place, tree.layout.masks)
    together = bool(_below(files, masks))
    pattern = tree.layout.mask_name or f"{ID}{posixpath.splitext(first)[1]}"
    leave = command(mask_name=pattern) if together else command(masks=masks)
    raise LayoutError(
        tree.given,
        found=f"{len(tree.masks)} masks in {masks}, such as {first}, and {tool}'s polygons of "
        f"{len(polygons.masks)} images, such as {files[0]}. They differ, as in {different}",
        expected="masks or polygons, or the same pixels in both",
        remedy=f"choose the masks with {leave}, or the polygons with {take}",
    )


def _different(tree: VocTree, polygons: PolygonTree) -> str:
    """Returns an image of which masks and polygons have other pixels; empty if there is none.

    The values of masks may be others, if each stands for one label.
    """
    top, other_top = posixpath.join(tree.place, tree.layout.images), polygons.layout.images
    by_path = {posixpath.normpath(posixpath.join(top, n)): i for i, n in tree.images.items()}
    labels: dict[int, int] = {}
    for image_id in polygons.masks:
        path = posixpath.normpath(posixpath.join(other_top, polygons.images[image_id]))
        mask = tree.masks.get(by_path.get(path, ""))
        if mask is None:
            return path
        try:
            pixels = stored.read_samples(File.read(tree.root / tree.layout.masks / mask, MaskError))
            pair = cast(PolygonPair, polygons.pair(image_id))
            drawn = pair.draw(Annotation.from_json(pair.shapes)).mask.astype(np.int64)
        except MaskError:
            return path
        values = pixels.values.astype(np.int64)
        if pixels.kind == "rgb":
            values = values @ (1 << 16, 1 << 8, 1)
        if values.shape != drawn.shape:
            return path
        for both in np.unique(values << 8 | drawn).tolist():
            if labels.setdefault(both >> 8, both & 255) != both & 255:
                return path
    listed = [*labels.values()]
    return "" if len({*listed}) == len(listed) else "classes that the masks tell apart"
