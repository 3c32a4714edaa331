#!/bin/bash
# A program by others in MPI and OpenMP: GROMACS as Debian has it (package `gromacs`), a slab of water in a
# box that is half empty, two ranks of two threads each, so that one has more atoms than the other. Its own
# balancing is off (-dlb no). The ways and what is printed are those of bench/mpi.sh; the last column is a
# checksum of the energies, which are the same to the bit for the same number of threads (-reprod).
# RUNS=5 STEPS=500 WAYS="plain passive one scaf" as they are set here.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-5} steps=${STEPS:-500}
read -r -a ways <<<"${WAYS:-plain passive one scaf}"
scaf=$PWD/${SCAF:-target/release/scaf}
for file in "$scaf" /usr/bin/gmx_mpi /usr/bin/mpirun.openmpi; do
    [ -e "$file" ] && continue
    echo "$file is missing: run 'make build' and 'apt-get install gromacs openmpi-bin'" >&2
    exit 1
done

at=$(mktemp -d "${TMPDIR:-/tmp}/scaf-gromacs.XXXXXX")
daemon=
clean() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
    rm -rf "$at"
}
trap clean EXIT
trap 'exit 130' INT TERM
cat >"$at/slab.top" <<'TOP'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
a slab of water
[ molecules ]
TOP
cat >"$at/slab.mdp" <<'MDP'
integrator = md
dt = 0.001
nstlist = 10
nstenergy = 100
nstlog = 100
coulombtype = Reaction-Field
rcoulomb = 0.9
rvdw = 0.9
MDP
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SCAF_SOCKET=$at/scafd.sock
unset OMP_NUM_THREADS OMP_WAIT_POLICY OMP_DYNAMIC OMP_PROC_BIND GOMP_SPINCOUNT
(
    cd "$at"
    gmx -quiet solvate -cs spc216 -box 4 4 4 -o cube.gro -p slab.top
    gmx -quiet editconf -f cube.gro -o slab.gro -box 4 4 8 -noc
    gmx -quiet grompp -f slab.mdp -c slab.gro -p slab.top -o slab.tpr -maxwarn 5
) >"$at/said" 2>&1 || { cat "$at/said" >&2; exit 1; }

echo "count_load = false" >"$at/scafd.toml"
"$(dirname "$scaf")/scafd" --session --idle-exit 0 --socket "$SCAF_SOCKET" --policy equi \
    --config "$at/scafd.toml" 2>"$at/log" &
daemon=$!
until [ -S "$SCAF_SOCKET" ]; do sleep 0.1; done

run() { # WAY
    local under=() threads=2
    case $1 in
    plain) under=(env OMP_NUM_THREADS=2) ;;
    passive) under=(env OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive) ;;
    one) under=(env OMP_NUM_THREADS=1) threads=1 ;;
    scaf) under=(env OMP_NUM_THREADS=2 "$scaf" run --) ;;
    *) echo "bench/gromacs.sh: there is no way '$1'" >&2; exit 2 ;;
    esac
    (cd "$at" && mpirun.openmpi --bind-to none -n 2 "${under[@]}" gmx_mpi mdrun -s slab.tpr -deffnm run \
        -ntomp $threads -dd 1 1 2 -dlb no -pin off -reprod -nsteps "$steps") >"$at/said" 2>&1
    awk '/Time:/ { print $3 }' "$at/run.log" >>"$at/$1.seconds"
    sed -n '/Energies (kJ.mol)/,/^$/p' "$at/run.log" | cksum | cut -d' ' -f1 >>"$at/$1.sums"
    rm -f "$at"/run.* "$at"/\#*
}
median() { # WAY: and the least and the most
    sort -n "$at/$1.seconds" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'
}
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg); GROMACS, 2 ranks, $steps steps, $runs runs"
for _ in $(seq "$runs"); do
    for way in "${ways[@]}"; do run "$way"; done
done
echo "| way | median, s | least to most | of passive | energies |"
echo "|---|--:|--:|--:|---|"
reference=$(median passive 2>/dev/null | cut -d' ' -f1)
for way in "${ways[@]}"; do
    median "$way" | awk -v way="$way" -v reference="${reference:-0}" \
        -v sums="$(sort -u "$at/$way.sums" | tr '\n' ' ')" '
        { ratio = (reference > 0) ? sprintf("%.2f", reference / $1) : ""
          printf "| %s | %.2f | %.2f to %.2f | %s | %s|\n", way, $1, $2, $3, ratio, sums }'
done
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
