"""The official releases: where each one's tree comes from.

Enter at `open.release_trees`. `archives` downloads, checks and unpacks; `sbd` reads SBD's
files; `trainaug` is VOC2012 with SBD's masks. May import: up to `configs`.
"""
