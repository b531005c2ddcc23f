"""Tries both wheels with each Python, with the lowest and the newest versions of what they need.

Run it before a release, with any Python that has pip, and put the table that it prints into
CONTRIBUTING.md:

    python3 .ci/versions.py             # .ci/smoke.py in each environment, 1 to 2 minutes each
    python3 .ci/versions.py --suite     # the tests as well, about 8 minutes more each

Each environment is made anew in a folder that is removed at the end. `--python` names the
interpreters; by default those of 3.11 and later that are on PATH or that pyenv has. The lowest
versions are those that pyproject.toml and lite/pyproject.toml ask for, as far as there are wheels;
what those need in turn is as new as may be, which is what people get who pin one package.
"""

import argparse
import datetime
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

REPOSITORY = pathlib.Path(__file__).parents[1]
MINORS = range(11, 16)
SHOWN = ("tensorflow", "protobuf", "numpy", "pillow", "apache-beam", "pyarrow")
# What other packages warn of is an error only with the versions of constraints.txt. What this
# package is warned of stays one.
WARNINGS = "filterwarnings=default\nerror:::voc_seg_tfrecord"
PYTEST = ("-q", "-p", "no:cacheprovider", "-n", "auto", "-m", "not flink", "-o", WARNINGS)
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}


def pythons() -> list[str]:
    """Returns one interpreter of each version of Python that this machine has."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    found = []
    for minor in MINORS:
        of_pyenv = sorted(root.glob(f"versions/3.{minor}.*/bin/python3"))
        name = str(of_pyenv[-1]) if of_pyenv else shutil.which(f"python3.{minor}")
        if name:
            found.append(name)
    return found


def run(*command: object, cwd: pathlib.Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Runs a command without what this process says of where Python finds modules."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True
    )


def must(*command: object) -> str:
    """Runs a command that has to work; returns what it prints."""
    result = run(*command)
    if result.returncode:
        raise SystemExit(f"{command} ends with {result.returncode}:\n{result.stderr}")
    return result.stdout


def dependencies() -> list[str]:
    """Returns the names of all packages that pyproject.toml names."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return [line.partition(">")[0].partition("[")[0].strip() for line in named]


def row(uv: pathlib.Path, python: str, versions: str, wheel: pathlib.Path, suite: bool) -> str:
    """Makes one environment and tries a wheel in it; returns a row of the table."""
    is_lite = wheel.name.startswith("voc_seg_tfrecord_lite")
    project = "lite/pyproject.toml" if is_lite else "pyproject.toml"
    suite = suite and not is_lite  # the tests need TensorFlow
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder) / "environment"
        empty = pathlib.Path(folder) / "empty"
        empty.mkdir()
        must(uv, "venv", "--quiet", "--python", python, environment)
        ours = environment / "bin" / "python"
        wanted = pathlib.Path(folder) / "wanted.txt"
        binary = [word for name in dependencies() for word in ("--only-binary", name)]
        extra = ("--extra", "test") if suite else ()
        chosen = ("--resolution", RESOLUTIONS[versions], *binary, *extra, project)
        for step in (
            ("pip", "compile", "--quiet", "--python", ours, "-o", wanted, *chosen),
            ("pip", "install", "--quiet", "--python", ours, "-r", wanted),
            ("pip", "install", "--quiet", "--python", ours, "--no-deps", wheel),
        ):
            done = run(uv, *step)
            if done.returncode:
                return told(python, versions, {}, "cannot be installed", done.stderr)
        listed = must(uv, "pip", "list", "--python", ours, "--format", "freeze")
        installed = dict(line.split("==") for line in listed.split() if "==" in line)
        smoke = run(ours, REPOSITORY / ".ci" / "smoke.py", cwd=empty)
        result, said = ("works", "") if smoke.returncode == 0 else ("fails", smoke.stderr)
        if suite and result == "works":
            tests = run(ours, "-I", "-m", "pytest", *PYTEST, REPOSITORY, cwd=REPOSITORY)
            result, said = tests.stdout.strip().splitlines()[-1].strip("= "), ""
            if tests.returncode:
                said = tests.stdout[-20000:]
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return told(python, versions, installed, result, said)


def told(python: str, versions: str, installed: dict[str, str], result: str, said: str) -> str:
    """Returns a row of the table, and shows what went wrong on standard error."""
    version = must(python, "-c", "import platform; print(platform.python_version())").strip()
    cells = [version, versions, *(installed.get(name, "-") for name in SHOWN), result]
    line = f"| {' | '.join(cells)} |"
    print(line, said, sep="\n", file=sys.stderr)
    return line


def main() -> None:
    """Tries all environments and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", default=pythons(), help="interpreters to try")
    parser.add_argument("--versions", nargs="+", default=list(RESOLUTIONS), choices=RESOLUTIONS)
    parser.add_argument("--projects", nargs="+", default=[".", "lite"], choices=[".", "lite"])
    parser.add_argument("--suite", action="store_true", help="run the tests as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder) / "tools"
        must(sys.executable, "-m", "venv", tools)
        must(tools / "bin" / "pip", "install", "--quiet", "uv")
        uv = tools / "bin" / "uv"
        for project in options.projects:
            must(uv, "build", "--quiet", "--wheel", "--out-dir", folder, project)
        rows = [
            row(uv, python, versions, wheel, options.suite)
            for wheel in sorted(pathlib.Path(folder).glob("*.whl"))
            for python in options.python
            for versions in options.versions
        ]
    print(f"{datetime.date.today()}, {platform.system()} {platform.machine()}:\n")
    print(f"| Python | versions | {' | '.join(SHOWN)} | result |")
    print("|---" * (len(SHOWN) + 3) + "|")
    print(*rows, sep="\n")
    sys.exit(0 if all(" works " in r or " passed" in r for r in rows) else 1)


if __name__ == "__main__":
    main()
