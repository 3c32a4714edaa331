#!/bin/sh
# What the compiler does not check: imports go downwards and in no circle, lines and files are short, paths in
# the documentation exist, there is one version, and scaf-policy is pure: it has no unsafe code, I/O, clock,
# thread or random number, and depends on serde only, which puts its plain types into JSON.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "purity: $*" >&2
    exit 1
}

scripts/layers.py --self-test
scripts/layers.py
scripts/lines.sh
scripts/paths.sh
scripts/one-version.sh
scripts/safety.sh

grep -q '^#!\[forbid(unsafe_code)\]' crates/scaf-policy/src/lib.rs || fail "lib.rs doesn't forbid unsafe code"
dependencies=$(cargo tree --locked -p scaf-policy --edges normal --depth 1 --prefix none |
    tail -n +2 | cut -d' ' -f1 | sort -u | tr '\n' ' ')
[ "$dependencies" = "serde " ] || fail "scaf-policy depends on: $dependencies(only serde is allowed)"
outside='std::(fs|io|net|os|process|thread|time|env)\b|SystemTime|Instant|println!|eprintln!'
if grep -rnE "$outside" crates/scaf-policy/src; then
    fail "the lines above reach out of the crate"
fi
