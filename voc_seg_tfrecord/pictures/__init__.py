"""Contact sheets: a few examples of a dataset, drawn for people to look at.

`preview` chooses them, `figure` draws, `overlay` has the colours and what is seen of a mask.
May import: up to `stats`.
"""
