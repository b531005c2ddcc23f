"""Finds the tree that a folder holds: its folders, its parts, and which of both the user means.

The folder is listed once. `pairings` finds what may pair, `choice` chooses, and here the choice
becomes a layout, or the question that the user has to answer.
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, VocSegError, join_names
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import (
    IMAGE_OR_ARRAY_ENDINGS,
    MASK_ENDINGS,
    SOFT_MASK_ENDINGS,
    Layout,
    Naming,
)
from voc_seg_tfrecord.folder.files.align import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.annotation_files import notes_on
from voc_seg_tfrecord.folder.files.candidates import are_parts_of_one_set
from voc_seg_tfrecord.folder.files.choice import FileChoice, choose_files
from voc_seg_tfrecord.folder.files.class_masks import find_merged_tree
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_questions import ask_which_sets
from voc_seg_tfrecord.folder.files.file_sets import FileSet, RoleEndings
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half, NamedFolder
from voc_seg_tfrecord.folder.files.image_channels import (
    ChannelImages,
    find_channel_images,
    several_channels_error,
)
from voc_seg_tfrecord.folder.files.layouts import (
    ArrangedSet,
    have_texts_of_sets,
    relative,
)
from voc_seg_tfrecord.folder.files.mask_contents import (
    check_images_are_no_masks,
    check_one_numbering,
    check_pixels_are_classes,
)
from voc_seg_tfrecord.folder.files.masks_and_polygons import check_same_labels
from voc_seg_tfrecord.folder.files.named_folders import arrange_as_named
from voc_seg_tfrecord.folder.files.named_parts import (
    INCOMPLETE_NAMES,
    check_all_or_none_are_named,
    has_named_parts,
    lay_out_by_patterns,
    lay_out_parts,
)
from voc_seg_tfrecord.folder.files.no_masks import (
    NO_MASKS,
    check_masks_are_no_photos,
    no_masks_error,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing, all_pairings, few
from voc_seg_tfrecord.folder.files.paths import common_folder, outermost
from voc_seg_tfrecord.folder.files.polygon_sets import FoundPolygons, find_polygons
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import NAMES_OF_SHAPE_TOOLS, SHAPE_TOOLS

_ENDINGS_OF_POLYGONS = tuple(
    ending for tool in SHAPE_TOOLS if tool.is_per_image for ending in tool.endings
)
"""The endings of files that hold the polygons of one image each, such as `.json`."""


def find_tree(
    listing: Listing,
    options: Mapping[str, str],
    *,
    looks: Looks,
    exif: str = "auto",
    bands: bool = False,
    soft_masks: bool = False,
) -> VocTree:
    """Finds the tree at or below a folder.

    Args:
      listing: the files of the folder that the user gave.
      options: the fields of the layout that the user gave. Folders are relative to the given one;
        one that is not there means the folders of that name in each part.
      looks: what was seen of the files, by other plans of the folder too.
      exif: what an EXIF orientation means for shapes without the size of their image.
      bands: whether bands are wanted, so that arrays may be images.
      soft_masks: whether a threshold is given, so that JPEGs may be masks.

    Raises:
      ConfigError: if there is no folder that the user named.
      LayoutError: if there are no images with masks, or several pairings; the error lists them
        with the options that choose each.
    """
    endings = RoleEndings(
        images=IMAGE_OR_ARRAY_ENDINGS if bands else IMAGE_ENDINGS,
        masks=SOFT_MASK_ENDINGS if soft_masks else MASK_ENDINGS,
    )
    given = GivenLayout(listing, options, endings, looks)
    tree = _find_labels(given, exif)
    lists_path = given.lists_path()
    if lists_path is None:
        return tree
    layout = dataclasses.replace(tree.layout, lists=relative(lists_path, tree.root_below_given))
    return dataclasses.replace(tree, layout=layout)


def _find_labels(given: GivenLayout, exif: str) -> VocTree:
    """Finds the tree of the masks, or that of polygons if there are no masks."""
    if given.masks_of_classes:
        return find_merged_tree(given, given.masks_of_classes, _find_mask_tree)
    polygons = _find_polygons(given, exif)
    if polygons.tree and (given.mask_name or not _may_have_masks(given)):
        return polygons.tree
    label_files = given.named_label_files()
    if label_files:
        raise _no_polygons_error(label_files[0], polygons.problems)
    try:
        masks = _find_mask_tree(_without_photos(given, polygons))
    except (LayoutError, ConfigError) as error:
        if error.kind not in (NO_MASKS, INCOMPLETE_NAMES):
            raise
        if error.kind == NO_MASKS and polygons.tree:
            return polygons.tree
        if polygons.problems:
            raise polygons.problems[0] from None
        raise
    if polygons.tree and not given.mask_folders and _hold_no_masks(given, masks):
        note = f"{masks.layout.masks} holds no masks: photos, or pictures of another size."
        return dataclasses.replace(polygons.tree, notes=[*polygons.tree.notes, note])
    check_images_are_no_masks(masks)
    check_pixels_are_classes(masks)
    check_one_numbering(masks)
    return _with_note_on_polygons(masks, polygons)


def _no_polygons_error(file: str, problems: Sequence[VocSegError]) -> VocSegError:
    """Returns the error about a file that the user named, of which no polygons can be read."""
    if problems:
        return problems[0]
    return ConfigError(
        "option masks",
        found=f"the file {file}, which has no polygons",
        expected=f"a folder of masks, or a file with polygons of {NAMES_OF_SHAPE_TOOLS}",
        remedy="check the name",
    )


def _find_polygons(given: GivenLayout, exif: str) -> FoundPolygons:
    """Finds the polygons of a folder, unless the user's pattern is one of masks: `{id}_mask`."""
    if given.mask_name and not given.mask_name.lower().endswith(_ENDINGS_OF_POLYGONS):
        return FoundPolygons(None, ())
    return find_polygons(given, exif)


