"""Says that masks and images have names that do not go together, and which pattern would match."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
import posixpath
import re

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.trees.naming import ID, Naming
from voc_seg_tfrecord.trees.tree import VocTree

_SAMPLE = 50  # images whose ids are looked for in the names of masks


def check_names_match(tree: VocTree) -> None:
    """Checks that masks belong to images by their names.

    Raises:
      LayoutError: if no mask has the id of an image, or if another pattern of names gives more
        images a mask than the present one.
    """
    if not tree.images or not tree.masks:
        return
    # Names that only look the same are told apart, id by id, where the files are looked up.
    fits = sum(1 for i in tree.images if i in tree.masks or tree.masks.alike(i))
    if fits == min(len(tree.images), len(tree.masks)):
        return
    alone = _unmatched(tree.images, tree.masks), _unmatched(tree.masks, tree.images)
    naming = _best(*alone)
    gain = _matches(*alone, *naming) if naming else 0
    if fits and gain <= fits:
        return
    layout = tree.layout
    image, mask = (min(names.values()) for names in alone)
    found = "no mask fits an image by its name" if not fits else f"only {fits} masks fit an image"
    raise LayoutError(
        tree.root,
        found=f"{found}, of {len(tree.images)} images and {len(tree.masks)} masks. The first of "
        f"the others are {_where(layout.images, image)} and {_where(layout.masks, mask)}",
        expected="one name for an image and its mask, but for the ending",
        remedy=_remedy(naming, alone[1], gain),
        kind="names of masks",
    )


def _remedy(naming: tuple[Naming, Naming] | None, masks: Mapping[str, str], gain: int) -> str:
    if naming is None or not gain:
        return (
            "rename the masks, or say how they are named with --mask_name, such as "
            f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and images with '
            "--image_name"
        )
    of_image, of_mask = naming
    endings = {posixpath.splitext(name)[1] for name in masks.values()}
    pattern = f"{of_mask}{endings.pop() if len(endings) == 1 else ''}"
    options, fields = [f"--mask_name '{pattern}'"], [f'"mask_name": "{pattern}"']
    if of_image != Naming():
        options.insert(0, f"--image_name '{of_image}'")
        fields.insert(0, f'"image_name": "{of_image}"')
    return (
        f'say how they are named: {" ".join(options)} (in a config: "layout": '
        f"{{{', '.join(fields)}}}) gives {gain} images a mask"
    )


def _unmatched(names: Mapping[str, str], others: Collection[str]) -> dict[str, str]:
    """Returns the files of the ids that are not among others, by their name without ending."""
    alone = (name for image_id, name in names.items() if image_id not in others)
    return {posixpath.splitext(name)[0]: name for name in alone}


def _where(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _best(images: Mapping[str, str], masks: Mapping[str, str]) -> tuple[Naming, Naming] | None:
    """Returns the naming of images and of masks that gives most images a mask."""
    candidates = dict.fromkeys([*_around(images, masks), *_common(images, masks)])
    if not candidates:
        return None
    return max(candidates, key=lambda naming: _matches(images, masks, *naming))


def _around(images: Mapping[str, str], masks: Mapping[str, str]) -> Iterator[tuple[Naming, Naming]]:
    """Yields what stands around the ids of images in names of masks, and the other way round."""
    for ids, names, ours in ((images, masks, True), (masks, images, False)):
        found: Counter[Naming] = Counter()
        for word in {_last(image_id) for image_id in list(ids)[:_SAMPLE]}:
            # 1 stands in 10 and 21 too: such namings are seen less often than the right one.
            parts = [_last(n).partition(word) for n in names if word in _last(n)]
            found.update({Naming(before, after) for before, _, after in parts})
        for naming, _ in found.most_common(3):
            yield (Naming(), naming) if ours else (naming, Naming())


def _common(images: Mapping[str, str], masks: Mapping[str, str]) -> Iterator[tuple[Naming, Naming]]:
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
    ids = {image.core_of(name) for name in images} - {None}
    return len(ids & {mask.core_of(name) for name in masks})
