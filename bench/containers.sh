#!/bin/bash
# Two programs at the same time: both on the host, or the second in a container of bubblewrap's (process,
# mount, network and user name spaces of its own, read-only /usr) that has of scaf what `scaf cdi` says. Both
# with OMP_WAIT_POLICY=passive, or both under scaf. Interleaved runs; medians of the seconds that each says of
# itself, and what they are of those on the host. Needs what `make build` and `make demo` have built, and
# bubblewrap. PROGRAMS="lightgbm_fit xgboost_fit", REPEAT="6 7", RUNS=9 as they are set here.
set -euo pipefail
cd "$(dirname "$0")/.."
read -r -a programs <<<"${PROGRAMS:-lightgbm_fit xgboost_fit}"
read -r -a repeat <<<"${REPEAT:-6 7}"
runs=${RUNS:-9}
name=containers how="run 'make demo' and 'apt-get install bubblewrap'"
. bench/common.sh
require /usr/bin/bwrap .venv/bin/python
start_daemon

python=$(.venv/bin/python -c 'import sys; print(sys.base_prefix)')
wrap=(bwrap --unshare-all --die-with-parent --proc /proc --dev /dev --tmpfs /tmp --ro-bind /usr /usr
    --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin
    --ro-bind "$PWD" "$PWD" --ro-bind "$python" "$python")
mapfile -t gift < <("$scaf" cdi --socket "$SCAF_SOCKET" | python3 -c '
import json, sys
edits = json.load(sys.stdin)["devices"][0]["containerEdits"]
for variable in edits["env"]:
    print("--setenv", *variable.split("=", 1), sep="\n")
for mount in edits["mounts"]:
    print("--ro-bind", mount["hostPath"], mount["containerPath"], sep="\n")')

run() { # WHICH WAY PLACE INTO: one program; adds its seconds to those in that file
    local which=$1 words=(env OMP_NUM_THREADS=2)
    program "${programs[which]}" "${repeat[which]}"
    case $2-$3 in
    passive-*) words+=(OMP_WAIT_POLICY=passive) ;;
    scaf-host) words+=("$scaf" run --) ;;
    esac
    [ "$3" = host ] || words+=("${wrap[@]}")
    [ "$2-$3" != scaf-container ] || words+=("${gift[@]}")
    "${words[@]}" "${program[@]}" | sed -n 's/.*"seconds": *\([0-9.]*\),.*"verified": *true.*/\1/p' \
        >>"$at/$4.seconds"
}

echo "load before: $(load)"
echo "${programs[*]}, repeat ${repeat[*]}, $runs runs"
for _ in $(seq "$runs"); do
    for way in passive scaf; do
        for place in host container; do
            run 0 $way host $way-$place-0 & first=$!
            run 1 $way $place $way-$place-1 & second=$!
            wait $first
            wait $second
        done
    done
done
echo "| way | program | both on the host, s | one in a container, s | of the host |"
echo "|---|---|--:|--:|--:|"
for way in passive scaf; do
    for which in 0 1; do
        place=$([ $which = 0 ] && echo "on the host beside it" || echo "in the container")
        echo "$(median $way-host-$which) $(median $way-container-$which)" |
            awk -v name="${programs[which]}" -v way=$way -v place="$place" '
            { printf "| %s | %s, %s | %.2f (%.2f to %.2f) | %.2f (%.2f to %.2f) | %.3f |\n",
               way, name, place, $1, $2, $3, $4, $5, $6, $1 / $4 }'
    done
done
echo "load after: $(load)"
