"""One module per command of `voc-seg-tfrecord`; `cli` lists and runs them.

`arguments`, `screen` and `process` serve all commands, and `copy_chosen` is a part of `check`.

Each module has `SUMMARY`, one line for the help page; `EXAMPLE`, a call; `add_arguments(parser)`;
and `run(args)`, which prints to standard output and returns the exit status: 0 if all is right, 1
if the data is wrong. A wrong call raises `ConfigError`, and data that cannot be read raises another
`VocSegError`. `cli` prints the error and exits with 2 or 1.
"""
