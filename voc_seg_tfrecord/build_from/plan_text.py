"""Describes a plan: what was found in a folder and what was decided, one fact per line."""

from collections import Counter
import itertools

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.folder import unused_files
from voc_seg_tfrecord.folder.companions import PAIRS_IN_NO_SPLIT, UNLABELED_IMAGES
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.writing.tiles import JPEG_QUALITY

_MAX_SHOWN_CLASSES = 24
"""Of more classes, the first ones and the last one are listed."""


def describe(plan: FolderPlan, *, has_findings: bool = False) -> str:
    """Returns what was found and decided, one fact per line.

    Args:
      plan: the plan.
      has_findings: whether the reader also gets findings, which name each image without a mask,
        and what is in no split. Then these need no line here.
    """
    facts = [
        ("folder", str(plan.tree.root)),
        *_facts_of_files(plan),
        *_facts_of_classes(plan),
        *_facts_of_features(plan),
        *_facts_of_splits(plan),
    ]
    facts += [("note", note) for note in [*plan.notes, *_notes_on_idle_options(plan)]]
    unused = plan.unused
    if has_findings:
        kinds_in_findings = [UNLABELED_IMAGES]
        if not plan.tree.labels.origin:  # else a mask is made of several files
            kinds_in_findings.append(PAIRS_IN_NO_SPLIT)
        unused = {group: unused[group] for group in unused if group.kind not in kinds_in_findings}
    for line in unused_files.describe(unused, plan.tree.root_below_given):
        facts.append(("not used", line))
    return "\n".join(f"{name + ':':18}{fact}" for name, fact in facts)


def _notes_on_idle_options(plan: FolderPlan) -> list[str]:
    """Returns notes on options about what may be wrong in lists, where nothing of it is."""
    notes = []
    used_ids = itertools.chain.from_iterable(plan.splits.values())
    if plan.config.overlap and max(Counter(used_ids).values(), default=1) == 1:
        notes.append("No image is in several splits, so --allow_overlap changes nothing.")
    left_out_ids = itertools.chain.from_iterable(plan.left_out.values())
    lack_images = any(image_id not in plan.tree.images for image_id in left_out_ids)
    if plan.config.missing_image == "skip" and not lack_images:
        notes.append("Each listed id has an image, so --missing_image skip changes nothing.")
    return notes


_Fact = tuple[str, str]
"""The name of a fact, which stands in front of it, and the fact."""


def _facts_of_files(plan: FolderPlan) -> list[_Fact]:
    tree = plan.tree
    image_folders = tree.layout.describe("images")
    if image_folders == ".":
        image_folders = "the folder itself"
    mask_folders = tree.layout.describe("masks")
    if mask_folders == ".":
        mask_folders = "the folder itself"
    origin = f"in {mask_folders}"
    meaning = "value"
    if isinstance(plan.meaning, MaskMeaning):
        source = plan.meaning.candidate.source
        if plan.class_file and not _are_names_given(plan):  # the line of classes has its path
            source = source.replace(plan.class_file.source, "the class file")
        meaning = f"{plan.meaning.by}, {source}"
    origin += f", by {meaning}"
    if tree.labels.origin:  # no file has values or colors
        origin = tree.labels.origin
    return [
        ("images", f"{len(tree.images)} in {image_folders}"),
        ("masks", f"{len(tree.masks) + len(plan.replaced_masks)} {origin}"),
    ]


def _facts_of_classes(plan: FolderPlan) -> list[_Fact]:
    config = plan.config
    source = "as given"
    if plan.class_file and not _are_names_given(plan):
        source = f"from {plan.class_file.source}"
    elif config.default_names:
        source = "with default names"
    names = config.built_class_names
    shown = [f"{index} {name}" for index, name in enumerate(names)]
    if len(shown) > _MAX_SHOWN_CLASSES:
        shown = [*shown[: _MAX_SHOWN_CLASSES - 2], "...", shown[-1]]
    classes = config.table.describe() if config.classes else ", ".join(shown)
    words = "unknown" if plan.fault else f"{len(names)} {source}: {classes}"
    return [("classes", words), ("void", _describe_void(plan))]


def _are_names_given(plan: FolderPlan) -> bool:
    """Says whether the user gave the names of the classes, without a table."""
    return plan.are_classes_numbered and not plan.config.classes


def _describe_void(plan: FolderPlan) -> str:
    """Returns which values, or colors, of masks are void."""
    rule = plan.mask_rule
    keys = []
    if rule.colors is not None:
        kind = "color"
        for color, index in rule.all_colors.items():
            if index == VOID:
                keys.append(color_key(color))
    else:
        kind = "value"
        for value, index in rule.all_values.items():
            is_stored = value != -1  # which only .npy masks have
            if index == VOID and is_stored:
                keys.append(str(value))
    if not keys:
        return "none"
    return f"pixels of {kind} {', '.join(keys)}"


def _facts_of_features(plan: FolderPlan) -> list[_Fact]:
    """Returns what is read beside images and masks, and how images are cut."""
    config = plan.config
    facts = []
    more_folders = []
    if config.instance_mask and plan.tree.labels.object_masks is not None:
        more_folders.append("objects, numbered as the masks are made")
    elif config.instance_mask:
        more_folders.append(plan.tree.layout.instances)
    if config.objects:
        more_folders.append(plan.tree.layout.annotations)
    if more_folders:
        facts.append(("also", ", ".join(more_folders)))
    if config.ignore_masks:
        facts.append(("ignored", f"void where the masks in {config.ignore_masks} are 0"))
    if config.resize_masks:
        words = f"masks of another size are scaled to their images ({config.resize_masks})"
        facts.append(("sizes", words))
    if config.exif == "apply":
        facts.append(("exif", "images with an EXIF orientation are stored upright (apply)"))
    if config.exif == "ignore":
        facts.append(("exif", "images with an EXIF orientation are stored as they are (ignore)"))
    if config.tiling:
        facts.append(("tiles", _describe_tiles(config.tiling)))
    return facts


def _describe_tiles(tiling: Tiling) -> str:
    size = f"{tiling.size} x {tiling.size} pixels"
    if tiling.overlap:
        size += f", neighbors share {tiling.overlap} pixels"
    if tiling.format == "jpeg":
        return f"{size}, stored as JPEG of quality {JPEG_QUALITY}"
    return f"{size}, stored as PNG"


def _facts_of_splits(plan: FolderPlan) -> list[_Fact]:
    facts = []
    for split, ids in plan.splits.items():
        left_out = plan.left_out.get(split, ())
        without_mask = sum(1 for image_id in left_out if image_id in plan.tree.images)
        without_image = len(left_out) - without_mask
        used = f"{len(ids)} of " if left_out else ""
        text = f"{used}{counted(len(ids) + len(left_out), 'id')}, {plan.sources[split]}"
        if without_mask:
            text += f"; {without_mask} left out, without a mask"
        if without_image:
            text += f"; {without_image} left out, without an image"
        facts.append((f"split {split}", text))
    return facts
