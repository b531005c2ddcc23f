"""Label Studio: its JSON is not read, and its export of brushes is one mask per label."""

from voc_seg_tfrecord.tools.tool import RefusedFiles, Tool

LABEL_STUDIO = Tool(
    name="Label Studio",
    refused=(
        RefusedFiles(
            ending=".json",
            pattern=rb'"original_width"\s*:',
            found="Label Studio's JSON",
            advice="export as COCO, and masks of brushes as PNG",
        ),
    ),
)
