"""What the command line imports stays, so Python need not search it for garbage.

It searches again and again while modules are imported, and all of them once more when the process
ends: together a sixth of the time of a small command. The package imports this before anything that
is large. Any process that is not the command line is left as it is.
"""

import gc

from voc_seg_tfrecord.commands.starting import is_command_line

_IS_COMMAND_LINE = is_command_line()  # asked once: `python -m` changes what it is answered by

if _IS_COMMAND_LINE:
    gc.disable()  # until `loaded`


def loaded() -> None:
    """Lets garbage be searched from now on, in what is made from now on."""
    if _IS_COMMAND_LINE:
        gc.freeze()
        gc.enable()


def ended() -> None:
    """Lets the process end without a search in what is left."""
    if _IS_COMMAND_LINE:
        gc.freeze()
