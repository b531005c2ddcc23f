"""Decides which mask counts of an image that several annotators drew; see `shared_images`.

The option `prefer` says it: folders of exports, the preferred one first; or `none`, and then each
mask is an example, and all of an image are in one split.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
import dataclasses

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, ListError, counted, did_you_mean, several
from voc_seg_tfrecord.core.preference import (
    NO_PREFERENCE,
    SHARED_IMAGES,
    list_preferences,
    parse_preference,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.shared_images import SharedImage

_MAX_SHOWN_IMAGES = 3


@dataclasses.dataclass(frozen=True)
class PreferredMasks:
    """Which masks count of images that several exports have.

    Attributes:
      shared: these images.
      order: the names of the exports, the preferred one first; none if all masks are kept.
      is_decided: whether the user need not be asked.
    """

    shared: Sequence[SharedImage]
    order: Sequence[str] = ()
    is_decided: bool = True

    @classmethod
    def of(cls, shared: Sequence[SharedImage], config: VocSegConfig) -> "PreferredMasks":
        """Returns those of a config, which `check_preference` has checked."""
        return cls(shared, parse_preference(config.prefer), not _list_undecided(shared, config))

    def drop_others(self, ids: Collection[str]) -> Collection[str]:
        """Returns ids without those of an image of which a preferred one is among them."""
        dropped = self.find_others(ids)
        if not dropped:
            return ids
        return [image_id for image_id in ids if image_id not in dropped]

    def find_others(self, ids: Collection[str]) -> set[str]:
        """Returns the ids of images of which a preferred one is among the ids, too."""
        if not self.order or not self.shared:
            return set()
        listed_ids = {*ids}
        others: set[str] = set()
        for image in self.shared:
            preferred_id = self._find_preferred(image, listed_ids)
            if preferred_id:
                others |= listed_ids.intersection(image.ids) - {preferred_id}
        return others

    def _find_preferred(self, image: SharedImage, ids: Container[str]) -> str | None:
        """Returns the id of an image that comes first in the order and is among some ids."""
        for name in self.order:
            image_id = image.id_by_export.get(name)
            if image_id is not None and image_id in ids:
                return image_id
        return None

    def note(self, dropped: Collection[str]) -> list[str]:
        """Returns a note on the images, if there are any and the user need not be asked.

        Args:
          dropped: the ids that would be in a split if the mask of another export did not count.
        """
        if not self.shared or not self.is_decided:
            return []
        first = self.shared[0].ids
        verb = "is" if len(self.shared) == 1 else "are"
        found = f"{counted(len(self.shared), 'image')} {verb} in several exports, such as "
        found += f"{' and '.join(first)}"
        if not self.order:
            return [f"{found}; each is an example with its own mask."]
        order = " before ".join(self.order)
        if not dropped:
            return [f"{found}. The mask of {order} counts, and no split has another one."]
        verb = "is" if len(dropped) == 1 else "are"
        omitted = f"{counted(len(dropped), 'example')} of others {verb} left out"
        return [f"{found}. The mask of {order} counts, so {omitted}."]


def check_preference(
    where: epath.Path,
    names: Sequence[str],
    shared: Sequence[SharedImage],
    config: VocSegConfig,
) -> None:
    """Checks that the user said which mask counts of images that several exports have.

    It need not be said if the masks of each are the same and no ratios divide them.

    Args:
      where: the folder.
      names: the folders of exports, or of annotators, in it.
      shared: the images that several of them have.
      config: says what is preferred.

    Raises:
      QuestionError: if the user has to say it, or to say more.
      ConfigError: if the user named a folder that is no export.
    """
    order = parse_preference(config.prefer)
    _check_names(order, names, config)
    undecided = _list_undecided(shared, config)
    if undecided:
        raise _ask_which(where, undecided, order)


def _list_undecided(shared: Sequence[SharedImage], config: VocSegConfig) -> list[SharedImage]:
    """Returns the images about which the user has to be asked."""
    if config.prefer == NO_PREFERENCE:
        return []
    order = parse_preference(config.prefer)
    if order:
        return [image for image in shared if image.id_by_export.keys().isdisjoint(order)]
    # An image that counts twice changes the ratios, even if its masks are equal.
    are_divided = len(config.ratios) > 1 or config.folds is not None
    return [image for image in shared if image.has_other_masks or are_divided]


def _check_names(order: Sequence[str], names: Sequence[str], config: VocSegConfig) -> None:
    unknown = [name for name in order if name not in names]
    if config.prefer and not names:
        raise ConfigError(
            "option prefer",
            found=f"{config.prefer!r}, and images that do not lie in a folder for each export",
            expected="no such option: it chooses between the masks of several exports",
            remedy="leave prefer out",
        )
    if unknown or len(set(order)) < len(order):
        wrong = unknown[0] if unknown else config.prefer
        raise ConfigError(
            "option prefer",
            found=f"{wrong!r}{did_you_mean(wrong, names)}",
            expected=f"folders of exports, each once: {several(names, len(names))}; or none",
            remedy="change prefer",
        )


def _ask_which(
    where: epath.Path, undecided: Sequence[SharedImage], order: Sequence[str]
) -> QuestionError:
    """Returns the question which mask counts of some images, beside the user's order of exports."""
    preferences = list_preferences([image.id_by_export for image in undecided], order)
    alternatives = [
        Alternative(f"the masks of {name}", {"prefer": prefer})
        for name, prefer in preferences.items()
    ]
    if not order:
        alternatives.append(
            Alternative("all masks, those of an image in one split", {"prefer": NO_PREFERENCE})
        )
    count = counted(len(undecided), "image")
    return QuestionError(
        where,
        alternatives,
        task=f"choose a mask for {count} that several exports have, such as "
        f"{' and '.join(undecided[0].ids)}",
        expected=f"one mask for each image. {command('voc-seg-tfrecord', 'check', where)} lists "
        "how far the masks agree, the worst first",
        kind=SHARED_IMAGES,
    )


def check_in_one_split(
    ids_by_split: Mapping[str, Iterable[str]], shared: Iterable[SharedImage], where: object
) -> None:
    """Checks that no image is in several splits, under the ids of several exports.

    Raises:
      ListError: if one is.
    """
    split_by_id = {one: split for split, ids in ids_by_split.items() for one in ids}
    torn: list[str] = []
    for image in shared:
        listed = [image_id for image_id in image.ids if image_id in split_by_id]
        if len({split_by_id[image_id] for image_id in listed}) > 1:
            torn.append(" and ".join(f"{one} ({split_by_id[one]})" for one in listed))
    if not torn:
        return
    raise ListError(
        where,
        found=f"{counted(len(torn), 'image')} in several splits, such as "
        f"{several(torn, _MAX_SHOWN_IMAGES)}",
        expected="an image that several annotators drew in one split",
        remedy="correct the lists, or keep one mask of each image, such as "
        f"{command(prefer=torn[0].partition('/')[0])}; to allow it: --allow_overlap",
    )
