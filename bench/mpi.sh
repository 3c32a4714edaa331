#!/bin/bash
# An MPI job of ranks whose work is unequal, and one whose work is equal (bench/kernels/zones.c), two threads
# each on the PUs that are there: as they are (`plain`), with OMP_WAIT_POLICY=passive, with one thread each
# (`one`), and under scaf, where a rank that waits lends its contexts. Interleaved runs; medians of the timed
# sections in seconds. Needs what `make build` has built, Open MPI and MPICH (scripts/setup.sh tests).
# RUNS=5 RANKS=2 CLASS=A WAYS="plain passive one scaf" MPIS="openmpi mpich" as they are set here.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-5} ranks=${RANKS:-2} class=${CLASS:-A}
read -r -a ways <<<"${WAYS:-plain passive one scaf}"
read -r -a mpis <<<"${MPIS:-openmpi mpich}"
scaf=$PWD/${SCAF:-target/release/scaf}
kernel() { if [ "$1" = mpich ]; then echo build/kernels/mpich/zones; else echo build/kernels/zones; fi; }
for mpi in "${mpis[@]}"; do
    for file in "$scaf" "$(kernel "$mpi")" "/usr/bin/mpirun.$mpi"; do
        [ -e "$file" ] && continue
        echo "$file is missing: run 'scripts/setup.sh tests' and 'make build'" >&2
        exit 1
    done
done

at=$(mktemp -d "${TMPDIR:-/tmp}/scaf-mpi.XXXXXX")
echo "count_load = false" >"$at/scafd.toml"
"$(dirname "$scaf")/scafd" --session --idle-exit 0 --socket "$at/scafd.sock" --policy equi \
    --config "$at/scafd.toml" 2>"$at/log" &
daemon=$!
clean() {
    kill $daemon 2>/dev/null || true
    wait $daemon 2>/dev/null || true
    rm -rf "$at"
}
trap clean EXIT
trap 'exit 130' INT TERM
until [ -S "$at/scafd.sock" ]; do sleep 0.1; done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SCAF_SOCKET=$at/scafd.sock
unset OMP_NUM_THREADS OMP_WAIT_POLICY OMP_DYNAMIC OMP_PROC_BIND GOMP_SPINCOUNT
options() {
    if [ "$1" = mpich ]; then echo "-bind-to none"; else echo "--bind-to none --oversubscribe"; fi
}
seconds() { # MPI ZONES WAY: of the timed section
    local under=()
    case $3 in
    plain) under=(env OMP_NUM_THREADS=2) ;;
    passive) under=(env OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive) ;;
    one) under=(env OMP_NUM_THREADS=1) ;;
    scaf) under=(env OMP_NUM_THREADS=2 "$scaf" run --) ;;
    *) echo "bench/mpi.sh: there is no way '$3'" >&2; exit 2 ;;
    esac
    # shellcheck disable=SC2046 # a list of options
    "mpirun.$1" $(options "$1") -n "$ranks" "${under[@]}" "$(kernel "$1")" --class="$class" --zones="$2" |
        sed -n 's/.*"seconds":\([0-9.]*\),"verified":true.*/\1/p'
}

median() { # WAY: and the least and the most
    sort -n "$at/$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'
}

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg); $ranks ranks, class $class, $runs runs"
echo "| MPI | zones | way | median, s | least to most | of passive |"
echo "|---|---|---|--:|--:|--:|"
for mpi in "${mpis[@]}"; do
    for zones in unequal equal; do
        for way in "${ways[@]}"; do : >"$at/$way"; done
        for _ in $(seq "$runs"); do
            for way in "${ways[@]}"; do seconds "$mpi" $zones "$way" >>"$at/$way"; done
        done
        reference=$(median passive 2>/dev/null | cut -d' ' -f1)
        for way in "${ways[@]}"; do
            median "$way" | awk -v mpi="$mpi" -v zones=$zones -v way="$way" -v reference="${reference:-0}" '
                { ratio = (reference > 0) ? sprintf("%.2f", reference / $1) : ""
                  printf "| %s | %s | %s | %.2f | ", mpi, zones, way, $1
                  printf "%.2f to %.2f | %s |\n", $2, $3, ratio }'
        done
    done
done
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
