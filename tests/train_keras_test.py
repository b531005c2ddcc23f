import re
import subprocess
import sys

from support.building import build
from support.paths import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "train_keras.py"


def test_the_example_trains_on_the_sample_and_its_loss_falls(tmp_path):
    build(tmp_path, "sample")
    result = subprocess.run(
        [sys.executable, EXAMPLE, "--data_dir", tmp_path, "--epochs", "3"],
        check=True,
        capture_output=True,
        text=True,
    )
    losses, scores = (
        [float(found) for found in re.findall(rf" {name}: ([\d.]+)", result.stdout)]
        for name in ("loss", "miou")
    )
    assert len(losses) == 3
    assert losses[-1] < losses[0] / 1.5
    assert scores[-1] > scores[0]
    assert len(re.findall(r"val_miou: 0\.\d+", result.stdout)) == 3
    assert "Warning" not in result.stderr.replace("DeprecationWarning", "")
