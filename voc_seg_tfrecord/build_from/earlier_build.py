"""The options with which a folder was built before, to build it again in the same way.

The metadata of a dataset has the config that it was built with, and a file may have it. `--like`
and `--config` take its fields as if the user gave them as options.
"""

from collections.abc import Collection, Mapping
import dataclasses
import json
from typing import Any, Self

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import SAMPLE
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.dataset import open_built

_OF_ONE_DATASET = ("name", "version", "trust_images")
"""Fields that say nothing about how a folder is read."""

_OPTIONS_OF_CLASSES = ("class_names", "default_names", "classes", "background")
"""Options that say together what masks mean: a new one replaces all of the old ones."""

_MAX_SHOWN_CHARACTERS = 80


@dataclasses.dataclass(frozen=True)
class EarlierBuild:
    """How a dataset of the user's own data was built, or is to be built.

    Attributes:
      dataset: its name and version, such as `cracks:1.0.0`; or the file of the config.
      fields: the fields of its config that differ from their defaults.
    """

    dataset: str
    fields: Mapping[str, Any]

    @classmethod
    def read(cls, name: str, data_dir: PathLike | None = None) -> Self:
        """Reads how a dataset was built.

        Args:
          name: the dataset, as `open_built` takes it.
          data_dir: the folder of all datasets; by default TFDS's.

        Raises:
          ConfigError: if there is no such dataset, or if it is a release or does not say how it was
            built.
        """
        builder = open_built(name, data_dir)
        fields = metadata.config_of(builder)
        fields.pop(metadata.RETIRED_OPTION, None)  # what it chose is a question now
        config_name = fields.get("name", "")
        if not fields or fields.get("release") or config_name == SAMPLE:
            raise ConfigError(
                f"--like {name}",
                found="a dataset without the options of a folder of your own",
                expected="a dataset that was built from a folder of your own",
                remedy="leave --like out, and give the options themselves",
            )
        return cls(f"{config_name}:{builder.version}", fields)

    @classmethod
    def read_config(cls, path: PathLike) -> Self:
        """Reads a file with a config: what `tfds build --config` takes.

        Args:
          path: a JSON file, as `check --write_config` writes it.

        Raises:
          ConfigError: if it is none, or names a field that a config does not have.
        """
        where = f"--config {path}"
        file = File.read(epath.Path(path).expanduser(), ConfigError)
        try:
            fields = json.loads(file.data)
        except (ValueError, RecursionError) as error:
            fields = error
        if not isinstance(fields, dict) or not isinstance(fields.get("name", ""), str):
            raise ConfigError(
                where,
                found="no JSON object",
                expected="the fields of a config, as check --write_config writes them",
                remedy="write the file with check ROOT --write_config FILE",
            )
        known = [field.name for field in dataclasses.fields(VocSegConfig)]
        for name in fields:
            if name not in known:
                raise ConfigError(
                    where,
                    found=f"the field {name!r}{did_you_mean(name, known)}",
                    expected="fields of a config",
                    remedy="correct the name, or take it out",
                )
        if fields.get("release"):
            raise ConfigError(
                where,
                found=f"the release {fields['release']}",
                expected="the config of a folder of your own",
                remedy="give --release in place of ROOT and --config",
            )
        return cls(str(path), fields)

    @property
    def name(self) -> str:
        """The name of its config."""
        return str(self.fields.get("name", ""))

    def options_with(
        self, given: Mapping[str, Any], switched_off: Collection[str] = ()
    ) -> dict[str, Any]:
        """Returns its options as `FolderPlanner` takes them, with those that the user gives now.

        Args:
          given: the options of now. One about classes replaces all about classes; any other one
            replaces the one of its name.
          switched_off: the flags that are off now.
        """
        options = self._options()
        for name in (*switched_off, *given):
            options.pop(name, None)
            if name in _OPTIONS_OF_CLASSES:
                for name_of_classes in _OPTIONS_OF_CLASSES:
                    options.pop(name_of_classes, None)
        return options | dict(given)

    def _options(self) -> dict[str, Any]:
        """Returns its options. Two have other defaults in a config than for the user."""
        options = {name: self.fields[name] for name in self.fields if name not in _OF_ONE_DATASET}
        options |= options.pop("layout", {})
        options.setdefault("missing_mask", "error")
        options.setdefault("split_by", "hash")
        return options

    def list_differences(self, config: VocSegConfig) -> list[str]:
        """Returns in which fields a config is another one: `seed: 0 -> 7`."""
        before = self._compared_fields(self.fields)
        now = self._compared_fields(json.loads(config.to_json()))
        differences: list[str] = []
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                texts = [_show(fields.get(name)) for fields in (before, now)]
                differences.append(f"{name}: {' -> '.join(texts)}")
        return differences

    def has_other_options(self, config: VocSegConfig) -> bool:
        """Says whether a config differs in more than class names, which the folder may give."""
        differences = self.list_differences(config)
        of_names = ("class_names: ", "default_names: ")
        return any(not text.startswith(of_names) for text in differences)

    def _compared_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: fields[name] for name in fields if name not in _OF_ONE_DATASET}


def _show(value: Any) -> str:
    if value is None:
        return "not given"
    text = json.dumps(value)
    if len(text) <= _MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[:_MAX_SHOWN_CHARACTERS]}..."
