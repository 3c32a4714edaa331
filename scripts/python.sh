#!/bin/sh
# Tests of the Python module, with the real daemon: by each of the interpreters in SCAF_TEST_PYTHONS
# (default: the one that scripts/setup.sh made, which has numpy and scikit-learn; others leave those tests
# out). Types are checked where there is a mypy in PATH or in MYPY.
set -eu
cd "$(dirname "$0")/../python"
for python in ${SCAF_TEST_PYTHONS:-../.venv/bin/python}; do
    "$python" --version
    "$python" -W error -m unittest discover -q -s . -t . || {
        echo "the Python module's tests fail with $python" >&2
        exit 1
    }
done
mypy=${MYPY:-$(command -v mypy || true)}
[ -z "$mypy" ] || "$mypy" --strict scaf tests
