#!/bin/sh
# Builds the packages and the wheel of the last commit twice, from clean clones in two folders, and compares
# them; if they differ, it says in which files. WHAT=deb or WHAT=wheel does one of them. Takes some ten
# minutes.
set -eu
cd "$(dirname "$0")/.."
what=${WHAT:-deb wheel}
commit=$(git rev-parse HEAD)
work=$(mktemp -d "${TMPDIR:-/tmp}/scaf-reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT

unpack() { # FILE FOLDER
    mkdir -p "$2"
    case $1 in
    *.deb) (cd "$2" && ar x "$1" && dpkg-deb -R "$1" files && dpkg-deb -c "$1" >listing) ;;
    *.whl) python3 -m zipfile -e "$1" "$2/files" && python3 -m zipfile -l "$1" >"$2/listing" ;;
    esac
}

# The folders' names have not the same length, for that would hide paths.
for folder in a another/folder; do
    git clone -q . "$work/$folder"
    git -C "$work/$folder" checkout -q "$commit"
    for part in $what; do
        make -C "$work/$folder" "$part"
    done
done
status=0
files=$(find "$work/a/build" -maxdepth 1 \( -name '*.deb' -o -name '*.whl' \))
[ -n "$files" ] || { echo "reproducible: nothing was built" >&2; exit 1; }
for first in $files; do
    part=$(basename "$first")
    second=$work/another/folder/build/$part
    if cmp -s "$first" "$second"; then
        echo "reproducible: $(basename "$first"): $(stat -c %s "$first") bytes, the same twice:" \
            "sha256 $(sha256sum "$first" | cut -c 1-16)"
    else
        echo "reproducible: $(basename "$first") differs:" >&2
        unpack "$first" "$work/first-$part"
        unpack "$second" "$work/second-$part"
        diff -r "$work/first-$part" "$work/second-$part" >&2 || true
        status=1
    fi
done
exit $status
