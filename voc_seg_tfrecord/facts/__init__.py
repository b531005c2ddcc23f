"""What is known of VOC's releases and of the splits that papers use, as tables.

Enter at `releases` for archives, the classes of Pascal Context, and pinned counts and hashes,
at `lists` for id lists and the folds of PASCAL-5i. The tables lie beside them,
README.md names their sources. May import: up to `formats`.
"""
