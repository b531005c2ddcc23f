"""Makes the metric known to Keras, so that `keras.models.load_model` finds it in a saved network.

Keras looks for a class that a network was saved with among those that were registered, and imports
no module of another package. Importing Keras takes seconds, so this package does not import it
before it is needed: the metric is registered as soon as the user has imported Keras, before or
after `voc_seg_tfrecord.evaluation`.
"""

from collections.abc import Sequence
import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

_KERAS = "keras"


def register_with_keras() -> None:
    """Registers the metric now if Keras is imported, and otherwise as soon as it is."""
    if _KERAS in sys.modules:
        _import_metric()
        return
    is_waiting = any(isinstance(finder, _KerasFinder) for finder in sys.meta_path)
    if not is_waiting:
        sys.meta_path.insert(0, _KerasFinder())


def _import_metric() -> None:
    """Imports the module whose class registers itself with Keras."""
    import voc_seg_tfrecord.evaluation.keras_miou  # noqa: F401 - it is imported for its effect


class _KerasFinder(importlib.abc.MetaPathFinder):
    """Finds Keras as Python does, and registers the metric when Keras has been imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns how Keras is imported; None for all other modules."""
        if name != _KERAS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        self._register_after_import(spec.loader)
        return spec

    def _register_after_import(self, loader: Any) -> None:
        """Changes one loader, which loads one module once, so that the metric follows."""
        import_keras = loader.exec_module

        def import_keras_and_register(module: types.ModuleType) -> None:
            del loader.exec_module
            import_keras(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _import_metric()

        loader.exec_module = import_keras_and_register
