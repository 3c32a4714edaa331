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
name=gromacs how="run 'make build' and 'apt-get install gromacs openmpi-bin'"
. bench/common.sh
require /usr/bin/gmx_mpi /usr/bin/mpirun.openmpi
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
(
    cd "$at"
    gmx -quiet solvate -cs spc216 -box 4 4 4 -o cube.gro -p slab.top
    gmx -quiet editconf -f cube.gro -o slab.gro -box 4 4 8 -noc
    gmx -quiet grompp -f slab.mdp -c slab.gro -p slab.top -o slab.tpr -maxwarn 5
) >"$at/said" 2>&1 || { cat "$at/said" >&2; exit 1; }

start_daemon_for_ranks

run() { # WAY
    choose "$1"
    (cd "$at" && mpirun.openmpi --bind-to none -n 2 "${under[@]}" gmx_mpi mdrun -s slab.tpr -deffnm run \
        -ntomp $threads -dd 1 1 2 -dlb no -pin off -reprod -nsteps "$steps") >"$at/said" 2>&1
    awk '/Time:/ { print $3 }' "$at/run.log" >>"$at/$1.seconds"
    sed -n '/Energies (kJ.mol)/,/^$/p' "$at/run.log" | cksum | cut -d' ' -f1 >>"$at/$1.sums"
    rm -f "$at"/run.* "$at"/\#*
}
echo "load before: $(load); GROMACS, 2 ranks, $steps steps, $runs runs"
for _ in $(seq "$runs"); do
    for way in "${ways[@]}"; do run "$way"; done
done
echo "| way | median, s | least to most | of passive | energies |"
echo "|---|--:|--:|--:|---|"
for way in "${ways[@]}"; do echo "| $way | $(row "$way") | $(sort -u "$at/$way.sums" | tr '\n' ' ')|"; done
echo "load after: $(load)"
