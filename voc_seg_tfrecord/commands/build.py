"""Builds a dataset from your own tree, or an official release.

In your own tree, the build finds images, masks, lists and class names, and shows them before it
writes anything. With --release, leave ROOT out; the build writes the same bytes as `tfds build`.
"""

import argparse
from collections.abc import Mapping, Sequence
import dataclasses
import json
from typing import Any

from etils import epath

from voc_seg_tfrecord.audit.check import check_plan
from voc_seg_tfrecord.audit.versions import NewClasses, open_older_version
from voc_seg_tfrecord.build_from.earlier_build import EarlierBuild
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.run import build_source, check_free, check_name
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import config_fields, requirements
from voc_seg_tfrecord.core.class_counts import ClassCounts, missing_classes
from voc_seg_tfrecord.core.config import BUILDER_CONFIGS, VocSegConfig
from voc_seg_tfrecord.core.config_fields import SAMPLE
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    ListError,
    SplitError,
    VocSegError,
    counted,
    join_names,
    share_advice,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.splits.groups_by_ids import find_photos_in_several_splits
from voc_seg_tfrecord.formats.archives import FolderNaming, is_archive, unpacked
from voc_seg_tfrecord.quality.finding import STOPS
from voc_seg_tfrecord.reading.metadata import archives_of
from voc_seg_tfrecord.sources.open import own_source
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

SUMMARY = "build a dataset from your own tree, or an official release with --release"
EXAMPLE = "voc-seg-tfrecord build /data/cracks --name cracks"
USUAL = ("root", "name", "class_names", "splits", "dry_run", "release")

_RELEASES = {config.name: config for config in BUILDER_CONFIGS}
_RELEASE_OPTIONS = ("manual_dir", "download_dir")
_SHARED_OPTIONS = ("data_dir", "num_shards", "overwrite", "workers")
_TREE_OPTIONS = ("config", "name", "like", "version", "dry_run")
"""Arguments that only a tree has, beside ROOT and the options of its fields."""

