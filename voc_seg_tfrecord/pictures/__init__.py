"""Contact sheets: a few examples of a dataset, drawn for people to look at.

Enter at `preview`, which puts examples in rows. `pick` chooses and decodes them, `cell` draws one
of them with its `overlay`, and `lettering` writes. `figure` gives a sheet to notebooks. May import:
up to `stats`.
"""
