#!/bin/sh
# Fails if a page of documentation names a file or folder of the project that isn't there: paths in backquotes that
# begin with a top-level folder, and links.
set -eu
cd "$(dirname "$0")/.."
missing=0
for page in README.md docs/*.md docs/decisions/*.md bench/kernels/README.md; do
    folder=$(dirname "$page")
    for path in $(grep -oE '`(crates|docs|scripts|tests|bench|packaging|include|examples|fixtures|fuzz)/[A-Za-z0-9_./-]*`' "$page" |
        tr -d '`' | sort -u); do
        [ -e "$path" ] || { echo "$page names $path, which isn't there" >&2; missing=1; }
    done
    for link in $(grep -oE '\]\([A-Za-z0-9_./-]+(#[A-Za-z0-9-]*)?\)' "$page" | sed 's/^](//; s/)$//; s/#.*//' | sort -u); do
        [ -e "$folder/$link" ] || { echo "$page links to $link, which isn't there" >&2; missing=1; }
    done
done
exit $missing
