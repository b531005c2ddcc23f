"""What must not be left half done: folders and files that appear when they are complete.

Enter at `folders.staged` and `files.staged` to make one in its place, and at `folders.temporary`
for a folder that is removed again. `signals` lets Ctrl-C and SIGTERM wait while that is going on.
May import `errors` and `storage`.
"""
