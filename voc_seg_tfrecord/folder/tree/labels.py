"""Where the masks of a tree come from: files of pixels.

`drawn_labels` has the labels that are a tool's shapes, `merged_labels` those of single classes.
"""

from collections.abc import Collection, Iterable, Sequence, Set
import dataclasses

from etils import epath

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.example import NeededFiles, SurveyedMask
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.mask_survey import MaskContent, Survey, survey
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.tools.class_file import ClassFile


@dataclasses.dataclass(frozen=True)
class LabelSplit:
    """The images of a split that a file of labels has.

    Attributes:
      split: the split that the name of the file says, or that of a subset in it.
      file: the file, below the given folder.
      subset: the subset, as the file has it; empty if all of the file is one split.
      ids: the ids of the images.
    """

    split: str
    file: str
    subset: str
    ids: Sequence[str]

    @property
    def source(self) -> str:
        """The file, with the subset behind a colon if there is one."""
        return f"{self.file}:{self.subset}" if self.subset else self.file


@dataclasses.dataclass(frozen=True, eq=False)
class Labels:
    """The masks of a tree, as files of pixels.

    `drawn_labels.DrawnLabels` has them as a tool's shapes, and `merged_labels.MergedLabels` as
    files of single classes. Both override the methods at the end of this class, which have nothing
    to return for files of pixels.

    Methods take ids of masks, as `names` has them; `files_of` alone takes any id.

    Attributes:
      folder: where the files lie.
      names: the names of the files below it, by id.
      pair_type: what reads the files of an id.
      label_files: the files of shapes, below the given folder; none for files of pixels.
      texts_of_classes: the other files that name the classes of shapes, below the given folder.
      splits: the splits that files of shapes are called as, or subsets in one; none for files of
        pixels.
      class_file: the classes, if the labels themselves have them; None for files of pixels.
      tool: what wrote the shapes that are drawn; empty for files of pixels.
    """

    folder: epath.Path
    names: Names
    pair_type: type[Pair] = Pair
    label_files: Set[str] = frozenset()
    texts_of_classes: Set[str] = frozenset()
    splits: Sequence[LabelSplit] = ()
    class_file: ClassFile | None = None
    tool: str = ""
    _content_by_id: dict[str, MaskContent] = dataclasses.field(default_factory=dict, init=False)
    """The contents of the masks that were surveyed, so that no mask is read twice for that."""

    def files_of(self, image_id: str) -> Sequence[str]:
        """Returns the names of the files of an id's mask, which is one unless several are merged.

        Two files of which only one can be the mask are both among them.
        """
        id_of_file = self.names.find_id(image_id)
        if id_of_file is None:
            return ()
        return self.names.names_by_ambiguous_id.get(id_of_file, (self.names[id_of_file],))

    def list_files(self) -> Iterable[tuple[str, str]]:
        """Returns the id and the name of each file that masks are made from."""
        return self.names.items()

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Reads the masks of ids, and keeps their contents; see `mask_survey.survey`."""
        masks = PartFiles(self.folder, self.names)
        return survey(ids, masks.path, self._content_by_id, all_colors=all_colors)

    def surveyed_mask(self, image_id: str) -> SurveyedMask | None:
        """Returns the content of an id's mask if it was surveyed, for `index_masks.read_mask`."""
        content = self._content_by_id.get(image_id)
        return content.as_surveyed() if content else None

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one."""
        return File.read(self.folder / self.names[image_id], MaskError)

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that reads its mask as these labels have it.

        Args:
          pair: the paths of an id's files.
          parts: what is needed of them.
        """
        del parts  # DrawnLabels needs it
        fields = {**vars(pair), "surveyed": self.surveyed_mask(pair.id)}
        return self.pair_type(**fields)

    # What labels that are drawn or merged add.

    @property
    def origin(self) -> str:
        """What the masks are made from, in words; empty for files of pixels that are the masks."""
        return ""

    def list_files_of_class(self, name: str) -> Iterable[tuple[str, str]]:
        """Returns the id and the name of each mask of a class, if each class has its own."""
        del name
        return ()

    def find_lacking_classes(self, image_id: str) -> Sequence[str]:
        """Returns the classes of which an id that has masks lacks the mask.

        Only merged masks have a mask for each class.
        """
        del image_id
        return ()

    def check_surveyed(self) -> None:
        """Checks what the masks that were surveyed say together.

        Raises:
          MaskError: if they cannot be meant so.
        """

    @property
    def object_masks(self) -> PartFiles | None:
        """Where object masks come from, if the labels have them; otherwise files of their own."""
        return None

    def shapes_of(self, image_id: str) -> str:
        """Returns what an id's mask is made from as text; empty if the mask is a file of pixels."""
        del image_id
        return ""

    def notes(self) -> list[str]:
        """Returns what a user should know of masks that were drawn or merged."""
        return []

    def class_table_csv(self, ids: Collection[str]) -> str:
        """Returns the table of classes as CSV, if the labels have classes; empty otherwise."""
        del ids
        return ""
