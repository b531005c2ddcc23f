"""A user's own folder: what is in it, what is decided about it, and what is wrong with it.

Enter at `plan.make_plan`. `discovery` finds the layout and `splitting` makes the splits.
`check` reads all files and reports what is wrong as `findings`. May import: up to `configs`.
"""