def _without_photos(given: GivenLayout, polygons: FoundPolygons) -> GivenLayout:
    """Returns the layout without images of polygons as masks, unless the user named masks."""
    if polygons.tree is None or given.mask_folders:
        return given
    photos = [polygons.tree.paths.image(image_id) for image_id in polygons.tree.masks]
    return dataclasses.replace(given, photos=frozenset(photos))


def _hold_no_masks(given: GivenLayout, masks: VocTree) -> bool:
    """Says whether none of a few pictures has few colors and the size of its image.

    With a threshold, masks have many grays, and arrays have other rules.
    """
    if given.endings.masks != MASK_ENDINGS:
        return False
    sampled_ids = few([image_id for image_id in masks.masks if image_id in masks.images])
    for image_id in sampled_ids:
        mask = masks.paths.mask(image_id)
        is_picture = mask.lower().endswith(tuple(IMAGE_ENDINGS))
        agrees = given.looks.sizes_agree(masks.paths.image(image_id), mask)
        if not is_picture or (agrees and given.looks.looks_like_mask(mask)):
            return False
    return bool(sampled_ids)


def _may_have_masks(given: GivenLayout) -> bool:
    """Says whether files that may be masks are among those that the user named as labels."""
    endings = tuple(given.endings.masks)
    return any(path.lower().endswith(endings) for path in given.label_paths())


def _with_note_on_polygons(masks: VocTree, polygons: FoundPolygons) -> VocTree:
    """Returns the tree of masks with notes on the polygons beside them.

    Raises:
      QuestionError: if masks and polygons differ.
    """
    if polygons.tree is None:
        notes = notes_on(polygons.problems)
    else:
        check_same_labels(masks, polygons.tree)
        tool = polygons.tree.labels.tool
        notes = [f"The masks are read. {tool}'s polygons have the same pixels."]
    if not notes:
        return masks
    return dataclasses.replace(masks, notes=[*masks.notes, *notes])


