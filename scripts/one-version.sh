#!/bin/sh
# Fails if something that has the version, or the protocol's, has another one than Cargo.toml and scaf-proto.
# The packages take it from Cargo.toml when they are made (scripts/version.sh, python/backend.py).
set -eu
cd "$(dirname "$0")/.."
wrong=0
is() { # WHERE FOUND WANTED
    [ "$2" = "$3" ] || { echo "$1 has version '$2', not $3" >&2; wrong=1; }
}
version=$(scripts/version.sh)
for member in crates/* fuzz tests; do
    [ ! -f "$member/Cargo.toml" ] || grep -q '^version.workspace = true$' "$member/Cargo.toml" ||
        { echo "$member/Cargo.toml has a version of its own" >&2; wrong=1; }
done
is CHANGELOG.md "$(sed -n 's/^## \([0-9][^ ]*\) .*/\1/p' CHANGELOG.md | head -1)" "$version"
grep -q '^dynamic = \["version"' python/pyproject.toml ||
    { echo "python/pyproject.toml has a version of its own" >&2; wrong=1; }
is "packaging/scaf.pc.in" "$(sed -n 's/^Version: //p' packaging/scaf.pc.in)" @VERSION@
protocol=$(sed -n 's/^pub const VERSION: u32 = \([0-9]*\);$/\1/p' crates/scaf-proto/src/lib.rs)
page=docs/internals/protocol.md
is "$page" "$(sed -n 's/.*as it is\. Version \([0-9]*\)\..*/\1/p' "$page")" "$protocol"
exit $wrong
