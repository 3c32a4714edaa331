"""scikit-learn's KMeans: Cython OpenMP regions with an explicit num_threads, BLAS inside."""

import numpy as np
from sklearn.cluster import KMeans

from realprog import main


def fit():
    rng = np.random.default_rng(3)
    centres = rng.uniform(-20, 20, (24, 16))
    points = np.concatenate([c + rng.standard_normal((3000, 16)) for c in centres])
    model = KMeans(n_clusters=24, n_init=20, max_iter=60, random_state=1, algorithm="lloyd").fit(points)
    # 16 unit-variance dimensions a point: the right clusters have an inertia of 16 a point.
    return [model.cluster_centers_, model.labels_], model.inertia_ < 17 * len(points)


main("sklearn_kmeans", fit)
