"""Which file names the classes of a folder, and how it numbers them.

Enter at `choose.choose_class_file`. `candidates` lists the class files and the ways in which each
may be numbered, which `numbering` knows. `rules` has the table of rules by which candidates lose,
and `choose` asks where several files are left that contradict each other. If several numberings of
one file are left, the masks choose one: see `folder.meaning`. `names` turns a class file into the
names and rows of a config.
"""
