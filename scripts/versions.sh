#!/bin/bash
# This version and earlier ones, built from git, in one machine's traffic: a program that was started by one
# version while its daemon is replaced by the other's, and the other way round. It ends as it would alone;
# where both speak the same protocol it is managed again, else `scaf` says so. Building takes some minutes,
# the first time; the binaries stay in build/versions.
set -euo pipefail
cd "$(dirname "$0")/.."

# 0.2.0, and the last commit with protocol 8. COMMITS="..." takes others.
commits=${COMMITS:-f8000ff 3f7b0e7}

fail() {
    echo "versions: $*" >&2
    [ ! -s "${work:-}/log" ] || tail -5 "$work/log" >&2
    exit 1
}
protocol() { # COMMIT
    git show "$1:crates/scaf-proto/src/lib.rs" | sed -n 's/^pub const VERSION: u32 = \([0-9]*\);$/\1/p'
}

new=$PWD/target/release
kernel=$PWD/build/kernels/is
for file in "$new/scaf" "$new/scafd" "$new/libscaf.so" "$kernel"; do
    [ -x "$file" ] || [ -f "$file" ] || fail "$file is missing; run: make build"
done
ours=$(sed -n 's/^pub const VERSION: u32 = \([0-9]*\);$/\1/p' crates/scaf-proto/src/lib.rs)

for commit in $commits; do
    built=$PWD/build/versions/$commit
    [ ! -f "$built/libscaf.so" ] || continue
    echo "versions: building $commit, protocol $(protocol "$commit")"
    mkdir -p "$built/source"
    # With the time of now: by the commit's, cargo would take what another commit left for newer.
    git archive "$commit" | tar -x -m -C "$built/source"
    target=$PWD/build/versions/target
    (cd "$built/source" &&
        cargo build --release --locked --quiet --target-dir "$target" -p scaf -p scafd -p libscaf)
    cp "$target"/release/{scaf,scafd,libscaf.so} "$built/"
    rm -rf "$built/source"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/scaf-versions.XXXXXX")
daemon=""
declare -A pids=()
clean() {
    # shellcheck disable=SC2086 # one or none
    kill "${pids[@]}" $daemon 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap clean EXIT
export SCAF_SOCKET=$work/daemon.sock XDG_DATA_HOME=$work/data
echo "count_load = false" >"$work/scafd.toml"

serve() { # FOLDER: its daemon in place of the one before, which takes a name of its own, to be told apart
    stop
    ln -sf "$1/scafd" "$work/daemon"
    "$work/daemon" --session --idle-exit 0 --socket "$SCAF_SOCKET" --policy equi --config "$work/scafd.toml" \
        2>>"$work/log" &
    daemon=$!
    until_so "the daemon of $1" test -S "$SCAF_SOCKET"
}
stop() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon" || true; }
    daemon=""
}
until_so() { # WHAT COMMAND...
    local what=$1 deadline=$((SECONDS + 60))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || fail "waited in vain for $what"
        sleep 0.2
    done
}
start() { # FOLDER NAME REPEAT: a program by its scaf and library
    SCAF_LIB=$1/libscaf.so "$1/scaf" run -- "$kernel" --class=S --repeat="$3" \
        >"$work/$2.out" 2>"$work/$2.err" &
    pids[$2]=$!
}
attached() { # FOLDER NUMBER: so many programs are managed, as its scaf says
    local count='import json, sys
print(sum(it["dop"] is not None for it in json.load(sys.stdin)["programs"]))'
    [ "$("$1/scaf" ps --json 2>/dev/null | python3 -c "$count")" = "$2" ]
}
says() { # WORDS COMMAND...
    local words=$1
    shift
    grep -q -- "$words" <<<"$("$@" 2>&1 || true)"
}
ended() { # NAME: as alone
    wait "${pids[$1]}" || fail "$1 failed: $(cat "$work/$1.err")"
    unset "pids[$1]"
    grep -q '"verified":true' "$work/$1.out" || fail "$1: $(cat "$work/$1.out")"
    [ "$(value "$1")" = "$(value alone)" ] || fail "$1: $(cat "$work/$1.out")"
}
value() {
    sed -n 's/.*"value":"\([^"]*\)".*/\1/p' "$work/$1.out"
}
"$kernel" --class=S >"$work/alone.out"

# A program of FROM's whose daemon is replaced by TO's, and one that comes then.
pass() { # FROM TO WHAT SAME
    serve "$1"
    start "$1" first 4000
    until_so "$3: the program to be managed" attached "$1" 1
    serve "$2"
    if [ "$4" = yes ]; then
        until_so "$3: it to be managed again" attached "$2" 1
        start "$1" second 1000
        until_so "$3: both to be managed" attached "$2" 2
        result="managed again"
    else
        until_so "$3: the daemon's word" says "speaks version" cat "$work/log"
        [ "$2" != "$new" ] ||
            until_so "$3: scaf ps to tell" says "(${pids[first]}) runs unmanaged" "$2/scaf" ps
        start "$1" second 1000
        if [ "$1" = "$new" ]; then
            until_so "$3: scaf run to tell" \
                says "runs unmanaged: the daemon speaks version" cat "$work/second.err"
            says "mend it with: kill -9 $daemon" "$1/scaf" doctor || fail "$3: scaf doctor doesn't tell"
            says "mend it with: kill -9 $daemon" "$1/scaf" ps || fail "$3: scaf ps doesn't tell"
        fi
        attached "$2" 0 || fail "$3: it is managed all the same"
        result="runs unmanaged, and scaf says so"
    fi
    ended first
    ended second
    [ ! -s "$work/first.err" ] || fail "$3: $(cat "$work/first.err")"
    [ "$(wc -l <"$work/second.err")" -le 1 ] || fail "$3: $(cat "$work/second.err")"
    stop
    rm -f "$work/log"
    echo "versions: $3: $result; its results are those alone"
}

for commit in $commits; do
    old=$PWD/build/versions/$commit theirs=$(protocol "$commit")
    [ "$theirs" = "$ours" ] && same=yes || same=no
    pass "$old" "$new" "a program of $commit (protocol $theirs), this daemon ($ours)" "$same"
    pass "$new" "$old" "a program of this version ($ours), the daemon of $commit ($theirs)" "$same"
done
