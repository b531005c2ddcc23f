"""Builds a dataset from a tree, records or arrays, in one call.

Enter at `tree.builder_from_tree`, `tfrecords.import_records` or `run.from_arrays`; all of them
end in `run.build_source`. May import: up to the builder.
"""
