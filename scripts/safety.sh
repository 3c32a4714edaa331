#!/bin/sh
# Whether the tests that docs/guide/safety.md names exist, as `module::name` in tests/e2e.
set -eu
cd "$(dirname "$0")/.."
page=docs/guide/safety.md
status=0
names=$(grep -oE '`[a-z_]+(::[a-z_]+)+`' "$page" | tr -d '`' | sort -u)
[ -n "$names" ] || { echo "safety: $page names no test" >&2; exit 1; }
for name in $names; do
    test=${name##*::}
    folder=$(printf %s "${name%::*}" | sed 's|::|/|g')
    if ! grep -qsE "(fn $test\(|^ *$test:)" "tests/e2e/$folder.rs"; then
        echo "safety: $page names $name, which isn't in tests/e2e/$folder.rs" >&2
        status=1
    fi
done
exit $status
