"""Finds the tree that a folder holds: its folders, its parts, and which of both the user means.

The folder is listed once. `pairings` finds what may pair, `choice` chooses, and here the choice
becomes a layout, or the question that the user has to answer.
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import posixpath

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.core.layout import ENDINGS_OF, ID, MASK_SUFFIXES, SPLIT, WITH_ARRAYS, Layout
from voc_seg_tfrecord.folder.files import polygon_sets
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.choice import FileChoice, choose_files
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_looks import FileLooks
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import below, common_folder, split_word
from voc_seg_tfrecord.folder.files.layouts import (
    Said,
    arrange,
    deepest,
    part_of,
    relative,
    tops_of,
    without,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing, all_pairings, are_apart
from voc_seg_tfrecord.folder.files.unreadable import (
    NO_MASKS,
    channels_of,
    check_no_panoptic,
    check_objects,
    check_one_numbering,
    check_two_files,
    no_masks,
    pattern_of_channel,
    several_channels,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import mask_samples


def find_tree(
    listing: Listing,
    options: Mapping[str, str],
    *,
    looks: FileLooks,
    exif: str = "auto",
    bands: bool = False,
) -> VocTree:
    """Finds the tree at or below a folder.

    Args:
      listing: the files of the folder that the user gave.
      options: the fields of the layout that the user gave. Folders are relative to the given one;
        one that is not there means the folders of that name in each part.
      looks: what was seen of the files.
      exif: what an EXIF orientation means for shapes without the size of their image.
      bands: whether bands are wanted, so that arrays may be images.

    Raises:
      ConfigError: if there is no folder that the user named.
      LayoutError: if there are no images with masks, or several pairings; the error lists them
        with the options that choose each.
    """
    endings = WITH_ARRAYS if bands else ENDINGS_OF["images"]
    said = Said(listing, options, endings, looks)
    tree = dataclasses.replace(_find(said, exif), image_endings=endings)
    if (path := said.lists()) is None:
        return tree
    layout = dataclasses.replace(tree.layout, lists=relative(path, tree.place))
    return dataclasses.replace(tree, layout=layout)


def _find(said: Said, exif: str) -> VocTree:
    name, masks = said.options.get("mask_name", ""), said.options.get("masks")
    polygons, problems = None, list[VocSegError]()
    if not name.lower().endswith(MASK_SUFFIXES):
        polygons, problems = polygon_sets.find(said, exif)
    there = below(said.listing.below(), masks or "")
    are_masks = masks is None or any(path.lower().endswith(MASK_SUFFIXES) for path in there)
    if polygons and (name or not are_masks):
        return polygons
    try:
        tree = _mask_tree(said)
    except LayoutError as error:
        if error.kind != NO_MASKS or not (polygons or problems):
            raise
        if polygons is None:
            raise problems[0] from None
        return polygons
    check_two_files(tree)
    check_one_numbering(tree)
    if polygons:
        _check_same(tree, polygons)
        notes = [f"The masks are read. {polygons.labels.tool}'s polygons have the same pixels."]
    else:
        notes = polygon_sets.notes_on(problems)
    return dataclasses.replace(tree, notes=notes) if notes else tree


def _of_channels(said: Said, used: Set[str]) -> VocTree | None:
    """Returns the tree of images of which each channel is a file, if bands are wanted.

    Raises:
      LayoutError: if there are such images, and none are wanted.
    """
    if "image_name" in said.options:
        return None
    images, masks = (
        [f for f in said.listing.folders if said.inner(option, f) is not None]
        for option in ("images", "masks")
    )
    if (found := channels_of(said.listing, images, {*masks} - used)) is None:
        return None
    folder, files = found
    if ".npy" not in said.endings:
        raise several_channels(said.listing.root / folder, files)
    options = {**said.options, "image_name": pattern_of_channel(files[0])}
    tree = _mask_tree(dataclasses.replace(said, options=options))
    return dataclasses.replace(tree, channels=len(files))


def _check_same(tree: VocTree, polygons: VocTree) -> None:
    """Checks that the masks and the polygons of a folder have the same pixels.

    Raises:
      LayoutError: if they have not, with the options that choose each.
    """
    if not (different := _different(tree, polygons)):
        return
    tool, files = polygons.labels.tool, [*dict.fromkeys(polygons.masks.values())]
    first = next(iter(tree.masks.values()))
    masks = posixpath.join(tree.place, tree.layout.masks)
    pattern = tree.layout.mask_name or f"{ID}{posixpath.splitext(first)[1]}"
    options = {"mask_name": pattern} if below(files, masks) else {"masks": masks}
    drawn = f"{tool}'s polygons, such as {files[0]}"
    alternatives = [
        Alternative(f"masks in {masks}, such as {first}", options),
        Alternative(drawn, polygon_sets.choice_of(tool, files)),
    ]
    raise QuestionError(
        tree.given,
        alternatives,
        to=f"read the labels, which differ, as in {different}",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
    )


def _different(tree: VocTree, polygons: VocTree) -> str:
    """Returns an image of which polygons have other pixels than masks; empty if there is none.

    The values of masks may be others, if each stands for one label.
    """
    ids = {tree.image_path(image_id): image_id for image_id in tree.images}
    labels: dict[int, int] = {}
    for image_id in polygons.masks:
        path = polygons.image_path(image_id)
        if (mask_id := ids.get(path, "")) not in tree.masks:
            return path
        try:
            pixels = mask_samples.read_samples(tree.labels.file(mask_id))
            drawn = mask_samples.read_samples(polygons.labels.file(image_id)).values.astype(
                np.int64
            )
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
    distinct = len({*labels.values()}) == len(labels)
    return "" if distinct else "classes that the masks tell apart"


def _mask_tree(said: Said) -> VocTree:
    """Finds the tree whose masks are files of pixels; see `find_tree`."""
    listing, images, masks = said.listing, said.images, said.masks
    names = said.options.get("image_name", ""), said.options.get("mask_name", "")
    if any("/" in name for name in names):  # these name folders too, and need no pairing
        image_top, mask_top = ((named[0][1] if named else "") or "." for named in (images, masks))
        return VocTree(listing.root, Layout(image_top, mask_top, *names), listing)
    pairings = _list_pairings(said)
    if len(images) == len(masks) > 1 and all(name for name, _ in (*images, *masks)):
        root, layout = "", _parts_of_options(said, pairings)
    else:
        evidence = FileEvidence(listing, pairings, said.options, said.looks)
        choice = choose_files(pairings, evidence)
        if images and masks:  # then the rest only stands in the account
            choice = dataclasses.replace(choice, beside=())
        for r in (*choice.chosen, *choice.rivals):
            check_objects(listing, r.images.folder, r.masks.folder, r.images.names)
        if choice.rivals:
            question = several_ways(listing, choice)
            if not _is_answered(question, said.options):
                raise question
            together = (*choice.chosen, *choice.rivals)
            choice = dataclasses.replace(choice, chosen=together, rivals=(), copies=())
        used = {r.masks.folder for r in choice.chosen}
        if tree := _of_channels(said, used):
            return tree
        if not choice.chosen:
            return _without_pairs(said, pairings)
        arranged = arrange(listing, choice.chosen)
        if arranged is None or choice.beside:
            raise several_sets(listing, choice)
        check_no_panoptic(listing, [r.masks.folder for r in choice.chosen])
        root, layout = arranged
        copies = tuple(relative(folder, root) for folder in choice.copies)
        left = without(pairings, choice.chosen)
        layout = dataclasses.replace(layout, without=left, copies=copies)
        return VocTree(listing.root / root, layout, listing, reasons=choice.reasons)
    return VocTree(listing.root / root, layout, listing)


def _list_pairings(said: Said) -> list[Pairing]:
    """Returns the pairings that what the user said allows."""
    pairings = [
        r
        for r in all_pairings(*said.sets())
        if not (r.images.pattern and r.image_affix != ("", ""))
        and not (r.masks.pattern and r.mask_affix != ("", ""))
    ]
    if not said.images or not said.masks:
        return pairings
    # What lies at the same place in both comes before all else.
    return [
        r
        for r in pairings
        if said.inner("images", r.images.folder) == said.inner("masks", r.masks.folder)
    ] or pairings


def _parts_of_options(said: Said, pairings: Sequence[Pairing]) -> Layout:
    """Returns the layout of parts that the user named, as in `train=images,test=more/images`.

    Raises:
      ConfigError: if the parts of images and of masks have other names, or one has no pairs.
    """
    mask_folders = dict(said.masks)
    image_folders = [folder for _, folder in said.images]
    repeated = [folder for folder in image_folders if image_folders.count(folder) > 1]
    if repeated:
        raise ConfigError(
            "option images",
            found=f"the folder {repeated[0]!r} in two parts",
            expected="folders of their own for each part",
            remedy="name each folder once",
        )
    evidence = FileEvidence(said.listing, pairings, said.options, said.looks)
    parts = []
    for name, folder in said.images:
        folders = folder, mask_folders.get(name)
        in_folders = [pairing for pairing in pairings if pairing.folders == folders]
        if not in_folders:
            raise ConfigError(
                "option images",
                found=f"the part {name!r} without masks for its images in {folder!r}",
                expected="the same names in --images and --masks, such as train=A,test=B, and "
                "masks in each",
                remedy="check the names and the folders",
            )
        candidates = [PairingCandidate((pairing,)) for pairing in in_folders]
        best = max(candidates, key=lambda c: (evidence.name_rank(c), c.pair_count)).pairings[0]
        parts.append(part_of(name, best))
    return Layout(".", ".", parts=tuple(parts))


def _without_pairs(said: Said, pairings: Sequence[Pairing]) -> VocTree:
    """Returns the tree of folders that are called images and masks, however files are named.

    What does not fit is said when names are compared.

    Raises:
      LayoutError: if there are no such folders; the error says what lies there instead.
    """
    evidence = FileEvidence(said.listing, pairings, said.options, said.looks)
    every_image_set, every_mask_set = said.every_set
    image_folders = _folders_called("images", said.images, every_image_set, evidence)
    mask_folders = _folders_called("masks", said.masks, every_mask_set, evidence)
    is_one_folder = image_folders == mask_folders and not said.options
    if len(image_folders) != 1 or len(mask_folders) != 1 or is_one_folder:
        raise no_masks(said.listing, mask_folders)
    (image_folder,), (mask_folder,) = image_folders, mask_folders
    root = "" if said.images or said.masks else common_folder([image_folder, mask_folder])
    names = said.options.get("image_name", ""), said.options.get("mask_name", "")
    layout = Layout(relative(image_folder, root), relative(mask_folder, root), *names)
    return VocTree(said.listing.root / root, layout, said.listing)


def _folders_called(
    role: str,
    given: Sequence[tuple[str, str]],
    sets: Sequence[FileSet],
    evidence: FileEvidence,
) -> set[str]:
    """Returns the folders whose names say `images` or `masks`, but for those in such folders.

    If the user gave folders, it is the first of them.
    """
    if given:
        return {given[0][1]}
    called = sorted({files.folder for files in sets if evidence.role(files, files.shared) == role})
    return {
        folder
        for folder in called
        if deepest(folder, [other for other in called if other != folder]) is None
    }


def _is_answered(question: QuestionError, options: Mapping[str, str]) -> bool:
    """Says whether the user gave the options of the only alternative, which takes all files.

    So it is if images are there twice, with other masks, or in two files of one name.
    """
    if len(question.alternatives) != 1:
        return False
    (alternative,) = question.alternatives
    return all(options.get(name) == value for name, value in alternative.options.items())


def several_ways(listing: Listing, choice: FileChoice) -> QuestionError:
    """Returns the question which of several masks, or images, are meant: a line for each.

    What is the same in all splits is one line, with all that is in no question.
    """
    ways: dict[tuple[str, ...], list[Pairing]] = {}
    for pairing in choice.rivals:
        key = tuple(n.replace(split_word(n)[0] or SPLIT, SPLIT) for n in tops_of(pairing))
        ways.setdefault(key, []).append(pairing)
    for key, pairings in list(ways.items()):
        if not are_apart(pairings):  # of one mask only one image can be right
            del ways[key]
            ways |= {(*key, str(n)): [pairing] for n, pairing in enumerate(pairings)}
    asked = {files for rival in choice.rivals for files in (rival.images, rival.masks)}
    others = [p for p in choice.chosen if p.images not in asked and p.masks not in asked]
    together = [[*sets_of_way, *others] for sets_of_way in ways.values()]
    no_set = others and any("part1=" in _options(listing, t).get("images", "") for t in together)
    return _question(listing, [*((*ways.values(), others) if no_set else ()), *together])


def several_sets(listing: Listing, choice: FileChoice) -> QuestionError:
    """Returns the question which of several sets are meant, or whether all of them."""
    sets = [choice.chosen, *([pairing] for pairing in choice.beside)]
    if not choice.beside:
        sets = [[pairing] for pairing in choice.chosen]
    together = [r for of_set in sets for r in of_set]
    return _question(listing, [*sets, together] if are_apart(together) else sets)


def _question(listing: Listing, ways: Sequence[Sequence[Pairing]]) -> QuestionError:
    alternatives = []
    for of_line in ways:
        alternative = Alternative("", _options(listing, of_line))
        if alternative not in alternatives:
            alternatives.append(alternative)
    return QuestionError(
        listing.root,
        alternatives,
        to="read images and masks",
        expected="folders of which one set alone can be meant, and are called so",
        kind="several ways to read a folder",
    )


def _options(listing: Listing, chosen: Sequence[Pairing]) -> dict[str, str]:
    """Returns the options that choose pairings."""
    root, layout = arrange(listing, chosen) or ("", Layout(".", "."))
    # A split of images alone, or of masks alone, has nothing to choose.
    parts = [
        part
        for part in layout.parts
        if listing.is_folder(posixpath.normpath(posixpath.join(root, part.images)))
        and listing.is_folder(posixpath.normpath(posixpath.join(root, part.masks)))
    ]
    if layout == Layout(".", "."):
        parts = [part_of(f"part{n}", r) for n, r in enumerate(chosen, 1)]
    return dataclasses.replace(layout, parts=tuple(parts)).options(root)
