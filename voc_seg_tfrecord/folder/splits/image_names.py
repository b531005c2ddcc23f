"""Finds the image that a list means by any name: an id, a path, the name of a mask."""

from collections.abc import Iterator, KeysView, Mapping, Sequence
import functools
import posixpath
import re
import unicodedata

from etils import epath

from voc_seg_tfrecord.core.id_lists import no_id
from voc_seg_tfrecord.core.layout import PICTURES
from voc_seg_tfrecord.folder.files.folder_names import same_parts
from voc_seg_tfrecord.folder.tree.listing import Names

_NONE = Names()
_TWO_FILES = re.compile(r"(?i)\.(jpe?g|png|bmp|tiff?|webp|gif|npy)[\s,;]")


class ImageNames(Mapping[str, str]):
    """The id of an image by any name that a text may have for it.

    A name is an id, or the name of an image or of its mask, with or without an ending; or a path of
    one of these, as it is from any folder upward, on this machine or on another one. A path whose
    last folder is another than the file's means another file.

    Args:
      images: the images' names below a folder, by id.
      masks: the masks' names likewise.
      *tops: where both folders lie below the given one.

    Attributes:
      ambiguous: by name, the ids of several images that it may mean; filled while names are asked.
    """

    def __init__(self, images: Names = _NONE, masks: Names = _NONE, *tops: str):
        self._images, self._masks, self._tops = images, masks, tops
        self.ambiguous: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> str:
        image_id = self._images.written(name) or self._find(name)
        if image_id is None:
            raise KeyError(name)
        return image_id

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)

    def below(self, folder: str, place: str) -> list[str]:
        """Returns the ids of the images below a folder that a text in some place names.

        Of the path any end may be a folder, alone or below the place.
        """
        parts = [part for part in folder.replace("\\", "/").split("/") if part.strip(".")]
        ends = ("/".join(parts[n:]) for n in range(len(parts)))
        for start in (f"{posixpath.join(top, end)}/" for end in ends for top in (place, "")):
            if ids := [image_id for image_id, path in self._paths if path.startswith(start)]:
                return ids
        return []

    @property
    def stems(self) -> KeysView[str]:
        """The names of images and masks without folders and ending."""
        return self._by_stem.keys()

    def inside(self, names: Sequence[str], where: str, top: epath.Path) -> list[str]:
        """Returns the names of a list; paths that lead out of a folder as those of missing images.

        Raises:
          ListError: if there is such a file; `where` is the list.
        """
        found = [*names]
        for n, name in enumerate(names):
            parts = re.split(r"[/\\]", name)
            inside = [part for part in parts if part not in ("", ".", "..") and part[1:] != ":"]
            if inside != parts and name not in self and name not in self.ambiguous:
                place = posixpath.normpath(posixpath.join(posixpath.dirname(where), name))
                if not f"{place}/".startswith(f"{top}/") and epath.Path(place).is_file():
                    raise no_id(where, name, "leaves the folder")
                found[n] = "/".join(inside) or "?"
        return found

    @functools.cached_property
    def _paths(self) -> list[tuple[str, str]]:
        top = self._tops[0]
        return [(i, posixpath.normpath(posixpath.join(top, n))) for i, n in self._images.items()]

    def _find(self, name: str) -> str | None:
        text = name.strip("\"'")
        parts = [p for p in text.replace("\\", "/").split("/") if p not in ("", ".", "..")]
        if not parts or _TWO_FILES.search(name):
            return None
        asked = [*parts[:-1], _id_stem(parts[-1])]
        same = {i: self._shared(i, asked) for i in self._by_stem.get(asked[-1], ())}
        most = max(same.values(), default=0)
        best = [image_id for image_id, count in same.items() if count == most] if most else []
        if len(best) > 1:
            self.ambiguous[name] = best
        return best[0] if len(best) == 1 else None

    def _shared(self, image_id: str, asked: Sequence[str]) -> int:
        """Returns how many parts at their ends an id's names share with a path; 0 if it is none."""
        counts = [0]
        for top, below in (
            ("", image_id),
            (self._tops[0], self._images[image_id]),
            (self._tops[1], self._masks.get(image_id, "")),
        ):
            own = below.split("/")
            whole = [p for p in posixpath.join(top, below).split("/") if p not in ("", ".")]
            whole[-1:] = [_id_stem(whole[-1])] if whole else []
            count = same_parts(whole, asked)
            if below and (count == len(asked) or count >= len(own)):
                counts.append(count)
        return max(counts)

    @functools.cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        """The ids of files by their names without folders and ending; those of images first."""
        owners: dict[str, list[str]] = {}
        for names in (self._images, self._masks):
            of_names: dict[str, list[str]] = {}
            for image_id, path in names.items():
                if image_id not in self._images:
                    continue
                stems = {image_id}
                # Of most names nothing has to be taken off, and looking at each takes long.
                plain = path.count(".") == 1 and path.isascii() and "/" not in path
                if not plain or path.partition(".")[0] != image_id:
                    stems = {_id_stem(name.rpartition("/")[2]) for name in (path, image_id)}
                for stem in stems:
                    if stem not in owners:
                        of_names.setdefault(stem, []).append(image_id)
            owners |= of_names
        return owners


def _id_stem(name: str) -> str:
    """Returns a name without the ending of an image or mask, in the Unicode form that lists use."""
    stem, _, ending = name.rpartition(".")
    name = stem if stem and f".{ending.lower()}" in PICTURES else name
    return name if name.isascii() else unicodedata.normalize("NFC", name)
