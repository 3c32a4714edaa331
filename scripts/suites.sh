#!/bin/sh
# Runs the tests of real programs (bench/real/suite.py) unmanaged, and managed beside a program that competes
# for the machine, and compares what became of each test: scripts/suites.sh [SUITE...]
#
# Takes some minutes; a short form is in tests/e2e/real_programs.rs.
# Needs `make build kernels` and scripts/setup.sh.
set -eu
cd "$(dirname "$0")/.."

python=${SCAF_TEST_PYTHON:-.venv/bin/python}
bin=target/release
for file in "$python" $bin/scaf $bin/scafd $bin/libscaf.so build/kernels/cg; do
    if [ ! -e "$file" ]; then
        echo "suites: $file is missing: run scripts/setup.sh and \`make build kernels\` first" >&2
        exit 1
    fi
done
# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $("$python" bench/real/suite.py --list)

folder=$(mktemp -d)
export XDG_RUNTIME_DIR="$folder" XDG_DATA_HOME="$folder" SCAF_SOCKET="$folder/scafd.sock"
$bin/scafd --session --idle-exit 0 --policy equi --socket "$SCAF_SOCKET" 2>"$folder/log" &
daemon=$!
rival=""
end() {
    # shellcheck disable=SC2086 # none or one
    kill $rival $daemon 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM

failed=0
for suite in "$@"; do
    "$python" bench/real/suite.py "$suite" </dev/null 2>"$folder/plain.err" | sort >"$folder/plain"
    $bin/scaf run -- build/kernels/cg --class=W --repeat=1000000 >/dev/null 2>&1 &
    rival=$!
    $bin/scaf run -- "$python" bench/real/suite.py "$suite" </dev/null 2>"$folder/managed.err" |
        sort >"$folder/managed"
    kill $rival
    wait $rival 2>/dev/null || true
    rival=""
    if [ ! -s "$folder/plain" ]; then
        echo "$suite: nothing ran; it said:"
        tail -3 "$folder/plain.err"
        failed=1
    elif diff "$folder/plain" "$folder/managed" >"$folder/differences"; then
        counts=$(cut -d' ' -f1 "$folder/plain" | uniq -c | awk '{ printf "%s%s %s", s, $1, $2; s = ", " }')
        echo "$suite: the same, $counts"
    else
        echo "$suite: differs (< unmanaged, > managed):"
        cat "$folder/differences"
        failed=1
    fi
done
exit $failed
