"""Breaks lines of a room at random, one at a time, and says which of them the tests catch.

  python .ci/mutants.py [ROOM ...] [--seed 73] [--count 30] [--json FILE] [--reached FILE]

The last commit is copied to a temporary folder, where each drawn line holds both of its forms:

  if size < limit:   ->   if (size <= limit if mutant(7) else size < limit):

So one run of the tests says which of them reach which drawn line. Then a process is forked for each
mutant, which turns it on and runs the tests that reach it until one fails.

1. A drawn line is part of a function. Lines that run only during import are not drawn.
2. What stands in `raise`, f-strings, errors, annotations, decorators and defaults is not broken.
3. Tests that fail or are skipped without a mutant judge nothing.
4. A mutant is also caught if a test hangs, or ends the process.
5. A mutant is not caught if no test failed within `--seconds` of CPU time.

The figure belongs to the commit: after a change, the same seed draws other lines.
"""

import argparse
import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import pytest

REPOSITORY = pathlib.Path(__file__).parent.parent
PACKAGE = "voc_seg_tfrecord"
ROOMS = {
    "folder": ["folder"],
    "formats": ["formats", "core"],
    "reading": ["reading", "writing"],
    "quality": ["quality", "evaluation", "audit"],
    "commands": ["commands", "report", "exports"],
}
MAX_SECONDS_OF_A_TEST = 300
"""On the clock; a test that takes longer hangs."""
TESTS_AT_ONCE = 4
SWITCH = '''"""Says which mutant is on, and notes which were asked for."""

import os

active = int(os.environ.get("MUTANT", 0))
reached = set()
# A test may start a process with no variables.
_path = os.environ.get("MUTANTS_REACHED", os.devnull)


def mutant(number):
    """Says whether this mutant is on."""
    if number not in reached:
        reached.add(number)
        with open(_path, "a") as file:
            file.write(f"{number}\\n")
    return number == active
'''

Break = Callable[[ast.AST], ast.AST]


@dataclasses.dataclass
class Candidate:
    """A node that can be broken, and how."""

    path: str
    line: int
    node: ast.AST
    break_node: Break
    is_last_resort: bool = False
    number: int = 0
    change: str = ""

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.path}:{self.line}"

    def name(self, number: int) -> None:
        """Gives a number, and keeps the code before and after, because the node changes later."""
        self.number = number
        after = self.break_node(self.node)
        self.change = f"{ast.unparse(self.node)}  ->  {ast.unparse(after)}"


def _with(**fields: object) -> Break:
    def replace(node: ast.AST) -> ast.AST:
        return type(node)(**{name: getattr(node, name) for name in node._fields} | fields)

    return replace


def _negate(node: ast.AST) -> ast.AST:
    return ast.UnaryOp(ast.Not(), node)


def _add_one(node: ast.AST) -> ast.AST:
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


COMPARISONS = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
"""`/` is left out, because most of them join paths, and every test would catch those."""

Breaks = Iterator[tuple[ast.AST, Break]]


def _break_comparison(node: ast.Compare) -> Breaks:
    for i, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            yield node, _with(ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])


def _break_and_or(node: ast.BoolOp) -> Breaks:
    is_and = isinstance(node.op, ast.And)
    yield node, _with(op=ast.Or() if is_and else ast.And())


def _drop_not(node: ast.UnaryOp) -> Breaks:
    if isinstance(node.op, ast.Not):
        yield node, lambda node: node.operand


def _break_arithmetic(node: ast.BinOp | ast.AugAssign) -> Breaks:
    operands = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    if type(node.op) in ARITHMETIC and all(map(_may_be_number, operands)):
        yield node, _with(op=ARITHMETIC[type(node.op)]())


def _may_be_number(node: ast.AST) -> bool:
    match node:
        case ast.Constant():
            return not isinstance(node.value, str)
        case ast.BinOp():
            return _may_be_number(node.left) and _may_be_number(node.right)
        case ast.JoinedStr() | ast.List() | ast.Tuple() | ast.ListComp():
            return False
        case ast.Call(func=ast.Name(id=name)):
            # Most functions of the package return other things, such as lists of findings.
            return name in ("len", "int", "float", "sum", "min", "max", "abs", "round")
        case _:
            return True


