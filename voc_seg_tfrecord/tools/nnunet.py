"""nnU-Net, and MONAI, which reads the same layout."""

import re

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.formats.texts import load_json
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import read_member
from voc_seg_tfrecord.tools.tool import Explanation, FolderContent, Tool

FIRST_CHANNEL = "_0000"
"""What stands behind the id in the name of an image of one channel, and not in that of its mask."""

SPLIT_BY_WORD = {"tr": "train", "ts": "test"}
"""The split of the word at the end of a folder's name, in lower case."""

_CHANNEL = re.compile(r"(?P<id>.+)_(?P<channel>\d{4})\.\w+")
_FOLDER = re.compile("(?:images?|labels?|imgs?|masks?)[ _-]?(tr|ts)", re.IGNORECASE)


def split_word_of(folder: str) -> str:
    """Returns the word for a split at the end of `imagesTr`, as it is written; empty if none is."""
    match = _FOLDER.fullmatch(folder)
    return match[1] if match else ""


def is_split_word(word: str) -> bool:
    """Says whether a word is one of those at the end of folders: `Tr`, `Ts`."""
    return word.lower() in SPLIT_BY_WORD


def match_channel(name: str) -> re.Match[str] | None:
    """Returns the groups `id` and `channel` of a name such as `a_0000.png`; None for others."""
    return _CHANNEL.fullmatch(name)


_KEYS_OF_ONE_OF_BOTH = ("channel_names", "modality", "training", "numTraining", "file_ending")


def parse_dataset_json(text: str) -> list[ClassEntry]:
    """Reads `labels` from name to value or back, in a file that says what the set holds."""
    content = load_json(text)
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict) or content.keys().isdisjoint(_KEYS_OF_ONE_OF_BOTH):
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
        remedy="save each slice with nibabel and NumPy: of the image a .npy file with all its "
        "bits, and of the labels a PNG with their values; then build with --bands all and --dtype "
        "uint16, or float32 if values are negative",
    )


NNUNET = Tool(
    name="nnU-Net",
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
)
