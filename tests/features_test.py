import ast

from support.paths import REPOSITORY

from voc_seg_tfrecord import features

PACKAGE = REPOSITORY / "voc_seg_tfrecord"

# Names that mean nothing but a feature. `image`, `labels`, `objects` and `label` are words of
# options, parts and other people's records as well.
NAMES = {
    features.MASK,
    features.INSTANCES,
    features.FILENAME,
    features.HEIGHT,
    features.WIDTH,
    features.MASK_SOURCE,
}
ALLOWED = {
    "features.py": NAMES,
    # DeepLab's records, whose features happen to be called the same.
    "interop/layouts.py": {features.FILENAME, features.HEIGHT, features.WIDTH},
    # The option of a config.
    "configs/field_types.py": {features.INSTANCES},
    "commands/tree_arguments.py": {features.INSTANCES},
    "build_from/tree.py": {features.INSTANCES},
}


def test_only_the_module_features_types_the_names_of_features():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        typed = {
            n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)
        }
        assert typed & NAMES <= ALLOWED.get(name, set()), name


def test_every_image_and_mask_has_a_fill_and_channels():
    assert features.FILL == {"image": 0, "segmentation_mask": 255, "instance_mask": 255}
    assert features.CHANNELS == {"image": 3, "segmentation_mask": 1, "instance_mask": 1}
