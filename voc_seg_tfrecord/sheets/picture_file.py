"""The file that a sheet is saved in."""

import io

from etils import epath
from PIL import Image

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.staging import files

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}


def check_ending(out: epath.Path) -> None:
    """Checks, before anything is drawn, that a sheet can be saved under this name.

    Raises:
      ConfigError: if the name's ending is neither PNG's nor JPEG's.
    """
    if out.suffix.lower() not in _FORMATS:
        raise ConfigError(
            f"--out {out}",
            found=f"the ending {out.suffix!r}" if out.suffix else "no ending",
            expected=f"an ending of {', '.join(_FORMATS)}",
            remedy=f"name a file such as '{out.stem if out.suffix else out.name}.png'",
        )


def save(drawn: Image.Image, out: epath.Path) -> None:
    """Saves a sheet as PNG, with the exact colours, or as JPEG, which is smaller.

    Raises:
      ConfigError: if the file cannot be written, or the sheet is too large for JPEG.
    """
    file = io.BytesIO()
    try:
        if _FORMATS[out.suffix.lower()] == "PNG":
            drawn.save(file, "PNG")
        else:  # without subsampling, which turns thin lines of colour grey
            drawn.save(file, "JPEG", quality=92, subsampling=0)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--out {out}",
            found=f"a sheet of {drawn.width} x {drawn.height} pixels: {error}",
            expected="at most 65500 pixels in height and width, for JPEG",
            remedy="save it as .png, or draw fewer examples",
        ) from None
    try:
        with files.staged(out) as incomplete:
            incomplete.write_bytes(file.getvalue())
    except OSError as error:
        raise ConfigError(
            f"--out {out}",
            found=f"it cannot be written: {error.strerror or error}",
            expected="a file in a folder that exists and can be written",
            remedy="name another file",
        ) from None
