"""From a folder that some labelling tool exported to a built dataset, in one call."""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
from typing import Any

from etils import epath

from voc_seg_tfrecord.base.errors import LayoutError, VocSegError
from voc_seg_tfrecord.base.names import VOID, background_index
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.base.unpacked import unpacked
from voc_seg_tfrecord.build_from.run import build_source, check_name, spelled_out
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.make import band_count
from voc_seg_tfrecord.examples.tiles import QUALITY, Tiling
from voc_seg_tfrecord.folder import account
from voc_seg_tfrecord.folder.alternatives import ANY_CLASSES, NO_CLASS_NAMES, check_alternatives
from voc_seg_tfrecord.folder.classes.choose import choose_class_file, rows_of_table
from voc_seg_tfrecord.folder.classes.names import names_at_values, names_from_file, rows_of_file
from voc_seg_tfrecord.folder.meaning.advice import advise_table
from voc_seg_tfrecord.folder.meaning.of_labels import choose_numbering
from voc_seg_tfrecord.folder.meaning.proposals import (
    advise_smoothed,
    list_pixels,
    propose_classes,
)
from voc_seg_tfrecord.folder.plan import ANY_VALUE, Plan, make_plan, open_tree
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.folder.splits.divide import official_note
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.masks.table import ClassTable, are_whole, check_rows, color_key, rows_over
from voc_seg_tfrecord.sources.open import own_source
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.tree import VocTree
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

_MAX_SHOWN_REASONS = 6


def builder_from_tree(
    root: PathLike,
    *,
    name: str,
    data_dir: PathLike | None = None,
    num_shards: int | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    verbose: bool = True,
    **options: Any,
) -> Builder:
    """Builds a dataset from a folder in the VOC layout, exported by any tool.

    Args:
      root: the folder, or its `.zip` or `.tar`.
      name: the config's name: the dataset is `voc_seg_tfrecord/<name>`.
      data_dir: where to write; TFDS's default if not given.
      num_shards: number of shards per split; TFDS chooses by default.
      overwrite: whether to replace a dataset that exists.
      workers: how many processes make the examples; by default as many as are fastest.
      verbose: whether to print what was found and decided, as the command `build` does (True).
      **options: see `find_config_of`.

    Returns:
      The builder of the dataset, built: `builder.as_dataset(split='train')` reads it.

    Raises:
      VocSegError: if the tree or the call is wrong; then nothing was built.
    """
    with unpacked(root) as folder:
        config, plan = find_config(folder, name=name, **options)
        if verbose:
            print(describe(plan, config).replace(str(folder), str(root)))
        return build_source(
            own_source(plan, config),
            config,
            data_dir=data_dir,
            num_shards=num_shards,
            overwrite=overwrite,
            workers=workers,
        )


def find_config(root: PathLike, *, name: str, **options: Any) -> tuple[VocSegConfig, Plan]:
    """Finds out all about a tree that its config has to say.

    Returns:
      The config, complete, so that `tfds build` with it builds the same bytes; and the plan.

    Raises:
      VocSegError: if the tree or the call is wrong, or something cannot be detected.
    """
    check_name(name)
    planner = _Planner(root, name, options)
    try:
        config, plan = planner.find({})
    except QuestionError as question:
        raise check_alternatives(question, planner) from None
    given = options.get("class_names") or config.classes
    by_name = plan.class_file is not None and plan.class_file.by_name
    return config, dataclasses.replace(plan, numbered=bool(given) or not by_name)


def checked_question(
    question: QuestionError, root: PathLike, options: Mapping[str, Any]
) -> VocSegError:
    """Returns a question about a folder with the alternatives that work; see `find_config`."""
    return check_alternatives(question, _Planner(root, "check", options))


class _Planner:
    """Plans a folder with the user's options, and with those of an alternative too."""

    def __init__(self, root: PathLike, name: str, options: Mapping[str, Any]):
        self._root = root
        self._name = name
        self._options = options

    def find(self, more: Mapping[str, Any]) -> tuple[VocSegConfig, Plan]:
        """Returns config and plan; see `find_config`."""
        tree, config = find_config_of(self._root, name=self._name, **{**self._options, **more})
        return config, make_plan(tree, config)

    def __call__(
        self, options: Mapping[str, Any], *, any_classes: bool = False
    ) -> tuple[VocSegConfig, Plan]:
        """Returns config and plan with more options; see `alternatives.Planner`."""
        options = {**self._options, **options}
        if any_classes:
            options |= ANY_CLASSES
        listing = self._listing
        tree, config = find_config_of(self._root, name=self._name, listing=listing, **options)
        plan = make_plan(tree, config, rule=ANY_VALUE if any_classes else None)
        for split, ids in plan.splits.items():
            tree.pairs(split, ids, config.parts)  # raises if a file is missing
        return config, plan

    @functools.cached_property
    def _listing(self) -> Listing:
        return Listing.of(epath.Path(self._root).expanduser())


