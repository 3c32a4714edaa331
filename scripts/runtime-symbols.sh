#!/bin/bash
# Lists what OpenMP runtimes export: fixtures/runtime-symbols.txt, which scaf-functions' tests/symbols.rs
# compares with the table of functions. Reads Debian's packages, by the mirror that this machine's apt uses,
# and wheels, by pip; installs nothing. scripts/runtime-symbols.sh [FOLDER for what is fetched]
set -eu
cd "$(dirname "$0")/.."
to=$PWD/fixtures/runtime-symbols.txt
work=${1:-$(mktemp -d)}
mkdir -p "$work"
mirror=$(sed -n 's/^URIs: *\([^ ]*\/debian\) *$/\1/p' /etc/apt/sources.list.d/*.sources | head -1)
ours='^(GOMP_|GOACC_|omp_|ompc_|acc_|kmp_|kmpc_|__kmp|__tgt_|ompt_|ompd_|llvm_omp_)'

# apt for one release, with lists of its own.
apt_for() {
  root=$work/apt-$1; release=$1; shift
  mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/etc"
  echo "deb [trusted=yes] $mirror $release main" >"$root/etc/sources.list"
  "$@" -qq -o Dir::Etc::sourcelist="$root/etc/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$root/lists" -o Dir::Cache="$root/cache" -o Dir::State::status=/dev/null \
    -o APT::Sandbox::User=root $command
}

# fetch_deb RELEASE PACKAGE: unpacks it to $work/deb/RELEASE/PACKAGE, if the release has it.
fetch_deb() {
  at=$work/deb/$1/$2
  [ -d "$at" ] && return
  mkdir -p "$at"
  command="download $2"
  (cd "$at" && apt_for "$1" apt-get && for deb in *.deb; do dpkg-deb -x "$deb" .; done) || rm -r "$at"
}

fetch_wheel() {
  at=$work/wheel/$1
  [ -d "$at" ] && return
  mkdir -p "$at"
  (cd "$at" && pip download -q --no-deps --only-binary=:all: "$1" && for whl in *.whl; do
    python3 -m zipfile -e "$whl" .; done) || rm -r "$at"
}

for release in bullseye bookworm trixie; do
  command=update
  apt_for $release apt-get
  fetch_deb $release libgomp1
  for version in 11 12 13 14 15 16 17 18 19; do
    fetch_deb $release libomp5-$version
  done
done
for wheel in scikit-learn xgboost faiss-cpu ctranslate2 pyscf pyomp intel-openmp; do
  fetch_wheel $wheel
done

# All runtimes are read together: each has a line of its own, and the names that none before it has.
echo "What OpenMP runtimes export, without versions; each has here what none before it has" \
  "(scripts/runtime-symbols.sh)." >"$to"
seen=$(mktemp)
find "$work/deb" "$work/wheel" -type f | grep -E '/lib(gomp[^/]*|omp|iomp5)\.so[^/]*$' |
  sort -V | while read -r file; do
  name=$(echo "${file#"$work"/}" | cut -d/ -f2,3 | tr / -)
  case $file in
    "$work"/deb/*) what=$(cd "${file%/usr/*}" && ls ./*.deb) ;;
    *)
      name=wheel-$(echo "${file#"$work"/wheel/}" | cut -d/ -f1)
      what=$(cd "$work/wheel/${name#wheel-}" && ls ./*.whl) ;;
  esac
  what=$(echo "$what" | sed 's/^..//; s/%3a/:/; s/_amd64.deb//; s/^\([^-]*-[^-]*\)-.*\.whl$/\1/')
  nm -D --defined-only "$file" | awk '$2 ~ /[TWi]/ { print $3 }' | grep -E "$ours" |
    LC_ALL=C sort -u >"$work/now"
  echo "# $name: $what, ${file##*/}, $(wc -l <"$work/now") functions" >>"$to"
  sed 's/@.*//' "$work/now" | uniq | grep -vxFf "$seen" >"$work/new" || true
  cat "$work/new" >>"$seen"
  # A line for names that begin alike, up to the first "_" behind a letter.
  awk 'match($0, /^_*[A-Za-z]+_/) { first = substr($0, 1, RLENGTH)
    printf "%s%s", first == last ? " " : sep, $0; last = first; sep = "\n" }
    END { if (sep) print "" }' "$work/new" >>"$to"
done
grep '^#' "$to"
