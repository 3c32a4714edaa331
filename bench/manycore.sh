#!/bin/sh
# The whole comparison on a machine of many cores: what scaf costs, what it knows, and every mix under every
# configuration, with a table in the end. Needs what `make build` has built, and neither network nor root.
#
# Results are JSON under bench/results/DATE-HOSTNAME-NPU. What is there isn't measured again, so the same
# command goes on with a run that was broken off (RESULTS=FOLDER names one of another day).
#
# To try it out within a minute or two:
#   MIXES=cg-ep CONFIGS=unmanaged,equi REPETITIONS=1 RUN_S=0.2 SOLO=ep ESTIMATE=compute bench/manycore.sh
set -eu
cd "$(dirname "$0")/.."
scaf=${SCAF:-target/release/scaf}

for file in "$scaf" "$(dirname "$scaf")/scafd" "$(dirname "$scaf")/libscaf.so" build/kernels/ep; do
    [ -e "$file" ] || { echo "$file is missing: run 'make build' first" >&2; exit 1; }
done

pus=$(nproc)
name=$(date -u +%F)-$(uname -n)-$pus
out=${RESULTS:-bench/results/${name}pu}
repetitions=${REPETITIONS:-5}
seconds=${RUN_S:-3}
mixes=${MIXES:-$(cd bench/mixes && ls -- *.toml | grep -v '^slow-' | sed 's/\.toml$//')}
configs=${CONFIGS:-unmanaged,passive,pinned,dynamic,equi,scaf,curve}
mkdir -p "$out"

if [ ! -e "$out/README.md" ]; then
    {
        echo "# $(date -u +%F), $(uname -n), $pus PUs"
        echo
        lscpu 2>/dev/null | grep -E '^(Model name|CPU\(s\)|Thread|Core|Socket|NUMA node\(s\)|L[123])' |
            sed 's/^/- /; s/  */ /g' || true
        echo "- Kernel: $(uname -sr)"
        echo "- Load when it began: $(cut -d' ' -f1-3 /proc/loadavg)"
        commit=$(git rev-parse --short HEAD 2>/dev/null || echo 'no commit known')
        echo "- scaf $("$scaf" --version | cut -d' ' -f2), $commit"
        echo
        echo "Made by bench/manycore.sh with $repetitions repetitions, configurations $configs." \
            "What each number is: docs/internals/bench.md."
    } >"$out/README.md"
fi

# measure NAME WORD...: runs `scaf bench WORD...` unless its result is there, as it isn't after a failure.
failed=
measure() {
    result=$out/$1.json
    shift
    [ -s "$result" ] && { echo "$result is there"; return; }
    echo "== $(basename "$result" .json)"
    if "$scaf" bench "$@" --json >"$result.part" 2>"$result.log"; then
        mv "$result.part" "$result"
        rm "$result.log"
    else
        echo "failed; see $result.log"
        failed="$failed $(basename "$result" .json)"
    fi
}

# Programs that aren't installed here leave their mix out.
runnable() {
    case $1 in
        real-* | demo-real) [ -x .venv/bin/python ] ;;
    esac
}

measure overhead overhead --repetitions "$repetitions"
measure solo solo --repetitions "$repetitions" --seconds "$seconds" ${SOLO:+--programs "$SOLO"}
measure estimate estimate --repetitions "$repetitions" --seconds "$seconds" \
    ${ESTIMATE:+--programs "$ESTIMATE"}
for mix in $mixes; do
    runnable "$mix" || { echo "== $mix is left out: its programs need .venv (make setup)"; continue; }
    measure "mix-$mix" mix "bench/mixes/$mix.toml" --configs "$configs" --repetitions "$repetitions"
done

# The table: STP of each mix under each configuration.
awk -F'"' -v configs="$configs" '
    BEGIN {
        n = split(configs, name, ",")
        printf "%-24s", "STP"
        for (i = 1; i <= n; i++) printf "%11s", name[i]
        print ""
    }
    /^  "mix":/ { mix = $4 }
    /^      "name":/ { config = $4 }
    /^      "stp":/ {
        split($0, part, /[:,]/)
        stp[mix, config] = part[2]
        if (!(mix in seen)) { seen[mix]; order[++m] = mix }
    }
    END {
        for (j = 1; j <= m; j++) {
            printf "%-24s", order[j]
            for (i = 1; i <= n; i++) {
                known = (order[j], name[i]) in stp
                printf "%11s", known ? sprintf("%.2f", stp[order[j], name[i]]) : "-"
            }
            print ""
        }
    }' "$out"/mix-*.json
echo
echo "Results: $out"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
