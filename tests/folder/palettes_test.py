"""Sets of masks stored in many palettes: each is read as its truth, or refused."""

import itertools

import numpy as np
import pytest
from support.encoding import decoded, write_masks
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID_COLOR
from voc_seg_tfrecord.folder.mask_survey import survey
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming
from voc_seg_tfrecord.folder.meaning.choose import choose_meaning
from voc_seg_tfrecord.formats.index_masks import read_mask
from voc_seg_tfrecord.tools.class_file import ClassFile

VOC = voc_palette().astype(int)
ZEROS = np.zeros((256, 3), int)
RAMP = np.repeat(np.arange(256)[:, None], 3, axis=1)


def own_colors(seed):
    """256 different colors, of which none but black is VOC's, black first and void's last."""
    rng = np.random.default_rng(seed)
    colors = rng.permutation(250**2)[:256]
    table = np.stack([colors // 250 | 1, colors % 250 | 1, rng.integers(0, 125, 256) * 2 + 1], 1)
    table[0], table[VOID] = 0, VOID_COLOR
    return table


def shuffled(table, rng, first, last):
    """The same colors in another order, from one index up to another."""
    table = table.copy()
    table[first:last] = rng.permutation(table[first:last])
    return table


# What a value has as its color: in all of these, the value is the class.
BY_VALUE = {
    "VOC": VOC,
    "21 colors, zeros behind": np.vstack([VOC[:21], ZEROS[21:]]),
    "own colors, zeros behind": np.vstack([own_colors(0)[:21], ZEROS[21:]]),
    "zeros": ZEROS,
    "all white": ZEROS + 255,
    "duplicates": VOC[np.repeat(np.arange(128), 2)],
    "duplicate of void": np.vstack([VOC[:20], VOC[255:], VOC[21:]]),
    "own colors": own_colors(0),
    "gray ramp": RAMP,
    "gray ramp, reversed": RAMP[::-1],
    "VOC reversed": VOC[::-1],
    "VOC's 22 reversed": np.vstack([VOC[255:], VOC[20::-1], ZEROS[22:]]),
    "255 entries": VOC[:255],
    "own colors, 255 entries": own_colors(0)[:255],
    "21 entries": VOC[:21],
}
# The same, with a palette that differs from set to set.
ANY = {
    "VOC's first 21 in own order": lambda rng: shuffled(VOC, rng, 1, 21),
    "VOC's first 21 in own order, black too": lambda rng: shuffled(VOC, rng, 0, 21),
    "all of VOC's in own order": lambda rng: shuffled(VOC, rng, 0, 256),
}
# The same, with a palette that differs from mask to mask.
MIXED = {
    "at random for each mask": lambda rng: own_colors(rng.integers(1000)),
    "own order for each mask": lambda rng: shuffled(VOC, rng, 1, 21),
    "VOC or own": lambda rng: BY_VALUE[rng.choice(["VOC", "own colors"])],
    "VOC or zeros behind": lambda rng: BY_VALUE[rng.choice(["VOC", "21 colors, zeros behind"])],
}
# What a class has as its color, and how its palette is made from the colors that are in use.
PACKED = ("in order", "by frequency", "reversed", "padded")
BY_COLOR = {"VOC": VOC, "own colors": own_colors(0)}


def palettes_of(kind, number, rng):
    """A palette for each of a number of masks."""
    if kind in MIXED:
        return [MIXED[kind](rng) for _ in range(number)]
    one = ANY[kind](rng) if kind in ANY else BY_VALUE[kind]
    return [one] * number


def packed(values, colors, how):
    """A palette PNG of the colors in use alone, as an optimizer writes it."""
    used, counts = np.unique(values, return_counts=True)
    by_frequency = used[np.argsort(-counts, kind="stable")]
    order = {"in order": used, "by frequency": by_frequency}.get(how, used[::-1])
    palette = colors[order]
    if how == "padded":
        palette = np.vstack([palette, ZEROS[len(order) :]])
    index = {value: place for place, value in enumerate(order.tolist())}
    return write_png(np.vectorize(index.get)(values), palette=palette)


def truths(rng, classes, void):
    """Some masks of blocks: background, one to three classes, and void or none."""
    for _ in range(rng.integers(1, 6)):
        values = np.zeros((8, 12), int)
        for _ in range(rng.integers(1, 4)):
            top, left = rng.integers(0, 6, 2)
            values[top : top + 3, left : left + 4] = rng.integers(1, classes)
        if void:
            values[7, :5] = VOID
        yield values


def names_of(kind, rng, classes):
    return {
        "VOC's names": VOC_CLASSES,
        "VOC's names in own order": tuple(rng.permutation(VOC_CLASSES).tolist()),
        "own names": ("background", *(f"class {n}" for n in range(1, classes))),
    }[kind]


def by_name(values, names):
    """VOC's numbers as those of the same classes among names in another order."""
    number = {n: names.index(name) for n, name in enumerate(VOC_CLASSES)} | {VOID: VOID}
    return np.vectorize(number.get)(values)


def class_file_of(kind, names, colors):
    """None; names alone; or names with colors, which may be those of the masks or others."""
    if kind == "none":
        return None
    if kind == "names":
        return ClassFile(
            "class_names.txt", tuple(ClassEntry(n, name) for n, name in enumerate(names))
        )
    table = {"VOC's": VOC, "the masks'": colors, "others": own_colors(7)}[kind]
    entries = [ClassEntry(n, name, tuple(table[n].tolist())) for n, name in enumerate(names)]
    return ClassFile("labelmap.txt", tuple(entries))


def outcome(folder, files, truth, names, class_file):
    """Says whether a build's masks would be `equal`, `different` or `refused`; and why."""
    paths = write_masks(folder, files)
    naming = ClassNaming(ClassTable(tuple(names)), class_file)
    try:
        decision = choose_meaning(survey(paths, all_colors=naming.needs_colors()), [naming], "")
        masks = [decoded(read_mask(File(data, "mask.png"), decision.rule).png) for data in files]
    except VocSegError:
        return "refused", None
    same = all((a == b).all() for a, b in zip(masks, truth, strict=True))
    return ("equal" if same else "different"), decision


def cases(seed):
    """Yields many sets, seeded: a label, the files, the truth, the names and a class file."""
    rng = np.random.default_rng(seed)
    for names_kind in ("VOC's names", "VOC's names in own order", "own names"):
        for classes in (2, 5, 16, 21) if names_kind == "own names" else (21,):
            names = names_of(names_kind, rng, classes)
            for void in (False, True):
                truth = list(truths(rng, classes, void))
                for palette in (*BY_VALUE, *ANY, *MIXED):
                    palettes = palettes_of(palette, len(truth), rng)
                    pairs = zip(truth, palettes, strict=True)
                    files = [write_png(values, palette=colors) for values, colors in pairs]
                    for kind in ("none", "names", "others"):
                        label = (palette, kind, names_kind)
                        yield label, files, truth, names, class_file_of(kind, names, VOC)
                small = [np.where(t == VOID, 15, t % 15) for t in truth]
                ramp = np.arange(16)[:, None] * 17 + np.zeros(3, int)
                for palette, colors in (("4-bit VOC", VOC[:16]), ("4-bit ramp", ramp)):
                    if classes >= 16:
                        files = [write_png(t, depth=4, palette=colors) for t in small]
                        yield (palette, "none", names_kind), files, small, names, None
                for palette, colors in BY_COLOR.items():
                    for how in PACKED:
                        files = [packed(t, colors, how) for t in truth]
                        label = f"{palette}, one palette for each mask, {how}"
                        for kind in ("none", "names", "the masks'", "others"):
                            listed = class_file_of(kind, names, colors)
                            of_voc = palette == "VOC" and {*names} == {*VOC_CLASSES}
                            renamed = of_voc and kind == "none"
                            meant = [by_name(t, names) for t in truth] if renamed else truth
                            yield (label, kind, names_kind), files, meant, names, listed


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "step"), [(0, 7), pytest.param(1, 1, marks=pytest.mark.slow)])
def test_no_palette_changes_a_label_without_a_word(tmp_path, seed, step):
    safe = {"VOC", "own colors", "gray ramp", "21 entries", "255 entries", "4-bit ramp"}
    seen = set()
    for label, files, truth, names, listed in itertools.islice(cases(seed), 0, None, step):
        seen.add(label[0])
        what, decision = outcome(tmp_path, files, truth, names, listed)
        # VOC's palette and names in another order may mean VOC's numbers, or the names'.
        asked = label[0] in ("VOC", "255 entries", "21 entries") and "own order" in label[2]
        assert what == "equal" or asked or label[0] not in safe, label
        if what == "different":
            # Colors of which nothing says that they count, where they contradict no value.
            assert "own colors, one palette for" in label[0]
            assert decision.notes
    assert safe < seen
