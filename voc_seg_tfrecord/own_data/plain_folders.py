"""Finds images and masks in folders that have plain names: `images` and `masks`, and the like."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import itertools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.base.errors import ImageError, LayoutError
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.formats.png import ColorType, read_header
from voc_seg_tfrecord.own_data.missing_masks import fits, with_pattern
from voc_seg_tfrecord.trees.layout import ID, MASK_FOLDERS, MASK_SUFFIXES, SPLIT, Layout
from voc_seg_tfrecord.trees.listing import entries
from voc_seg_tfrecord.trees.tree import VocTree

# Words in the names of folders that say what they hold, and words that say nothing.
_IMAGES = re.compile(
    "images?|imgs?|jpegimages|jpe?gs?|photos?|pictures?|originals?|inputs?|frames?"
)
_MASKS = re.compile(
    "masks?|labels?|annotations?|annots?|anns?|gts?|ground|truth|groundtruths?|segs?"
    "|segmentations?|segmentationclass|segmentationmasks?"
    # DRIVE and HRF have what people drew in `1st_manual` and `manual1`. Their folder `mask` shows
    # the field of view.
    "|manuals?|manual[12]"
)
_NEUTRAL = re.compile("dir|data|folder|files|pngs?|class|semantic|prepped|set|1st|2nd")

# A word for a split in the name of a folder: train, trainannot, val_labels, images_test.
_SPLIT = re.compile(r"(?i)(|.*[^a-z])(train(?:ing)?|val(?:id(?:ation)?)?|test(?:ing)?)(.*)")
# What tools and people put around the name of an image that lies beside its mask.
_BESIDE = re.compile(
    r"(?i)(.+?)([ _.-]+(?:masks?|labels?|l|gt|seg|segmentation|annotation|ground_?truth))"
)
# What they put there if the image's own name says what it is: `1_img.png` beside `1_mask.png`.
_IMAGE_BESIDE = re.compile(r"(?i)(.+?)([ _.-]+(?:images?|img|sat|rgb|photo|orig(?:inal)?|input))")
_LIKE_MASKS = re.compile("(?i)mask|label|annot|truth|seg|gt")
# Instances, colours and drawings of masks, whose files have the masks' names too.
_OF_MASKS = re.compile(f"{_LIKE_MASKS.pattern}|object|instance|colou?r|vis|overlay")
_FEW = 6  # folders of which each two are compared
_ENDINGS = (*IMAGE_SUFFIXES, *MASK_SUFFIXES, ".txt", ".xml", ".json", ".csv")


def subfolders(folder: epath.Path) -> list[str]:
    """Returns the names of the folders in a folder."""
    return sorted(name for name, is_folder in entries(folder, _ENDINGS) if is_folder)


def holds(name: str) -> str:
    """Returns what a folder of this name holds: `images`, `masks`, or nothing known."""
    words = [w for w in re.findall("[a-z0-9]+", name.casefold()) if not _NEUTRAL.fullmatch(w)]
    masks = [word for word in words if _MASKS.fullmatch(word)]
    if not words or any(word not in masks and not _IMAGES.fullmatch(word) for word in words):
        return ""
    return "masks" if masks else "images"


def image_folders(root: epath.Path) -> list[str]:
    """Returns the folders in a folder that are called as one of images is."""
    return [name for name in subfolders(root) if holds(name) == "images"]


def split_word(name: str) -> bool:
    """Says whether a folder is called as a split is: `train`, `Val`, `testing`."""
    return _family(name) == ("", "")


def _family(name: str) -> tuple[str, str] | None:
    """Returns what stands around the word for a split in a folder's name; None without one."""
    found = _SPLIT.fullmatch(name)
    return (found[1], found[3]) if found else None


def looks_plain(folder: epath.Path) -> bool:
    """Says whether a folder has folders that are called as those of images and masks are.

    In the folder of a split, that of the images may have any name.

    Raises:
      LayoutError: if it is that of a split, and several of its folders may be the images.
    """
    if any(tree.images and tree.masks for tree in _candidates(folder, {})):
        return True
    return split_word(folder.name) and _of_names(folder, {}) is not None


