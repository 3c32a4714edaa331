"""numpy's Cholesky factorisation: a LAPACK that waits for its threads many times within a call."""

import numpy as np

from realprog import main


def fit():
    rng = np.random.default_rng(12)
    a = rng.standard_normal((1200, 1200))
    matrix = a @ a.T + 1200 * np.eye(1200)
    for _ in range(60):
        factor = np.linalg.cholesky(matrix)
    return [factor], np.allclose(factor @ factor.T, matrix, rtol=1e-10, atol=1e-8)


main("numpy_cholesky", fit)
