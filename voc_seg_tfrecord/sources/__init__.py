"""Where the items of a build come from.

Enter at `open.open_source`. Own data are read by `folder`. Four readers open releases: `devkit`
those of VOC, `trainaug` VOC2012 with SBD's masks, `sbd` SBD, `context` Pascal Context; the masks of
the last two are `matlab_files`. `fetcher` finds and downloads their archives. `records` has
hand-written TFRecords, `arrays` arrays in memory. All of them give an `Item` of `core.example` for
each example. May import: up to `folder`.
"""
