"""Ids divided into splits, where no list does it.

Enter at `ratios.assign` for a hash of the ids, and at `stratified.stratify` for a share of every
class in each split; `ratios.propose` finds what must not be divided. May import: up to `trees`.
"""