def _find_mask_tree(given: GivenLayout) -> VocTree:
    """Finds the tree whose masks are files of pixels; see `find_tree`.

    Raises:
      QuestionError: if the rules leave several readings.
      LayoutError: if there are no images with masks, or the masks have no classes.
      ConfigError: if the user gave a name to some of the folders.
    """
    check_all_or_none_are_named(given)
    if "/" in given.image_name or "/" in given.mask_name:
        return _tree_of_layout(given, "", lay_out_by_patterns(given))
    pairings = _list_pairings(given)
    if has_named_parts(given):
        return _tree_of_layout(given, "", lay_out_parts(given, pairings))
    choice = choose_files(given, pairings)
    channels = _find_channels(given, {pairing.masks.folder for pairing in choice.chosen})
    if channels is not None:
        return _tree_of_channels(given, channels)
    if not choice.chosen:
        return _tree_without_pairs(given, pairings)
    masks = [path for pairing in choice.chosen for path in pairing.paths()[1]]
    check_masks_are_no_photos(given.listing, few(masks))
    arranged = arrange_as_named(given, choice.chosen)
    if arranged is None or choice.beside:
        question = ask_which_sets(given, choice.chosen, choice.beside)
        if choice.beside or not _are_parts_of_one_set(given, choice.chosen):
            raise question
        return _tree_of_alternative(given, question.alternatives[-1])
    return _tree_of_pairings(given, pairings, choice, arranged)


def _are_parts_of_one_set(given: GivenLayout, pairings: Sequence[Pairing]) -> bool:
    """Says whether pairings differ in a number alone, and none has class files of its own."""
    folders = {common_folder(pairing.folders) for pairing in pairings}
    if len(folders) > 1 and have_texts_of_sets(given.listing, "", folders):
        return False
    return are_parts_of_one_set(pairings, given.looks.are_same)


def _tree_of_alternative(given: GivenLayout, all_together: Alternative) -> VocTree:
    """Returns the tree of several folders that are parts of one set, with a note."""
    options = {**given.options, **all_together.options}
    tree = _find_mask_tree(dataclasses.replace(given, options=options))
    folders = [part.images for part in tree.layout.folders()]
    note = f"{join_names(folders, 'and')} with their masks are read as one set."
    return dataclasses.replace(tree, notes=[*tree.notes, note])


def _tree_of_layout(given: GivenLayout, root: str, layout: Layout) -> VocTree:
    """Returns the tree of all images and masks in the folders of a layout.

    Args:
      given: the folder, and the user's options.
      root: the folder of the tree, below the given one.
      layout: the folders below it.
    """
    folder = given.listing.root / root
    files = SetFiles(
        folder,
        layout,
        given.listing,
        image_endings=given.endings.images,
        mask_endings=given.endings.masks,
    )
    return VocTree(folder, layout, given.listing, given_files=files)


def _list_pairings(given: GivenLayout) -> list[Pairing]:
    """Returns the pairings that the user's options allow."""
    sets = given.allowed_sets()
    pairings = [p for p in all_pairings(sets.images, sets.masks) if not _has_more_than_id(p)]
    if not given.image_folders or not given.mask_folders:
        return pairings
    with_same_path = [pairing for pairing in pairings if _has_same_path(given, pairing)]
    return with_same_path or pairings


def _has_more_than_id(pairing: Pairing) -> bool:
    """Says whether names that fit a pattern of the user have something around the id.

    They are the ids, so nothing else stands around them.
    """
    in_images = pairing.images.pattern != "" and pairing.image_affix != NO_AFFIX
    in_masks = pairing.masks.pattern != "" and pairing.mask_affix != NO_AFFIX
    return in_images or in_masks


def _has_same_path(given: GivenLayout, pairing: Pairing) -> bool:
    """Says whether images and masks have the same path below the two folders that the user named.

    If there are such, no others are meant: `images/a` does not belong to `masks/b`.
    """
    path_of_images = given.path_below_named("images", pairing.images.folder)
    path_of_masks = given.path_below_named("masks", pairing.masks.folder)
    return path_of_images == path_of_masks


def _tree_of_pairings(
    given: GivenLayout, pairings: Sequence[Pairing], choice: FileChoice, arranged: ArrangedSet
) -> VocTree:
    """Returns the tree of the chosen pairings.

    Args:
      given: the folder, and the user's options.
      pairings: all pairings of the folder.
      choice: what is chosen of them.
      arranged: the layout of these.
    """
    left_out: set[str] = set()
    for folder in choice.copied_folders:
        folder_in_set = relative(folder, arranged.root)
        for name in given.listing.files_by_folder[folder]:
            left_out.add(posixpath.normpath(posixpath.join(folder_in_set, name)))
    files = SetFiles(
        given.listing.root / arranged.root,
        arranged.layout,
        given.listing,
        left_out=left_out,
        other_kinds=_list_other_kinds(pairings, choice.chosen),
        image_endings=given.endings.images,
        mask_endings=given.endings.masks,
    )
    return VocTree(
        files.root, arranged.layout, given.listing, given_files=files, notes=choice.notes
    )


