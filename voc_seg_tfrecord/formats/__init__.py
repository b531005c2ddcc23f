"""One file's bytes: what it is, whether it is complete, what it holds.

`kinds` tells what bytes are. `pillow`, with `encode` and `sixteen_bits`, is the only door to
Pillow, `mat_files` that to SciPy. `limits` refuses files that are too large or animated, `turns`
lets large ones wait for each other.
`decoders` tries whether an image can be decoded. A PNG is read in steps: `png` its header,
`png_chunks` its structure, `png_pixels` its rows, `png_values` one value per pixel; `png_index`
makes index masks of them, `histogram` counts their values. Enter at
`images.read_image` for images, `png.read_header` and `jpeg.read_header` for headers,
`class_files.read_all` for class names, `id_lists.parse_ids` for lists, `annotations.read_objects`
for XML. May import: `errors`, `labels`, `pool`, `features`.
"""
