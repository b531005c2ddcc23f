"""What is known of VOC's releases and of the splits that papers use, as tables.

Enter at `releases` for archives, `official_splits` for pinned counts and hashes, `lists` for id
lists and the folds of PASCAL-5i, `pascal_context` for its classes. The tables lie beside them,
README.md names their sources. May import: up to `formats`.
"""
