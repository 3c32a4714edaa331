"""What the real programs of the tests and mixes have in common: a fit, timed, and one JSON line about it.
With `--repeat=N` it is done N times.

The line has the kernels' keys. `value` is a digest of all that the fit computed, bit for bit: managed and
unmanaged runs with the same team sizes have to print the same. `verified` says that the result is good.
"""

import argparse
import hashlib
import json
import sys
import time

import numpy as np


def data(rows, columns, seed=7):
    """A regression problem that any of the programs can learn: features, target, two classes."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    y = x[:, 0] * 2 + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.1 * rng.standard_normal(rows)
    return x, y, (y > 0).astype(np.int32)


def main(name, fit):
    """Times `fit`, which returns arrays and whether they are good, and prints the line."""
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--repeat", type=int, default=1, help="how many times (default 1)")
    repeat = parser.parse_known_args()[0].repeat
    start = time.monotonic()
    for _ in range(repeat):
        arrays, good = fit()
    seconds = time.monotonic() - start
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(json.dumps({
        "name": name, "form": "real", "class": "-", "seconds": seconds,
        "verified": bool(good), "value": digest.hexdigest(),
    }))
    sys.exit(0 if good else 1)
