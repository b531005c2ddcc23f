"""Polygons of labelling tools, drawn to index masks with the pixels of the tools' own converters.

`labelme`, `coco`, `yolo` and `cvat` each read a file of one tool, and return a `shapes.Sheet`.
`shapes` draws those of one image. May import: up to `masks`.
"""
