"""One module a command of `voc-seg-tfrecord`; `cli` puts them together.

Each has `SUMMARY`, a line; `add_arguments(parser)`; and `run(args)`, which prints to standard
output and returns the exit status: 0 fine, 1 the data is wrong. A call that is wrong raises
`ConfigError`, data that cannot be read any other `VocSegError`; `cli` prints either and exits
with 2 or 1.
"""