_MAX_LISTED_PROBLEMS = 5
"""How many problems that stop a build are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "version")
    arguments.add_tree(parser, optional=True, groups=config_fields.GROUPS)
    parser.add_argument(
        "--dry_run",
        action="store_true",
        help="read everything, show what was found, and build nothing; exits with the "
        "status of a build",
    )
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME; needs ROOT")
    parser.add_argument(
        "--like",
        metavar="DATASET",
        help="take the options of a dataset that was built from a folder, such as cracks:1.0.0; "
        "options that you also give take precedence, and --noNAME switches a flag off, such as "
        "--noobjects; the default of --name is that of DATASET",
    )
    group = parser.add_argument_group("an official release, in place of ROOT and --name")
    group.add_argument("--release", choices=_RELEASES, help="which release to build")
    group.add_argument(
        "--manual_dir",
        metavar="FOLDER",
        help="folder with the release's tree or archive; default: download the archive, if its "
        "checksum is registered",
    )
    group.add_argument(
        "--download_dir",
        metavar="FOLDER",
        help="folder for downloads; default: downloads in the data_dir",
    )
    arguments.add(parser, "data_dir")
    parser.add_argument(
        "--num_shards", type=int, help="number of shards per split; default: TFDS chooses"
    )
    arguments.add(parser, "workers", "overwrite", "json")


@dataclasses.dataclass(frozen=True)
class _BuildOutcome:
    """What a build, or a dry run, ends with.

    Attributes:
      status: the exit status.
      document: what --json prints.
    """

    status: int
    document: dict[str, Any]


def run(args: argparse.Namespace) -> int:
    arguments.check_num_shards(args)
    if args.release:
        outcome = _build_release(args)
    else:
        try:
            outcome = _build_tree(args)
        except (ListError, SplitError) as error:  # it names the problems of one list or split
            if args.like:  # `check` does not take the options of an earlier build
                raise
            raise _with_call_of_check(error, args) from None
    if args.json:
        screen.write_json(outcome.document)
    return outcome.status


def _with_call_of_check(error: VocSegError, args: argparse.Namespace) -> VocSegError:
    """Returns an error with the command that shows all problems of the folder."""
    remedies = [error.remedy, f"see all problems with {_call_of_check(args)}"]
    return error.changed(remedy="; ".join(filter(None, remedies)))


def _call_of_check(args: argparse.Namespace) -> str:
    return command("voc-seg-tfrecord", "check", args.root, **arguments.typed_options(args))


def _check_tree(args: argparse.Namespace, name: str | None) -> None:
    """Checks that a tree and a name are given, and no option that only a release has."""
    release_options = [f"--{name}" for name in _RELEASE_OPTIONS if getattr(args, name) is not None]
    if release_options:
        raise ConfigError(
            release_options[0],
            found="no --release with it",
            expected="a release that the folder belongs to",
            remedy="name the release with --release, or give the folder of your own data as ROOT",
        )
    missing = []
    if args.root is None:
        missing.append("ROOT")
    if name is None:
        missing.append("--name NAME")
    if missing:
        raise ConfigError(
            "build",
            found=f"no {' and no '.join(missing)}",
            expected="ROOT and --name NAME for a tree of your own, or --release RELEASE",
            remedy=_propose_calls(args, name),
        )


def _propose_calls(args: argparse.Namespace, name: str | None) -> str:
    """Returns the call that was meant, with ROOT and NAME for what is missing."""
    root = epath.Path(args.root) if args.root else "ROOT"
    options = arguments.typed_options(args, config_fields.GROUPS)
    for option in (*_TREE_OPTIONS, *_SHARED_OPTIONS):
        options[option] = getattr(args, option)
    options["name"] = name or "NAME"
    build_tree = command("voc-seg-tfrecord", "build", root, **options)
    if args.root:
        return build_tree
    return f"{build_tree}; or {command('voc-seg-tfrecord', 'build', release='2012')}"


def _check_release(args: argparse.Namespace) -> None:
    """Checks that no option is given that only a tree has."""
    if args.release == SAMPLE and args.manual_dir is not None:
        raise ConfigError(
            "--release sample",
            found=f"--manual_dir {args.manual_dir} with the sample",
            expected="no folder, because the sample comes with the package",
            remedy="leave --manual_dir out; or, if it is your own data, "
            f"{command('voc-seg-tfrecord', 'build', epath.Path(args.manual_dir), name='NAME')}",
        )
    tree_options = ["ROOT"] if args.root else []
    for name in _TREE_OPTIONS:
        if getattr(args, name):
            tree_options.append(f"--{name}")
    for name, value in arguments.given_options(args).items():
        tree_options.append(f"--no{name}" if value is False else f"--{name}")
    if tree_options:
        listed = ", ".join(tree_options)
        raise ConfigError(
            f"--release {args.release}",
            found=f"{listed} with a release",
            expected="either an official release or a tree of your own",
            remedy=f"leave {listed} out and name the folder of the release with --manual_dir, or "
            "leave --release out",
        )


@dataclasses.dataclass(frozen=True)
class _TreeRequest:
    """What the user wants to build from a tree.

    Attributes:
      name: the name of the dataset.
      fields: the options of the tree, with those of `earlier`.
      earlier: the build that --like names; None without --like.
      proposed_earlier: the newest version of the dataset, whose options a note proposes to take.
        None if the user gave options that say how the tree is read, or if there is no version.
    """

    name: str
    fields: Mapping[str, Any]
    earlier: EarlierBuild | None
    proposed_earlier: EarlierBuild | None


def _read_tree_request(args: argparse.Namespace) -> _TreeRequest:
    """Reads what the user wants to build from a tree.

    Raises:
      ConfigError: if something is missing, or does not belong to a tree.
    """
    if args.like and args.config:
        raise ConfigError(
            "--like --config",
            found="both",
            expected="one of them, as each has all options",
            remedy="leave one out, and give the options that are to differ",
        )
    if args.config:
        earlier = arguments.read_config(args)
    elif args.like:
        earlier = EarlierBuild.read(args.like, args.data_dir)
    else:
        earlier = None
    name = args.name
    if name is None and earlier is not None:
        name = earlier.name or None
    _check_tree(args, name)
    fields = arguments.tree_fields(args, earlier) | arguments.select_given(args, "version")
    proposed_earlier = None
    if not _gives_reading_options(fields):
        proposed_earlier = _find_earlier_build(name, args.data_dir)
    return _TreeRequest(name, fields, earlier, proposed_earlier)


def _gives_reading_options(fields: Mapping[str, Any]) -> bool:
    """Says whether the user gave an option that says how a tree is read."""
    return any(name != "version" for name in fields)


def _find_earlier_build(name: str, data_dir: str | None) -> EarlierBuild | None:
    """Returns the newest version of the name; None if there is none of the user's own data."""
    try:
        return EarlierBuild.read(name, data_dir)
    except VocSegError:
        return None


