#!/bin/sh
# scaf-policy decides and does nothing else: no unsafe code, no I/O, clock, thread or random number, and no dependency
# but serde, whose derives put its plain types into JSON.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "purity: $*" >&2
    exit 1
}

grep -q '^#!\[forbid(unsafe_code)\]' crates/scaf-policy/src/lib.rs || fail "lib.rs doesn't forbid unsafe code"
dependencies=$(cargo tree --locked -p scaf-policy --edges normal --depth 1 --prefix none |
    tail -n +2 | cut -d' ' -f1 | sort -u | tr '\n' ' ')
[ "$dependencies" = "serde " ] || fail "scaf-policy depends on: $dependencies(only serde is allowed)"
if grep -rnE 'std::(fs|io|net|os|process|thread|time|env)\b|SystemTime|Instant|println!|eprintln!' crates/scaf-policy/src; then
    fail "the lines above reach out of the crate"
fi
