"""A tree in the Pascal VOC layout: which files each id has, and which ids its lists have.

What it holds beside them lies in its own modules: `items` makes the pairs of a split, `texts` reads
lists and class files, and `paths` names files in messages.
"""

from collections.abc import Container, Sequence
import dataclasses
import functools
import os

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, ListError, did_you_mean
from voc_seg_tfrecord.core.example import ALL_FILES, IMAGE_AND_MASK, NeededFiles
from voc_seg_tfrecord.core.id_lists import IdsOfImages, parse_ids
from voc_seg_tfrecord.core.layout import (
    IMAGES,
    LISTS,
    MASK_ENDINGS,
    MASKS,
    VOC,
    Layout,
)
from voc_seg_tfrecord.folder.tree.completeness import (
    MissingParts,
    find_missing,
    several_missing_error,
)
from voc_seg_tfrecord.folder.tree.items import Items, Pairs
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.folder.tree.paths import TreePaths
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.texts import TreeTexts


class _IdsWithImage(Container[str]):
    """The ids of a tree's images, which are listed when the first one is looked up.

    Args:
      tree: the tree.
    """

    def __init__(self, tree: "VocTree"):
        self._tree = tree

    def __contains__(self, name: object) -> bool:
        return name in self._tree.images


@dataclasses.dataclass(frozen=True, eq=False)
class VocTree:
    """A folder that holds images, masks and id lists. Each listing and text is read once and kept.

    The methods that say "a release may override it" are overridden by
    `sources.trainaug.TrainaugTree`, whose files lie in several folders.

    Attributes:
      root: the folder, such as `VOC2012` in a devkit.
      layout: the names of the folders in it, for options and messages.
      listing: all files at and below the folder that the user gave, which is the root or above
        it; if there is none, each folder of the tree is listed when it is needed.
      notes: what a user should know about how the tree was found.
      given_files: see `set_files`, which always has them. The images and masks as the files step
        has found them; None if they lie in the folders of the layout under their ids.
      given_labels: see `labels`, which always has them. The labels, if they are not just the masks
        of `set_files`: shapes, masks that are read in another way (soft, of MATLAB), or masks that
        a text states for images.
      ignored: the ignore masks, if the user named their folder.
      channels: how many files an image has, of which each is a channel; see `Pair`.
    """

    root: epath.Path
    layout: Layout = VOC
    listing: Listing | None = None
    notes: Sequence[str] = ()
    given_files: SetFiles | None = None
    given_labels: Labels | None = None
    channels: int = 1
    ignored: PartFiles | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", epath.Path(self.root))

    @property
    def given(self) -> epath.Path:
        """The folder that the user gave, which is the root or above it."""
        return self.listing.root if self.listing else self.root

    @functools.cached_property
    def root_below_given(self) -> str:
        """The path of the root below the given folder; empty if it is that folder."""
        path = os.fspath(self.root.relative_to(self.given))
        return "" if path == "." else path

    @functools.cached_property
    def paths(self) -> TreePaths:
        """What images and masks are called in messages and in the dataset."""
        return TreePaths(self)

    @functools.cached_property
    def set_files(self) -> SetFiles:
        """The images and masks: those that were given, or those in the folders of the layout."""
        if self.given_files is not None:
            return self.given_files
        return SetFiles(self.root, self.layout, self.listing)

    @functools.cached_property
    def labels(self) -> Labels:
        """Where the masks come from: the labels that were given, or the masks of `set_files`."""
        if self.given_labels is not None:
            return self.given_labels
        return Labels(self.root / self.layout.masks, self.set_files.masks)

    @property
    def images(self) -> Names:
        """The images' names below their folder, by id."""
        return self.set_files.images

    @property
    def masks(self) -> Names:
        """The names of the files of masks, or of what they are drawn from, by id."""
        return self.labels.names

    @functools.cached_property
    def labeled_ids(self) -> Sequence[str]:
        """The ids of the images that have a mask, in the order of `images`."""
        return [image_id for image_id in self.images if image_id in self.masks]

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / self.layout.instances, MASK_ENDINGS)

    @functools.cached_property
    def annotations(self) -> Names:
        """The XML files' names below their folder, by id."""
        return index_files(self.root / self.layout.annotations, (".xml",))

    def find_masks_in(self, folder: str) -> Names:
        """Returns the names of masks in another folder of the tree, by id.

        Shapes do not depend on the folder, so those of the tree are returned.
        """
        if self.labels.tool:
            return self.masks
        return self.set_files.with_mask_folder(folder).masks

    def image_file(self, image_id: str) -> epath.Path:
        """Returns the full path of an id's image."""
        return self.root / self.layout.images / self.images[image_id]

    def files_by_part(self, image_id: str, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part of an id has to lie, by the part's name in `Pair`.

        A release may override it, and then `find_missing` too. Here the files of all ids lie in the
        same folders.
        """
        del image_id
        if parts not in self._located_parts:
            self._located_parts[parts] = self._locate_parts(parts)
        return dict(self._located_parts[parts])

    @functools.cached_property
    def _located_parts(self) -> dict[NeededFiles, dict[str, PartFiles]]:
        """What `_locate_parts` returned, by its argument."""
        return {}

    def _locate_parts(self, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part lies in the folders of the layout, by its name in `Pair`."""
        are_masks_needed = not parts.background
        files = {"image": PartFiles(self.root / self.layout.images, self.images)}
        if parts.masks:
            files["mask"] = PartFiles(self.labels.folder, self.masks, are_masks_needed)
        if parts.instances:
            objects = self.labels.object_masks
            if objects is None:
                objects = PartFiles(self.root / self.layout.instances, self.instances)
            files["instances"] = dataclasses.replace(objects, needed=are_masks_needed)
        if parts.masks and self.ignored is not None:
            files["ignored"] = self.ignored
        if parts.annotations:
            folder = self.root / self.layout.annotations
            files["annotation"] = PartFiles(folder, self.annotations)
        return files

    def existing_paths_by_part(self, image_id: str) -> dict[str, list[epath.Path]]:
        """Returns the paths of an id's files that exist, by the part's name in `Pair`.

        An id that has several files of one part has all of them here.
        """
        paths = {}
        for part, files in self.files_by_part(image_id, ALL_FILES).items():
            if image_id not in files.names:
                continue
            names = files.ambiguous_names(image_id) or (files.names[image_id],)
            is_of_labels = part == "mask" or (part == "instances" and self.labels.object_masks)
            if is_of_labels:
                names = self.labels.files_of(image_id)
            paths[part] = [files.folder / name for name in names]
        return paths

    def image_folders(self, ids: Sequence[str]) -> list[epath.Path]:
        """Returns the folders in which the images of ids lie.

        A release may override it. Here all images lie in one folder.
        """
        del ids
        return [self.root / self.layout.images]

    def items(self, parts: NeededFiles = IMAGE_AND_MASK) -> Items:
        """Returns the pair of each id.

        Args:
          parts: what is needed beside the image.
        """
        return Items(self, parts)

    def pairs(self, split: str, ids: Sequence[str], parts: NeededFiles = IMAGE_AND_MASK) -> Pairs:
        """Returns the pairs of a split; see `Items.of_split`."""
        return self.items(parts).of_split(split, ids)

    def make_pair(self, image_id: str, parts: NeededFiles) -> Pair:
        """Returns the pair of an id whose needed files are all there.

        A release may override it.
        """
        files_by_part = self.files_by_part(image_id, parts)
        paths = {part: files.path(image_id) for part, files in files_by_part.items()}
        image = paths["image"]
        assert image is not None
        pair = Pair(
            id=image_id,
            filename=files_by_part["image"].names[image_id],
            image=image,
            mask=paths.get("mask"),
            instances=paths.get("instances"),
            annotation=paths.get("annotation"),
            channels=self.channels,
            ignored=paths.get("ignored"),
        )
        return self.labels.complete_pair(pair, parts)

    @functools.cached_property
    def texts(self) -> TreeTexts:
        """The lists and class files."""
        return TreeTexts(self.root / self.layout.lists, self.listing)

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not.

        A release may override it.
        """
        return self.texts.list_path(name)

    def read_ids(self, name: str) -> Sequence[str]:
        """Returns the ids of the list `name`, in its order.

        A release may override it.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            raise self._no_such_list(name)
        # A list of plain ids is read before any folder has been listed.
        data = self.texts.read(path, ListError).data
        return parse_ids(data, path, IdsOfImages(_IdsWithImage(self)))

    def _no_such_list(self, name: str) -> LayoutError:
        names = self.texts.list_names()
        found = "no such list"
        if names:
            files = ", ".join(f"{other}.txt" for other in names)
            found += f", but {files}{did_you_mean(name, names)}"
        return LayoutError(
            self.list_path(name),
            found=found,
            expected="a text file of image ids, one per line",
            remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
        )

    def check_complete(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> None:
        """Raises an error if more than one folder or list is missing.

        One that is missing alone has an error of its own, which says more about it.

        Args:
          parts: what is needed beside the image.
          list_names: the lists that are read.

        Raises:
          LayoutError: naming all that is missing, if that is more than one folder or list.
        """
        missing = self.find_missing(parts, list_names)
        if len(missing.names) > 1:
            raise several_missing_error(self.root, missing)

    def find_missing(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> MissingParts:
        """Returns the folders and lists that are missing; see `check_complete`.

        A release may override it. It is not about one id, so it does not call `files_by_part`,
        which may depend on the id in a release.
        """
        lists = [self.list_path(name) for name in list_names]
        return find_missing(self.root, self._locate_parts(parts), lists)
