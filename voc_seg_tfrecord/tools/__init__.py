"""What is known of each labeling tool and exporter: one module per tool, which holds one `Tool`.

`tool` says what a `Tool` is, and `registry` lists all of them. The tables of tools in the guides
and the tests of all tools are made from the registry. `shapes` holds what the files of shapes say,
whatever tool wrote them, and `shape_classes` numbers their classes. `drawing` draws the shapes of
an image to masks: `shape_pixels` draws one shape, and `coco_polygons` does so as pycocotools. May
import: up to `formats`.
"""