def _list_other_kinds(pairings: Sequence[Pairing], chosen: Sequence[Pairing]) -> list[Naming]:
    """Returns how files beside the chosen images and masks are named that are neither.

    Example: `{id}_overlay` beside `{id}` and `{id}_mask`. What the user's own pattern names is no
    other kind of files.
    """
    chosen_kinds = {files.kind for p in chosen for files in (p.images, p.masks)}
    chosen_folders = {folder for folder, _ in chosen_kinds}
    affixes: set[Affix] = set()
    for pairing in pairings:
        for files in (pairing.images, pairing.masks):
            is_beside = files.folder in chosen_folders and files.kind not in chosen_kinds
            if is_beside and not files.pattern and role_of_name("".join(files.affix)):
                affixes.add(files.affix)
    return [Naming(*affix) for affix in affixes]


def _find_channels(given: GivenLayout, used_mask_folders: Set[str]) -> ChannelImages | None:
    """Finds images of which each channel is a file; none if the user gave the names of images.

    Args:
      given: the folder, and the user's options.
      used_mask_folders: folders whose masks have images of one file each.

    Raises:
      LayoutError: if there are such images, and no bands are wanted.
    """
    if given.image_name:
        return None
    folders = given.listing.files_by_folder
    image_folders = [folder for folder in folders if given.is_named("images", folder)]
    mask_folders = {folder for folder in folders if given.is_named("masks", folder)}
    channels = find_channel_images(given.listing, image_folders, mask_folders - used_mask_folders)
    if channels is not None and ".npy" not in given.endings.images:
        raise several_channels_error(given.listing, channels)
    return channels


def _tree_of_channels(given: GivenLayout, channels: ChannelImages) -> VocTree:
    """Returns the tree of images of several channels: that of their first files, with the count."""
    options = {**given.options, "image_name": channels.image_name}
    tree = _find_mask_tree(dataclasses.replace(given, options=options))
    return dataclasses.replace(tree, channels=len(channels.first_files))


def _tree_without_pairs(given: GivenLayout, pairings: Sequence[Pairing]) -> VocTree:
    """Returns the tree of folders that are called images and masks, however files are named.

    A later step reports the names that do not fit, or a text states the pairs.

    Raises:
      LayoutError: if there are no such folders; the error lists what lies there instead.
    """
    evidence = FileEvidence(given, pairings)
    sets = given.all_sets
    image_folders = _folders_called("images", given.image_folders, sets.images, evidence)
    mask_folders = _folders_called("masks", given.mask_folders, sets.masks, evidence)
    is_one_folder = image_folders == mask_folders and not given.options
    if len(image_folders) != 1 or len(mask_folders) != 1 or is_one_folder:
        raise no_masks_error(given.listing, mask_folders)
    image_folder = image_folders.pop()
    mask_folder = mask_folders.pop()
    is_given = bool(given.image_folders or given.mask_folders)
    root = "" if is_given else common_folder([image_folder, mask_folder])
    images, masks = relative(image_folder, root), relative(mask_folder, root)
    layout = Layout(images, masks, given.image_name, given.mask_name)
    return _tree_of_layout(given, root, layout)


def _folders_called(
    half: Half,
    named: Sequence[NamedFolder],
    sets: Sequence[FileSet],
    evidence: FileEvidence,
) -> set[str]:
    """Returns the folders that the user named, or else the outermost ones of a role by name.

    Args:
      half: the role, images or masks.
      named: the folders that the user named.
      sets: the files that may have the role.
      evidence: what names tell of roles.
    """
    if named:
        return {folder.path for folder in named}
    folders: set[str] = set()
    for files in sets:
        if evidence.role(files, files.affix_of_most_names) == half:
            folders.add(files.folder)
    return set(outermost(folders))
