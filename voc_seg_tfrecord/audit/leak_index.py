"""Index files of `leaks`: what is needed to find the images of a dataset, without its images.

An index is a text of JSON lines. The first says which sides it has, the splits of the dataset, and
how entries were computed. Each further line is the entry of one image:

    {"side":0,"id":"2007_000032","sha256":"...","signs":"..."}
    {"side":0,"id":"blank","sha256":"...","left_out":"too little structure"}

With `--parts` each entry has the image's "keypoints", too (`quality.keypoints`).

The same dataset gives the same bytes. An index holds the names of images, hashes that tell whether
somebody has a file, and a coarse likeness of each image (`formats.picture_signs`). It is not
private.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import json
import re
from typing import Any

from etils import epath
import numpy as np

from voc_seg_tfrecord.audit.leaks import EVALUATION, TRAIN, Side
from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike, real_path
from voc_seg_tfrecord.formats import picture_signs
from voc_seg_tfrecord.quality import keypoints
from voc_seg_tfrecord.quality.keypoints import BYTES_PER_KEYPOINT, KEYPOINTS_PER_IMAGE

SUFFIX = ".jsonl"
"""The ending of an index file's name."""

_FORMAT = "voc_seg_tfrecord leak index 1"
_CONSTANTS = {**picture_signs.CONSTANTS, **keypoints.CONSTANTS}
_HEX_DIGITS_OF_SHA256 = 64
_HEX_DIGITS_OF_SIGNS = 2 * picture_signs.SIGN_BYTES
_HEX_DIGITS_OF_KEYPOINTS = 2 * KEYPOINTS_PER_IMAGE * BYTES_PER_KEYPOINT
_KEYPOINTS = (KEYPOINTS_PER_IMAGE, BYTES_PER_KEYPOINT)


def make_index(sides: Sequence[Side]) -> bytes:
    """Returns the index file of a dataset, whose sides are its splits."""
    header = {
        "format": _FORMAT,
        "constants": {**_CONSTANTS},
        "sides": [
            {"name": side.name, "role": side.role, "images": len(side.sha256_by_id)}
            for side in sides
        ],
    }
    lines = [_as_line(header)]
    for number, side in enumerate(sides):
        for image_id in sorted(side.sha256_by_id):
            lines.append(_as_line(_entry_of(side, number, image_id)))
    return "".join(lines).encode()


def _entry_of(side: Side, number: int, image_id: str) -> dict[str, Any]:
    """Returns the entry of an image of the side with this number."""
    entry = {"side": number, "id": image_id, "sha256": side.sha256_by_id[image_id]}
    if image_id in side.signs_by_id:
        entry["signs"] = side.signs_by_id[image_id].tobytes().hex()
    else:
        entry["left_out"] = side.left_out_by_id[image_id]
    if image_id in side.keypoints_by_id:
        entry["keypoints"] = side.keypoints_by_id[image_id].tobytes().hex()
    return entry


def _as_line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"


def read_index(path: PathLike) -> list[Side]:
    """Reads an index file.

    Raises:
      ListError: if it is none, is damaged, or was computed in another way than indexes are now.
    """
    file = File.read(epath.Path(path), ListError)
    lines = file.data.splitlines()
    try:
        header = json.loads(lines[0])
        _check_header(header)
        sides = [_SideInProgress.from_header(side) for side in header["sides"]]
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise _damaged(file, 1, error) from None
    for number, line in enumerate(lines[1:], start=2):
        try:
            entry = json.loads(line)
            sides[_as_number(entry["side"], len(sides))].add(entry)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise _damaged(file, number, error) from None
    for side in sides:
        if len(side.sha256_by_id) != side.images:
            found = f"{len(side.sha256_by_id)} images of {side.name}, not {side.images}"
            raise _damaged(file, len(lines), ValueError(found))
    return [side.as_side(real_path(path)) for side in sides]


@dataclasses.dataclass
class _SideInProgress:
    """A side of an index, whose images are added line by line."""

    name: str
    role: str
    images: int
    sha256_by_id: dict[str, str] = dataclasses.field(default_factory=dict)
    signs_by_id: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    left_out_by_id: dict[str, str] = dataclasses.field(default_factory=dict)
    keypoints_by_id: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_header(cls, values: Mapping[str, Any]) -> "_SideInProgress":
        """Returns a side that the first line names; raises a ValueError if it is damaged."""
        role = _as_text(values["role"])
        if role not in (TRAIN, EVALUATION, ""):
            raise ValueError(f"the role {role!r}")
        return cls(_as_text(values["name"]), role, int(values["images"]))

    def add(self, entry: Mapping[str, Any]) -> None:
        """Adds the image of a line; raises a ValueError, KeyError or TypeError if it is damaged."""
        image_id = _as_text(entry["id"])
        if image_id in self.sha256_by_id:
            raise ValueError(f"{image_id!r} a second time")
        self.sha256_by_id[image_id] = _as_hex(entry["sha256"], _HEX_DIGITS_OF_SHA256)
        if "signs" in entry:
            signs = bytes.fromhex(_as_hex(entry["signs"], _HEX_DIGITS_OF_SIGNS))
            self.signs_by_id[image_id] = np.frombuffer(signs, np.uint8)
        else:
            self.left_out_by_id[image_id] = _as_text(entry["left_out"])
        if "keypoints" in entry:
            packed = bytes.fromhex(_as_hex(entry["keypoints"], _HEX_DIGITS_OF_KEYPOINTS))
            self.keypoints_by_id[image_id] = np.frombuffer(packed, np.uint8).reshape(_KEYPOINTS)

    def as_side(self, source: str) -> Side:
        """Returns the side with all its images."""
        return Side(
            self.name,
            self.role,
            self.sha256_by_id,
            self.signs_by_id,
            source=source,
            left_out_by_id=self.left_out_by_id,
            keypoints_by_id=self.keypoints_by_id,
        )


def _check_header(header: Mapping[str, Any]) -> None:
    """Raises a ValueError if an index is of another form, or computed in another way."""
    if header["format"] != _FORMAT:
        raise ValueError(f"the format {header['format']!r}")
    for name, value in _CONSTANTS.items():
        if header["constants"][name] != value:
            raise ValueError(f"entries with {name} {header['constants'][name]}, here {value}")


def _as_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r}, which is not a text")
    return value


def _as_number(value: object, count: int) -> int:
    """Returns the number of one of so many sides."""
    if not isinstance(value, int) or not 0 <= value < count:
        raise ValueError(f"side {value!r} of {count}")
    return value


def _as_hex(value: object, digits: int) -> str:
    """Returns a text of so many hexadecimal digits."""
    text = _as_text(value)
    if not re.fullmatch(f"[0-9a-f]{{{digits}}}", text):
        raise ValueError(f"{text[:80]!r}, which is not of {digits} hexadecimal digits")
    return text


def _damaged(file: File, line: int, error: Exception) -> ListError:
    reason = " ".join(str(error).split())
    return ListError(
        f"{file.where}, line {line}",
        found=f"it cannot be read as an index of leaks: {type(error).__name__}: {reason[:200]}",
        expected=f"a file that leaks --write_index wrote, in the format {_FORMAT!r}",
        remedy="write the index again with this version of the package",
    )
