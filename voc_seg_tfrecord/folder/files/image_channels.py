"""Finds images of several channels, of which each channel is a file: nnU-Net's `a_0000`, `a_0001`.

`_0000` and the like stand behind the id in the names of such files.
"""

import collections
from collections.abc import Collection, Container, Iterable, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import find_split_word, role_of_path
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.tools.nnunet import is_split_word
from voc_seg_tfrecord.tools.registry import TOOLS
from voc_seg_tfrecord.tools.tool import ChannelFiles


@dataclasses.dataclass(frozen=True)
class ChannelImages:
    """Images of several channels.

    Attributes:
      folder: where they lie.
      first_files: the first file of each channel, in the order of the channels.
    """

    folder: str
    first_files: Sequence[str]

    @property
    def image_name(self) -> str:
        """The pattern of the names of the first channel's files."""
        match = _match_channel(self.first_files[0])
        assert match
        return f"{ID}{self.first_files[0][match.end('id') :]}"


def find_channel_images(
    listing: Listing, image_folders: Iterable[str], mask_folders: Collection[str]
) -> ChannelImages | None:
    """Finds images of several channels in folders that are called as nnU-Net's are.

    Args:
      listing: all that lies in the folder.
      image_folders: folders that may have such images.
      mask_folders: folders that may hold masks; those whose masks already have images are not
        among them.

    Returns:
      The images of the first such folder; None if there are none.
    """
    labeled_ids = _find_ids_of_masks(listing, mask_folders)
    for folder in image_folders:
        if not _is_called_as_images_of_split(folder):
            continue
        files_by_channel = _group_by_channel(listing.files_by_folder[folder], labeled_ids)
        if len(files_by_channel) > 1:
            first_files = [min(files) for _, files in sorted(files_by_channel.items())]
            return ChannelImages(folder, first_files)
    return None


def _find_ids_of_masks(listing: Listing, mask_folders: Iterable[str]) -> set[str]:
    """Returns the names, without endings, of all files in folders that are called as masks are."""
    ids: set[str] = set()
    for folder in mask_folders:
        if role_of_path(folder) == "masks":
            ids.update(posixpath.splitext(name)[0] for name in listing.files_by_folder[folder])
    return ids


def _is_called_as_images_of_split(folder: str) -> bool:
    """Says whether a folder is called as nnU-Net's are: `imagesTr`, `imagesTs`."""
    return role_of_path(folder) == "images" and is_split_word(find_split_word(folder).word)


def _group_by_channel(names: Iterable[str], labeled_ids: Container[str]) -> dict[str, list[str]]:
    """Returns the files of each channel, such as `a_0000.png` of `0000`, whose ids have a mask."""
    files_by_channel: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        match = _match_channel(name)
        if match and match["id"] in labeled_ids:
            files_by_channel[match["channel"]].append(name)
    return files_by_channel


def several_channels_error(listing: Listing, images: ChannelImages) -> LayoutError:
    """Returns the error about images of several channels, with the options that read them."""
    first, second, *_ = images.first_files
    all_channels = command(bands="all", dtype="uint16")
    one_channel = command(image_name=images.image_name)
    return LayoutError(
        listing.root / images.folder,
        found=f"{_channel_files().found} with {len(images.first_files)} channels, a file for each, "
        f"such as {first} and {second}",
        expected="one file for each image, or the bands to read",
        remedy=f"to read all channels, give {all_channels}; to read one, give {one_channel}",
    )


def _channel_files() -> ChannelFiles:
    (channels,) = (tool.channels for tool in TOOLS if tool.channels)
    return channels


def _match_channel(name: str) -> re.Match[str] | None:
    return re.fullmatch(_channel_files().pattern, name)