def find_config_of(
    root: PathLike,
    *,
    name: str,
    class_names: Sequence[str] | None = None,
    images: str | None = None,
    masks: str | None = None,
    lists: str | None = None,
    image_name: str | None = None,
    mask_name: str | None = None,
    missing_mask: str = "skip",
    background: str = "",
    listing: Listing | None = None,
    **fields: Any,
) -> tuple[VocTree, VocSegConfig]:
    """Finds a tree and its class names.

    Args:
      root: the folder that a tool exported, or one above it.
      name: the config's name.
      class_names: the classes of the values 0, 1, 2; `['voc']` means VOC's 21. By default they
        are read from the tree's class file.
      images: the folder of images, if its name is not a known one.
      masks: the folder of masks, likewise.
      lists: the folder of id lists, if it is neither VOC's nor the root.
      image_name: pattern of the images' names, such as `image_{id}.jpg`.
      mask_name: pattern of the masks' names, such as `gt_{id}.png`.
      missing_mask: what to do about a listed image without a mask; left out by default.
      background: name of the class that is background, if its name does not say so.
      listing: the files of the folder, where they are listed already.
      **fields: other fields of `VocSegConfig`.

    Returns:
      The tree, and the config with the options and the class names.

    Raises:
      ConfigError: if the call is wrong, whatever the tree holds.
      LayoutError: if there is no tree, or no class names.
    """
    folders = {"images": images, "masks": masks, "lists": lists}
    folders |= {"image_name": image_name, "mask_name": mask_name}
    fields["layout"] = {k: v for k, v in folders.items() if v is not None} or None
    if class_names:
        fields["class_names"] = spelled_out(class_names)
    early = {key: value for key, value in fields.items() if class_names or key != "classes"}
    all_bands = early.get("bands") == "all"
    early_config = VocSegConfig(name=name, **early | {"bands": [0]} if all_bands else early)
    tree = open_tree(epath.Path(root).expanduser(), early_config, listing)
    if all_bands:
        fields["bands"] = _all_bands(tree)
    fields |= {"missing_mask": missing_mask, "background": background}
    rows = check_rows(fields.get("classes") or ())
    fields["classes"] = rows_over(rows, rows_of_table(tree))
    if not class_names:
        fields |= _found_names(tree, {"name": name, **fields})
    return tree, VocSegConfig(name=name, **fields)


def _all_bands(tree: VocTree) -> list[int]:
    """Returns the numbers of the bands of the first image of a tree that can be read."""
    labelled = (image_id for image_id in tree.images if image_id in tree.masks)
    if count := band_count(map(tree.pair, labelled)):
        return [*range(count)]
    raise LayoutError(
        tree.root,
        found="no image with a mask, so the number of bands is not known",
        expected="images with masks",
        remedy="name the bands with --bands 0,1,2",
    )


