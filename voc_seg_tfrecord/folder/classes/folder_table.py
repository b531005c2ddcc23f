"""The table of classes that lies in a folder, as a user or `check --write_classes` wrote it."""

import dataclasses

from voc_seg_tfrecord.core.class_rows import Rows
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import read_table
from voc_seg_tfrecord.tools.class_texts import TABLE, has_unknown_class, parse_table


@dataclasses.dataclass(frozen=True)
class FolderTable:
    """The table of a folder.

    Attributes:
      rows: its rows; none if there is no table, or it is not complete.
      is_complete: whether each row has a class. Otherwise the table is not used.
    """

    rows: Rows = ()
    is_complete: bool = True

    def notes(self, config: VocSegConfig) -> list[str]:
        """Says that the table is not used: a row has no class, or the config lacks keys of it."""
        if not self.is_complete:
            return [f"{TABLE} has rows without a class, so it is not used."]
        keys = {key for key, _ in self.rows}
        keys_of_config = {key for key, _ in config.classes}
        are_rows_in_config = keys <= keys_of_config
        if are_rows_in_config:
            return []
        return [f"{TABLE} is not used: --classes {TABLE} reads it."]


def read_folder_table(tree: VocTree) -> FolderTable:
    """Reads the table of a folder, if it has one.

    Raises:
      ConfigError: if the table cannot be read.
    """
    text = read_table(tree.root, tree.texts.read)
    if not text:
        return FolderTable()
    if has_unknown_class(text):
        return FolderTable(is_complete=False)
    return FolderTable(parse_table(text, tree.root / TABLE))
