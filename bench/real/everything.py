"""One process with scikit-learn, LightGBM, numpy's BLAS, and oneTBB if LIBRARY has `tbb_work`; each in turn.

everything.py [ROUNDS [LIBRARY]]

Two copies of libgomp, OpenBLAS twice and TBB, each with a thread for each PU. `value` doesn't depend on the
number of threads. BLAS's last bits may (docs/internals/mechanisms.md), so its results are rounded before.
"""

import ctypes
import sys

import lightgbm
import numpy as np
from scipy import linalg
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

from realprog import data, main

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
tbb = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None


def fit():
    x, y, _ = data(8_000, 12)
    square = np.random.default_rng(5).standard_normal((700, 700))
    square = square @ square.T + 700 * np.eye(700)
    arrays, good = [], True
    for _ in range(rounds):
        clusters = KMeans(n_clusters=8, n_init=2, max_iter=20, random_state=1, algorithm="lloyd").fit(x)
        boosted = HistGradientBoostingRegressor(max_iter=20, random_state=1).fit(x, y)
        settings = {"objective": "regression", "num_threads": 2, "deterministic": True, "seed": 1,
                    "verbose": -1}
        light = lightgbm.train(settings, lightgbm.Dataset(x, y), num_boost_round=30)
        factor = np.linalg.cholesky(square)
        solved = linalg.solve(square @ square, y[:700])
        residual = np.abs(square @ square @ solved - y[:700]).max()
        good = good and residual < 1e-6 and np.abs(factor @ factor.T - square).max() < 1e-8
        arrays += [clusters.labels_, boosted.predict(x), light.predict(x), np.round(factor, 8)]
        if tbb is not None:
            arrays.append(np.array([tbb.tbb_work(1_000)]))
    return arrays, good


main("everything", fit)
