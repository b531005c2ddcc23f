"""Runs one of `peers` in a process of its own; peer_process.py starts it.

    python run_peer.py MODULE WAY TREE FOLDER

It goes through the data once, unmeasured, and prints what it saw as JSON: how many pairs and
pixels, and how many pixels of masks have each value. Then, for each line that it is sent, it goes
through the data again and prints what `rounds.through` returns. torch and TensorFlow
bring two copies of LLVM, with which one process may crash; and no way should bear the threads of
another. So it imports neither TensorFlow nor this package.
"""

import importlib
import json
import pathlib
import sys

import numpy as np
from peers import Source
from rounds import through


def main(module: str, way: str, tree: str, folder: str) -> None:
    """Prepares, answers."""
    source = Source(pathlib.Path(tree), pathlib.Path(folder))
    pairs = importlib.import_module(f"peers.{module}").WAYS[way](source)
    count, pixels, values = 0, 0, np.zeros(256, np.int64)
    for image, mask in pairs:
        count, pixels = count + 1, pixels + np.asarray(image).size
        values += np.bincount(np.asarray(mask, np.uint8).ravel(), minlength=256)
    print(json.dumps({"count": count, "pixels": pixels, "values": values.tolist()}), flush=True)
    for _ in sys.stdin:
        print(json.dumps(through(pairs)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
