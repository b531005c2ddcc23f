"""Hides TensorFlow from this process, as if it were not installed. Import before anything else.

None in `sys.modules` would not do: libraries look there to see whether it is loaded.
"""

from importlib import machinery
import sys


class _Finder:
    find_distributions = machinery.PathFinder.find_distributions  # what is installed stays so

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("tensorflow", "keras"):
            return None
        return machinery.PathFinder.find_spec(name, path, target)


sys.meta_path = [
    _Finder if finder is machinery.PathFinder else finder
    for finder in sys.meta_path
    if not getattr(finder, "__module__", "").startswith("__editable__")
]
