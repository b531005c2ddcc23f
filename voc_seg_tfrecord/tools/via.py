"""VIA, the VGG Image Annotator: its JSON is not read."""

from voc_seg_tfrecord.tools.tool import RefusedFiles, Tool

VIA = Tool(
    name="VIA",
    refused_files=(
        RefusedFiles(
            ending=".json",
            pattern=rb'"_via_|"shape_attributes"\s*:',
            found="VIA's JSON",
            advice="open it in VIA 2, and export it as COCO",
        ),
    ),
)
