"""Finds the pattern by which masks belong to images by their names, or says what would match."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.trees.naming import ANY, ID, Naming
from voc_seg_tfrecord.trees.tree import VocTree

_SAMPLE = 50  # images whose ids are looked for in the names of masks
_SHOWN = 3  # patterns that an error proposes

_Pattern = tuple[Naming, Naming]  # of images and of masks


def fits(tree: VocTree) -> int:
    """Returns how many images have a mask by their name.

    Names that only look the same count. They are told apart, id by id, where the files are
    looked up.
    """
    return sum(1 for i in tree.images if i in tree.masks or tree.masks.alike(i))


def with_pattern(tree: VocTree) -> VocTree:
    """Returns a tree with the pattern by which masks belong to images, if one alone can be meant.

    That is so if no mask has the name of an image, all masks have the pattern, all images or all
    masks find their other half by it, and no other pattern does so with other pairs.
    """
    if not tree.images or not tree.masks or fits(tree):
        return tree
    images, masks = dict(tree.images), dict(tree.masks)
    readings = _readings(images, masks)
    if len(readings) != 1:
        return tree
    (naming,) = readings
    gain = _matches(images, masks, *naming)
    ids = {naming[1].core_of(name) for name in masks}
    if None in ids or len(ids) < len(masks) or gain < min(len(images), len(masks)):
        return tree
    of_image, of_mask = _composed(tree, naming)
    endings = {posixpath.splitext(name)[1] for name in masks.values()}
    of_mask += endings.pop() if len(endings) == 1 else ""
    layout = dataclasses.replace(tree.layout, mask_name=of_mask)
    if naming[0] != ANY:
        layout = dataclasses.replace(layout, image_name=of_image)
    found = tree.with_layout(layout)
    return found if fits(found) == gain else tree


def pattern_note(tree: VocTree, said: Mapping[str, str]) -> str:
    """Returns the note about a pattern that `with_pattern` found; empty if it found none.

    Args:
      tree: the tree as it is read.
      said: the fields of the layout that the user gave.
    """
    image, mask = (str(n) for n in (tree.layout.image_naming, tree.layout.mask_naming))
    # What folders they lie in is told anyway.
    if "mask_name" in said or (_last(image), _last(mask)) == (ID, ID):
        return ""
    return (
        f"Masks are named {_last(mask)} where images are named {_last(image)}: {fits(tree)} of "
        f"{len(tree.images)} images have a mask. Other names can be said with --mask_name."
    )


def check_names_match(tree: VocTree) -> None:
    """Checks that masks belong to images by their names.

    Raises:
      LayoutError: if no mask has the id of an image, or if another pattern of names gives more
        images a mask than the present one.
    """
    if not tree.images or not tree.masks:
        return
    fit = fits(tree)
    if fit == min(len(tree.images), len(tree.masks)):
        return
    alone = _unmatched(tree.images, tree.masks), _unmatched(tree.masks, tree.images)
    readings = _readings(*alone)
    gain = _matches(*alone, *readings[0]) if readings else 0
    if fit and gain <= fit:
        return
    layout = tree.layout
    image, mask = (min(names.values()) for names in alone)
    found = "no mask fits an image by its name" if not fit else f"only {fit} masks fit an image"
    raise LayoutError(
        tree.root,
        found=f"{found}, of {len(tree.images)} images and {len(tree.masks)} masks. The first of "
        f"the others are {_where(layout.images, image)} and {_where(layout.masks, mask)}",
        expected="one name for an image and its mask, but for the ending",
        remedy=_remedy(tree, readings, alone[1], gain),
        kind="names of masks",
    )


def _remedy(
    tree: VocTree, readings: Sequence[_Pattern], masks: Mapping[str, str], gain: int
) -> str:
    if not readings:
        return (
            "rename the masks, or say how they are named with --mask_name, such as "
            f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and images with '
            "--image_name"
        )
    ways = []
    for naming in readings[:_SHOWN]:
        of_image, of_mask = _composed(tree, naming)
        endings = {
            posixpath.splitext(name)[1]
            for stem, name in masks.items()
            if naming[1].core_of(stem) is not None
        }
        pattern = f"{of_mask}{endings.pop() if len(endings) == 1 else ''}"
        options, fields = [f"--mask_name '{pattern}'"], [f'"mask_name": "{pattern}"']
        if naming[0] != ANY:
            options.insert(0, f"--image_name '{of_image}'")
            fields.insert(0, f'"image_name": "{of_image}"')
        ways.append(f'{" ".join(options)} (in a config: "layout": {{{", ".join(fields)}}})')
    which = "which of them" if len(ways) > 1 else "how they"
    return f"say {which} are named: {', or '.join(ways)} gives {gain} images a mask"


def _composed(tree: VocTree, naming: _Pattern) -> list[str]:
    """Returns the patterns of images and masks: a naming of ids in those that the tree has."""
    present = tree.layout.image_naming, tree.layout.mask_naming
    return [str(old).replace(ID, str(new)) for old, new in zip(present, naming, strict=True)]


def _unmatched(names: Mapping[str, str], others: Collection[str]) -> dict[str, str]:
    """Returns the names of the files of the ids that are not among others, by id."""
    return {image_id: name for image_id, name in names.items() if image_id not in others}


def _where(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _readings(images: Mapping[str, str], masks: Mapping[str, str]) -> list[_Pattern]:
    """Returns the namings of images and of masks that give most images a mask.

    Of several that pair the same files only the first is returned.
    """
    found: dict[frozenset[tuple[str, str]], _Pattern] = {}
    for naming in dict.fromkeys([*_around(images, masks), *_common(images, masks)]):
        found.setdefault(_pairs(images, masks, *naming), naming)
    most = max(map(len, found), default=0)
    return [naming for pairs, naming in found.items() if most and len(pairs) == most]


def _around(images: Mapping[str, str], masks: Mapping[str, str]) -> Iterator[_Pattern]:
    """Yields what stands around the ids of images in names of masks, and the other way round."""
    for ids, names, ours in ((images, masks, True), (masks, images, False)):
        found: Counter[Naming] = Counter()
        for word in {_last(image_id) for image_id in list(ids)[:_SAMPLE]}:
            # 1 stands in 10 and 21 too: such namings are seen less often than the right one.
            parts = [_last(n).partition(word) for n in names if word in _last(n)]
            found.update({Naming(before, after) for before, _, after in parts})
        for naming, _ in found.most_common(3):
            yield (Naming(), naming) if ours else (naming, Naming())


def _common(images: Mapping[str, str], masks: Mapping[str, str]) -> Iterator[_Pattern]:
    """Yields what all names begin and end with, without the digits of numbers."""
    (a, b), (c, d) = (_affixes({_last(n) for n in names}) for names in (images, masks))
    yield Naming(a, b), Naming(c, d)
    if a == c:
        yield Naming("", b), Naming("", d)
    if b == d:
        yield Naming(a), Naming(c)


def _affixes(names: Collection[str]) -> tuple[str, str]:
    before = _beginning(names)
    return before, _beginning([name[len(before) :][::-1] for name in names])[::-1]


def _beginning(names: Collection[str]) -> str:
    """Returns what all names begin with, without the digits of a number that differs."""
    first, last = min(names), max(names)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return re.sub(r"\d+$", "", first[:same])


def _last(image_id: str) -> str:
    return image_id.rpartition("/")[2]


def _matches(
    images: Mapping[str, str], masks: Mapping[str, str], image: Naming, mask: Naming
) -> int:
    return len(_pairs(images, masks, image, mask))


def _pairs(
    images: Mapping[str, str], masks: Mapping[str, str], image: Naming, mask: Naming
) -> frozenset[tuple[str, str]]:
    """Returns image and mask of each id that both have by a naming."""
    of_image = {image.core_of(name): name for name in images}
    return frozenset(
        (of_image[core], name)
        for name in masks
        if (core := mask.core_of(name)) is not None and core in of_image
    )
