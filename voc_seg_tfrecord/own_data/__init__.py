"""A user's own folder: what is found in it, what is decided, what is wrong with it.

Enter at `plan.make_plan`. `discovery` finds the layout, `splitting` the splits, `check` reads
everything and tells all that is wrong, as `findings`. May import: up to `configs`.
"""
