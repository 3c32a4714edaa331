#!/bin/sh
# Tests programs of Debian's and libraries of the wheels in .venv, and writes what is shown of them to
# packaging/verdicts.toml: scripts/verdicts.sh [--runs N] [NAME...]; bench/corpus/verdicts.py says more.
#
# Takes minutes for each. Needs `make build` and scripts/setup.sh; packages that aren't installed are fetched.
set -eu
cd "$(dirname "$0")/.."
for file in "${SCAF_TEST_PYTHON:-.venv/bin/python}" target/release/scaf target/release/scafd \
    target/release/libscaf.so; do
    if [ ! -e "$file" ]; then
        echo "verdicts: $file is missing: run scripts/setup.sh and \`make build\` first" >&2
        exit 1
    fi
done
exec python3 bench/corpus/verdicts.py "$@"
