#!/bin/sh
# All tests, in the order of what depends on what. Stops at the first failure.
set -eu
cd "$(dirname "$0")/.."

# Root tries the daemon for all users, with programs of users without rights: they have to get at what is
# built.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && ! $nobody test -r "$PWD/scripts/test.sh"; then
    echo "test: other users can't read $PWD, and some tests are theirs; move the checkout to /srv, say" >&2
    exit 1
fi

# Where the kernel groups programs by session, folded threads may keep the kernel's own workers from a PU for
# a minute (docs/internals/mechanisms.md, Fold), and tests wait in vain. Only root may change that; it is
# changed back.
switch=/proc/sys/kernel/sched_autogroup_enabled
if [ -w "$switch" ] && [ "$(cat "$switch")" = 1 ]; then
    trap 'echo 1 >"$switch"' EXIT
    trap 'exit 1' HUP INT TERM
    echo 0 >"$switch"
fi

# LLVM's runtime leaves a file for each program that is killed, and may refuse a later one with its number.
forget_killed() {
    for file in /dev/shm/__KMP_REGISTERED_LIB_*_*; do
        pid=${file#/dev/shm/__KMP_REGISTERED_LIB_}
        [ -d "/proc/${pid%_*}" ] || rm -f "$file" 2>/dev/null || true
    done
}
forget_killed

began=$(date +%s)
step() {
    printf '\n== %s (after %s s)\n' "$*" $(($(date +%s) - began))
}

step "formatting"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

step "imports go downwards, lines are short, paths exist, the policies are pure"
scripts/purity.sh

step "recipes of the corpus, programs of the gallery"
python3 bench/corpus/run.py --check
python3 bench/gallery/gallery.py check

step "unit, property and fuzz tests"
cargo test --workspace --locked --exclude scaf-tests

step "shared pages, barrier and parking under every interleaving"
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom \
    cargo test --release --locked -p scaf-proto -p scaf-team --test loom

step "kernels: every form at 1 to 4 threads"
bench/kernels/check.sh

step "end to end: the real daemon, real programs, real faults"
cargo test --release --locked -p scaf-tests

step "generated programs: scaf changes none"
python3 fuzz/programs/hunt.py --count 150

step "the Python module"
scripts/python.sh

step "nothing is left behind"
forget_killed
scripts/leftovers.sh
