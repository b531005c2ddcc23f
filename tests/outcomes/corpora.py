"""The corpora: folders with the options of a call, and with the truth where it is known.

| corpus | folders |
| --- | --- |
| `made` | 1,000 of `support/made_folders.py`, each with class names and without |
| `layouts` | known public sets, drawn by `known_layouts.py` |
| `suite` | those that the tests of b3156bc4 plan, recorded by `record.py`; needs `--folder` |
| `cases` | each folder below any folder that holds sets; needs `--folder` |
| `data` | real exports and odd files; needs `--folder` or the variable VOC_SEG_REAL_DATA |
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
import dataclasses
import functools
import json
import os
import pathlib
import shutil
from typing import Any

from outcomes.known_layouts import LAYOUTS, Truth
from support import made_folders

MADE_SEEDS = range(1000)

_Options = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class OpenCase:
    """A folder that is there, the options of the call, and the truth if it is known."""

    root: pathlib.Path
    options: _Options
    truth: Truth | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """One folder of a corpus.

    Attributes:
      key: its name, unique in the corpus.
      open: draws it into an empty folder, or finds it.
    """

    key: str
    open: Callable[[pathlib.Path], OpenCase]


def list_cases(corpus: str, folder: pathlib.Path | None = None) -> list[Case]:
    """Returns the cases of a corpus in the order of their keys.

    Raises:
      ValueError: if the corpus needs a folder that is not there.
    """
    if corpus == "data" and folder is None and os.environ.get("VOC_SEG_REAL_DATA"):
        folder = pathlib.Path(os.environ["VOC_SEG_REAL_DATA"])
    if corpus == "made":
        cases = list_made()
    elif corpus == "layouts":
        cases = list_layouts()
    elif folder is None or not folder.is_dir():
        raise ValueError(f"corpus {corpus}: no folder; give --folder, see outcomes/corpora.py")
    else:
        cases = [*_CASES_BELOW[corpus](folder)]
    return sorted(cases, key=lambda case: case.key)


def list_made(seeds: Iterable[int] = MADE_SEEDS) -> list[Case]:
    """Returns two cases for each seed: with class names, and without."""
    cases = []
    for seed in seeds:
        for words, options in (("", {}), (" named", {"class_names": made_folders.CLASSES})):
            draw = functools.partial(_draw_made, seed=seed, options=options)
            cases.append(Case(f"{seed:04}{words}", draw))
    return cases


def _draw_made(folder: pathlib.Path, *, seed: int, options: _Options) -> OpenCase:
    made = made_folders.make(folder / "made", seed)
    splits = {}
    for split, pairs in made.pairs.items():
        splits[split] = {
            image.relative_to(made.root).as_posix(): mask.relative_to(made.root).as_posix()
            for image, mask in pairs.items()
        }
    return OpenCase(made.root, options, Truth(splits))


def list_layouts() -> list[Case]:
    """Returns a case for each known public set."""
    return [Case(name, functools.partial(_draw_layout, name=name)) for name in LAYOUTS]


def _draw_layout(folder: pathlib.Path, *, name: str) -> OpenCase:
    root = folder / name.replace("/", "_")
    root.mkdir()
    truth = LAYOUTS[name](root)
    return OpenCase(root, truth.options, truth)


def _find(_: pathlib.Path, *, root: pathlib.Path, options: _Options) -> OpenCase:
    return OpenCase(root, options)


def _found(key: str, root: pathlib.Path, options: _Options) -> Case:
    """Returns the case of a folder that is there."""
    return Case(key, functools.partial(_find, root=root, options=options))


def _list_suite(folder: pathlib.Path) -> Iterator[Case]:
    """Yields the folders that `record.py` has written."""
    for path in folder.glob("*/options.json"):
        options = json.loads(path.read_text("utf-8"))["options"]
        (root,) = (path.parent / "folder").iterdir()
        yield _found(path.parent.name, root, options)


_PATIENTS = {"class_names": ["background", "organ"], "group_by": "folder"}
_OPTIONS_OF_CASES: Mapping[str, Mapping[str, _Options]] = {
    "unet": {"cells": {"classes": [[0, "background"], [255, "cell"]]}},
    "patients": {
        "two": {**_PATIENTS, "splits": {"train": 0.7, "validation": 0.3}},
        "three": {**_PATIENTS, "splits": {"train": 0.8, "validation": 0.1, "test": 0.1}},
    },
    "exported": {"ratios": {"splits": {"train": 0.7, "validation": 0.3}}},
}
"""The options that users of some folders of `cases` try, by their names."""


def _list_sets(folder: pathlib.Path) -> Iterator[Case]:
    """Yields each folder directly below a folder, with the options that are tried on it."""
    for root in folder.iterdir():
        if root.is_dir():
            yield _found(root.name, root, {})
            for words, options in _OPTIONS_OF_CASES.get(root.name, {}).items():
                yield _found(f"{root.name} {words}", root, options)


_VOC = {"class_names": ["voc"]}
_ONE_SPLIT = {"splits": {"train": 1.0}}
_OPTIONS_OF_EXPORTS: Mapping[str, Mapping[str, _Options]] = {
    "cvat_segmask_1.1/masks_only": {},
    "cvat_segmask_1.1/with_images": {},
    "cvat_real_kirchner": {"pool": _ONE_SPLIT},
    "labelme_new/semantic": {},
    "labelme_new/instance": {"instances": {"instance_mask": True}},
    "labelme_old/semantic": {},
    "labelme_old/video_annotation_HEAD": {},
    "roboflow_semantic/kainat": {},
    "roboflow_semantic/dhcn": {},
    "mmseg_pseudo_dataset": {"named": {"class_names": [*"abcdefg"]}},
    "deeplab_SegmentationClassRaw": {"voc": _VOC},
    "wild_grey_jpeg_polyp": {"named": {"class_names": [*"abcd"], **_ONE_SPLIT}},
    "wild_16bit_scis": {"named": {"class_names": [*"abcd"], **_ONE_SPLIT}},
    "wild_plte255_lines": {"named": {"class_names": [*"ab"], **_ONE_SPLIT}},
    "wild_subfolders_bridge": {
        "named": {"class_names": [*"abcdefgh"]},
        "element": {
            "class_names": [*"abcdefgh"],
            "masks": "SegmentationClass/element",
            **_ONE_SPLIT,
        },
    },
}
"""The options with which tests read real exports, by the folder below `producers`."""

_OPTIONS_OF_RELEASES: Mapping[str, _Options] = {
    "voc": _VOC,
    "objects": {**_VOC, "objects": True, "instance_mask": True},
    "ratios": {**_VOC, "splits": {"train": 0.8, "validation": 0.2}},
    "folds": {**_VOC, "folds": 4},
    "objects as masks": {**_VOC, "masks": "SegmentationObject"},
}


def _list_data(folder: pathlib.Path) -> Iterator[Case]:
    """Yields real exports and releases, and pairs beside one odd file each."""
    exports = folder / "producers"
    names = {root.name for root in exports.iterdir()}
    for name in sorted({*names, *_OPTIONS_OF_EXPORTS}):
        yield _found(name, exports / name, {})
        for words, options in _OPTIONS_OF_EXPORTS.get(name, {}).items():
            yield _found(f"{name} {words}", exports / name, options)
    for release in ("voc2007", "voc2012"):
        yield _found(release, folder / release, {})
        for words, options in _OPTIONS_OF_RELEASES.items():
            yield _found(f"{release} {words}", folder / release, options)
    odd = folder / "odd"
    for kind in ("images", "masks", "lists"):
        for path in (odd / kind).iterdir():
            if path.suffix not in (".json", ".tsv"):
                draw = functools.partial(_draw_odd, odd=odd, kind=kind, name=path.name)
                yield Case(f"odd {kind}/{path.name}", draw)


def _draw_odd(folder: pathlib.Path, *, odd: pathlib.Path, kind: str, name: str) -> OpenCase:
    """Draws two good pairs, a and b, in VOC's layout: one of their files, or the list, is odd."""
    root = folder / "odd"
    parts = {
        "images": ("JPEGImages", odd / "images" / "i01_rgb.jpg"),
        "masks": ("SegmentationClass", odd / "masks" / "m01_p8_voc.png"),
    }
    for part, (place, good_file) in parts.items():
        odd_file = odd / kind / name if part == kind else good_file
        (root / place).mkdir(parents=True)
        shutil.copyfile(good_file, root / place / f"a{good_file.suffix}")
        shutil.copyfile(odd_file, root / place / f"b{odd_file.suffix}")
    if kind == "lists":
        lists = root / "ImageSets" / "Segmentation"
        lists.mkdir(parents=True)
        shutil.copyfile(odd / kind / name, lists / "train.txt")
    return OpenCase(root, _VOC)


_CASES_BELOW: Mapping[str, Callable[[pathlib.Path], Iterator[Case]]] = {
    "suite": _list_suite,
    "cases": _list_sets,
    "data": _list_data,
}
CORPORA = ("made", "layouts", *_CASES_BELOW)