def find(root: epath.Path, said: Mapping[str, str]) -> VocTree | None:
    """Finds the one folder of images in a folder, and the one of masks.

    Returns:
      The tree; None if no folder can be one of masks.

    Raises:
      LayoutError: if there are several folders that may be the masks, or the images.
    """
    found = {t.layout: t for t in _candidates(root, said) if t.masks and t.images}
    fit = [(tree, count) for tree in found.values() if (count := fits(with_pattern(tree)))]
    if len(fit) > 1:
        raise _several(root, fit)
    if fit or (of_names := _of_names(root, said)):
        return fit[0][0] if fit else of_names
    # Names that do not match are told when they are compared.
    return next(iter(found.values())) if len(found) == 1 else None


def _candidates(root: epath.Path, said: Mapping[str, str]) -> Iterator[VocTree]:
    """Yields what the names of folders allow."""
    names = subfolders(root)
    images = [said["images"]] if "images" in said else image_folders(root)
    masks = [said["masks"]] if "masks" in said else [n for n in names if holds(n) == "masks"]
    for image, mask in itertools.product(images, masks):
        yield from _at_depth(root, image, mask, said)
    layouts: list[Layout] = []
    if not images and _has_image(root):
        layouts += [Layout(".", ".", mask_name=f"{mask}/{ID}") for mask in masks]
    families = {family for name in names if (family := _family(name))}
    kinds = {family: holds("".join(family)) for family in sorted(families)}
    pictures = [f for f, kind in kinds.items() if kind == "images" or not any(f)]
    labels = [family for family, kind in kinds.items() if kind == "masks"]
    for around in itertools.product(pictures, labels):
        patterns = [f"{before}{SPLIT}{after}/{ID}" for before, after in around]
        layouts.append(Layout(".", ".", image_name=patterns[0], mask_name=patterns[1]))
    if not {"images", "masks"} & said.keys():
        yield from (VocTree(root, _with_patterns(layout, said)) for layout in layouts)


def _with_patterns(layout: Layout, said: Mapping[str, str]) -> Layout:
    """Returns a layout with the patterns that the user said, in the folders that it has."""
    fields = dict(said)
    for name, naming in (("image_name", layout.image_naming), ("mask_name", layout.mask_naming)):
        if "/" not in fields.get(name, "/"):
            fields[name] = str(naming).replace(ID, fields[name])
    return dataclasses.replace(layout, **fields)


def _at_depth(
    root: epath.Path, image: str, mask: str, said: Mapping[str, str]
) -> Iterator[VocTree]:
    """Yields the tree of two folders, or those of what lies in them: `annotations/trimaps`."""
    patterns = {name: value for name, value in said.items() if name not in ("images", "masks")}
    whole = VocTree(root, Layout(image, mask, **patterns))
    if not fits(with_pattern(whole)):
        below = [
            [folder, *(f"{folder}/{n}" for n in subfolders(root / folder) if not split_word(n))]
            for folder in (image, mask)
            if (root / folder).is_dir()
        ]
        pairs = [pair for pair in itertools.product(*below) if pair != (image, mask)]
        deeper = [VocTree(root, Layout(*pair, **patterns)) for pair in pairs if len(pair) == 2]
        fit = [tree for tree in deeper if fits(with_pattern(tree))]
        if fit:
            yield from fit
            return
    yield whole


def _has_image(folder: epath.Path) -> bool:
    return any(not is_folder for _, is_folder in entries(folder, IMAGE_SUFFIXES))


