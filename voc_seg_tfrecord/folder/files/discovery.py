"""Finds the tree that a folder holds: its folders, its parts, and which of both the user means.

| the folder has | the tree |
| --- | --- |
| masks of single classes that the user named | `class_masks` merges them |
| shapes of a labeling tool, and no masks | `polygon_sets` draws them |
| masks, and shapes that are the same or none | that of the masks: `pairings` finds what may pair, \
`choice` chooses, and `layouts` says where it lies |
| neither | the error says what it has instead |
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, VocSegError, join_names
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import (
    MASK_ENDINGS,
    Layout,
    Naming,
)
from voc_seg_tfrecord.folder.decide import raise_question
from voc_seg_tfrecord.folder.files.align import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.annotation_files import notes_on
from voc_seg_tfrecord.folder.files.candidates import FileEvidence, are_parts_of_one_set
from voc_seg_tfrecord.folder.files.choice import choose_files
from voc_seg_tfrecord.folder.files.class_masks import find_merged_tree
from voc_seg_tfrecord.folder.files.file_questions import ask_which_sets, options_of
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half, NamedPath
from voc_seg_tfrecord.folder.files.image_channels import (
    ChannelImages,
    find_channel_images,
    several_channels_error,
)
from voc_seg_tfrecord.folder.files.label_rules import LABEL_RULES
from voc_seg_tfrecord.folder.files.layouts import (
    arrange_as_named,
    find_incomplete_names,
    has_named_parts,
    have_texts_of_sets,
    lay_out_by_patterns,
    lay_out_parts,
    relative,
)
from voc_seg_tfrecord.folder.files.no_masks import find_photos_as_masks, no_masks_error
from voc_seg_tfrecord.folder.files.object_masks import find_several_masks
from voc_seg_tfrecord.folder.files.pairings import Pairing, all_pairings, few
from voc_seg_tfrecord.folder.files.paths import common_folder, outermost
from voc_seg_tfrecord.folder.files.polygon_sets import FoundPolygons, find_polygons
from voc_seg_tfrecord.folder.tree.set_files import SetFolders
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import NAMES_OF_SHAPE_TOOLS, SHAPE_TOOLS

_ENDINGS_OF_POLYGONS = tuple(
    ending for tool in SHAPE_TOOLS if tool.is_per_image for ending in tool.endings
)
"""The endings of files that hold the polygons of one image each, such as `.json`."""


def find_tree(given: GivenLayout, exif: str) -> VocTree:
    """Finds the tree at or below a folder.

    Args:
      given: the folder, and the user's options. Folders in these are relative to it; one that is
        not there means the folders of that name in each part.
      exif: what an EXIF orientation means for shapes without the size of their image.

    Raises:
      ConfigError: if there is no folder that the user named.
      LayoutError: if there are no images with masks, or several pairings; the error lists them
        with the options that choose each.
    """
    tree = _find_labels(given, exif)
    lists_path = given.lists_path()
    if lists_path is None:
        return tree
    layout = dataclasses.replace(tree.layout, lists=relative(lists_path, tree.root_below_given))
    return dataclasses.replace(tree, layout=layout)


def _find_labels(given: GivenLayout, exif: str) -> VocTree:
    """Finds the tree of the masks, or that of polygons if there are no masks."""
    if given.masks_of_classes:
        return find_merged_tree(given, given.masks_of_classes, _find_masks_of_class)
    polygons = FoundPolygons(None, ())
    if not given.mask_name or given.mask_name.lower().endswith(_ENDINGS_OF_POLYGONS):
        polygons = find_polygons(given, exif)
    shapes = polygons.tree
    if shapes is not None and (given.mask_name or not _may_have_masks(given)):
        return shapes
    for named in given.named_labels:
        if not given.listing.is_folder(named.path):
            raise _no_polygons_error(named.path, polygons.problems)
    incomplete_names = find_incomplete_names(given)
    if incomplete_names is not None:
        raise polygons.problems[0] if polygons.problems else incomplete_names
    return _find_masks_beside(given, polygons)


def _find_masks_beside(given: GivenLayout, polygons: FoundPolygons) -> VocTree:
    """Finds the tree of masks, or that of the polygons beside them if these are no masks."""
    shapes = polygons.tree
    if shapes is not None and not given.mask_folders:
        # Images of polygons are no masks.
        photos = {shapes.images[image_id] for image_id in shapes.masks}
        given = dataclasses.replace(given, photos=photos)
    masks = _find_mask_tree(given)
    if isinstance(masks, LayoutError):
        if shapes is not None:
            return shapes
        raise polygons.problems[0] if polygons.problems else _explain_no_masks(given, masks)
    if shapes is not None and not given.mask_folders and _hold_no_masks(given, masks):
        note = f"{masks.layout.masks} holds no masks: photos, or pictures of another size."
        return dataclasses.replace(shapes, notes=[*shapes.notes, note])
    raise_question(masks, LABEL_RULES, shapes)
    notes = notes_on(polygons.problems)
    if shapes is not None:
        notes = [f"The masks are read. {shapes.labels.tool}'s polygons have the same pixels."]
    return dataclasses.replace(masks, notes=[*masks.notes, *notes])


def _find_masks_of_class(given: GivenLayout) -> VocTree:
    """Finds the images and masks of one class, as if there were no other one.

    Raises:
      ConfigError: if the user gave a name to some of the folders.
      LayoutError: if there are no masks.
    """
    incomplete_names = find_incomplete_names(given)
    if incomplete_names is not None:
        raise incomplete_names
    masks = _find_mask_tree(given)
    if isinstance(masks, LayoutError):
        raise _explain_no_masks(given, masks)
    return masks


def _explain_no_masks(given: GivenLayout, error: LayoutError) -> LayoutError:
    """Returns the error about several masks of each image, or else the one that there are none."""
    if given.mask_name:
        return error
    return find_several_masks(given.listing.root, given.listing.below()) or error


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


def _hold_no_masks(given: GivenLayout, masks: VocTree) -> bool:
    """Says whether none of a few pictures has few colors and the size of its image.

    With a threshold, masks have many grays, and arrays have other rules.
    """
    if given.endings.masks != MASK_ENDINGS:
        return False
    sampled_ids = few([image_id for image_id in masks.masks if image_id in masks.images])
    for image_id in sampled_ids:
        mask = masks.masks[image_id]
        is_picture = mask.lower().endswith(tuple(IMAGE_ENDINGS))
        agrees = given.looks.sizes_agree(masks.images[image_id], mask)
        if not is_picture or (agrees and given.looks.looks_like_mask(mask)):
            return False
    return bool(sampled_ids)


def _may_have_masks(given: GivenLayout) -> bool:
    """Says whether files that may be masks are among those that the user named as labels."""
    endings = tuple(given.endings.masks)
    return any(path.lower().endswith(endings) for path in given.label_paths())


def _find_mask_tree(given: GivenLayout) -> VocTree | LayoutError:
    """Finds the tree whose masks are files of pixels, or returns the error that there is none.

    Raises:
      QuestionError: if the rules leave several readings.
    """
    if "/" in given.image_name or "/" in given.mask_name:
        return _make_tree(given, lay_out_by_patterns(given))
    pairings = _list_pairings(given)
    if has_named_parts(given):
        return _make_tree(given, lay_out_parts(given, pairings))
    choice = choose_files(given, pairings)
    channels = _find_channels(given, {pairing.masks.folder for pairing in choice.chosen})
    if channels is not None:
        return _find_other_tree(
            given, {"image_name": channels.image_name}, channels=len(channels.first_files)
        )
    if not choice.chosen:
        return _find_tree_without_pairs(given, pairings)
    masks = [path for pairing in choice.chosen for path in pairing.paths()[1]]
    photos_error = find_photos_as_masks(given.listing, few(masks))
    if photos_error is not None:
        return photos_error
    layout = arrange_as_named(given, choice.chosen)
    if layout is not None:
        left_out: set[str] = set()
        for folder in choice.copied_folders:
            for name in given.listing.files_by_folder[folder]:
                left_out.add(posixpath.join(folder, name))
        kinds = _list_other_kinds(pairings, choice.chosen)
        return _make_tree(given, layout, notes=choice.notes, left_out=left_out, other_kinds=kinds)
    if not _are_parts_of_one_set(given, choice.chosen):
        raise ask_which_sets(given, [[pairing] for pairing in choice.chosen])
    folders = [pairing.images.folder or "." for pairing in choice.chosen]
    note = f"{join_names(folders, 'and')} with their masks are read as one set."
    return _find_other_tree(given, options_of(given, choice.chosen), note)


def _find_other_tree(
    given: GivenLayout, options: Mapping[str, str], *notes: str, channels: int = 1
) -> VocTree | LayoutError:
    """Finds the tree by more options, as if the user had given them."""
    tree = _find_mask_tree(dataclasses.replace(given, options={**given.options, **options}))
    if isinstance(tree, LayoutError):
        return tree
    return dataclasses.replace(tree, notes=[*tree.notes, *notes], channels=channels)


def _make_tree(
    given: GivenLayout,
    layout: Layout,
    *,
    notes: Sequence[str] = (),
    left_out: Set[str] = frozenset(),
    other_kinds: Sequence[Naming] = (),
) -> VocTree:
    """Returns the tree of the images and masks in the folders of a layout; see `SetFolders`."""
    folders = SetFolders(
        given.listing,
        layout,
        left_out=left_out,
        other_kinds=other_kinds,
        image_endings=given.endings.images,
        mask_endings=given.endings.masks,
    )
    return VocTree(given.listing.root, layout, given.listing, notes, folders.list_files())


def _are_parts_of_one_set(given: GivenLayout, pairings: Sequence[Pairing]) -> bool:
    """Says whether pairings differ in a number alone, and none has class files of its own."""
    folders = {common_folder(pairing.folders) for pairing in pairings}
    if len(folders) > 1 and have_texts_of_sets(given.listing, "", folders):
        return False
    return are_parts_of_one_set(pairings, given.looks.are_same)


def _list_pairings(given: GivenLayout) -> list[Pairing]:
    """Returns the pairings that the user's options allow.

    Nothing stands around the ids of names that fit a pattern of the user. If the user named folders
    of images and of masks, and some have the same path below these, no others are meant: `images/a`
    does not belong to `masks/b`.
    """
    sets = given.allowed_sets()
    pairings: list[Pairing] = []
    with_same_path: list[Pairing] = []
    for pairing in all_pairings(sets.images, sets.masks):
        image_folder, mask_folder = pairing.folders
        if pairing.images.is_by_id and pairing.image_affix != NO_AFFIX:
            continue
        if pairing.masks.is_by_id and pairing.mask_affix != NO_AFFIX:
            continue
        pairings.append(pairing)
        path = given.path_below_named("images", image_folder)
        if path == given.path_below_named("masks", mask_folder):
            with_same_path.append(pairing)
    both_are_named = bool(given.image_folders) and bool(given.mask_folders)
    return with_same_path if both_are_named and with_same_path else pairings


def _list_other_kinds(pairings: Sequence[Pairing], chosen: Sequence[Pairing]) -> list[Naming]:
    """Returns how files beside the chosen images and masks are named that are neither.

    Example: `{id}_overlay` beside `{id}` and `{id}_mask`. What the user's own pattern names is no
    other kind of files.
    """
    chosen_kinds: set[tuple[str, Affix]] = set()
    chosen_folders: set[str] = set()
    for pairing in chosen:
        chosen_kinds |= {pairing.images.kind, pairing.masks.kind}
        chosen_folders.update(pairing.folders)
    affixes: set[Affix] = set()
    for pairing in pairings:
        for files in (pairing.images, pairing.masks):
            is_beside = files.folder in chosen_folders and files.kind not in chosen_kinds
            if is_beside and not files.is_by_id and role_of_name("".join(files.affix)):
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
    image_folders: list[str] = []
    mask_folders: set[str] = set()
    for folder in given.listing.files_by_folder:
        if given.is_named("images", folder):
            image_folders.append(folder)
        if given.is_named("masks", folder) and folder not in used_mask_folders:
            mask_folders.add(folder)
    channels = find_channel_images(given.listing, image_folders, mask_folders)
    if channels is not None and ".npy" not in given.endings.images:
        raise several_channels_error(given.listing, channels)
    return channels


def _find_tree_without_pairs(
    given: GivenLayout, pairings: Sequence[Pairing]
) -> VocTree | LayoutError:
    """Finds the tree of folders that are called images and masks, however files are named.

    A later step reports the names that do not fit, or a text states the pairs. If there are no such
    folders, it returns the error that lists what lies there instead.
    """
    evidence = FileEvidence(given, pairings)
    sets = given.all_sets
    image_folders = _folders_called("images", given.image_folders, sets.images, evidence)
    mask_folders = _folders_called("masks", given.mask_folders, sets.masks, evidence)
    is_one_folder = image_folders == mask_folders and not given.options
    if len(image_folders) != 1 or len(mask_folders) != 1 or is_one_folder:
        return no_masks_error(given.listing, mask_folders)
    image_folder = image_folders.pop()
    mask_folder = mask_folders.pop()
    is_given = bool(given.image_folders or given.mask_folders)
    root = "" if is_given else common_folder([image_folder, mask_folder])
    images, masks = relative(image_folder, root), relative(mask_folder, root)
    return _make_tree(given, Layout(images, masks, given.image_name, given.mask_name, root=root))


def _folders_called(
    half: Half,
    named: Sequence[NamedPath],
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
