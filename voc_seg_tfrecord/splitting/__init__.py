"""Ids divided into splits, where no list does it.

Enter at `ratios.assign` for a hash of the ids, and at `stratified.stratify` for a share of every
class in each split. `grouping` has the rule that the user gives for what must not be divided, and
`group_proposals` finds one in the ids. May import: up to `trees`.
"""
