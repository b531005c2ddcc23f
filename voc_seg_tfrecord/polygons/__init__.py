"""Shapes of labeling tools, drawn to index masks with the pixels of the tools' own converters.

The modules of `tools` read the files of tools to `shapes.Sheet`s; `drawing` draws the shapes of one
image. May import: up to `masks`.
"""
