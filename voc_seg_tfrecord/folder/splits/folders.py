"""The folders of a set that are called as splits are."""

from collections.abc import Sequence
import dataclasses
import functools
import re

from voc_seg_tfrecord.base.errors import LayoutError, command
from voc_seg_tfrecord.folder.files.folder_names import SPLITS, are_splits, is_split
from voc_seg_tfrecord.folder.splits.split_words import split_in
from voc_seg_tfrecord.splitting.ratios import named_by_split
from voc_seg_tfrecord.trees.tree import VocTree


@dataclasses.dataclass(frozen=True)
class SplitFolders:
    """The folders of a set in which the images of splits lie.

    Attributes:
      tree: the set.
    """

    tree: VocTree

    @functools.cached_property
    def names(self) -> Sequence[str]:
        """Those among the first folders of ids; none if no folder is called as a split is."""
        images, masks = self.tree.images, self.tree.masks
        # Masks that lie at the top say that folders below name no splits.
        if any("/" not in mask_id for mask_id in masks):
            return ()
        folders = {image_id.partition("/")[0] for image_id in images if "/" in image_id}
        labelled = {i.partition("/")[0] for i in images if "/" in i and i in masks}
        named = labelled or folders
        are_named = any(map(is_split, named)) or are_splits(named)
        return sorted(folders) if are_named else ()

    def sources(self) -> dict[str, str]:
        """Returns the folder of each split.

        Raises:
          LayoutError: if a folder has masks and no images, which would be lost.
        """
        if not self.names:
            return self._with_words_around()
        tree = self.tree
        by_split = _by_split(self.names, tree.root / tree.layout.images)
        lost = {name.partition("/")[0] for name in tree.masks if "/" in name} - {*self.names}
        if lost:
            first = min(name for name in tree.masks if name.partition("/")[0] in lost)
            raise LayoutError(
                tree.root / tree.layout.masks / tree.masks[first],
                found=f"masks for a split {min(lost)!r}, which has no images. The splits with "
                f"images are {', '.join(self.names)}",
                expected="images and masks in the folders of a split",
                remedy="give the folder of its images the same name as in the other splits, or "
                f"say which splits you want, such as {_choice(by_split)}",
            )
        return {split: f"{name}/" for split, name in by_split.items()}

    def images(self, folder: str) -> list[str]:
        """Returns the ids below a folder that ends with a slash; `*` stands for any one folder."""
        pattern = re.compile(re.escape(folder).replace(re.escape("*"), "[^/]+"))
        return [image_id for image_id in self.tree.images if pattern.match(image_id)]

    def _with_words_around(self) -> dict[str, str]:
        """Returns folders whose names say splits and a word more, the same in all, or a number.

        They may lie below others, as in `rome/train` and `bonn/val`: `*/train/` and `*/val/`. There
        are none unless each labelled image lies in one.
        """
        paths = [i.split("/")[:-1] for i in self.tree.images if i in self.tree.masks]
        for level in range(min(map(len, paths), default=0)):
            said = {name: split_in(name) for name in sorted({path[level] for path in paths})}
            by_split = {split: f"{'*/' * level}{name}/" for name, (split, _) in said.items()}
            around = {rest for _, rest in said.values() if not rest.isdigit()}
            if len(by_split) == len(said) > 1 >= len(around) and {"", "train"} & {*by_split} == {
                "train"
            }:
                return by_split
        return {}

    def check_all_train(self) -> None:
        """Checks that images that shall all be in train do not lie in folders of other splits.

        Raises:
          LayoutError: if some do, and others in no folder of a split.
        """
        tree = self.tree
        folders = {i.partition("/")[0] for i in tree.images if "/" in i and i in tree.masks}
        if called := sorted(filter(is_split, folders)):
            first = next(name for name in tree.masks if "/" not in name)
            raise LayoutError(
                tree.root / tree.layout.images,
                found=f"images in folders that are called as splits, {', '.join(called)}, and "
                f"others in none, such as {tree.images.get(first, first)}",
                expected="images in the folders of splits, or lists",
                remedy=f"take the folders with {_choice(_by_split(called, tree.root))}, or all "
                "images with --splits train=1",
            )


def _choice(by_split: dict[str, str]) -> str:
    return command(splits=",".join(f"{split}={name}/" for split, name in by_split.items()))


def _by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that folders make: `val` makes `validation`, `training` makes `train`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    called = {SPLITS.get(name.lower(), name): name for name in names}
    if len(called) < len(names):
        called = {name: name for name in names}
    splits = named_by_split(called)
    for split, (first, *others) in splits.items():
        if others:
            raise LayoutError(
                where,
                found=f"{first!r} and {others[0]!r}, which would both be the split {split!r}",
                expected="one folder for each split",
                remedy=f"say which: {command(splits=f'{split}={others[0]},...')}",
            )
    return {split: called[name] for split, (name,) in splits.items()}