def _found_names(tree: VocTree, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a config that the class file of a tree fills in.

    Raises:
      LayoutError: if there is none, and no rows say what values and colours mean.
      MaskError: if masks fit two ways in which it may be numbered, and the two differ.
    """
    rows, background = fields["classes"], fields["background"]
    config = VocSegConfig(name=fields["name"], layout=fields["layout"])
    found = choose_class_file(tree, config, background)
    if not found.numberings:
        if are_whole(rows):
            return {}
        raise _no_names(tree, config, found.notes)
    advice = advise_table(tree.given, tree.layout, config, named=False)
    file = choose_numbering(tree.labels, found.numberings, rows, background, advice)
    if file is None:
        return {}
    names, values = names_from_file(file, rows), {entry.value for entry in file.entries}
    if not {*range(len(values)), *values - {VOID}}.isdisjoint(key for key, _ in rows):
        names = names_at_values(file)
    if names:
        return {"class_names": names, "background": background or _said_in(file, names)}
    rows = rows_of_file(file, rows, background)
    names = ClassTable((), rows, background).class_names
    return {"classes": rows, "background": background or _said_in(file, names)}


def _said_in(class_file: ClassFile, names: Sequence[str]) -> str:
    """Returns the background that a class file names, empty if its name says so anyway."""
    background = class_file.background
    needless = background not in names or background_index(names) == names.index(background)
    return "" if needless else background


def _no_names(tree: VocTree, config: VocSegConfig, notes: Sequence[str]) -> LayoutError:
    of_images = [image_id for image_id in tree.masks if image_id in tree.images]
    survey = tree.labels.survey(of_images or tree.masks, all_colors=True)
    official = official_note(SplitEvidence.find(tree, config))
    advice = advise_table(tree.given, tree.layout, config, named=False)
    ways = [*propose_classes(survey, official), advice]
    held = list_pixels(survey)
    return LayoutError(
        tree.root,
        found="no class names: "
        + (" ".join(notes).rstrip(".") or f"none of {', '.join(class_files.NAMES)} is there")
        + (f". The masks hold\n    {held}" if held else ""),
        expected="a class for each value or color of the masks",
        remedy=advise_smoothed(survey) or "; or ".join(ways),
        kind=NO_CLASS_NAMES,
    )


def describe(plan: Plan, config: VocSegConfig) -> str:
    """Returns what was found and decided, one fact per line."""
    tree, layout = plan.tree, plan.tree.layout
    source = f"from {plan.class_file.source}" if plan.class_file else "as given"
    names, tool = tuple(config.built_class_names), tree.labels.tool
    origin = f"drawn from the polygons of {tool}" if tool else f"in {layout.describe('masks')}"
    by = "value"
    if plan.decision is not None:
        word = {"value": "value", "color": "color"}[plan.decision.by]
        by = f"{word}, {plan.decision.candidate.source}"
    shown = [f"{index} {name}" for index, name in enumerate(names)]
    shown = shown if len(shown) <= 24 else [*shown[:22], "...", shown[-1]]
    lines = {
        "tree": str(tree.root),
        "images": f"{len(tree.images)} in {layout.describe('images')}",
        "masks": f"{len(tree.masks)} {origin}, by {by}",
        "classes": f"{len(names)} {source}: {', '.join(shown)}",
        **({"from": config.table.describe()} if config.classes else {}),
        "void": ", ".join(map(str, _voids(plan))) or "none",
    }
    if config.instance_mask or config.objects:
        extra = {layout.instances: config.instance_mask, layout.annotations: config.objects}
        lines["also"] = ", ".join(name for name, is_read in extra.items() if is_read)
    if config.tiling:
        lines["tiles"] = _tiles(config.tiling)
    for split, ids in plan.splits.items():
        out = plan.left_out.get(split, [])
        bare = sum(image_id in tree.images for image_id in out)
        note = f"; {bare} left out, without a mask" if bare else ""
        note += f"; {len(out) - bare} left out, without an image" if len(out) > bare else ""
        lines[f"split {split}"] = f"{len(ids)} ids, {plan.sources[split]}{note}"
    text = [f"{key + ':':18}{value}" for key, value in lines.items()]
    text += [f"{'decided:':18}{reason}" for reason in plan.reasons[:_MAX_SHOWN_REASONS]]
    if len(plan.reasons) > _MAX_SHOWN_REASONS:
        more = len(plan.reasons) - _MAX_SHOWN_REASONS
        text.append(f"{'decided:':18}{more} more; check --json lists all")
    text += [f"{'not used:':18}{line}" for line in account.describe(plan.account)]
    return "\n".join(text + [f"{'note:':18}{note}" for note in plan.notes])


def _voids(plan: Plan) -> list[int | str]:
    rule = plan.rule
    mapping = rule.all_values if rule.colors is None else rule.all_colors
    return [
        key if isinstance(key, int) else f"color {color_key(key)}"
        for key, index in mapping.items()
        if index == VOID and key != -1  # -1 is void in .npy masks alone
    ]


def _tiles(tiling: Tiling) -> str:
    """Returns how images are cut, in words."""
    shared = f", neighbours share {tiling.overlap} pixels" if tiling.overlap else ""
    stored = f"JPEG of quality {QUALITY}" if tiling.format == "jpeg" else "PNG"
    return f"{tiling.size} x {tiling.size} pixels{shared}, stored as {stored}"