def _change_constant(node: ast.Constant) -> Breaks:
    if isinstance(node.value, bool):
        yield node, _with(value=not node.value)
    elif isinstance(node.value, int | float):
        yield node, _with(value=node.value + 1)
        yield node, _with(value=node.value - 1)


def _shift_bound(node: ast.Slice) -> Breaks:
    for bound in (node.lower, node.upper):
        if bound is not None and not isinstance(bound, ast.Constant):
            yield bound, lambda bound: ast.BinOp(bound, ast.Add(), ast.Constant(1))


def _negate_condition(node: ast.If | ast.IfExp | ast.comprehension) -> Breaks:
    for condition in node.ifs if isinstance(node, ast.comprehension) else [node.test]:
        yield condition, lambda condition: ast.UnaryOp(ast.Not(), condition)


def _break_to_continue(node: ast.Break) -> Breaks:
    yield node, lambda _: ast.Continue()


def _continue_to_break(node: ast.Continue) -> Breaks:
    yield node, lambda _: ast.Break()


RULES: dict[type[ast.AST], Callable[[ast.AST], Breaks]] = {
    ast.Compare: _break_comparison,
    ast.BoolOp: _break_and_or,
    ast.UnaryOp: _drop_not,
    ast.BinOp: _break_arithmetic,
    ast.AugAssign: _break_arithmetic,
    ast.Constant: _change_constant,
    ast.Slice: _shift_bound,
    ast.If: _negate_condition,
    ast.IfExp: _negate_condition,
    ast.comprehension: _negate_condition,
    ast.Break: _break_to_continue,
    ast.Continue: _continue_to_break,
}
"""What can be broken in a node: each function yields nodes, and how to break them."""


def _break_nothing(_: ast.AST) -> Breaks:
    return iter(())


def _is_worth_losing(value: ast.AST | None) -> bool:
    """Says whether `return None` in its place would do something else."""
    return value is not None and not isinstance(value, ast.Constant) and not _is_left_out(value)


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.arguments() | ast.pattern():
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name.endswith("Error")
        case _:
            return False


def candidates_in(node: ast.AST, path: str, in_function: bool) -> Iterator[Candidate]:
    """Yields all that can be broken in a node and below."""
    if _is_left_out(node):
        return
    if in_function:
        for part, break_node in RULES.get(type(node), _break_nothing)(node):
            yield Candidate(path, part.lineno, part, break_node)
        if isinstance(node, ast.Return) and _is_worth_losing(node.value):
            yield Candidate(path, node.lineno, node.value, lambda _: ast.Constant(None), True)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        inside = in_function or isinstance(node, ast.FunctionDef | ast.Lambda)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from candidates_in(child, path, inside)


def draw(
    trees: dict[str, ast.Module], folders: list[str], seed: int, count: int
) -> list[Candidate]:
    """Draws lines of a room, and one way to break each."""
    lines: dict[tuple[str, int], list[Candidate]] = defaultdict(list)
    for path, tree in trees.items():
        if path.split("/")[1] in folders:
            for candidate in candidates_in(tree, path, in_function=False):
                lines[path, candidate.line].append(candidate)
    chance = random.Random(f"{seed} {folders}")
    drawn = []
    for place in chance.sample(sorted(lines), count):
        candidates = lines[place]
        better = [c for c in candidates if not c.is_last_resort]
        drawn.append(chance.choice(better or candidates))
    return sorted(drawn, key=lambda c: (c.path, c.line))


class _Both(ast.NodeTransformer):
    """Writes both forms of the drawn nodes."""

    def __init__(self, drawn: list[Candidate]):
        self.drawn = {candidate.node: candidate for candidate in drawn}

    def visit(self, node: ast.AST) -> ast.AST:
        candidate = self.drawn.get(node)
        self.generic_visit(node)
        if candidate is None:
            return node
        is_on = ast.Call(ast.Name("mutant__"), [ast.Constant(candidate.number)], [])
        broken = candidate.break_node(node)
        if isinstance(node, ast.stmt):
            return ast.If(is_on, [broken], [node])
        return ast.IfExp(is_on, broken, node)


