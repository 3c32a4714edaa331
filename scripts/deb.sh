#!/bin/sh
# Builds build/scaf_VERSION_amd64.deb and scaf-slurm's beside it, and lets lintian read them. Two builds of
# a commit give the same files.
# SCAF_BUILT=FOLDER packs binaries that are there already.
set -eu
cd "$(dirname "$0")/.."
# Debian 12's Rust is too old to be asked for as a package.
why=$(scripts/rust.sh 2>&1) || {
    echo "deb: $why" >&2
    exit 1
}
scripts/need.sh deb <<'PACKAGES'
build-essential /usr/bin/make
debhelper /usr/bin/dh_installsysusers
lintian /usr/bin/lintian
libhwloc-dev /usr/include/hwloc.h
libslurm-dev /usr/include/slurm/spank.h
libsqlite3-dev /usr/include/sqlite3.h
libudev-dev /usr/include/libudev.h
pkg-config /usr/bin/pkg-config
python3 /usr/bin/python3
PACKAGES

version=$(scripts/version.sh)
# Debian orders by ~ what SemVer orders by -: 0.2.0-rc.1 comes before 0.2.0.
version=$(echo "$version" | tr - '~')
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}"
# dpkg and cargo see a home of their own under debhelper.
: "${CARGO_HOME:=$HOME/.cargo}" "${RUSTUP_HOME:=$HOME/.rustup}"
export SOURCE_DATE_EPOCH CARGO_HOME RUSTUP_HOME
cat >debian/changelog <<CHANGELOG
scaf ($version) unstable; urgency=medium

  * See /usr/share/doc/scaf/NEWS.md.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

mkdir -p build
log=build/deb.log
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noautodbgsym"
if ! SCAF_DEB_FOLDER=build dpkg-buildpackage -b -us -uc -d \
    --buildinfo-option=-ubuild --buildinfo-file=build/scaf.buildinfo \
    --changes-option=-ubuild --changes-file=build/scaf.changes >"$log" 2>&1; then
    tail -30 "$log" >&2
    echo "deb: dpkg-buildpackage failed; all it said is in $log" >&2
    exit 1
fi
for package in build/scaf_${version}_amd64.deb build/scaf-slurm_${version}_amd64.deb; do
    lintian --fail-on error,warning --tag-display-limit 0 "$package"
    ls -l "$package" | awk '{ printf "%s: %.2f MB, ", $NF, $5 / 1e6 }'
    sha256sum "$package" | cut -d' ' -f1
done
