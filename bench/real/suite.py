"""Runs the tests of real programs and prints what became of each, a line a test: `passed NAME` and so on.

suite.py NAME...   the suites of these names (scripts/suites.sh runs them managed and unmanaged, and compares)
suite.py --list    their names

The wheels of LightGBM and XGBoost have no tests: theirs are what scikit-learn demands of every estimator.
"""

import sys
import warnings

CHECKS = {
    # OpenMP in Cython, and BLAS within its regions.
    "kmeans": "sklearn.cluster KMeans n_clusters=3 n_init=2",
    "hgb": "sklearn.ensemble HistGradientBoostingClassifier max_iter=5",
    "pca": "sklearn.decomposition PCA",
    "ridge": "sklearn.linear_model Ridge",
    "neighbours": "sklearn.neighbors KNeighborsRegressor n_jobs=2",
    "lightgbm": "lightgbm LGBMRegressor n_estimators=5 n_jobs=2 verbose=-1",
    "xgboost": "xgboost XGBRegressor n_estimators=5 n_jobs=2",
}
FILES = {
    "numpy-linalg": ["numpy.linalg.tests.test_linalg"],
    "sklearn-kmeans": ["sklearn.cluster.tests.test_k_means"],
    "sklearn-hgb": [
        "sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
        "sklearn.ensemble._hist_gradient_boosting.tests.test_compare_lightgbm",
        "sklearn.ensemble._hist_gradient_boosting.tests.test_histogram",
        "sklearn.ensemble._hist_gradient_boosting.tests.test_splitting",
    ],
    "sklearn-pca": ["sklearn.decomposition.tests.test_pca"],
    "sklearn-distances": ["sklearn.metrics.tests.test_pairwise_distances_reduction"],
}


def tell(status, name):
    # Where the file is found doesn't matter.
    print(status, name.rpartition("site-packages/")[2], flush=True)


def check(name):
    """What scikit-learn demands of every estimator, asked of one."""
    import importlib

    from sklearn.utils.estimator_checks import check_estimator

    module, kind, *settings = CHECKS[name].split()
    values = {key: int(value) for key, value in (setting.split("=") for setting in settings)}
    estimator = getattr(importlib.import_module(module), kind)(**values)
    warnings.simplefilter("ignore")
    for result in check_estimator(estimator, on_skip=None, on_fail=None):
        tell(result["status"], f"{name}::{result['check_name']}")


class Reporter:
    """Tells of each test as pytest comes to know it."""

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            suffix = "" if report.when == "call" else f"-in-{report.when}"
            tell(report.outcome + suffix, report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            tell("failed-to-load", report.nodeid)


def tests(name):
    """Test files that a wheel brings along."""
    import contextlib
    import io

    import pytest

    words = ["-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore", "--pyargs", *FILES[name]]
    printed = sys.stdout

    class Line(Reporter):
        def pytest_runtest_logreport(self, report):
            with contextlib.redirect_stdout(printed):
                super().pytest_runtest_logreport(report)

    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(words, plugins=[Line()])


def main(names):
    if names == ["--list"]:
        print(*CHECKS, *FILES)
        return
    for name in names:
        if name in CHECKS:
            check(name)
        elif name in FILES:
            tests(name)
        else:
            sys.exit(f"suite.py: no suite is called {name}; there are: {' '.join([*CHECKS, *FILES])}")


if __name__ == "__main__":
    main(sys.argv[1:])
