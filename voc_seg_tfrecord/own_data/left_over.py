"""Which images and masks that a plan does not use may be pairs under other names."""

from collections.abc import Collection, Iterable, Iterator
import posixpath

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.account import Account
from voc_seg_tfrecord.own_data.folder_names import EXTRA, ROLES, role, role_of, split_word, words
from voc_seg_tfrecord.own_data.pixels import looks_drawn, sizes_agree
from voc_seg_tfrecord.trees.layout import MASK_FOLDERS, MASK_SUFFIXES
from voc_seg_tfrecord.trees.tree import VocTree


class LeftOver:
    """The files of a set that a plan does not use, of which an image and a mask may be a pair.

    Args:
      tree: the set.
      account: the files that are not used.
      used: the ids of all splits.
    """

    def __init__(self, tree: VocTree, account: Account, used: Collection[str]):
        self._tree, self._account = tree, account
        self._folders = [
            {posixpath.dirname(path) or "." for path in self._paths(which, used)}
            for which in ("images", "masks")
        ]

    def check(self, lacking: Collection[str] | None = None) -> None:
        """Checks that no image and mask that are left over may be a pair.

        Args:
          lacking: the ids of images that lists name and that have no mask; None if there are no
            lists, and any image counts.

        Raises:
          LayoutError: if an image and a mask of one size have the same numbers in their names, or
            the same words if these have no numbers.
        """
        tree = self._tree
        listed = lacking if lacking is None else {*self._paths("images", lacking)}
        masks = dict(self._of("masks"))
        for numbers, image in self._of("images") if masks else ():
            if listed is not None and image not in listed:
                continue
            if not (mask := masks.get(numbers)) or self._is_example(image, mask):
                continue
            files = tree.given / image, tree.given / mask
            if sizes_agree(*files) and looks_drawn(files[1]) and not looks_drawn(files[0]):
                raise LayoutError(
                    files[1],
                    found=f"a mask without an image, and {image}, which has no mask. This may be "
                    "its mask under another name",
                    expected="names of images and masks that are the same, but for what all have "
                    "around them",
                    remedy="rename one of them, or leave out all files without their other half: "
                    + command(**tree.layout.options(tree.place)),
                    kind="names of masks",
                )

    def _paths(self, which: str, ids: Iterable[str]) -> Iterator[str]:
        """Yields the paths of the `images` or `masks` that ids have, below the given folder."""
        top, names = (
            posixpath.join(self._tree.place, getattr(self._tree.layout, which)),
            getattr(self._tree, which),
        )
        for image_id in ids:
            if image_id in names:
                yield posixpath.normpath(posixpath.join(top, names[image_id]))

    def _of(self, which: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yields the numbers and paths of `images` or `masks` that are left over."""
        patterns = [getattr(p, f"{which[:-1]}_name") for p in self._tree.layout.folders()]
        endings = MASK_SUFFIXES if which == "masks" else IMAGE_SUFFIXES
        places = {
            posixpath.normpath(posixpath.join(self._tree.place, f))
            for f in self._tree.layout.copies
        }
        for (folder, kind), names in self._account.items():
            what, _, state = kind.partition(" ")
            place, of_folder = folder or ".", role_of(folder)
            if state == "in no split" or of_folder == "drawn" or place in places:
                continue
            if EXTRA.intersection(words(folder)):
                continue
            of_images = (
                place in self._folders[0] or of_folder == "images" or bool(split_word(folder)[1])
            )
            last = posixpath.basename(folder)
            of_masks = place in self._folders[1] or (
                of_folder == "masks" and last not in MASK_FOLDERS
            )
            if of_images != of_masks and of_images != (which == "images"):
                continue
            for name in names:
                stem, ending = posixpath.splitext(name.lower())
                of_name = role(stem) if of_images == of_masks else ""
                if what in ("image", "mask"):
                    of_name = f"{what}s"
                if ending in endings and of_name in ("", which) and role(stem) != "drawn":
                    yield _numbers(stem, patterns), posixpath.join(folder, name)

    def _is_example(self, image: str, mask: str) -> bool:
        """Says whether an image and a mask outside of the tree's folders show a pair of the set.

        They lie in folders whose names say nothing, such as `docs`, or are named as a pair is.
        """
        places = [posixpath.dirname(path) or "." for path in (image, mask)]
        if any(place in of for place, of in zip(places, self._folders, strict=True)):
            return False
        names = posixpath.basename(image), posixpath.basename(mask)
        parts = self._tree.layout.folders()
        ids = {p: (p.image_naming.id_of(names[0]), p.mask_naming.id_of(names[1])) for p in parts}
        return not any(map(role_of, places)) or any(
            of_image == of_mask and posixpath.join(part.name, of_image or "") in self._tree.images
            for part, (of_image, of_mask) in ids.items()
        )


def _numbers(stem: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Returns the numbers of a name but for those of patterns.

    If it has none, these are its words but for those that say what files hold.
    """
    around = {word for pattern in patterns for word in words(pattern)}
    of_name = [word.lstrip("0") or "0" for word in words(stem) if word not in around | ROLES]
    return tuple([word for word in of_name if word.isdigit()] or of_name)
