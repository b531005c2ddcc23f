"""A built dataset: found by its name, opened, and its records read without TensorFlow.

Enter at `dataset.open_built` and `records.scan`, and at `data_source` for any order. `find` knows
what a name stands for, `dataset_files` the files of a dataset, their sums, and whether a build has
replaced them. `trust` checks what a stranger's description names. `chosen_ids` reads lists of ids
that a user gives, and `decisions` what a person chose on a page.
May import: up to `writing`.
"""
