"""nnU-Net, and MONAI, which reads the same layout."""

from voc_seg_tfrecord.formats.class_parsers import (
    ClassFileFormat,
    Entry,
    load_json,
    read_member,
)
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

_KEYS = ("channel_names", "modality", "training", "numTraining", "file_ending")


def parse_dataset_json(text: str) -> list[Entry]:
    """Reads `labels` from name to value or back, in a file that says what the set holds."""
    content = load_json(text)
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict) or content.keys().isdisjoint(_KEYS):
        raise ValueError("it is not nnU-Net's or MONAI's")
    for name, value in labels.items():
        if isinstance(value, list):
            values = ", ".join(map(str, value))
            raise ValueError(
                f"the region {name[:80]!r} has the values {values[:80]}, and regions overlap, "
                "where a pixel has one class"
            )
    entries = [read_member(name, value) for name, value in labels.items()]
    if any(entry.by_place for entry in entries):
        raise ValueError("a label has no value")
    return sorted(entries, key=lambda entry: entry.value)


NNUNET = Tool(
    name="nnU-Net",
    patterns=(
        FilePatterns(images="imagesTr/{id}_0000.png", masks="labelsTr/{id}.png"),
        FilePatterns(images="imagesTr/{id}.png", masks="labelsTr/{id}.png"),
    ),
    class_files=(
        ClassFileFormat(
            name="dataset.json",
            parse=parse_dataset_json,
            expected='labels such as {"background": 0, "tumor": 1} or {"0": "background", "1": '
            '"tumor"}, and training or channel_names',
            is_common=True,
            needs_its_folder=True,
        ),
    ),
    folder_row=FolderRow(
        written_by="nnU-Net, MONAI",
        images="`imagesTr`, `NAME_0000.png` or `NAME.png`",
        masks="`labelsTr`, `NAME.png`",
        classes="`dataset.json`",
        splits="`labelsTs`, where there is one, is `test`; `imagesTs` alone is no split",
    ),
)
