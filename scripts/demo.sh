#!/bin/sh
# The main job on real programs: two pairs side by side, without scaf, split by hand, and with scaf. Makes a
# table and a picture of each pair. Each program runs once before it is measured. Takes under three minutes
# once everything is built. Without a Rust that is new enough, or what else it takes to build, it shows the
# scaf that is installed.
set -eu
cd "$(dirname "$0")/.."
mixes="demo-kernels demo-real"

kernels() { # the two that the demo runs
    make --no-print-directory -s -C bench/kernels BUILD="$PWD/build/kernels" "$PWD/build/kernels/cg" \
        "$PWD/build/kernels/mg"
}

can_build() { # says why not
    why=$(scripts/rust.sh 2>&1) || return 1
    scripts/setup.sh scaf || { why="see above"; return 1; }
}

if can_build; then
    # Fetching the real programs waits for the network mostly, so it is done meanwhile.
    log=$(mktemp)
    setsid scripts/setup.sh python >"$log" 2>&1 & # its children end with it
    python=$!
    trap 'kill -- -$python 2>/dev/null || true; rm -f "$log"' EXIT
    trap 'exit 130' INT TERM
    kernels
    cargo build --release --locked
    wait $python || { cat "$log" >&2; exit 1; }
    trap - EXIT INT TERM
    rm -f "$log"
    scaf=target/release/scaf
elif scaf=$(command -v scaf); then
    echo "demo: nothing is built here ($why): this is $scaf, as it is installed"
    scripts/setup.sh python
    if command -v gcc >/dev/null; then
        kernels
    else
        echo "demo: there is no gcc either, so the kernels are left out; the real programs need none"
        mixes=demo-real
    fi
else
    echo "demo: scaf isn't installed and can't be built: $why. Or install its package or wheel" \
        "(docs/guide/install.md)." >&2
    exit 1
fi
mkdir -p build/demo

echo
echo "== This machine"
"$scaf" doctor

pictures=""
for mix in $mixes; do
    echo
    echo "== $(sed -n 's/^description = "\(.*\)"$/\1/p' "bench/mixes/$mix.toml")"
    "$scaf" bench mix "bench/mixes/$mix.toml" --configs unmanaged,passive,pinned,equi,scaf \
        --warm --repetitions 1 --plot "build/demo/$mix.svg"
    pictures="$pictures build/demo/$mix.svg"
done

echo
echo "Pictures of who had which threads when:$pictures"
echo "STP is the sum of the programs' speedups over their own serial runs: more is better. Each program ran"
echo "once before, so that no run read its files from disk; then all was measured once. More often, so surer:"
echo "$scaf bench mix bench/mixes/demo-real.toml"
echo "Try it yourself: $scaf run -- ./your-program"
