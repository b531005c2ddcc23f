"""What becomes of listed images without a mask, and which pattern would find their masks."""

from collections.abc import Collection, Iterator, Sequence
import dataclasses
import hashlib
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, ListError, command, counted
from voc_seg_tfrecord.core.layout import ID, MASK_FOLDERS, MASK_SUFFIXES, NO_MASKS
from voc_seg_tfrecord.folder.files.folder_names import role_of, stem
from voc_seg_tfrecord.folder.files.pixels import MIN_IMAGE_BYTES, length
from voc_seg_tfrecord.folder.files.unreadable import of_objects
from voc_seg_tfrecord.folder.splits.alike import LooksAlike, Pair
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

NAMES_OF_MASKS = "names of masks"
"""The kind of the error that no mask fits an image by its name."""


class MissingMasks:
    """The images of a set without a mask, and files that may be theirs."""

    def __init__(self, tree: VocTree, config: VocSegConfig):
        self._tree, self._config = tree, config
        self._images, self._masks, self._layout = tree.images, tree.masks, tree.layout

    def leave_out(self, splits: Splits) -> Splits:
        """Leaves out listed ids that have no image or no mask, if the config says so.

        A split that nobody asked for and that has no image with a mask goes too: test lists of
        releases and tools are such.

        Raises:
          ListError: if no image of a split has a mask.
          LayoutError: if masks are JPEGs, or images would be left out, or taken as background,
            while the folder of masks has files that may be their masks, or while they are copies
            of images with masks.
        """
        listed = itertools.chain(*splits.ids.values())
        lacking = {i for i in listed if i in self._images and i not in self._masks}
        notes = self._suggest_folders(lacking)
        self._check_names_match()
        self._check_files(lacking)
        if lacking and self._config.missing_mask == "background":
            self._check_copies(lacking)
            notes.append(
                f"{counted(len(lacking), 'image')} without a mask are background alone, such as "
                f"{self._tree.image_path(min(lacking))}."
            )
        used, sources = {**splits.ids}, {**splits.sources}
        left_out: dict[str, list[str]] = {}
        for name, ids in splits.ids.items():
            if out := [image_id for image_id in ids if self._is_left_out(image_id)]:
                gone = {*out}
                used[name] = [image_id for image_id in ids if image_id not in gone]
                left_out[name] = out
        bare = [name for name, ids in used.items() if not ids]
        # A test list without masks is usual. Training data without masks are a mistake.
        if bare and (self._config.splits is not None or len(bare) == len(used) or "train" in bare):
            wrong = "train" if "train" in bare else bare[0]
            raise self._no_mask(wrong, splits.ids[wrong])
        for name in bare:
            del used[name]
            notes.append(
                f"{sources.pop(name)} has no image with a mask, so it makes no split. With "
                "--splits you choose the lists."
            )
        notes = [*splits.notes, *notes, *self._pattern_note()]
        return dataclasses.replace(
            splits, ids=used, sources=sources, left_out=left_out, notes=notes
        )

    def _is_left_out(self, image_id: str) -> bool:
        """Says whether an id is left out. A file whose name only looks the same is an error."""
        if image_id not in self._images:
            return self._config.missing_image == "skip" and not self._images.alike(image_id)
        if self._config.missing_mask != "skip" or image_id in self._masks:
            return False
        return not self._masks.alike(image_id)

    def _no_mask(self, split: str, ids: Sequence[str]) -> ListError:
        first = self._images.get(ids[0], ids[0])
        if unused := self._unused():
            advice = (
                f"{len(unused)} files in {self._layout.masks}, such as {unused[0]}, belong to no "
                "image by their names. Rename them, or say how they are named with --mask_name"
            )
        elif split == "train":
            advice = "put the masks of the training images where those of the other splits lie"
        else:
            advice = (
                "leave the split out. Only if all its images show nothing but background, take "
                "them as that: --missing_mask background"
            )
        return ListError(
            f"split {split!r} of {self._tree.root}",
            found=f"no mask for any of its {len(ids)} images, such as {first}",
            expected="at least one image with a mask",
            remedy=advice,
        )

    def _check_files(self, lacking: Collection[str]) -> None:
        """Checks that images without a mask have none, and not one that cannot be used."""
        if not lacking or (self._masks and self._config.missing_mask != "background"):
            return
        jpegs = self._jpegs(lacking) or (self._jpegs() if not self._masks else [])
        if jpegs:
            raise LayoutError(
                self._tree.root / self._layout.masks / jpegs[0],
                found="a JPEG, or the like, where a mask should be"
                + (f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""),
                expected=f"masks: files that end with {', '.join(MASK_SUFFIXES)}",
                remedy="export the masks again as PNG, because a JPEG changes the values of "
                "pixels, and so the classes. With --missing_mask background all of an image would "
                "become background",
            )
        if self._config.missing_mask != "background":
            return
        unused = [posixpath.join(self._layout.masks, name) for name in self._unused()]
        for files, what in (
            (unused, "belong to no image by their names"),
            (self._elsewhere(lacking), "have the names of images"),
        ):
            if 2 * len(files) >= len(lacking):
                raise LayoutError(
                    self._tree.root / files[0],
                    found=f"the first of {len(files)} files that {what}, "
                    f"while {len(lacking)} images have no mask and would become background",
                    expected="no such files, if these images are background alone",
                    remedy="rename the files, say how they are named with --mask_name or where "
                    "they lie with --masks, or take them out of the folder",
                )

    def _elsewhere(self, lacking: Collection[str]) -> list[str]:
        """Returns files with names of images in other folders of masks, below the tree."""
        tree, names = self._tree, {posixpath.basename(image_id) for image_id in lacking}
        top = posixpath.join(tree.place, self._layout.masks)
        paths = (posixpath.normpath(posixpath.join(top, name)) for name in self._masks.values())
        used = {posixpath.dirname(path) for path in paths}
        return [
            posixpath.relpath(posixpath.join(folder, name), tree.place or ".")
            for folder, files in (tree.listing.folders.items() if tree.listing else ())
            if role_of(folder) == "masks" and folder not in used
            for name in files
            if name.lower().endswith(MASK_SUFFIXES) and stem(name) in names
        ]

    def _check_copies(self, lacking: Collection[str]) -> None:
        """Checks that images that would become background are no copies of labelled ones.

        They are if they are the same file, or look like those of the same name, but for a word
        more, or lie in a folder such as `overlays`.
        """
        tree = self._tree
        labeled = {posixpath.basename(i): i for i in self._images if i in self._masks}
        twins = list[Pair]()
        for number, image_id in enumerate(sorted(lacking)):
            name = posixpath.basename(image_id)
            for other in {name, _WORD_BEHIND_ID.sub("", name)} & labeled.keys():
                twins.append(Pair(number, image_id, labeled[other]))
        copies = [twin for twin in twins if role_of(posixpath.dirname(twin.one)) == "drawn"]
        some_twins = twins[:: len(twins) // _MAX_COMPARED_TWINS + 1]
        if not copies and twins and LooksAlike(tree.image_file)(some_twins):
            copies = twins
        copies = copies or [*self._same_files(lacking)]
        if not copies:
            return
        copy = tree.image_path(copies[0].one)
        image = tree.image_path(copies[0].other)
        raise LayoutError(
            tree.given / copy,
            found=f"an image without a mask that is a copy of {image}, which has one. It is the "
            f"first of {len(copies)} such images, which would become background",
            expected="no copies of labelled images among those that are background alone",
            remedy="take the copies out of the folder, or leave out all images without a mask: "
            "--missing_mask skip",
            kind="copies without a mask",
        )

    def _same_files(self, lacking: Collection[str]) -> Iterator[Pair]:
        """Yields images without a mask, each with one that has the same bytes and a mask."""
        sizes = {
            image_id: length(self._tree.image_file(image_id))
            for image_id in self._images
            if image_id in self._masks or image_id in lacking
        }
        sizes_of_lacking = {sizes[i] for i in lacking if sizes[i] > MIN_IMAGE_BYTES}
        labeled_by_content = {
            self._digest(image_id): image_id
            for image_id, size in sizes.items()
            if image_id not in lacking and size in sizes_of_lacking
        }
        if not labeled_by_content:
            return
        sizes_of_labeled = {sizes[image_id] for image_id in labeled_by_content.values()}
        for number, image_id in enumerate(sorted(lacking)):
            if sizes[image_id] not in sizes_of_labeled:
                continue
            other = labeled_by_content.get(self._digest(image_id))
            if other is not None:
                yield Pair(number, image_id, other)

    def _digest(self, image_id: str) -> bytes:
        return hashlib.sha256(self._tree.image_file(image_id).read_bytes()).digest()

    def _check_names_match(self) -> None:
        """Checks that some masks belong to images by their names."""
        if not self._images or not self._masks or self._fits():
            return
        numbered = {
            i: m[1] for i in self._masks if (m := _OBJECT.fullmatch(i)) and m[1] in self._images
        }
        if 2 * len(numbered) > len(self._masks) and len({*numbered.values()}) < len(numbered):
            _, image_id = min(numbered.items())
            masks = [self._masks[i] for i, image in sorted(numbered.items()) if image == image_id]
            raise of_objects(self._tree.root, masks, self._images[image_id])
        layout = self._layout
        both = (layout.images, self._images), (layout.masks, self._masks)
        first = [posixpath.normpath(posixpath.join(f, min(of.values()))) for f, of in both]
        raise LayoutError(
            self._tree.root,
            found=f"no mask fits an image by its name, of {len(self._images)} images and "
            f"{len(self._masks)} masks. The first are {' and '.join(first)}",
            expected="one name for an image and its mask, but for the ending",
            remedy=f"rename the masks, or say how they are named with --mask_name, such as "
            f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and images with '
            "--image_name",
            kind=NAMES_OF_MASKS,
        )

    def _suggest_folders(self, lacking: Collection[str]) -> list[str]:
        """Returns notes about files that may be the masks which listed images lack.

        They are JPEGs in the folder of masks, and masks in other folders that are known. Trainaug
        as MMSegmentation's users have it is such a tree: its list aug.txt needs
        SegmentationClassAug.
        """
        if not lacking:
            return []
        notes = []
        for name in (name for name in MASK_FOLDERS if name != self._layout.masks):
            layout = dataclasses.replace(self._layout, masks=name)
            masks = dataclasses.replace(self._tree, layout=layout).masks
            if helped := sum(image_id in masks for image_id in lacking):
                notes.append(
                    f"{name} has masks for {helped} of the {len(lacking)} listed images that have "
                    f"none in {self._layout.masks}: {command(masks=name)}"
                )
        if jpegs := self._jpegs(lacking):
            notes.append(
                f"{jpegs[0]} in {self._layout.masks} is the first of {len(jpegs)} files that "
                "cannot be masks, because JPEG changes the values of pixels."
            )
        return notes

    def _jpegs(self, lacking: Collection[str] | None = None) -> list[str]:
        """Returns the names of JPEGs and the like in a folder of masks: all, or those of images."""
        if self._layout.masks == self._layout.images:
            return []
        if lacking is not None:
            return sorted(n for i, n in self._tree.others(NO_MASKS).items() if i in lacking)
        names = self._tree.below(self._layout.masks)
        return sorted(name for name in names if name.lower().endswith(NO_MASKS))

    def _unused(self) -> list[str]:
        """Returns the names of files in the folder of masks that belong to no image."""
        used = {self._masks.written(image_id) for image_id in self._images}
        return sorted([*(self._masks[i] for i in self._masks.keys() - used), *self._jpegs()])

    def _fits(self) -> int:
        """Returns how many images have a mask by their name.

        Names that only look the same count. They are told apart, id by id, where the files are
        looked up.
        """
        return sum(1 for i in self._images if i in self._masks or self._masks.alike(i))

    def _pattern_note(self) -> list[str]:
        """Returns the note on patterns that nobody said; none if names are the ids."""
        names = {(part.image_name or ID, part.mask_name or ID) for part in self._layout.folders()}
        plain = all(mask in (ID, f"{ID}.png") and image == ID for image, mask in names)
        said = "mask_name" in (self._config.layout or {})
        if plain or self._tree.labels.sheets or said or len(names) > 1:
            return []
        ((image, mask),) = names
        return [
            f"Masks are named {mask} where images are named {image}: {self._fits()} of "
            f"{len(self._images)} images have a mask. Other names can be said with --mask_name."
        ]


_WORD_BEHIND_ID = re.compile(r"[\W_]+[^\W\d_]+[\W_]*$")  # `0001_small`
_MAX_COMPARED_TWINS = 32
# Of an image, such as `a_mask_1`.
_OBJECT = re.compile(r"(.+?)[_-](?:[a-z]+[_-]?)?\d+", re.IGNORECASE)
