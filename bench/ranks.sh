#!/bin/bash
# What bench/mpi.sh and bench/gromacs.sh share; each sources it from the checkout's top, with $name as its own
# name and $at as a folder for its files. Starts a daemon of its own, which ends with the script.
scaf=$PWD/${SCAF:-target/release/scaf}
daemon=
clean() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
    rm -rf "$at"
}
trap clean EXIT
trap 'exit 130' INT TERM

require() { # FILE...: says what is missing
    local file
    for file in "$scaf" "$@"; do
        [ -e "$file" ] && continue
        echo "bench/$name.sh: $file is missing: $how" >&2
        exit 1
    done
}

start_daemon() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SCAF_SOCKET=$at/scafd.sock
    unset OMP_NUM_THREADS OMP_WAIT_POLICY OMP_DYNAMIC OMP_PROC_BIND GOMP_SPINCOUNT
    echo "count_load = false" >"$at/scafd.toml"
    "$(dirname "$scaf")/scafd" --session --idle-exit 0 --socket "$SCAF_SOCKET" --policy equi \
        --config "$at/scafd.toml" 2>"$at/log" &
    daemon=$!
    until [ -S "$SCAF_SOCKET" ]; do sleep 0.1; done
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
