"""Words and services of all rooms.

`errors` has the error types, `names` the names of classes and features, `storage` errors of the
disk and SHA256SUMS, `staging` folders and files that appear when they are complete, `signals` lets
Ctrl-C and SIGTERM wait meanwhile, `threads` works ahead in bounded memory, `processes` on all
cores, `wording` has words for messages. May import: nothing of other rooms.
"""
