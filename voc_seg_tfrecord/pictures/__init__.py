"""Contact sheets: a few examples of a dataset, drawn for people to look at.

Enter at `preview`. `pick` chooses and decodes the examples, `sheet` puts them in rows, `cell` draws
one of them with its `overlay`, and `lettering` writes. `figure` gives a sheet to notebooks. May
import: up to `stats`.
"""
