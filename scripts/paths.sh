#!/bin/sh
# Fails if a page of documentation names, in backquotes or in a link, a file or folder that is missing. In
# backquotes only paths count that begin with a top-level folder.
set -eu
cd "$(dirname "$0")/.."
missing=0
folders='crates|docs|scripts|tests|bench|packaging|include|examples|fixtures|fuzz|python'
for page in README.md docs/*.md docs/*/*.md bench/kernels/README.md; do
    folder=$(dirname "$page")
    for path in $(grep -oE "\`($folders)/[A-Za-z0-9_./-]*\`" "$page" | tr -d '`' | sort -u); do
        [ -e "$path" ] || { echo "$page names $path, which isn't there" >&2; missing=1; }
    done
    for link in $(grep -oE '\]\([A-Za-z0-9_./-]+(#[A-Za-z0-9-]*)?\)' "$page" |
        sed 's/^](//; s/)$//; s/#.*//' | sort -u); do
        [ -e "$folder/$link" ] || { echo "$page links to $link, which isn't there" >&2; missing=1; }
    done
done
exit $missing
