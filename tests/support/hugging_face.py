"""Reads exported Parquet files with Hugging Face's `datasets`, and never asks its servers."""

import os
import pathlib
import tempfile

import numpy as np

# Both are read when the library is imported.
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ.setdefault("HF_HOME", tempfile.mkdtemp(prefix="hf"))

import datasets

datasets.disable_progress_bars()


def load(folder: pathlib.Path, **more) -> datasets.DatasetDict:
    """Loads an export the way a user does who knows no more than its folder."""
    return datasets.load_dataset(str(folder), cache_dir=str(folder) + ".cache", **more)


def as_tfds(row: dict, features: datasets.Features) -> dict:
    """Returns a row as TFDS decodes the same example: arrays, and a dictionary of lists."""
    found = {}
    for name, value in row.items():
        if isinstance(features[name], datasets.Image):
            array = np.asarray(value)
            found[name] = array[..., None] if array.ndim == 2 else array
        elif isinstance(value, list) and isinstance(features[name].feature, dict):
            keys = features[name].feature
            found[name] = {key: [one[key] for one in value] for key in keys}
        else:
            found[name] = value.encode() if isinstance(value, str) else value
    return found


def load_files(files: dict[str, str], cache: pathlib.Path) -> datasets.DatasetDict:
    """Loads Parquet files without the folder that they lie in."""
    return datasets.load_dataset("parquet", data_files=files, cache_dir=str(cache / "cache"))
