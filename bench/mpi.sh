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
name=mpi how="run 'scripts/setup.sh tests' and 'make build'"
. bench/common.sh
kernel() { if [ "$1" = mpich ]; then echo build/kernels/mpich/zones; else echo build/kernels/zones; fi; }
for mpi in "${mpis[@]}"; do require "$(kernel "$mpi")" "/usr/bin/mpirun.$mpi"; done
start_daemon_for_ranks

options() {
    if [ "$1" = mpich ]; then echo "-bind-to none"; else echo "--bind-to none --oversubscribe"; fi
}
seconds() { # MPI ZONES WAY: of the timed section
    choose "$3"
    # shellcheck disable=SC2046 # a list of options
    "mpirun.$1" $(options "$1") -n "$ranks" "${under[@]}" "$(kernel "$1")" --class="$class" --zones="$2" |
        sed -n 's/.*"seconds":\([0-9.]*\),"verified":true.*/\1/p'
}

echo "load before: $(load); $ranks ranks, class $class, $runs runs"
echo "| MPI | zones | way | median, s | least to most | of passive |"
echo "|---|---|---|--:|--:|--:|"
for mpi in "${mpis[@]}"; do
    for zones in unequal equal; do
        rm -f "$at"/*.seconds
        for _ in $(seq "$runs"); do
            for way in "${ways[@]}"; do seconds "$mpi" $zones "$way" >>"$at/$way.seconds"; done
        done
        for way in "${ways[@]}"; do echo "| $mpi | $zones | $way | $(row "$way") |"; done
    done
done
echo "load after: $(load)"
