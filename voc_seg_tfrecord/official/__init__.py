"""The official releases: where each one's tree comes from.

Enter at `open.release_trees`. Four readers open releases: `devkit` those of VOC, `trainaug`
VOC2012 with SBD's masks, `sbd_tree` SBD, `context` Pascal Context. `archives` finds and checks
archives, `downloads` gets them, `sbd` reads SBD's files, `trainaug_tree` and `context_tree` find an
id's files. May import: up to `configs`.
"""
