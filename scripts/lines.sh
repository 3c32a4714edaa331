#!/bin/sh
# Short lines and short files: at most 110 columns, but for URLs, mangled names and rows of Markdown's
# tables; at most 450 lines in a file of crates/*/src, but for tests and for tables, which begin with
# "//! A table: ...".
set -eu
cd "$(dirname "$0")/.."
status=0

long=$(git ls-files '*.rs' '*.c' '*.h' '*.cpp' '*.py' '*.sh' '*.toml' '*.md' ':!bench/results' |
    LC_ALL=C.UTF-8 xargs -d '\n' grep -nHE '^.{111}' |
    grep -vE 'https?://|_ZN[0-9]|\.(md|rs):[0-9]+:[[:space:]]*(//[/!] )?\|') || true
if [ -n "$long" ]; then
    printf 'lines beyond 110 columns:\n%s\n' "$long" >&2
    status=1
fi

# Not by git's own exclusions: those of a name's end match everything.
files=$(git ls-files 'crates/*/src/*.rs' | grep -vE '(_tests|/tests)\.rs$|/tests/')
[ -n "$files" ] || { echo "lines: there are no files to look at" >&2; exit 1; }
for file in $files; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 450 ] && ! head -n 1 "$file" | grep -q '^//! A table: '; then
        echo "$file: $lines lines, more than 450" >&2
        status=1
    fi
done
exit $status
