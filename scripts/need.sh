#!/bin/sh
# Installs Debian packages that are missing: scripts/need.sh WHO [OPTIONS OF APT-GET], and on standard input
# lines of a package and the file by which we know that it is there. Without root or network it says what is
# missing.
set -eu
who=$1
shift
fail() {
    echo "$who: $*" >&2
    exit 1
}
missing=""
while read -r package file; do
    for candidate in $file; do
        [ -e "$candidate" ] && continue 2
    done
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || fail "these are missing, and there is no apt-get to install them:$missing"
[ "$(id -u)" -eq 0 ] || fail "these are missing; install them with: sudo apt-get install$missing"
echo "$who: installing$missing"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of packages
if ! { apt-get update -qq && apt-get install -y -qq "$@" $missing; } >"$log" 2>&1; then
    tail -5 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install$missing (is the network reachable?)"
fi
rm -f "$log"