def unnamed(root: epath.Path) -> list[str]:
    """Returns the options that name two folders whose files have the same names, best first."""
    names = subfolders(root)
    if not 2 <= len(names) <= _FEW:
        return []
    found: dict[frozenset[str], list[tuple[VocTree, int]]] = {}
    for pair in itertools.permutations(names, 2):
        family, other = map(_family, pair)
        if family and family == other:  # two splits: `train` and `val`, `trainset` and `testset`
            continue
        tree = with_pattern(VocTree(root, Layout(*pair)))
        if count := fits(tree):
            found.setdefault(frozenset(pair), []).append((tree, count))
    best = []
    for trees in found.values():
        # One of both is that of masks if its name, or the names of its files, say so.
        likely = [t for t in trees if _LIKE_MASKS.search(t[0].layout.masks)]
        likely = likely if len(likely) == 1 else [t for t in trees if not t[0].layout.image_name]
        best += likely or trees
    # `cats` and `cats_mask` belong together, whatever else has files of the same names.
    paired = [t for t in best if _of_folder(t[0].layout.masks) == t[0].layout.images]
    best = paired or best
    best.sort(key=lambda t: -t[1])
    layouts = [(tree.layout, count) for tree, count in best[:_FEW]]
    return [f"--images '{a.images}' --masks '{a.masks}' ({count} images)" for a, count in layouts]


def _of_folder(masks: str) -> str:
    """Returns the folder of images that a folder of masks is named after; empty if none."""
    found = _BESIDE.fullmatch(masks)
    return found[1] if found else ""


def _of_names(root: epath.Path, said: Mapping[str, str]) -> VocTree | None:
    """Finds the folder of images by the names of its files, which are those of all masks.

    Raises:
      LayoutError: if there are several.
    """
    names = subfolders(root)
    masks = [said["masks"]] if "masks" in said else [n for n in names if holds(n) == "masks"]
    of_masks = {*masks, *filter(_OF_MASKS.search, names)}
    others = [n for n in names if not (holds(n) or split_word(n) or n in of_masks)]
    if "images" in said or len(masks) != 1 or len(others) > _FEW:
        return None
    patterns = {name: value for name, value in said.items() if name != "masks"}
    trees = [VocTree(root, Layout(other, masks[0], **patterns)) for other in others]
    fit = [
        (tree, count)
        for tree in trees
        if (count := fits(with_pattern(tree))) == len(tree.masks) > 0 and not _palettes(tree)
    ]
    if len(fit) > 1:
        raise _several(root, fit)
    return fit[0][0] if fit else None


def _palettes(tree: VocTree) -> bool:
    """Says whether the first image is a palette PNG, as masks and drawings of masks are."""
    file = File.read(tree.root / tree.layout.images / min(tree.images.values()), ImageError)
    return file.kind is Kind.PNG and read_header(file).color is ColorType.PALETTE


def beside(folder: epath.Path) -> list[Layout]:
    """Returns how masks are named that lie beside their images in a folder; mostly one way."""
    of: dict[str, set[str]] = {}
    for name, is_folder in entries(folder, (*IMAGE_SUFFIXES, *MASK_SUFFIXES)):
        stem, ending = posixpath.splitext(name)
        if not is_folder:
            of.setdefault(ending.lower(), set()).add(stem)

    def with_ending(endings: Iterable[str]) -> set[str]:
        return set().union(*(of.get(ending, ()) for ending in endings))

    stems, masks = with_ending(IMAGE_SUFFIXES), with_ending(MASK_SUFFIXES)
    likely = {stem: found for stem in masks if (found := _BESIDE.fullmatch(stem))}
    suffixes = {stem: ("", found[2]) for stem, found in likely.items() if found[1] in stems}
    if not suffixes:
        said = {found[1]: found[2] for stem in stems if (found := _IMAGE_BESIDE.fullmatch(stem))}
        suffixes = {
            s: (said[found[1]], found[2]) for s, found in likely.items() if found[1] in said
        }
    layouts = [Layout(".", ".", *both, lists="") for both in sorted(set(suffixes.values()))]
    plain = of.pop(".png", set()) - suffixes.keys()
    # A PNG without a JPEG of its name is an image, and so are the others then.
    if plain and plain <= with_ending(IMAGE_SUFFIXES):
        layouts.append(Layout(".", ".", mask_name=f"{ID}.png", lists=""))
    return layouts


