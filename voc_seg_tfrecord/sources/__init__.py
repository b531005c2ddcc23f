"""Where the items of a build come from, and what a dataset says of itself.

Enter at `open.open_source`. Own data are read by `own_data`. Four readers open releases: `devkit`
those of VOC, `trainaug` VOC2012 with SBD's masks, `sbd` SBD, `context` Pascal Context. `download`
gets archives, `description` has what a dataset says of itself. May import: up to `own_data`.
"""
