#!/bin/bash
# What bench/mpi.sh, bench/gromacs.sh, bench/slurm.sh and bench/containers.sh share. Each sources it from the
# checkout's top, with $name as its own name and $how as what to do where something is missing. Makes $at, a
# folder for the script's files; that and all processes by `begin` end with the script.
scaf=$PWD/${SCAF:-target/release/scaf}
at=$(mktemp -d "${TMPDIR:-/tmp}/scaf-$name.XXXXXX")
started=()
clean() {
    status=$?
    trap - EXIT INT TERM
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill "${started[i]}" 2>/dev/null || true
        wait "${started[i]}" 2>/dev/null || true
    done
    rm -rf "$at"
    exit $status
}
trap clean EXIT
trap 'exit 130' INT TERM
unset OMP_NUM_THREADS OMP_WAIT_POLICY OMP_DYNAMIC OMP_PROC_BIND GOMP_SPINCOUNT

begin() { # WORD...: a process beside the script
    "$@" >>"$at/said" 2>&1 &
    started+=($!)
}

require() { # FILE...: says what is missing
    local file
    for file in "$scaf" "$@"; do
        [ -e "$file" ] && continue
        echo "bench/$name.sh: $file is missing: $how" >&2
        exit 1
    done
}

start_daemon() { # OPTION...
    export SCAF_SOCKET=$at/scafd.sock
    begin "$(dirname "$scaf")/scafd" --session --idle-exit 0 --socket "$SCAF_SOCKET" "$@"
    until [ -S "$SCAF_SOCKET" ]; do sleep 0.1; done
}

start_daemon_for_ranks() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    echo "count_load = false" >"$at/scafd.toml"
    start_daemon --policy equi --config "$at/scafd.toml"
}

choose() { # WAY: what a rank is started by ($under), and its threads ($threads)
    threads=2
    case $1 in
    plain) under=(env OMP_NUM_THREADS=2) ;;
    passive) under=(env OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive) ;;
    one) under=(env OMP_NUM_THREADS=1) threads=1 ;;
    scaf) under=(env OMP_NUM_THREADS=2 "$scaf" run --) ;;
    *) echo "bench/$name.sh: there is no way '$1'" >&2; exit 2 ;;
    esac
}

program() { # NAME REPEAT [CLASS]: $program is the words of a kernel of ours, or of a program in bench/real
    local kernel=build/kernels/$1 script=bench/real/$1.py
    if [ -e "$script" ]; then
        require .venv/bin/python
        program=("$PWD/.venv/bin/python" "$PWD/$script" "--repeat=$2")
    else
        require "$kernel"
        program=("$PWD/$kernel" "--class=${3:-W}" "--repeat=$2")
    fi
}

load() { cut -d' ' -f1-3 /proc/loadavg; }

median() { # WAY: and the least and the most
    sort -n "$at/$1.seconds" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[1], all[NR] }'
}

row() { # WAY: its median, the range, and passive's median over its own
    local passive=0
    [ ! -s "$at/passive.seconds" ] || passive=$(median passive | cut -d' ' -f1)
    median "$1" | awk -v passive="$passive" '
        { printf "%.2f | %.2f to %.2f | ", $1, $2, $3
          print (passive > 0) ? sprintf("%.2f", passive / $1) : "" }'
}
