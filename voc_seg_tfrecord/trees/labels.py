"""Where the masks of a tree come from: here files of pixels, in `drawn_labels` a tool's shapes."""

from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
import functools
from typing import Any

from etils import epath

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.stored import Counted
from voc_seg_tfrecord.masks.survey import Look, Survey, survey
from voc_seg_tfrecord.trees.listing import Names
from voc_seg_tfrecord.trees.pair import Pair, Parts, Place


@dataclasses.dataclass(frozen=True, eq=False)
class Labels:
    """The masks of a tree as files of pixels; a kind that is drawn answers the same.

    Attributes:
      folder: where the files lie.
      names: the names of the files below it, by id.
      pair_type: what reads the files of an id.
      images: names of the images that the labels themselves name, by id.
      sheets: files of labels that are no masks.
      splits: the ids of each split that files of labels are called as.
      class_file: the classes, if the labels say them themselves.
      tool: what wrote the shapes that are drawn; empty for files of pixels.
    """

    folder: epath.Path
    names: Names
    pair_type: type[Pair] = Pair
    images: Mapping[str, str] = dataclasses.field(default_factory=dict)
    sheets: Set[str] = frozenset()
    splits: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    class_file: ClassFile | None = None
    tool: str = ""

    @property
    def objects(self) -> tuple[epath.Path, Names] | None:
        """Where object masks come from, if the labels have them; otherwise files of their own."""
        return None

    @functools.cached_property
    def _looks(self) -> dict[str, Look]:
        return {}

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Looks at the masks of ids; see `masks.survey`. No mask is looked at twice."""
        place = Place(self.folder, self.names)
        return survey(ids, place.path, self._looks, all_colors=all_colors)

    def counted(self, image_id: str) -> Counted | None:
        """Returns what a survey has found in an id's mask, for `masks.read_mask`."""
        look = self._looks.get(image_id)
        return look.counted if look else None

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one."""
        return File.read(self.folder / self.names[image_id], MaskError)

    def pair(self, parts: Parts, **fields: Any) -> Pair:
        """Returns the pair of an id, of the fields that say where its files lie."""
        del parts  # for labels of which a pair has to say more
        return self.pair_type(**fields, counted=self.counted(fields["id"]))

    def shapes_of(self, image_id: str) -> str:
        """Returns what an id's mask is drawn from; empty of a mask that is a file."""
        del image_id
        return ""

    def notes(self) -> list[str]:
        """Returns what a user should know of masks that were drawn."""
        return []

    def table(self, ids: Collection[str]) -> str:
        """Returns the table of classes as CSV, if the labels say them themselves; else nothing."""
        del ids
        return ""
