"""The official releases: where each one's tree comes from.

Enter at `open.release_trees`. Two readers open releases: `devkit` those of VOC, `trainaug`
VOC2012 with SBD's masks. `archives` finds and checks archives, `downloads` gets them, `sbd`
reads SBD's files, `trainaug_tree` finds an id's files. May import: up to `configs`.
"""
