"""nnU-Net, and MONAI, which reads the same layout."""

from voc_seg_tfrecord.core.class_parsers import (
    ClassFileFormat,
    Entry,
    load_json,
    read_member,
)
from voc_seg_tfrecord.tools.tool import (
    ChannelFiles,
    Explanation,
    FilePatterns,
    FolderContent,
    FolderRow,
    Tool,
)

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


def explain_volumes(content: FolderContent) -> Explanation | None:
    """Explains volumes of NIfTI, which nnU-Net and MONAI mostly have."""
    volumes = [name for name in content.names if name.lower().endswith((".nii", ".nii.gz"))]
    if not volumes:
        return None
    return Explanation(
        found=f"volumes of NIfTI, which are not read: {len(volumes)} files, such as {volumes[0]}",
        expected="images of two dimensions and masks of class indices, such as PNG",
        remedy="save each slice as a PNG, of the image with 8 bits and of the labels with their "
        "values, such as with nibabel and Pillow",
    )


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
    explain_no_masks=explain_volumes,
    channels=ChannelFiles(pattern=r"(?P<id>.+)_(?P<channel>\d{4})\.\w+", found="nnU-Net's images"),
    folder_row=FolderRow(
        written_by="nnU-Net, MONAI",
        images="`imagesTr`, `NAME_0000.png` or `NAME.png`",
        masks="`labelsTr`, `NAME.png`",
        classes="`dataset.json`",
        splits="`labelsTs`, where there is one, is `test`; `imagesTs` alone is no split",
    ),
)
