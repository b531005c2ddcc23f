"""A built dataset: found by its name, opened, and its records read without TensorFlow.

Enter at `dataset.open_built` and `records.scan`. `find` knows what a name stands for. May import:
up to `writing`.
"""
