"""Finds the tree that a folder holds: its folders, its parts, and which of both the user means.

The folder is listed once. `readings` finds what may pair, `choice` chooses, and here the choice
becomes a layout, or the question that the user has to answer.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import ConfigError, LayoutError, did_you_mean
from voc_seg_tfrecord.base.storage import open_file
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data import polygon_sets, yolo_sets
from voc_seg_tfrecord.own_data.account import NO_MASKS, check_channels, check_objects, no_masks
from voc_seg_tfrecord.own_data.arrange import arrange, relative, several_sets, several_ways, without
from voc_seg_tfrecord.own_data.choice import Chooser
from voc_seg_tfrecord.own_data.file_sets import FileSet, file_sets, sets_of_pattern
from voc_seg_tfrecord.own_data.folder_names import common_folder
from voc_seg_tfrecord.own_data.question import Rival, question
from voc_seg_tfrecord.own_data.readings import Reading, all_readings
from voc_seg_tfrecord.trees.layout import (
    ID,
    MASK_SUFFIXES,
    SPLIT,
    Layout,
    Naming,
    Part,
)
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.polygon_tree import PolygonTree
from voc_seg_tfrecord.trees.tree import VocTree

_LABEL_NAMES = "label_names.txt"  # of labelme_json_to_dataset
_READ = 1 << 20  # bytes of a JSON file that are looked at


def find_tree(folder: epath.Path, said: Mapping[str, str]) -> VocTree:
    """Finds the tree at or below a folder.

    Args:
      folder: the folder that the user gave.
      said: the fields of the layout that the user gave. Folders are relative to the given one;
        one that is not there means the folders of that name in each part.

    Raises:
      ConfigError: if there is no folder that the user named.
      LayoutError: if there are no images with masks, or several readings; the error lists them
        with the options that choose each.
    """
    listing = Listing.of(folder)
    name = said.get("mask_name", "")
    said_masks = name.lower().endswith(MASK_SUFFIXES)
    # Images of polygons have no parts that the user may name.
    tops = [f"{part}={f}" if part else f for part, f in _said_folders(listing, said, "images")]
    polygons, problems = (None, []) if said_masks else polygon_sets.find(listing, said, tops)
    if polygons and (name or ("masks" in said and not _has_masks(listing, said["masks"]))):
        return _with_lists(polygons, said)
    try:
        tree = _mask_tree(listing, folder, said)
    except LayoutError as error:
        if error.kind != NO_MASKS or not (polygons or problems):
            raise
        if polygons is None:
            raise problems[0] from None
        return _with_lists(polygons, said)
    _check_one_numbering(tree)
    if polygons:
        return _masks_or_polygons(tree, polygons)
    tree.notes = [*tree.notes, *polygon_sets.notes_on(problems)]
    return tree


def _has_masks(listing: Listing, place: str) -> bool:
    """Says whether a file of pixels lies at or below a place that the user said."""
    return any(p.lower().endswith(MASK_SUFFIXES) for p in yolo_sets.below(listing.below(), place))


def _masks_or_polygons(tree: VocTree, polygons: PolygonTree) -> VocTree:
    """Returns the masks of a folder that has polygons too, if both have the same pixels.

    Raises:
      LayoutError: if they have not, with the options that choose each.
    """
    tool, files = polygons.polygons.tool, [*dict.fromkeys(polygons.polygons.files.values())]
    if not (different := polygons.different(tree)):
        tree.notes = [*tree.notes, f"The masks are read. {tool}'s polygons have the same pixels."]
        return tree
    first = next(iter(tree.masks.values()))
    masks = posixpath.join(tree.place, tree.layout.masks)
    together = bool(yolo_sets.below(files, masks))
    pattern = tree.layout.mask_name or f"{ID}{posixpath.splitext(first)[1]}"
    options = wording.command(**({"mask_name": pattern} if together else {"masks": masks}))
    drawn = f"{tool}'s polygons of {len(polygons.masks)} images, such as {files[0]}"
    rivals = [
        Rival(f"{len(tree.masks)} masks in {masks}, such as {first}", options),
        Rival(drawn, polygon_sets.choice_of(tool, files)),
    ]
    raise question(
        LayoutError,
        tree.given,
        rivals,
        to=f"read the labels, which differ, as in {different}",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
    )


def _mask_tree(listing: Listing, folder: epath.Path, said: Mapping[str, str]) -> VocTree:
    """Finds the tree whose masks are files of pixels; see `find_tree`."""
    images, masks = (_said_folders(listing, said, name) for name in ("images", "masks"))
    if any("/" in said.get(name, "") for name in ("image_name", "mask_name")):
        return _with_lists(_as_said(listing, said, images, masks), said)
    readings = _readings(listing, said, images, masks)
    chooser = Chooser(listing, readings, said)
    if len(images) == len(masks) > 1 and all(name for name, _ in (*images, *masks)):
        root, layout = "", _said_parts(chooser, images, masks)
    else:
        choice = chooser.choose()
        if images and masks:  # then the rest only stands in the account
            choice.beside = []
        for r in (*choice.chosen, *choice.rivals):
            check_objects(listing, r.images.folder, r.masks.folder, r.images.names)
        if choice.rivals:
            raise several_ways(listing, choice)
        if "image_name" not in said:
            used = {r.masks.folder for r in choice.chosen}
            tops = [[f for _, f in of] or [""] for of in (images, masks)]
            there = [[f for f in listing.folders if _top(f, of) is not None] for of in tops]
            check_channels(listing, there[0], {*there[1]} - used)
        if not choice.chosen:
            return _with_lists(_without_pairs(listing, said, images, masks, readings), said)
        arranged = arrange(listing, choice.chosen)
        if arranged is None or choice.beside:
            raise several_sets(listing, choice)
        _check_no_panoptic(listing, choice.chosen)
        root, layout = arranged
        copies = tuple(relative(folder, root) for folder in choice.copies)
        layout = dataclasses.replace(layout, without=without(readings, choice), copies=copies)
    return _with_lists(VocTree(folder / root if root else folder, layout, listing), said)


def _check_no_panoptic(listing: Listing, readings: Sequence[Reading]) -> None:
    """Checks that no masks are those of COCO's panoptic format, whose pixels number segments.

    Raises:
      LayoutError: if a JSON file beside the folder of masks says what its segments are.
    """
    for reading in readings:
        folder, name = posixpath.split(reading.masks.folder)
        if f"{name}.json" not in listing.folders.get(folder, ()):
            continue
        path = listing.root / folder / f"{name}.json"
        with open_file(path) as file:
            if b'"segments_info"' not in file.read(_READ):
                continue
        raise LayoutError(
            path,
            found="COCO's panoptic format: the pixels of its PNGs are numbers of segments, and not "
            "classes",
            expected="masks whose values or colours are the classes",
            remedy="make masks of classes with panopticapi: "
            + wording.command(
                "python",
                "converters/panoptic2semantic_segmentation.py",
                input_json_file=path,
                segmentations_folder=listing.root / reading.masks.folder,
                semantic_seg_folder=listing.root / folder / "masks",
                categories_json_file=path,
            ),
        )


def _check_one_numbering(tree: VocTree) -> None:
    """Checks that masks in folders of their own, with names of labels beside them, mean the same.

    Raises:
      LayoutError: if labelme numbered the labels of each image anew.
    """
    if "/" not in tree.layout.mask_name:
        return
    top = posixpath.join(tree.place, tree.layout.masks)
    folders = {posixpath.normpath(posixpath.join(top, n, "..")) for n in tree.masks.values()}
    texts: dict[bytes, str] = {}
    for folder in sorted(folders):
        if tree.listing and _LABEL_NAMES in tree.listing.folders.get(folder, ()):
            path = tree.given / folder / _LABEL_NAMES
            texts.setdefault(tree.read_text(path).data, str(path))
    if len(texts) > 1:
        first, second, *_ = texts.values()
        raise LayoutError(
            second,
            found=f"other names than in {first}: labelme_json_to_dataset numbers the labels of "
            "each image anew",
            expected="masks in which a value is the same class everywhere",
            remedy="give the folder of labelme's JSON files in place of this one: they are read",
        )


# What the user said.


def _said_folders(listing: Listing, said: Mapping[str, str], option: str) -> list[tuple[str, str]]:
    """Returns the folders that an option names, each with the name of its part if it has one.

    Raises:
      ConfigError: if there is no such folder.
    """
    text = said.get(option, "")
    if not text or listing.is_folder(_resolved(listing, text)):
        return [("", _resolved(listing, text))] if text else []
    folders: list[tuple[str, str]] = []
    for item in text.split(","):
        name, _, path = item.rpartition("=")
        path = _resolved(listing, path)
        if listing.is_folder(path):
            folders.append((name, path))
            continue
        pattern = re.compile("(.*/)?" + re.escape(path).replace(re.escape(SPLIT), "[^/]+"))
        there = [("", f) for f in listing.folders if path and pattern.fullmatch(f)]
        if not there:
            raise ConfigError(
                f"option {option}",
                found=f"no folder {path!r} in {listing.root}{did_you_mean(path, listing.folders)}",
                expected=f"the folder of {option}, relative to {listing.root}",
                remedy="check the name",
            )
        folders += there
    return folders


def _resolved(listing: Listing, text: str) -> str:
    """Returns a path as the listing has it; linked folders by the name under which they are."""
    path = posixpath.normpath(text.strip().replace("\\", "/"))
    # A folder may hold one of its own name, and what is said is relative to the outer one.
    if path.partition("/")[0] not in listing.folders:
        path = path.removeprefix(f"{listing.root}/")
    inside = f"{posixpath.realpath(str(listing.root))}/"
    for link, to in listing.links.items():
        if f"{path}/".startswith(f"{link}/"):
            path = (to + path[len(link) :]).removeprefix(inside)
    return "" if path == "." else path


def _as_said(
    listing: Listing,
    said: Mapping[str, str],
    images: Sequence[tuple[str, str]],
    masks: Sequence[tuple[str, str]],
) -> VocTree:
    """Returns the tree of patterns that name folders, which need no reading."""
    tops = [named[0][1] if named else "" for named in (images, masks)]
    names, of_split = list[str](), dict[str, list[str]]()
    for top, option in zip(tops, ("image_name", "mask_name"), strict=True):
        folder, _, name = said.get(option, "").rpartition("/")
        if SPLIT not in folder:
            names.append(said.get(option, ""))
            continue
        names.append(name)
        wanted = re.escape(posixpath.join(top, folder)).replace(re.escape(SPLIT), "([^/]+?)", 1)
        for path in listing.folders:
            if match := re.fullmatch(wanted, path):
                of_split.setdefault(match[1], []).append(path)
    parts = [Part(n, *f, *names) for n, f in sorted(of_split.items()) if len(f) == 2]
    if parts:
        layout = Layout(".", ".", parts=tuple(parts))
    else:
        layout = Layout(tops[0] or ".", tops[1] or ".", names[0], names[1])
    return VocTree(listing.root, layout, listing)


def _readings(
    listing: Listing,
    said: Mapping[str, str],
    images: Sequence[tuple[str, str]],
    masks: Sequence[tuple[str, str]],
) -> list[Reading]:
    """Returns the readings that what the user said allows."""
    tops = {"images": [f for _, f in images], "masks": [f for _, f in masks]}
    sets = dict(zip(tops, file_sets(listing, listing.folders), strict=True))
    mask_naming = Naming.parse(said["mask_name"]) if "mask_name" in said else None
    for option, pattern, endings in (
        ("images", said.get("image_name"), IMAGE_SUFFIXES),
        ("masks", said.get("mask_name"), MASK_SUFFIXES),
    ):
        if pattern:
            sets[option] = sets_of_pattern(listing, listing.folders, pattern, endings)
        elif option == "images" and mask_naming:
            sets[option] = [_without_masks(s, mask_naming) for s in sets[option]]
        sets[option] = [s for s in sets[option] if s.names]
        if tops[option]:
            sets[option] = [s for s in sets[option] if _top(s.folder, tops[option]) is not None]
    readings = [
        r
        for r in all_readings(*sets.values())
        if not (r.images.pattern and r.image_affix != ("", ""))
        and not (r.masks.pattern and r.mask_affix != ("", ""))
    ]
    if images and masks:  # what lies at the same place in both comes before all else
        same = [
            r
            for r in readings
            if _below(r.images, tops["images"]) == _below(r.masks, tops["masks"])
        ]
        readings = same or readings
    return readings


def _top(folder: str, tops: Sequence[str]) -> str | None:
    """Returns the deepest of some folders that has a folder, None if none has."""
    having = [t for t in tops if not t or folder == t or folder.startswith(f"{t}/")]
    return max(having, key=len, default=None)


def _below(files: FileSet, tops: Sequence[str]) -> str:
    return files.folder[len(_top(files.folder, tops) or "") :].strip("/")


def _without_masks(files: FileSet, naming: Naming) -> FileSet:
    names = {stem: name for stem, name in files.names.items() if not naming.id_of(name)}
    return dataclasses.replace(files, names=names)


def _said_parts(
    chooser: Chooser, images: Sequence[tuple[str, str]], masks: Sequence[tuple[str, str]]
) -> Layout:
    """Returns the layout of parts that the user named, as in `train=images,test=more/images`.

    Raises:
      ConfigError: if the parts of images and of masks have other names, or one has no pairs.
    """
    of_masks = dict(masks)
    parts = []
    if twice := [folder for _, folder in images if [f for _, f in images].count(folder) > 1]:
        raise ConfigError(
            "option images",
            found=f"the folder {twice[0]!r} in two parts",
            expected="folders of their own for each part",
            remedy="name each folder once",
        )
    for name, folder in images:
        pairs = [
            r
            for r in chooser.readings
            if (r.images.folder, r.masks.folder) == (folder, of_masks.get(name))
        ]
        if not pairs:
            raise ConfigError(
                "option images",
                found=f"the part {name!r} without masks for its images in {folder!r}",
                expected="the same names in --images and --masks, such as train=A,test=B, and "
                "masks in each",
                remedy="check the names and the folders",
            )
        best = max(pairs, key=lambda r: (chooser.as_masks(r) + chooser.as_images(r), len(r.pairs)))
        folders = best.images.folder or ".", best.masks.folder or "."
        parts.append(Part(name, *folders, best.image_name, best.mask_name))
    return Layout(".", ".", parts=tuple(parts))


def _without_pairs(
    listing: Listing,
    said: Mapping[str, str],
    images: Sequence[tuple[str, str]],
    masks: Sequence[tuple[str, str]],
    readings: Sequence[Reading],
) -> VocTree:
    """Returns the tree of folders that are called images and masks, however files are named.

    What does not fit is said when names are compared.

    Raises:
      LayoutError: if there are no such folders; the error says what lies there instead.
    """
    image_sets, mask_sets = file_sets(listing, listing.folders)
    chooser = Chooser(listing, readings)
    folders = []
    for option, given, sets in (("images", images, image_sets), ("masks", masks, mask_sets)):
        if given:
            folders.append({given[0][1]})
        else:
            of_role = sorted({s.folder for s in sets if chooser.role(s) == option})
            folders.append({f for f in of_role if _top(f, [o for o in of_role if o != f]) is None})
    if len(folders[0]) == len(folders[1]) == 1 and (folders[0] != folders[1] or said):
        (image_folder,), (other,) = folders
        root = "" if images or masks else common_folder([image_folder, other])
        names = said.get("image_name", ""), said.get("mask_name", "")
        layout = Layout(relative(image_folder, root), relative(other, root), *names)
        return VocTree(listing.root / root if root else listing.root, layout, listing)
    raise no_masks(listing, folders[1])


# Lists.


def _with_lists(tree: VocTree, said: Mapping[str, str]) -> VocTree:
    """Returns a tree with the folder of lists, or the file, that the user said.

    Raises:
      ConfigError: if the folder that the user said is not there.
    """
    listing = tree.listing
    if listing is None:
        return tree
    if "lists" in said:
        path = _resolved(listing, said["lists"])
        folder, name = posixpath.split(path)
        if not listing.is_folder(path) and name not in listing.folders.get(folder, ()):
            raise ConfigError(
                "option lists",
                found=f"no folder or file {said['lists']!r} in {tree.given}",
                expected=f"the folder of lists, or one file of them, relative to {tree.given}",
                remedy="check the name",
            )
        lists = relative(path, tree.place)
        return tree.with_layout(dataclasses.replace(tree.layout, lists=lists))
    return tree
