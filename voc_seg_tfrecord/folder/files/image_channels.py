"""Finds images of several channels, of which each channel is a file: nnU-Net's `a_0000`, `a_0001`.

`_0000` and the like stand behind the id in the names of such files.
"""

import collections
from collections.abc import Collection, Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import find_split_word, role_of_path
from voc_seg_tfrecord.folder.tree.endings import stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.tools.nnunet import is_split_word, match_channel


@dataclasses.dataclass(frozen=True)
class ChannelImages:
    """Images of several channels.

    Attributes:
      folder: where they lie.
      first_files: the first file of each channel, in the order of the channels.
      image_name: the pattern of the names of the first channel's files.
    """

    folder: str
    first_files: Sequence[str]
    image_name: str


def find_channel_images(
    listing: Listing, image_folders: Iterable[str], mask_folders: Collection[str]
) -> ChannelImages | None:
    """Finds images of several channels in folders that are called as nnU-Net's are: `imagesTr`.

    Args:
      listing: all that lies in the folder.
      image_folders: folders that may have such images.
      mask_folders: folders that may hold masks; those whose masks already have images are not
        among them.

    Returns:
      The images of the first such folder that have a mask; None if there are none.
    """
    labeled_ids: set[str] = set()
    for folder in mask_folders:
        if role_of_path(folder) == "masks":
            labeled_ids.update(map(stem_of, listing.files_by_folder[folder]))
    for folder in image_folders:
        if role_of_path(folder) != "images" or not is_split_word(find_split_word(folder).word):
            continue
        files_by_channel: dict[str, list[str]] = collections.defaultdict(list)
        for name in listing.files_by_folder[folder]:
            match = match_channel(name)
            if match and match["id"] in labeled_ids:
                files_by_channel[match["channel"]].append(name)
        if len(files_by_channel) > 1:
            first_channel = min(files_by_channel)
            first_files = [min(files) for _, files in sorted(files_by_channel.items())]
            image_name = f"{ID}_{first_channel}{posixpath.splitext(first_files[0])[1]}"
            return ChannelImages(folder, first_files, image_name)
    return None


def several_channels_error(listing: Listing, images: ChannelImages) -> LayoutError:
    """Returns the error about images of several channels, with the options that read them."""
    first, second, *_ = images.first_files
    all_channels = command(bands="all", dtype="uint16")
    one_channel = command(image_name=images.image_name)
    return LayoutError(
        listing.root / images.folder,
        found=f"nnU-Net's images with {len(images.first_files)} channels, a file for each, "
        f"such as {first} and {second}",
        expected="one file for each image, or the bands to read",
        remedy=f"to read all channels, give {all_channels}; to read one, give {one_channel}",
    )