def write_mutants(trees: dict[str, ast.Module], drawn: list[Candidate], copy: pathlib.Path):
    """Writes the modules that hold drawn lines again, with both forms of each."""
    (copy / PACKAGE / "_mutants.py").write_text(SWITCH)
    for path in sorted({candidate.path for candidate in drawn}):
        tree = _Both([c for c in drawn if c.path == path]).visit(trees[path])
        statement = ast.parse(f"from {PACKAGE}._mutants import mutant as mutant__").body
        has_docstring = ast.get_docstring(tree) is not None
        tree.body[has_docstring:has_docstring] = statement
        (copy / path).write_text(ast.unparse(ast.fix_missing_locations(tree)))


class Judge:
    """A plugin of pytest: runs the tests for each mutant in a process of its own."""

    def __init__(self, drawn: list[Candidate], folder: pathlib.Path, options: argparse.Namespace):
        self.drawn = drawn
        self.folder = folder
        self.options = options
        self.reached_file = folder / "reached"
        # pytest captures what is printed.
        self.output = os.fdopen(os.dup(1), "w", buffering=1)
        self.failed = False
        self.passed = False
        self.verdicts: dict[str, str] = {}

    def pytest_runtest_logreport(self, report):
        """Notes how the test ended."""
        self.failed |= report.failed
        self.passed |= report.passed and report.when == "call"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Runs the tests once, and then for each mutant those that reach it."""
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        items = {item.nodeid: item for item in session.items}
        records = _in_order(self.reached_by_tests(session))
        for mutant in self.drawn:
            tests = [r["test"] for r in records if mutant.place in r["reached"]]
            verdict = self.judge(session, mutant, [items[t] for t in tests if t in items])
            self.verdicts[mutant.place] = verdict
            self.say(f"{mutant.place}: {mutant.change}\n    {verdict}")
        return True

    def say(self, line: str) -> None:
        """Prints a line, although pytest captures output."""
        print(line, file=self.output)

    def reached_by_tests(self, session) -> list[dict]:
        """Runs all tests once without a mutant, and returns what each that passes reaches."""
        kept = self.options.reached
        if kept is not None and kept.exists():
            records = json.loads(kept.read_text())
        else:
            records = []
            left = list(session.items)
            while left:
                lines, _ = self.fork(session, left, 0, float("inf"))
                records += [line for line in lines if "seconds" in line]
                # If a test ended the process, go on behind it.
                started = sum("seconds" not in line for line in lines)
                left = left[started:]
            if kept is not None:
                kept.write_text(json.dumps(records))
        good = [r for r in records if r["passed"] and not r["failed"]]
        seconds = sum(r["seconds"] for r in records)
        failed = [r["test"] for r in records if r["failed"]]
        self.say(f"{len(good)} tests passed without a mutant, in {seconds:.0f} s of CPU time")
        for test in failed:
            self.say(f"failed without a mutant: {test}")
        return good

    def judge(self, session, mutant: Candidate, items: list[pytest.Item]) -> str:
        """Returns which test catches the mutant, or that none does."""
        if not items:
            return "NOT CAUGHT (no test reaches it)"
        lines, status = self.fork(session, items, mutant.number, self.options.seconds)
        last = lines[-1]
        if not status and not last["failed"]:
            ran = sum("seconds" in line for line in lines)
            return f"NOT CAUGHT ({ran} of the {len(items)} tests that reach it)"
        [failing] = [item for item in items if item.nodeid == last["test"]]
        again, status_again = self.fork(session, [failing], 0, self.options.seconds)
        if status_again or again[-1]["failed"]:
            self.say(f"fails alone without a mutant: {failing.nodeid}")
            return self.judge(session, mutant, [i for i in items if i is not failing])
        if status in (-signal.SIGKILL, -signal.SIGXCPU):
            return f"caught by {failing.nodeid} (hangs)"
        if status:
            return f"caught by {failing.nodeid} (its process ended)"
        return f"caught by {failing.nodeid}"

    def fork(self, session, items, number: int, seconds: float) -> tuple[list[dict], int]:
        """Runs the tests in a child, and returns a line for each start and end, and its status."""
        log = self.folder / "log"
        log.write_text("")
        scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                self.run_in_child(session, items, number, seconds, log, scratch)
                os._exit(0)
            except BaseException:
                traceback.print_exc(file=self.output)
                self.output.flush()
                os._exit(1)
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.time() - log.stat().st_mtime > MAX_SECONDS_OF_A_TEST:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests left running
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        shutil.rmtree(scratch, ignore_errors=True)
        return [json.loads(line) for line in log.read_text().splitlines()], status

    def run_in_child(self, session, items, number, seconds, log, scratch) -> None:
        """Turns the mutant on, and runs the tests until one fails or the time is over."""
        import voc_seg_tfrecord._mutants as switch

        session.config.pluginmanager.unregister(name="terminalreporter")
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(scratch)
        os.environ["MUTANT"] = str(number)
        switch.active = number
        if number:
            limit = int(seconds) * 2 + 60
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        begin = _cpu_seconds()
        for item, following in zip(items, [*items[1:], None], strict=True):
            _append(log, {"test": item.nodeid})
            switch.reached.clear()
            self.reached_file.write_text("")
            self.failed = self.passed = False
            before = _cpu_seconds()
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            record = {"test": item.nodeid, "seconds": _cpu_seconds() - before}
            record |= {"failed": self.failed, "passed": self.passed}
            reached = set(map(int, self.reached_file.read_text().split()))
            record["reached"] = [m.place for m in self.drawn if m.number in reached]
            _append(log, record)
            if number and (self.failed or _cpu_seconds() - begin > seconds):
                return


def _append(log: pathlib.Path, record: dict) -> None:
    with log.open("a") as file:
        print(json.dumps(record), file=file)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _in_order(records: list[dict]) -> list[dict]:
    """Puts a few fast tests of each file first, the fastest files before the others."""
    files: dict[str, list[dict]] = defaultdict(list)
    for record in sorted(records, key=lambda r: r["seconds"]):
        files[record["test"].split("::")[0]].append(record)
    first = [record for tests in files.values() for record in tests[:TESTS_AT_ONCE]]
    return first + [record for tests in files.values() for record in tests[TESTS_AT_ONCE:]]


def copy_last_commit(folder: pathlib.Path) -> None:
    """Copies the repository as of its last commit."""
    folder.mkdir()
    archive = ["git", "archive", "HEAD"]
    tar = subprocess.run(archive, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=tar, check=True)


def run(rooms: list[str], options: argparse.Namespace, folder: pathlib.Path) -> list[dict]:
    """Draws mutants in a copy of the repository, and returns what became of each."""
    copy = folder / "copy"
    copy_last_commit(copy)
    os.chdir(copy)
    files = [str(path) for path in sorted(pathlib.Path(PACKAGE).glob("*/**/*.py"))]
    trees = {file: ast.parse(pathlib.Path(file).read_text()) for file in files}
    drawn = {room: draw(trees, ROOMS[room], options.seed, options.count) for room in rooms}
    mutants = [mutant for room in rooms for mutant in drawn[room]]
    for number, mutant in enumerate(mutants, start=1):
        mutant.name(number)
    write_mutants(trees, mutants, copy)
    judge = Judge(mutants, folder, options)
    os.environ |= {
        "PYTHONPATH": str(copy),
        "MUTANTS_REACHED": str(judge.reached_file),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
    }
    sys.path.insert(0, str(copy))
    arguments = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *options.tests]
    pytest.main(arguments, [judge])
    os.chdir(REPOSITORY)
    if len(judge.verdicts) < len(mutants):
        sys.exit("the tests did not run for all mutants; see above")
    rows = []
    for room in rooms:
        for mutant in drawn[room]:
            row = {"room": room, "line": mutant.place, "change": mutant.change}
            rows.append(row | {"verdict": judge.verdicts[mutant.place]})
    return rows


def main() -> None:
    """Draws, judges, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", help=f"of {', '.join(ROOMS)}; all by default")
    parser.add_argument("--seed", type=int, default=73)
    parser.add_argument("--count", type=int, default=30, help="lines of each room")
    parser.add_argument("--seconds", type=float, default=60, help="CPU time for each mutant")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="files and folders of tests")
    parser.add_argument("--json", type=_absolute, help="file for the list of mutants")
    parser.add_argument("--reached", type=_absolute, help="file that keeps what each test reaches")
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    with tempfile.TemporaryDirectory() as name:
        rows = run(rooms, options, pathlib.Path(name))
    for room in rooms:
        verdicts = [row["verdict"] for row in rows if row["room"] == room]
        caught = sum(verdict.startswith("caught") for verdict in verdicts)
        print(f"{room}: {caught} of {len(verdicts)} caught")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def _absolute(path: str) -> pathlib.Path:
    return pathlib.Path(path).resolve()


if __name__ == "__main__":
    main()
