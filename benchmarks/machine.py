"""On what machine and with what versions figures were made."""

import datetime
import importlib.metadata
import os
import pathlib
import platform

_PACKAGES = ("voc_seg_tfrecord", "tensorflow", "tensorflow_datasets", "numpy", "pillow", "zlib-ng")


def description() -> str:
    """Returns it in one sentence of each: date, cores, load, versions."""
    versions = [f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} missing")
    return (
        f"Measured on {datetime.date.today()}: {os.cpu_count()} cores, {_processor()}, "
        f"load average {os.getloadavg()[0]:.1f} at the start. {', '.join(versions)}."
    )


def _processor() -> str:
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()
