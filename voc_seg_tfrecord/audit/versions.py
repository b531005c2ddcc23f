"""What a new version of a dataset would change about the version before it.

Numbers of classes that mean something else and ids in other splits spoil what was trained or
measured before, and no reader could see it.
"""

from collections.abc import Iterable, Mapping, Sequence
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, command, counted
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.find import versions_in

_SHOWN = 6


class OlderVersion:
    """The newest version of a config that is not newer than the one that is built, in a folder.

    A dataset that is replaced is one too. Where there is none, nothing is compared. What the user
    should know is a warning.
    """

    def __init__(self, folder: epath.Path):
        self._builder: tfds.core.DatasetBuilder | None = None
        number = tfds.core.Version(folder.name)
        older = [p for p in versions_in(folder.parent) if tfds.core.Version(p.name) <= number]
        if not older:
            return
        self._name = older[-1].name
        try:
            self._builder = dataset.open_built(older[-1])
        except VocSegError as error:
            self._warn_unread(error)

    def _warn_unread(self, error: VocSegError) -> None:
        warnings.warn(
            f"Version {self._name} cannot be read, so it was not compared with the new one: "
            f"{error.found}.",
            stacklevel=3,
        )

    def check_classes(self, names: Sequence[str], *, are_numbered: bool) -> None:
        """Says which numbers of the classes that are built mean another class now.

        Raises:
          ConfigError: if nobody gave the numbers, in a file or by an option.
        """
        before = dataset.class_names(self._builder) if self._builder else ()
        if self._builder and dataset.background(self._builder) == background_index(names) == 0:
            before = (names[0], *before[1:])  # in another spelling it is the same class
        pairs = enumerate(zip(before, names, strict=False))
        changed = [f"{n} was {old:.40} and is {new:.40}" for n, (old, new) in pairs if old != new]
        if not changed:
            return
        if are_numbered:
            text = f"Classes have other numbers than in version {self._name}: {_first(changed)}."
            warnings.warn(text, stacklevel=2)
            return
        kept = [*before, *(name for name in names if name not in before)]
        raise ConfigError(
            f"version {self._name}",
            found=f"classes that get other numbers: {_first(changed)}. Nobody numbered them, "
            "so they are sorted by name",
            expected="classes that keep their numbers, or an order that you give",
            remedy=f"keep the numbers of {self._name}, with new classes after them, by "
            f"{_option(kept)}, or take the new order by {_option(names)}",
        )

    def check_ids(self, ids: Mapping[str, Iterable[str]]) -> None:
        """Says how many of the image ids that are built, by split, are in another split now.

        The older version's records are read only if the digests of two splits differ.
        """
        if self._builder is None:
            return
        of_ids = {split: set(of_split) for split, of_split in ids.items()}
        before = dict.fromkeys(self._builder.info.splits, "") | dataset.ids_sha256(self._builder)
        now = {split: id_list_sha256(of_split) for split, of_split in of_ids.items()}
        differ = [s for s in {**before, **now} if before.get(s) != now.get(s)]
        try:
            moved = self._moved(of_ids, differ) if len(differ) > 1 else []
        except VocSegError as error:
            self._warn_unread(error)
            return
        if moved:
            are = f"{counted(len(moved), 'id')} {'is' if len(moved) == 1 else 'are'}"
            warnings.warn(
                f"{are} in another split than in version {self._name}: {_first(moved)}.",
                stacklevel=2,
            )

    def _moved(self, ids: Mapping[str, set[str]], splits: Sequence[str]) -> list[str]:
        assert self._builder
        before: dict[str, list[str]] = {}
        for split in splits:
            if split in self._builder.info.splits:
                for image_id in {*records.scan(self._builder, split, dataset.image_of)}:
                    before.setdefault(image_id, []).append(split)
        now: dict[str, list[str]] = {}
        for split in splits:
            for image_id in ids.get(split, set()):
                now.setdefault(image_id, []).append(split)
        lost: dict[str, list[str]] = {}
        for image_id in sorted(before.keys() - now.keys()):
            lost.setdefault(image_id.rpartition("/")[2], []).append(image_id)
        moved = []
        for image_id, of_id in sorted(now.items()):
            # In the folder of another split an image has another id; `diff` compares bytes too.
            same = [image_id] if image_id in before else lost.get(image_id.rpartition("/")[2], [])
            old = next((i for i in same if not {*before[i]} & {*of_id}), None)
            if old is not None:
                same.remove(old)
                name = old if old == image_id else f"{old} -> {image_id}"
                moved.append(f"{name} ({', '.join(before[old])} -> {', '.join(of_id)})")
        return moved


def _first(texts: Sequence[str]) -> str:
    more = f", and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _option(names: Sequence[str]) -> str:
    """Returns the option that gives an order, or the argument if a name has a comma."""
    has_comma = any("," in name for name in names)
    return (
        f"class_names={[*names]} in Python" if has_comma else command(class_names=",".join(names))
    )
