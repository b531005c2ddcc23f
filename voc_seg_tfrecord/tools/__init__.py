"""What is known of each labeling tool and exporter: one module per tool, which holds one `Tool`.

`tool` says what a `Tool` is; `layouts` has the tools without code of their own, and `registry`
lists all of them. `shapes` holds what annotation files say, whatever tool wrote them, and
`shape_classes` numbers their classes. `drawing` draws the shapes of an image to masks, and
`shape_pixels` each of them. `class_file` and `class_texts` read the files that name classes. May
import: up to `formats`.
"""
