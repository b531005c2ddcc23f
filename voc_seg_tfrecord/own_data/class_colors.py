"""The colours that a tree's class file gives the classes of the dataset, to show masks in."""

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import ClassFile, is_void
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.rule import index_of_names


def class_colors(class_file: ClassFile | None, config: VocSegConfig) -> dict[int, Color]:
    """Returns the colour of each class index, and of 255 if the file has one for void.

    A class that was merged has the colour of the class of its name, or else of the first of its
    classes in the file.

    Args:
      class_file: the labelling tool's class file, where there is one.
      config: says which classes the dataset has.

    Returns:
      The colours; none if no file has them.
    """
    if class_file is None or not class_file.colored:
        return {}
    numbered = index_of_names(
        config.class_names, class_file, config.void, any_number=config.values is not None
    )
    first: dict[int, Color] = {}
    same: dict[int, Color] = {}
    for entry in class_file.entries:
        if is_void(entry, config.void):
            first.setdefault(VOID, entry.color)
            continue
        old = new = numbered[entry.name]
        if config.class_map:
            new = config.class_map.index(old)
        if new == VOID or old >= len(config.class_names):
            continue
        first.setdefault(new, entry.color)
        if config.built_class_names[new] == config.class_names[old]:
            same[new] = entry.color
    return first | same
