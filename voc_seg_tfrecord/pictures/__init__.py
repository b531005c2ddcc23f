"""Contact sheets: a few examples of a dataset, drawn for people to look at.

Enter at `preview`. `pick` chooses and decodes the examples, `overlay` has the colours, `figure`
puts them in rows by Matplotlib. May import: up to `stats`.
"""
