"""A tree in the Pascal VOC layout: its id lists and its files."""

from collections.abc import Sequence
import functools

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, SplitError, VocSegError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES, parse_ids
from voc_seg_tfrecord.trees.layout import (
    IMAGES,
    LISTS,
    MASK_SUFFIXES,
    MASKS,
    VOC,
    Layout,
    index_files,
)
from voc_seg_tfrecord.trees.pair import Pair


class VocTree:
    """A folder that holds images, masks and id lists.

    Args:
      root: the folder, `VOC2012` in a devkit.
      layout: the names of the folders in it.
    """

    def __init__(self, root: epath.PathLike, layout: Layout = VOC):
        self.root = epath.Path(root)
        self.layout = layout

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not."""
        return self.root / self.layout.lists / f"{name}.txt"

    def list_names(self) -> list[str]:
        """Returns the names of all lists that are there."""
        folder = self.root / self.layout.lists
        files = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return [name.removesuffix(".txt") for name in files if name.endswith(".txt")]

    def read_ids(self, name: str) -> list[str]:
        """Returns the ids of the list `name`, in its order.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            there = ", ".join(f"{n}.txt" for n in self.list_names())
            raise LayoutError(
                path,
                found="no such list" + (f", but {there}" if there else ""),
                expected="a text file of image ids, one a line",
                remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
            )
        return parse_ids(path.read_bytes(), path, self.images)

    def pairs(
        self,
        split: str,
        ids: Sequence[str],
        *,
        instances: bool = False,
        annotations: bool = False,
        background: bool = False,
    ) -> list[Pair]:
        """Finds the files of ids; no file is opened.

        Args:
          split: the split's name, for the error.
          ids: image ids.
          instances: whether an instance mask is needed as well.
          annotations: whether an XML annotation is needed as well.
          background: whether an image may do without masks and be all background.

        Returns:
          A pair an id, in the order of `ids`.

        Raises:
          SplitError: naming the first files that are missing, and how many are.
        """
        parts = {
            "image": (self.layout.images, self.images, True),
            "mask": (self.layout.masks, self.masks, not background),
        }
        if instances:
            parts["instances"] = (self.layout.instances, self.instances, not background)
        if annotations:
            parts["annotation"] = (self.layout.annotations, self.annotations, True)
        missing: list[VocSegError] = []
        pairs = []
        for image_id in ids:
            paths = {}
            for part, (folder, names, needed) in parts.items():
                if image_id in names:
                    paths[part] = self.root / folder / names[image_id]
                elif needed:
                    missing.append(self._missing(folder, image_id))
                    break
            if not missing:
                pairs.append(Pair(image_id, self.images[image_id], **paths))
        if missing:
            raise SplitError(split, missing, len(ids))
        return pairs

    def _missing(self, folder: str, image_id: str) -> LayoutError:
        kind = "an image" if folder == self.layout.images else "a file"
        return LayoutError(
            self.root / folder / image_id,
            found="no such file",
            expected=f"{kind} for the listed id {image_id!r}",
            remedy="put the file there, or take the id out of the list",
            kind=f"missing in {folder}",
        )

    @functools.cached_property
    def images(self) -> dict[str, str]:
        """The images' names below their folder, by id."""
        suffix, beside = self.layout.image_suffix, self.layout.images == self.layout.masks
        other = self.layout.mask_suffix if beside else ""
        return index_files(self.root / self.layout.images, IMAGE_SUFFIXES, suffix, other)

    @functools.cached_property
    def masks(self) -> dict[str, str]:
        """The masks' names below their folder, by id."""
        folder = self.root / self.layout.masks
        return index_files(folder, MASK_SUFFIXES, self.layout.mask_suffix)

    @functools.cached_property
    def instances(self) -> dict[str, str]:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / self.layout.instances, MASK_SUFFIXES)

    @functools.cached_property
    def annotations(self) -> dict[str, str]:
        """The XML files' names below their folder, by id."""
        return index_files(self.root / self.layout.annotations, (".xml",))
