"""Reads exported Parquet files with Hugging Face's `datasets`, and never asks its servers."""

from collections.abc import Iterator
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

# Both are read when the library is imported.
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ.setdefault("HF_HOME", tempfile.mkdtemp(prefix="hf"))

import datasets

datasets.disable_progress_bars()


def load(folder: pathlib.Path, **more) -> datasets.DatasetDict:
    """Loads an export the way a user does who knows no more than its folder."""
    return datasets.load_dataset(str(folder), cache_dir=str(folder) + ".cache", **more)


def as_tfds(row: dict, features: datasets.Features) -> dict[str, np.ndarray]:
    """Returns a row in the form of `as_tfds_decodes`."""
    found = {}
    for name, value in row.items():
        if isinstance(features[name], datasets.Image):
            array = np.asarray(value)
            found[name] = array[..., None] if array.ndim == 2 else array
        elif isinstance(value, list) and isinstance(features[name].feature, dict):
            for key in features[name].feature:
                found[f"{name}/{key}"] = np.asarray([one[key] for one in value])
        else:
            found[name] = np.asarray(value.encode() if isinstance(value, str) else value)
    return {name: _boxes(name, value) for name, value in found.items()}


def as_tfds_decodes(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[dict]:
    """Yields what TFDS loads, with `objects/label` and so on in place of dictionaries.

    By default TensorFlow decodes JPEGs with a less exact transform, in TFDS too. Here it takes the
    exact one, which all other decoders take.
    """
    decoders = {"image": tfds.decode.SkipDecoding()}
    for example in builder.as_dataset(split=split, decoders=decoders).as_numpy_iterator():
        example["image"] = _decoded(example["image"])
        found = {}
        for name, value in example.items():
            for key, part in value.items() if isinstance(value, dict) else [("", value)]:
                found[f"{name}/{key}" if key else name] = np.asarray(part)
        yield {name: _boxes(name, value) for name, value in found.items()}


def _boxes(name: str, value: np.ndarray) -> np.ndarray:
    return value.reshape(-1, 4) if name.endswith("/bbox") else value


def _decoded(data: bytes) -> np.ndarray:
    if data.startswith(b"\xff\xd8"):
        return tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy()
    return tf.io.decode_image(data, channels=3).numpy()


def load_files(files: dict[str, str], cache: pathlib.Path) -> datasets.DatasetDict:
    """Loads Parquet files without the folder that they lie in."""
    return datasets.load_dataset("parquet", data_files=files, cache_dir=str(cache / "cache"))
