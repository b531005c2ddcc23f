"""How this package speaks to people: what several rooms say in the same way.

Enter at `near_names.did_you_mean` for names that were misspelt, at `brief` for objects that show
themselves in a line or in a notebook, and at `versions`. May import: `errors` alone.
"""
