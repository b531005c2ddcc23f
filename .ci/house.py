"""Measures the package: modules, imports between them, and how many files a reader has to open.

  python .ci/house.py [CHECKOUT] [--names]

Words of the figures:

1. A module is a `.py` file of the package. Single importers and small modules are counted without
   `__init__.py` files.
2. An arrow goes from a module to each module of the package that it imports, at its top or in a
   function.
3. A room is a folder at the top of the package. A module beside the folders counts as one.
4. A line of code is neither blank, nor comment, nor docstring. A small module has under 40 of them.
5. Files opened are the modules that a reader opens who follows a call from its first function:
   those that define what is named in the code on the way, annotations aside. `__init__.py` files
   and the modules of `KNOWN`, whose words everybody knows, do not count.

The figures are for people; tests/house_test.py holds only that there is no circle.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
import graphlib
import pathlib

PACKAGE = "voc_seg_tfrecord"
KNOWN = {"core.errors", "core.names", "core.storage", "core.display"}
SMALL = 40
CALLS = {
    "one example": ("make_example", "writing"),
    "own build": ("builder_from_tree", "build_from"),
    "batches": ("training_batches", "pipeline"),
    "verify": ("verify", "audit"),
    "evaluate": ("run", "commands.evaluate"),
    "report": ("run", "commands.report"),
}
"""What is followed: the name of a function, and the room or module that holds it."""


class Module:
    """One file: what it imports, and the statements that define each of its names."""

    def __init__(self, path: pathlib.Path):
        self.is_init = path.name == "__init__.py"
        self.text = path.read_text()
        self.nodes = list(ast.walk(tree := ast.parse(self.text)))
        self.imports = [n for n in self.nodes if isinstance(n, ast.Import | ast.ImportFrom)]
        self.defined: dict[str, list[ast.stmt]] = defaultdict(list)
        for statement in tree.body:
            for name in _defined_by(statement):
                self.defined[name].append(statement)

    def code_lines(self) -> int:
        """Returns the number of lines that are neither blank, nor comment, nor docstring."""
        docs: set[int] = set()
        for node in self.nodes:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                match node.body:
                    case [ast.Expr(ast.Constant(str())) as text, *_]:
                        docs |= set(range(text.lineno, text.end_lineno + 1))
        lines = enumerate(map(str.strip, self.text.splitlines()), 1)
        return sum(line != "" and line[0] != "#" and n not in docs for n, line in lines)


def _defined_by(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement at the top of a module defines, imports apart."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


Definition = tuple[str, str | None]
"""A module and a name in it, None for the module itself."""


class House:
    """All modules of a package, by names such as `core.names`, and the arrows between them."""

    def __init__(self, checkout: pathlib.Path):
        package = checkout / PACKAGE
        self.modules = {
            ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__"): (
                Module(path)
            )
            for path in sorted(package.rglob("*.py"))
        }
        self.arrows = {
            name: {target for _, (target, _) in self._imported(module)}
            for name, module in self.modules.items()
        }
        self.given = {name: dict(self._imported(m)) for name, m in self.modules.items()}

    def _imported(self, module: Module) -> Iterator[tuple[str, Definition]]:
        """Yields the names under which a module imports from the package, and what they are."""
        for node in module.imports:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.name.removeprefix(f"{PACKAGE}.")
                    if name in self.modules and name != alias.name:
                        yield alias.asname or PACKAGE, (name, None)
            elif (node.module or "").partition(".")[0] == PACKAGE:
                base = node.module.removeprefix(PACKAGE).removeprefix(".") or "__init__"
                for alias in node.names:
                    child = f"{base}.{alias.name}".removeprefix("__init__.")
                    found = (child, None) if child in self.modules else (base, alias.name)
                    yield alias.asname or alias.name, found

    def circle(self) -> list[str]:
        """Returns modules that import each other in a circle; none if there is no circle."""
        try:
            graphlib.TopologicalSorter(self.arrows).prepare()
        except graphlib.CycleError as error:
            return error.args[1]
        return []

    def opened(self, function: str, place: str) -> set[str]:
        """Returns the modules that a reader opens who follows a call."""
        todo = [
            (name, function)
            for name, module in self.modules.items()
            if f"{name}.".startswith(f"{place}.") and function in module.defined
        ][:1]
        assert todo, f"{place} has no function {function}: change CALLS in {__file__}"
        seen = set()
        while todo:
            if (one := todo.pop()) not in seen:
                seen.add(one)
                for statement in self.modules[one[0]].defined[one[1]]:
                    todo += self._named_in(one[0], statement)
        return {n for n, _ in seen if not self.modules[n].is_init and n not in KNOWN}

    def _named_in(self, module: str, node: ast.AST) -> Iterator[tuple[str, str]]:
        """Yields the definitions that code names, annotations apart."""
        names, base = [], node
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            found = self._resolve(module, base.id)
            while found and found[1] is None and names:
                found = self._resolve(found[0], names.pop(0))
            if found and found[1]:
                yield found
        elif base is not node:
            yield from self._named_in(module, base)
        else:
            for field, value in ast.iter_fields(node):
                if field not in ("annotation", "returns"):
                    for child in value if isinstance(value, list) else [value]:
                        if isinstance(child, ast.AST):
                            yield from self._named_in(module, child)

    def _resolve(self, module: str, name: str) -> Definition | None:
        """Returns what a name in a module stands for; None if it is not of this package."""
        for _ in range(9):  # through as many modules that pass it on
            here = self.modules[module]
            child = f"{module}.{name}"
            if here.is_init and child in self.modules:
                return child, None
            if name in here.defined:
                return module, name
            found = self.given[module].get(name)
            if found is None or found[1] is None:
                return found
            module, name = found
        return None


def measure(checkout: pathlib.Path, calls: dict[str, tuple[str, str]] = CALLS) -> dict[str, object]:
    """Returns the figures of a checkout by their names: numbers, or lists of modules."""
    house = House(checkout)
    plain = {name: module for name, module in house.modules.items() if not module.is_init}
    importers = Counter(other for found in house.arrows.values() for other in found)
    pairs = {
        (one.partition(".")[0], two.partition(".")[0])
        for one, found in house.arrows.items()
        for two in found
    }
    code = {name: module.code_lines() for name, module in house.modules.items()}
    lines = {name: module.text.count("\n") for name, module in house.modules.items()}
    imports = sum(n.end_lineno - n.lineno + 1 for m in house.modules.values() for n in m.imports)
    rooms: Counter[str] = Counter()
    for name, count in lines.items():
        rooms[name.partition(".")[0]] += count
    return {
        "modules": len(house.modules),
        "arrows": sum(map(len, house.arrows.values())),
        "single importers": [name for name in plain if importers[name] == 1],
        "small modules": [name for name in plain if code[name] < SMALL],
        "circle": house.circle(),
        "arrows between rooms": sum(one != two for one, two in pairs),
        "imports in percent of the code": round(100 * imports / sum(code.values()), 1),
        "lines of code": sum(code.values()),
        "lines": sum(lines.values()),
        "longest module": max((count, name) for name, count in lines.items()),
        "lines by room": dict(rooms),
        "files opened": {call: len(house.opened(*start)) for call, start in calls.items()},
    }


def main() -> None:
    """Prints the figures, one per line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--names", action="store_true", help="show modules in place of numbers")
    args = parser.parse_args()
    for name, value in measure(args.checkout).items():
        shown = len(value) if isinstance(value, list) and not args.names else value
        print(f"{name:32}{shown}")


if __name__ == "__main__":
    main()
