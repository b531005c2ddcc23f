"""The bytes of one file: what it is, whether it is complete, what it holds.

May import: up to `core`.

Images: enter at `images.open_image`, and at `bands.read_chosen` where more than 8-bit RGB is kept.
`narrow` refuses images of which 8-bit RGB would lose something, and `jpeg` JPEGs that decoders read
differently. `band_files` reads all bands of a file.

Masks: enter at `index_masks.read_mask`, which makes class indices by the mask rule of what
`mask_samples` reads. `ignore_masks` makes pixels void, and `value_counts` counts values.

Texts: `texts` makes values and rows of them.

Formats: `png`, `jpeg` and `tiff` read headers. `png_stream` checks the pixels of a PNG,
`png_values` reads them from masks, and `png_encoder` writes them.
`pillow` is the door to Pillow, which decodes all others to `stills`. `numpy_files` reads arrays,
`frames` TFRecords, and `archives` unpacks.
"""
