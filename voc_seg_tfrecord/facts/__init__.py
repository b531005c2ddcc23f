"""What is known of VOC's releases and of the splits that papers use, as tables.

Enter at `releases` for archives, `official_splits` for pinned counts and hashes, `named_lists`
for id lists, `few_shot` for the folds of PASCAL-5i, `wanted` for a list that a dataset must
hold; the tables lie beside them, README.md names their sources. May import: what stands left of
it in docs/architecture.md, up to `formats`.
"""
