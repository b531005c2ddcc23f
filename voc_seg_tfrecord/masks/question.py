"""What is to be decided about the masks of a set, with both readings that are possible."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.formats.class_files import VOID_COLOR, VOID_NAMES, ClassFile
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID
from voc_seg_tfrecord.masks.colors import Void, of_file, of_values, of_voc
from voc_seg_tfrecord.masks.used import Survey


@dataclasses.dataclass(frozen=True)
class Question:
    """What is to be decided.

    Attributes:
      found: what the masks use.
      class_names: the names of the classes, in mask order.
      class_file: the class file of the set, if it has one.
      void: values, names and colours that mean void.
    """

    found: Survey
    class_names: Sequence[str] = VOC_CLASSES
    class_file: ClassFile | None = None
    void: Void = (VOID, *VOID_NAMES, VOID_COLOR)

    @property
    def colored(self) -> bool:
        """Whether a class file gives a colour to every class."""
        return self.class_file is not None and self.class_file.colored

    @property
    def by_value(self) -> dict[int, int | str]:
        """The class of each value, if values decide."""
        return of_values(self.class_names, self.class_file, self.void)

    @property
    def by_color(self) -> dict[Color, int | str]:
        """The class of each colour, if colours decide."""
        if self.colored:
            return of_file(self.class_file, self.void)
        return of_voc(self.class_names, self.class_file, self.void)
