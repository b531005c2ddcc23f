"""What the source of each module of the package holds, read once for all tests of a process."""

import ast
import dataclasses
import functools
import pathlib

from support.paths import REPOSITORY

PACKAGE = REPOSITORY / "voc_seg_tfrecord"


@dataclasses.dataclass(frozen=True)
class ModuleSyntax:
    """What the statements of a module name, at its top or in a function.

    Attributes:
      imports: what it imports from the package, such as `("core", "names", "VOID")`.
      class_names: the classes that it defines.
      constants: the values that are typed in it.
    """

    imports: tuple[tuple[str, ...], ...]
    class_names: tuple[str, ...]
    constants: frozenset


@functools.cache
def read_package() -> dict[pathlib.Path, ModuleSyntax]:
    """Returns each module of the package, by its path, in the order of the paths."""
    return {path: read_module(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def read_module(source: str) -> ModuleSyntax:
    imported, class_names, constants = [], [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            class_names.append(node.name)
        elif isinstance(node, ast.Constant):
            constants.add(node.value)
    inside = [name for name in imported if name.startswith("voc_seg_tfrecord.")]
    imports = tuple(tuple(name.split(".")[1:]) for name in inside)
    return ModuleSyntax(imports, tuple(class_names), frozenset(constants))
