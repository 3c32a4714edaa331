#!/bin/sh
# Fails if a test left a daemon, a client's socket, a cgroup or a changed affinity behind.
set -eu

fail() {
    echo "left behind: $*" >&2
    exit 1
}

# One that has ended and waits for init to take note of it is gone.
if pgrep -x -r R,S,D,T,t scafd >/dev/null; then
    fail "a daemon: $(pgrep -a -x -r R,S,D,T,t scafd)"
fi
sockets=$(grep -o '@\?[^ ]*scafd\.sock' /proc/net/unix | sort -u || true)
[ -z "$sockets" ] || fail "sockets: $sockets"
files=$(find /run/scaf "${XDG_RUNTIME_DIR:-/nonexistent}/scaf" "/tmp/scaf-$(id -u)" -name 'scafd.sock' \
    2>/dev/null || true)
[ -z "$files" ] || fail "socket files: $files"
groups=$(find /sys/fs/cgroup -type d -name 'scaf*' 2>/dev/null || true)
[ -z "$groups" ] || fail "cgroups: $groups"
all=$(grep Cpus_allowed_list /proc/1/status | cut -f2)
mine=$(grep Cpus_allowed_list /proc/self/status | cut -f2)
[ "$all" = "$mine" ] || fail "an affinity of $mine where $all was"
