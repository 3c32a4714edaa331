#!/bin/sh
# The main job on real programs: two pairs side by side, without scaf, split by hand, and with scaf. Makes a
# table and a picture of each pair. Takes about two minutes once everything is built.
set -eu
cd "$(dirname "$0")/.."
scaf=target/release/scaf
mkdir -p build/demo

echo
echo "== This machine"
"$scaf" doctor

for mix in demo-kernels demo-real; do
    echo
    echo "== $(sed -n 's/^description = "\(.*\)"$/\1/p' "bench/mixes/$mix.toml")"
    "$scaf" bench mix "bench/mixes/$mix.toml" --configs unmanaged,passive,pinned,equi,scaf \
        --repetitions 1 --plot "build/demo/$mix.svg"
done

echo
echo "Pictures of who had which threads when: build/demo/demo-kernels.svg build/demo/demo-real.svg"
echo "STP is the sum of the programs' speedups over their own serial runs: more is better."
echo "Try it yourself: target/release/scaf run -- ./your-program"
