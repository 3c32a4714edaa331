#!/bin/bash
# Two jobs on one node of a private Slurm: one after the other, at the same time as Slurm's oversubscription
# has them, the same with OMP_WAIT_POLICY=passive, and at the same time with srun --scaf. A job is a kernel of
# ours or a program of bench/real. Prints a table of medians: makespan, and STP as serial seconds of both jobs
# over the makespan. Needs root, what `make build` has built, and Slurm (scripts/setup.sh tests).
# JOBS="lightgbm_fit xgboost_fit", REPEAT="6 7", RUNS=5 as they are set here; kernels are of CLASS=W.
set -euo pipefail
cd "$(dirname "$0")/.."
read -r -a jobs <<<"${JOBS:-lightgbm_fit xgboost_fit}"
read -r -a repeat <<<"${REPEAT:-6 7}"
runs=${RUNS:-5}
name=slurm how="run 'make build' and 'scripts/setup.sh tests'"
. bench/common.sh
[ "$(id -u)" -eq 0 ] || { echo "bench/slurm.sh: slurmd needs root" >&2; exit 1; }
require /usr/sbin/slurmd
trap 'scancel --full -p p 2>/dev/null || true; clean' EXIT
chmod 755 "$at"
mkdir "$at/state"

make -s -C packaging/slurm OUT="$at"
echo "optional $at/scaf.so scaf=$scaf socket=$at/scafd.sock" >"$at/plugstack.conf"
host=$(hostname -s)
port=${PORT:-17100}
cat >"$at/slurm.conf" <<CONF
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthInfo=socket=$at/munge.sock
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool
SlurmdPidFile=$at/slurmd.pid
SlurmctldPidFile=$at/slurmctld.pid
SlurmdLogFile=$at/slurmd.log
SlurmctldLogFile=$at/slurmctld.log
PlugStackConfig=$at/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
PartitionName=p Nodes=n1 Default=YES OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$at/slurm.conf
dd if=/dev/urandom of="$at/munge.key" bs=128 count=1 2>/dev/null
chmod 600 "$at/munge.key"
begin munged --foreground --force --key-file="$at/munge.key" --socket="$at/munge.sock" \
    --pid-file="$at/munged.pid" --log-file="$at/munged.log" --seed-file="$at/seed"
until [ -S "$at/munge.sock" ]; do sleep 0.1; done
begin slurmctld -D -c
begin slurmd -D -N n1
start_daemon
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do sleep 0.2; done

job() { # WHICH WORD...: one job, which has both CPUs
    local which=$1
    shift
    program "${jobs[which]}" "${repeat[which]}" "${CLASS:-W}"
    srun -Q -n1 -c2 "$@" "${program[@]}" >/dev/null
}
both() {
    local first second
    job 0 "$@" & first=$!
    job 1 "$@" & second=$!
    wait $first
    wait $second
}
alone() { OMP_NUM_THREADS=1 job "$1"; }
after() { job 0; job 1; }
plain() { both; }
passive() { OMP_WAIT_POLICY=passive both; }
shared() { both --scaf; }
seconds() { # WORD...: how long that takes
    local begin
    begin=$(date +%s%N)
    "$@"
    echo "$((($(date +%s%N) - begin) / 1000000))" | awk '{ printf "%.2f\n", $1 / 1000 }'
}

echo "load before: $(load)"
echo "${jobs[*]}, repeat ${repeat[*]}, $runs runs"
ways=("alone 0" "alone 1" after plain passive shared)
for _ in $(seq "$runs"); do
    for way in "${ways[@]}"; do
        # shellcheck disable=SC2086 # a function and its argument
        seconds $way >>"$at/${way/ /}.seconds"
    done
done
serial=$(cat <(median alone0) <(median alone1) | awk '{ sum += $1 } END { print sum }')
echo "serial seconds of both: $serial"
echo "| jobs | makespan, s | least to most | STP |"
echo "|---|---|---|---|"
for way in after plain passive shared; do
    median $way | awk -v way="$way" -v serial="$serial" \
        '{ printf "| %s | %.2f | %.2f to %.2f | %.2f |\n", way, $1, $2, $3, serial / $1 }'
done
scontrol show job -o | grep -o 'AdminComment=[^ ]*' | tail -2
echo "load after: $(load)"
