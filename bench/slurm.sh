#!/bin/bash
# Two jobs on one node of a private Slurm: one after the other, at the same time as Slurm's oversubscription
# has them, the same with OMP_WAIT_POLICY=passive, and at the same time with srun --scaf. Prints a table of
# medians: makespan, and STP as serial seconds of both jobs over the makespan. Needs root, what `make build`
# has built, and Slurm (scripts/setup.sh tests). JOBS="cg mg", REPEAT="60 90", RUNS=5 as they are set here.
set -euo pipefail
cd "$(dirname "$0")/.."
scaf=$PWD/${SCAF:-target/release/scaf}
read -r -a jobs <<<"${JOBS:-cg mg}"
read -r -a repeat <<<"${REPEAT:-60 90}"
runs=${RUNS:-5} class=${CLASS:-W}
[ "$(id -u)" -eq 0 ] || { echo "bench/slurm.sh: slurmd needs root" >&2; exit 1; }
for file in "$scaf" build/kernels/cg /usr/sbin/slurmd; do
    [ -e "$file" ] || { echo "$file is missing: run 'make build' and 'scripts/setup.sh tests'" >&2; exit 1; }
done

at=$(mktemp -d "${TMPDIR:-/tmp}/scaf-slurm.XXXXXX")
chmod 755 "$at"
mkdir "$at/state"
started=()
clean() {
    status=$?
    trap - EXIT INT TERM
    scancel --full -p p 2>/dev/null || true
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill "${started[i]}" 2>/dev/null || true
        wait "${started[i]}" 2>/dev/null || true
    done
    rm -rf "$at"
    exit $status
}
trap clean EXIT
trap 'exit 130' INT TERM
begin() {
    "$@" >>"$at/said" 2>&1 &
    started+=($!)
}

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
begin "$(dirname "$scaf")/scafd" --session --idle-exit 0 --socket "$at/scafd.sock"
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do sleep 0.2; done

unset OMP_NUM_THREADS OMP_WAIT_POLICY OMP_DYNAMIC OMP_PROC_BIND
job() { # WHICH WORD...: one job, which has both CPUs
    local which=$1
    shift
    srun -Q -n1 -c2 "$@" "$PWD/build/kernels/${jobs[which]}" --class="$class" \
        --repeat="${repeat[which]}" >/dev/null
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
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'; }

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "${jobs[*]}, class $class, repeat ${repeat[*]}, $runs runs"
for way in "alone 0" "alone 1" after plain passive shared; do : >"$at/${way/ /}"; done
for _ in $(seq "$runs"); do
    for way in "alone 0" "alone 1" after plain passive shared; do
        # shellcheck disable=SC2086 # a function and its argument
        seconds $way >>"$at/${way/ /}"
    done
done
serial=$(cat <(median <"$at/alone0") <(median <"$at/alone1") | awk '{ sum += $1 } END { print sum }')
echo "serial seconds of both: $serial"
echo "| jobs | makespan, s | least to most | STP |"
echo "|---|---|---|---|"
for way in after plain passive shared; do
    median <"$at/$way" | awk -v way="$way" -v serial="$serial" \
        '{ printf "| %s | %.2f | %.2f to %.2f | %.2f |\n", way, $1, $2, $3, serial / $1 }'
done
scontrol show job -o | grep -o 'AdminComment=[^ ]*' | tail -2
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
