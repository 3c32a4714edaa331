#!/bin/sh
# Builds the wheel for PyPI: build/scaf-VERSION-py3-none-manylinux_2_28_x86_64.whl. It holds the commands, the
# client library and the Python module, and runs with glibc 2.28 or newer: zig links against that version's
# symbols, and hwloc, from Debian's source package, is linked in. Two builds give the same file.
set -eu
cd "$(dirname "$0")/.."
glibc=2.28
triple=x86_64-unknown-linux-gnu
work=$PWD/build/wheel
jobs=${JOBS:-$(nproc)}

fail() {
    echo "wheel: $*" >&2
    exit 1
}

# When the sources were last changed: what else has a date in the wheel has this one.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}"
export SOURCE_DATE_EPOCH
mkdir -p "$work"

tools=$work/tools
if ! cmp -s python/wheel-tools.txt "$tools/installed"; then
    python3 -m venv "$tools" || fail "python3 -m venv failed: install python3-venv"
    "$tools/bin/pip" install -q --disable-pip-version-check -r python/wheel-tools.txt ||
        fail "pip could not install python/wheel-tools.txt (is the package index reachable?)"
    cp python/wheel-tools.txt "$tools/installed"
fi
PATH=$tools/bin:$PATH

# hwloc's source, by apt from wherever this machine has its packages from.
hwloc=$work/hwloc
if [ ! -d "$hwloc/source" ]; then
    command -v apt-get >/dev/null && command -v dpkg-source >/dev/null ||
        fail "hwloc's source needs apt-get and dpkg-dev; install them, or unpack it to $hwloc/source"
    rm -rf "$hwloc"
    mkdir -p "$hwloc/apt/lists/partial" "$hwloc/apt/cache/archives/partial" "$hwloc/apt/parts"
    for list in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$hwloc/apt/parts/$(basename "$list")"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$list" ] ||
            sed -n 's/^deb /deb-src /p' "$list" >"$hwloc/apt/parts/$(basename "$list" .list).list"
    done
    cat >"$hwloc/apt/conf" <<CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$hwloc/apt/parts";
Dir::State::Lists "$hwloc/apt/lists";
Dir::Cache "$hwloc/apt/cache";
CONF
    echo "wheel: hwloc's source package"
    if ! (
        cd "$hwloc" && export APT_CONFIG="$hwloc/apt/conf" && apt-get update -qq &&
            apt-get source -qq --download-only hwloc && dpkg-source -x hwloc_*.dsc source
    ) >"$hwloc/log" 2>&1; then
        rm -rf "$hwloc/source"
        tail -5 "$hwloc/log" >&2
        fail "apt-get source hwloc failed; unpack hwloc 2.9's source to $hwloc/source yourself"
    fi
fi

# zig as the compiler of C, for that glibc. No path of this machine gets into what it makes.
mkdir -p "$work/bin"
for tool in cc ar ranlib; do
    extra=""
    [ "$tool" != cc ] || extra="-target x86_64-linux-gnu.$glibc -ffile-prefix-map=$PWD=."
    printf '#!/bin/sh\nexec "%s/bin/python" -m ziglang %s %s "$@"\n' "$tools" "$tool" "$extra" \
        >"$work/bin/zig-$tool"
    chmod +x "$work/bin/zig-$tool"
done
if [ ! -e "$hwloc/installed/lib/pkgconfig/hwloc.pc" ]; then
    echo "wheel: building hwloc"
    if ! (
        cd "$hwloc/source" &&
            ./configure --prefix="$hwloc/installed" --host=x86_64-pc-linux-gnu --sysconfdir=/etc \
                --runstatedir=/run --enable-static --disable-shared --disable-io --disable-libxml2 \
                --disable-libudev --disable-cairo --disable-plugins CFLAGS="-O2 -fPIC" \
                CC="$work/bin/zig-cc" AR="$work/bin/zig-ar" RANLIB="$work/bin/zig-ranlib" &&
            make -C include install && make -C hwloc -j "$jobs" install &&
            install -D -m 644 hwloc.pc "$hwloc/installed/lib/pkgconfig/hwloc.pc"
    ) >"$hwloc/log" 2>&1; then
        tail -5 "$hwloc/log" >&2
        fail "hwloc could not be built, see $hwloc/log"
    fi
fi

echo "wheel: building the commands and the client library for glibc $glibc"
export CARGO_TARGET_DIR="$work/target"
export PKG_CONFIG_PATH="$hwloc/installed/lib/pkgconfig" PKG_CONFIG_LIBDIR="$hwloc/installed/lib/pkgconfig"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# Not by the profile: what is said there of one package keeps that one from being stripped.
export RUSTFLAGS="-C strip=symbols --remap-path-prefix=$PWD=. --remap-path-prefix=$cargo_home=cargo"
export CFLAGS="-ffile-prefix-map=$PWD=. -ffile-prefix-map=$cargo_home=cargo"
cargo-zigbuild zigbuild --release --locked -j "$jobs" --target "$triple.$glibc" -p scaf -p scafd -p libscaf ||
    fail "cargo zigbuild failed"

echo "wheel: packing"
rm -f build/scaf-*.whl
scripts/licences.py >"$work/crates.txt" || fail "the licences of what is linked in aren't known"
wheel=$(SCAF_WHEEL_BINARIES="$CARGO_TARGET_DIR/$triple/release" SCAF_WHEEL_HWLOC="$hwloc/source/COPYING" \
    SCAF_WHEEL_CRATES="$work/crates.txt" python3 python/backend.py build)
# What it says of the file first is the file's own name.
auditwheel show --json "$wheel" >"$work/auditwheel" || fail "auditwheel: $(cat "$work/auditwheel")"
tag=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["overall_tag"])' <"$work/auditwheel") ||
    fail "auditwheel says no tag: $(cat "$work/auditwheel")"
minor=$(expr "$tag" : "manylinux_2_\([0-9]*\)_x86_64\$" || true)
[ "${minor:-99}" -le 28 ] || fail "the wheel is one for $tag: $(cat "$work/auditwheel")"
echo "wheel: auditwheel: $tag"
twine check --strict "$wheel" || fail "twine doesn't like the wheel"
size=$(stat -c %s "$wheel")
[ "$size" -lt 15000000 ] || fail "the wheel has $size bytes, and 15 million are enough"
echo "$wheel: $size bytes, sha256 $(sha256sum "$wheel" | cut -c 1-16)"
