import importlib.util
import os
import subprocess
import sys

import pytest
from support.paths import REPOSITORY


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_the_keras_metric_counts_exactly_on_every_backend(backend):
    """A process has one backend, so each has a process of its own."""
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    checks = REPOSITORY / "tests" / "support" / "keras_backend_checks.py"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)],
        cwd=REPOSITORY,
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout + run.stderr
