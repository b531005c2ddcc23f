"""What was found in a tree and decided about it, in words."""

from collections.abc import Mapping

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.grid import Tiling
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.own_data.plan import Plan
from voc_seg_tfrecord.trees.naming import Naming


def describe(plan: Plan, config: VocSegConfig) -> str:
    """Returns what was found and decided, one fact per line."""
    tree, layout = plan.tree, plan.tree.layout
    source = f"from {plan.class_file.source}" if plan.class_file else "as given"
    names = config.named_classes
    lines = {
        "tree": str(tree.root),
        "images": f"{len(tree.images)} in {_folder(layout.images, layout.image_naming)}",
        "masks": f"{len(tree.masks)} in {_folder(layout.masks, layout.mask_naming)}, "
        f"by {_by(plan)}",
        "classes": f"{len(names)} {source}: {_numbered(names)}",
        **({"mapped to": config.class_map.describe()} if config.map_classes else {}),
        "void": ", ".join(map(str, _voids(plan))) or "none",
    }
    if config.instance_mask or config.objects:
        extra = {layout.instances: config.instance_mask, layout.annotations: config.objects}
        lines["also"] = ", ".join(name for name, wanted in extra.items() if wanted)
    if config.tiling:
        lines["tiles"] = _tiles(config.tiling)
    for split, ids in plan.splits.items():
        out = plan.left_out.get(split, [])
        bare = sum(image_id in tree.images for image_id in out)
        note = f"; {bare} left out, without a mask" if bare else ""
        note += f"; {len(out) - bare} left out, without an image" if len(out) > bare else ""
        lines[f"split {split}"] = f"{len(ids)} ids, {plan.sources[split]}{note}"
    text = [f"{key + ':':18}{value}" for key, value in lines.items()]
    return "\n".join(text + [f"{'note:':18}{note}" for note in plan.notes])


def _folder(folder: str, naming: Naming) -> str:
    """Returns a folder in words; one per split is written with {split}."""
    if not naming.whole:
        return folder
    below = str(naming).rpartition("/")[0]
    return below if folder == "." else f"{folder}/{below}"


def _by(plan: Plan) -> str:
    word = {"index": "index", "color": "colour"}[plan.decision.by]
    return f"{word}, {plan.decision.reason}"


def _numbered(names: tuple[str, ...]) -> str:
    shown = [f"{index} {name}" for index, name in enumerate(names)]
    return ", ".join(shown if len(shown) <= 24 else [*shown[:22], "...", shown[-1]])


def _voids(plan: Plan) -> list[int | str]:
    mapping: Mapping = plan.rule.values if plan.rule.colors is None else plan.rule.colors
    return [
        key if isinstance(key, int) else "colour {},{},{}".format(*key)
        for key, index in mapping.items()
        if index == VOID and key != -1  # -1 is void in .npy masks alone
    ]


def _tiles(tiling: Tiling) -> str:
    """Returns how images are cut, in words."""
    shared = f", neighbours share {tiling.overlap} pixels" if tiling.overlap else ""
    stored = f"JPEG of quality {tiling.quality}" if tiling.format == "jpeg" else "PNG"
    return f"{tiling.size} x {tiling.size} pixels{shared}, stored as {stored}"
