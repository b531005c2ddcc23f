import json

from etils import epath
import pytest

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.formats import class_files

DEFAULT_VOID = (255, *class_files.VOID_NAMES, class_files.VOID_COLOR)


def _meta(names, colors="[]"):
    label_map = json.dumps({str(value): name for value, name in enumerate(names)})
    return f'{{"label_map": {label_map}, "segmentation_colors": {colors}}}'


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return class_files.find(epath.Path(tmp_path))


def test_labelmap_keeps_its_order_and_colours(tmp_path):
    found = read(tmp_path, "labelmap.txt", "# c\napple:250,50,83::\nbackground:0,0,0::\n")
    assert found.class_names(DEFAULT_VOID) == ("apple", "background")
    assert found.entries[0].color == (250, 50, 83)


def test_empty_colours_of_a_labelmap_are_vocs_of_that_line(tmp_path):
    found = read(tmp_path, "labelmap.txt", "background:::\nperson:::\nignored:224,224,192::\n")
    assert [entry.color for entry in found.entries] == [(0, 0, 0), (128, 0, 0), (224, 224, 192)]
    assert found.class_names(DEFAULT_VOID) == ("background", "person")


def test_dataset_meta(tmp_path):
    meta = {
        "label_map": {"0": "background", "1": "cat"},
        "segmentation_colors": [[0, 0, 0], [1, 2, 3]],
    }
    found = read(tmp_path, "dataset_meta.json", json.dumps(meta))
    assert [(e.value, e.name, e.color) for e in found.entries] == [
        (0, "background", (0, 0, 0)),
        (1, "cat", (1, 2, 3)),
    ]


def test_class_names_without_final_newline_with_slashes_and_an_ignored_first(tmp_path):
    found = read(tmp_path, "class_names.txt", "__ignore__\n_background_\npotted plant\ntv/monitor")
    assert [(e.value, e.name) for e in found.entries] == [
        (255, "__ignore__"),
        (0, "_background_"),
        (1, "potted plant"),
        (2, "tv/monitor"),
    ]
    assert found.class_names(DEFAULT_VOID) == ("_background_", "potted plant", "tv/monitor")
    assert not found.colored


def test_colors_names_may_have_blanks_and_background_is_added(tmp_path):
    found = read(tmp_path, "colors.txt", "neutral 224 224 192\nkiwi fruit 255 0 0\n")
    assert found.class_names(DEFAULT_VOID) == ("background", "kiwi fruit")


def test_classes_csv_gives_values(tmp_path):
    found = read(tmp_path, "_classes.csv", "Pixel Value, Class\n0, background\n5, crack\n")
    assert [(e.value, e.name) for e in found.entries] == [(0, "background"), (5, "crack")]


def test_a_link_to_a_class_file_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "labelmap.txt").symlink_to("gone")
    with pytest.raises(LayoutError, match=r"labelmap\.txt: this file cannot be read"):
        class_files.find(epath.Path(tmp_path))


def test_blanks_around_a_name_and_lines_without_content_do_not_count(tmp_path):
    found = read(tmp_path, "dataset_meta.json", _meta([" a\n", "b\xa0"]))
    assert found.class_names(DEFAULT_VOID) == ("a", "b")
    (tmp_path / "dataset_meta.json").unlink()
    found = read(tmp_path, "_classes.csv", "\nPixel Value, Class\n\n0, a\n")
    assert found.class_names(DEFAULT_VOID) == ("a",)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("labelmap.txt", "apple:250,50::\n", "not readable"),
        ("labelmap.txt", "apple:250,50,300::\n", "not 0 to 255"),
        ("labelmap.txt", "a:::\na:::\n", "'a' twice"),
        ("class_names.txt", "", "no names"),
        ("dataset_meta.json", "{", "not readable"),
        ("dataset_meta.json", "[]", "not readable"),
        ("_classes.csv", "a,b\n", "Pixel Value"),
        ("colors.txt", "apple\n", "not readable"),
        ("_classes.csv", "Pixel Value, Class\n0\n", "no comma"),
        ("_classes.csv", "Pixel Value, Class\n0, " + "a" * 200_000, "field larger"),
        ("labelmap.txt", "".join(f"c{n}:::\n" for n in range(300)), "300 names"),
        ("dataset_meta.json", '{"label_map":' * 30_000, "not readable"),
        ("dataset_meta.json", _meta(["a"], "[[1e400, 0, 0]]"), "infinity"),
        ("dataset_meta.json", _meta([None]), "name of a class is None"),
        ("dataset_meta.json", '{"label_map": {"-5": "a"}}', "value -5"),
        ("dataset_meta.json", '{"label_map": {"300": "a"}}', "value 300"),
        ("dataset_meta.json", _meta(["a", "\xa0"]), "without a name, at value 1"),
        ("dataset_meta.json", _meta(["a\rb"]), "control character"),
        ("dataset_meta.json", _meta(["a\u2028b"]), "control character"),
        ("dataset_meta.json", r'{"label_map": {"0": "\ud800"}}', "control character"),
        ("class_names.txt", "a\x07\n", "control character"),
    ],
)
def test_what_no_tool_writes_is_refused(tmp_path, name, text, words):
    with pytest.raises(LayoutError, match=words):
        read(tmp_path, name, text)


def test_two_labels_with_one_colour_are_refused(tmp_path):
    (tmp_path / "labelmap.txt").write_text("background:0,0,0::\ncat:9,9,9::\ndog:9,9,9::\n")
    with pytest.raises(LayoutError, match=r"the colour 9,9,9 for 'cat' and for 'dog'"):
        class_files.find(epath.Path(tmp_path))


@pytest.mark.parametrize("name", ["Void", "VOID", "ignore", "Ignored", "__IGNORE__"])
def test_a_class_that_means_void_does_so_in_any_spelling(tmp_path, name):
    found = read(tmp_path, "labelmap.txt", f"background:0,0,0::\n{name}:9,9,9::\ncat:1,2,3::\n")
    assert found.class_names(DEFAULT_VOID) == ("background", "cat")


@pytest.mark.parametrize("label", ["1", 1, "ground"])
def test_datumaro_says_which_class_is_background(tmp_path, label):
    meta = {"label_map": {"0": "cat", "1": "ground"}, "background_label": label}
    found = read(tmp_path, "dataset_meta.json", json.dumps(meta))
    assert found.background == "ground"


def test_a_file_of_256_classes_is_refused_because_255_is_void(tmp_path):
    names = [f"class {n}" for n in range(256)]
    with pytest.raises(LayoutError, match="255 is void"):
        read(tmp_path, "class_names.txt", "\n".join(names))
    found = read(tmp_path, "class_names.txt", "\n".join([*names[:255], "Void"]))
    assert len(found.class_names(DEFAULT_VOID)) == 255


def test_voids_label_may_share_no_colour(tmp_path):
    (tmp_path / "labelmap.txt").write_text("background:0,0,0::\nvoid:0,0,0::\n")
    with pytest.raises(LayoutError, match=r"the colour 0,0,0 for 'background' and for 'void'"):
        class_files.find(epath.Path(tmp_path))
