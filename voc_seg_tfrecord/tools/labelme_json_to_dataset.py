"""labelme_json_to_dataset: the converter of one file of labelme's to a folder of its own."""

from voc_seg_tfrecord.tools.tool import FilePatterns, NamesPerMask, Tool

LABELME_JSON_TO_DATASET = Tool(
    name="labelme_json_to_dataset",
    patterns=(FilePatterns(images="{id}_json/img.png", masks="{id}_json/label.png"),),
    names_per_mask=NamesPerMask(
        name="label_names.txt",
        found="labelme_json_to_dataset numbers the labels of each image anew",
        advice="give the folder of labelme's JSON files in place of this one: they are read",
    ),
)