def _build_tree(args: argparse.Namespace) -> _BuildOutcome:
    """Builds a tree of the user, or only shows what a build would do."""
    request = _read_tree_request(args)
    check_name(request.name)
    names = VocSegConfig(name=request.name, version=request.fields.get("version"))
    check_free(names, args.data_dir, overwrite=args.overwrite)
    # TFDS reads no archive, so that has to be unpacked before.
    is_packed = is_archive(args.root) and epath.Path(args.root).expanduser().is_file()
    folder = "FOLDER" if is_packed else str(args.root)
    title = "the same with TFDS"
    if is_packed:
        title += ", with the archive unpacked in FOLDER"
    # The plan reads images and masks only when they are written, so an archive stays unpacked.
    with unpacked(args.root) as root:
        plan = _plan(request, root)
        survey = FolderNaming(str(root), str(args.root)).rename(describe(plan))
        _print_plan(request, plan.config, survey)
        _print_photos_in_several_splits(args, plan)
        tfds_words = _tfds_words(args, plan.config.to_json(), folder)
        document = {
            "dataset": f"voc_seg_tfrecord/{request.name}",
            "folder": None,
            "dry_run": args.dry_run,
            "splits": {split: len(ids) for split, ids in plan.splits.items()},
            "found": survey.splitlines(),
            "config": json.loads(plan.config.to_json()),
            "command": tfds_words,
        }
        if request.earlier is not None:
            document["differences"] = request.earlier.list_differences(plan.config)
        if args.dry_run:
            print()
            problems = _find_problems(plan, plan.config, args)
            if not problems:
                _print_tfds_call(tfds_words, title)
                print(f"nothing was built; a build would write {_describe_splits(plan)}")
            return _BuildOutcome(1 if problems else 0, document | {"problems": problems})
        builder = _build(args, plan, plan.config)
        classes = _print_classes(builder, plan)
        print()
        built = screen.show_built(builder, args.data_dir)
        _print_tfds_call(tfds_words, title)
    return _BuildOutcome(0, document | built | {"classes": classes})


def _describe_splits(plan: FolderPlan) -> str:
    """Returns what a build would write: `train 5, validation 2`."""
    splits = ", ".join(f"{split} {len(ids):,}" for split, ids in plan.splits.items())
    return f"the tiles of {splits}" if plan.config.tiling else splits


def _plan(request: _TreeRequest, root: epath.Path) -> FolderPlan:
    """Plans a tree; if that fails, proposes the options of an older version."""
    try:
        return plan_to_build(root, name=request.name, **request.fields)
    except VocSegError:
        if request.proposed_earlier is not None:
            print(_propose_like(request.proposed_earlier))
        raise


def _print_plan(request: _TreeRequest, config: VocSegConfig, survey: str) -> None:
    """Prints what was found in a tree, and how the options differ from those of earlier builds."""
    print(survey)
    earlier = request.earlier
    if earlier is not None:
        differences = earlier.list_differences(config)
        if differences:
            print(f"{'like:':18}{earlier.dataset}, but {'; '.join(differences)}")
        else:
            print(f"{'like:':18}{earlier.dataset}, with the same options")
    proposed = request.proposed_earlier
    if proposed is not None and proposed.has_other_options(config):
        print(_propose_like(proposed))


def _print_photos_in_several_splits(args: argparse.Namespace, plan: FolderPlan) -> None:
    """Prints that copies of a photo may be in several splits, and the command that looks."""
    splits_by_photo = find_photos_in_several_splits(plan.splits)
    if not splits_by_photo:
        return
    photo, splits = min(splits_by_photo.items())
    count = counted(len(splits_by_photo), "photo")
    name = plan.config.name
    leaks = command("voc-seg-tfrecord", "leaks", name, name, data_dir=args.data_dir)
    print(
        f"{'note:':18}{count} may be in several splits: Roboflow's copies of a photo have its "
        f"name, such as {photo}.rf.* in {join_names(splits, 'and')}. After the build, look with "
        f"{leaks}"
    )


