"""Contact sheets: a few examples of a dataset, drawn for people to look at.

`preview` says what is on a sheet and draws it, `figure` gives it to notebooks, and `picture_file`
saves it. `pick` chooses the examples, `example` decodes one, and `cell` draws it with `overlay`,
`region_names`, `key` (the legend) and `lettering`. It reads built data through `audit`.
"""