def complete(folder: epath.Path, layouts: Sequence[Layout]) -> bool:
    """Says whether all images at and below a folder have a mask beside them."""
    trees = (VocTree(folder, layout) for layout in layouts)
    return not subfolders(folder) or any(fits(tree) == len(tree.images) for tree in trees)


def images_note(tree: VocTree, said: Mapping[str, str]) -> str:
    """Returns the note that the folder of images was found by its files; mostly empty."""
    layout = tree.layout
    top = layout.images.partition("/")[0]
    if "images" in said or layout.images == "." or layout.image_name or holds(top):
        return ""
    return (
        f"No folder is called as one of images is. They are read from {layout.images}, where all "
        f"files of {layout.masks} have an image by their names."
    )


def rivals(tree: VocTree) -> list[str]:
    """Returns notes about folders beside that of the masks whose files may be masks too.

    Their names say nothing, so they are not asked about. Pictures of masks are usual there, but
    in some datasets these are the masks, and the folder `mask` shows the field of view.
    """
    naming = tree.layout.mask_naming
    full = f"{tree.layout.masks}/{naming.name_of('{split}/{id}' if naming.split else '{id}', '')}"
    chosen = posixpath.dirname(full).removeprefix("./")
    above, _, own = chosen.rpartition("/")
    if own in (*MASK_FOLDERS, ".") or SPLIT in own:
        return []
    first = next(iter(tree.images), "").partition("/")[0]
    folder = tree.root / above.replace(SPLIT, first)
    notes = []
    for name in subfolders(folder) if folder.is_dir() else ():
        path = posixpath.join(above, name)
        if holds(name) or split_word(name) or path in (chosen, tree.layout.images):
            continue
        pattern = f"{path}/{ID}" if SPLIT in path else ""
        layout = dataclasses.replace(
            tree.layout, masks="." if pattern else path, mask_name=pattern, mask_suffix=""
        )
        rival = with_pattern(tree.with_layout(layout))
        if count := fits(rival):
            notes.append(
                f"Masks are read from {chosen}, and {path} has a file for {count} images too. To "
                f"read masks from there, say {_said(rival.layout)[1]}"
            )
    return notes


def in_splits(layout: Layout) -> Layout:
    """Returns the layout of the folder above folders of splits that all have a layout."""
    if (layout.images, layout.masks) == (".", ".") and not (
        layout.image_naming.whole or layout.mask_naming.whole
    ):
        return layout
    patterns = [
        f"{SPLIT}/{'' if folder == '.' else folder + '/'}{naming}"
        for folder, naming in (
            (layout.images, layout.image_naming),
            (layout.masks, layout.mask_naming),
        )
    ]
    return dataclasses.replace(
        Layout(".", ".", lists=layout.lists), image_name=patterns[0], mask_name=patterns[1]
    )


def _several(root: epath.Path, trees: list[tuple[VocTree, int]]) -> LayoutError:
    lines = [
        f"{where}: masks for {count} of {len(tree.images)} images; say {options}"
        for tree, count in trees
        for where, options in [_said(tree.layout)]
    ]
    return LayoutError(
        root,
        found=f"{len(trees)} ways to read images and masks:"
        + "".join(f"\n    {line}" for line in lines),
        expected="one folder of images and one of masks",
        remedy="choose one of them by the options in its line",
    )


def _said(layout: Layout) -> tuple[str, str]:
    """Returns a layout in words, and the options that choose it."""
    if layout.image_name:
        options = f"--image_name '{layout.image_name}' --mask_name '{layout.mask_name}'"
        return f"{layout.image_name} and {layout.mask_name}", f"--images . --masks . {options}"
    if layout.mask_name:
        masks = f"--masks '{layout.masks}' --mask_name '{layout.mask_name}'"
        return f"{layout.masks}/{layout.mask_name}", f"--images '{layout.images}' {masks}"
    where = f"{layout.images} and {layout.masks}"
    return where, f"--images '{layout.images}' --masks '{layout.masks}'"