def _propose_like(earlier: EarlierBuild) -> str:
    option = command(like=earlier.dataset)
    return f"{'note:':18}To build with the options of {earlier.dataset}, give {option}."


def _print_tfds_call(words: Sequence[str], title: str = "the same with TFDS") -> None:
    """Prints the call of `tfds build` where it runs: that command imports TensorFlow."""
    if requirements.is_installed("tensorflow"):
        print(f"{title}:\n  {command(*words)}")


def _build_release(args: argparse.Namespace) -> _BuildOutcome:
    _check_release(args)
    config = _RELEASES[args.release]
    print(f"{config.name}: {config.description}")
    folders = {name: getattr(args, name) for name in _RELEASE_OPTIONS}
    builder = _build(args, None, config, **folders)
    words = _tfds_words(args, config.name, args.manual_dir)
    print()
    built = screen.show_built(builder, args.data_dir)
    if config.official is not None:  # nothing is published about the sample
        check = command("voc-seg-tfrecord", "verify", config.name, data_dir=args.data_dir)
        print(f"compare it with the published facts: {check}")
    _print_tfds_call(words)
    document = {
        "dataset": f"voc_seg_tfrecord/{config.name}",
        **built,
        "archives": list(archives_of(builder)),
        "command": words,
    }
    return _BuildOutcome(0, document)


def _find_problems(plan: FolderPlan, config: VocSegConfig, args: argparse.Namespace) -> list[str]:
    """Reads everything, as the build would; prints and returns what would stop it."""
    older = open_older_version(Builder(data_dir=args.data_dir, config=config).data_path)
    if older is not None:
        older.check_classes(NewClasses.of_plan(plan))
    tree = plan.tree
    ids_by_split = {}
    for split, ids in plan.splits.items():
        ids_by_split[split] = [tree.record_id(item_id) for item_id in ids if item_id in tree.images]
    if older is not None:
        older.check_ids(ids_by_split)
    report = check_plan(plan, labels=False)
    problems = [finding.message for finding in report.findings if finding.effect == STOPS]
    for message in share_advice(problems[:_MAX_LISTED_PROBLEMS]):
        print(message)
    if problems:
        count = counted(len(problems), "problem")
        advice = report.advise_exclude()
        if advice:
            print(advice)
        print(f"not ready to build: {count}; this shows all: {_call_of_check(args)}")
    return problems


def _print_classes(builder: Builder, plan: FolderPlan) -> dict[str, Any]:
    """Prints images and pixels of each class, and what is missing where; returns them."""
    by_split = builder.class_counts
    class_names = plan.config.built_class_names
    total = sum(by_split.values(), ClassCounts())
    unit = "tiles" if plan.config.tiling else "images"
    print()
    screen.show_class_table(class_names, total, by_split, unit=unit)
    if plan.config.tiling:
        images = counted(sum(map(len, plan.splits.values())), "image")
        tiles = counted(sum(split.num_examples for split in builder.info.splits.values()), "tile")
        print(
            f"tiles: {images} became {tiles}; pixels that tiles share, such as where "
            "the last ones of a row were moved into the image, count in each"
        )
    for missing in missing_classes(class_names, by_split):
        print(f"{'note:':18}{missing}")
    counts_by_class = {}
    for index, name in enumerate(class_names):
        counts_by_class[name] = {
            "images": int(total.images[index]),
            "pixels": int(total.pixels[index]),
        }
    return counts_by_class


def _tfds_words(args: argparse.Namespace, config: str, manual_dir: str | None) -> list[str]:
    """Returns the words of the `tfds build` that does the same."""
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    options = {
        "config": config,
        "manual_dir": manual_dir,
        "data_dir": args.data_dir,
        "download_dir": args.download_dir,
        "num_shards": args.num_shards,
    }
    for name, value in options.items():
        if value:
            words += [f"--{name}", str(value)]
    return words


def _build(
    args: argparse.Namespace, plan: FolderPlan | None, config: VocSegConfig, **others: Any
) -> Builder:
    """Builds a tree by its plan, or a release if there is no plan."""
    options = {name: getattr(args, name) for name in _SHARED_OPTIONS}
    with screen.one_progress_bar():
        source = own_source(plan) if plan else None
        return build_source(source, config, **options, **others)
