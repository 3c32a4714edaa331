#!/bin/bash
# Installs the package into a clean Debian 12 without a compiler, booted in a container of its own: co-runs
# programs as a normal user, upgrades while they run, and purges; then a co-run by the wheel, and a job of
# Slurm's by scaf-slurm. Needs root, and the network for Debian's and Python's packages; takes some 6 minutes,
# and one more the first time.
# PREVIOUS=FILE upgrades from that package, else from this one under a lower version.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "deb-test: $*" >&2
    exit 1
}
say() {
    printf '\n== %s\n' "$*"
}

version=$(scripts/version.sh | tr - '~')
package=$PWD/build/scaf_${version}_amd64.deb plugin=$PWD/build/scaf-slurm_${version}_amd64.deb
{ [ -f "$package" ] && [ -f "$plugin" ]; } || fail "there is no package; run: make deb"
wheel=$(ls build/scaf-*.whl 2>/dev/null) || fail "there is no wheel; run: make wheel"
[ -x build/kernels/cg ] || fail "there are no programs to run; run: make kernels"
[ "$(id -u)" -eq 0 ] || fail "a container needs root; run: sudo make deb-test"
scripts/need.sh deb-test <<'PACKAGES'
mmdebstrap /usr/bin/mmdebstrap
systemd-container /usr/bin/systemd-nspawn
procps /usr/bin/pgrep
util-linux /usr/bin/nsenter
PACKAGES

# The clean root, kept as an archive. libgomp1 is the programs', not ours.
base=build/deb-root.tar
if [ ! -f "$base" ]; then
    say "a Debian 12 root: $base"
    mmdebstrap --quiet --format=tar --variant=apt \
        --include=systemd,systemd-sysv,dbus,libpam-systemd,libgomp1,procps bookworm "$base.part"
    mv "$base.part" "$base"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/scaf-deb-test.XXXXXX")
root=$work/root
container="" leader=""
# Where the container's control groups will be, if systemd-nspawn has to make them itself.
groups=$(for at in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
    for name in payload supervisor; do [ -d "$at/$name" ] || echo "$at/$name"; done
done)

clean() {
    status=$?
    trap - EXIT INT TERM
    set +e
    if [ -n "$container" ]; then
        # systemd-nspawn takes the signal for a wish to power off; what doesn't is ended with its init.
        kill -TERM "$container" 2>/dev/null
        for _ in $(seq 100); do kill -0 "$container" 2>/dev/null || break; sleep 0.1; done
        [ -z "$leader" ] || kill -KILL "$leader" 2>/dev/null
        kill -KILL "$container" 2>/dev/null
        wait "$container" 2>/dev/null
    fi
    [ $status -eq 0 ] || { [ ! -f "$work/console" ] || tail -5 "$work/console" >&2; }
    rm -rf --one-file-system "$work"
    # Where it isn't booted itself, systemd-nspawn leaves this one.
    rmdir /run/systemd/nspawn/propagate/scaf-deb-test-$$ 2>/dev/null
    for group in $groups; do
        [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
    done
    ! grep -q "$work" /proc/mounts || { echo "deb-test: a mount is left below $work" >&2; status=1; }
    [ ! -e "$work" ] || { echo "deb-test: $work is left" >&2; status=1; }
    exit "$status"
}
trap clean EXIT
trap 'exit 130' INT TERM

mkdir "$root"
tar -xf "$base" -C "$root"
install -D -m 755 -t "$root/opt/kernels" build/kernels/cg build/kernels/ep build/kernels/mg
# For the demo: the sources without anything built, and pip as this machine is set up.
mkdir -p "$root/opt/scaf"
git archive HEAD | tar -x -C "$root/opt/scaf"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/opt/certificates.crt"
mkdir "$root/opt/packages"
cp "$wheel" "$root/opt/packages/"
cp "$package" "$root/opt/packages/new.deb"
cp "$plugin" "$root/opt/packages/slurm.deb"
if [ -n "${PREVIOUS:-}" ]; then
    cp "$PREVIOUS" "$root/opt/packages/old.deb"
else
    dpkg-deb -R "$package" "$work/old"
    sed -i "s/^Version: .*/Version: $version~0/" "$work/old/DEBIAN/control"
    dpkg-deb -Znone -b "$work/old" "$root/opt/packages/old.deb" >/dev/null
fi

say "boot"
alone=""
[ -d /run/systemd/system ] || alone="--register=no --keep-unit"
# shellcheck disable=SC2086 # two options or none
systemd-nspawn $alone --quiet --directory="$root" --machine="scaf-deb-test-$$" --resolv-conf=copy-host \
    --boot >"$work/console" 2>&1 </dev/null &
container=$!

inside() {
    nsenter --target "$leader" --all --root -- env -C / -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}
user() {
    inside runuser -u alice -- env HOME=/home/alice "$@"
}
apt() {
    inside apt-get -y -qq "$@" >"$work/apt" 2>&1 || { tail "$work/apt" >&2; fail "apt-get $* failed"; }
}
until_so() { # WHAT SECONDS COMMAND...
    local what=$1 deadline=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || fail "waited in vain for $what"
        kill -0 "$container" 2>/dev/null || fail "the container has ended"
        sleep 0.2
    done
}
init() {
    leader=$(pgrep -P "$container" | head -1)
    [ -n "$leader" ] && [ "$(cat "/proc/$leader/comm")" = systemd ]
}
until_so "the container's init" 60 init
until_so "the container to be up" 120 inside systemctl is-active multi-user.target
inside useradd --create-home alice
inside apt-get update -qq
inside apt-get install -y -qq make python3-venv >"$work/apt" 2>&1 || fail "apt-get install make failed"
for tool in cc gcc g++ clang ld rustc cargo; do
    ! inside sh -c "command -v $tool" || fail "there is a compiler in the clean root"
done

listing() { # all files that a package could leave, but for what apt and dpkg write down
    inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp \
        -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg \
        -o -path /var/lib/systemd -o -path /var/tmp -o -path /home \) -prune -o -print | LC_ALL=C sort
}
listing >"$work/before"

say "install the version before"
started=$(date +%s%N)
apt install /opt/packages/old.deb
echo "apt install ./scaf.deb: $((($(date +%s%N) - started) / 1000000)) ms"
inside systemctl is-active scafd.socket || fail "the socket isn't listened on"
! inside systemctl is-active --quiet scafd.service || fail "the daemon runs although nobody has come"

say "units"
inside systemd-analyze verify --man=no /lib/systemd/system/scafd.socket /lib/systemd/system/scafd.service
inside systemd-analyze security --offline=yes --no-pager /lib/systemd/system/scafd.service | tail -1

say "a user's first commands"
user scaf --version
user scaf ps
inside systemctl is-active --quiet scafd.service || fail "the daemon wasn't started by its socket"
user scaf doctor
user scaf doctor /opt/kernels/cg
main=$(inside systemctl show --property=MainPID --value scafd.service)
columns="-o user= -o pid= -o ppid= -o comm="
inside sh -c "ps $columns --pid $main; ps $columns --ppid $main" | tee "$work/who"
grep -q '^scaf .* scafd$' "$work/who" || fail "no daemon runs as the user scaf"

start() { # NAME COMMAND...: a program of alice's under scaf run, below /home/alice
    local name=$1
    shift
    user sh -c "cd; scaf run -- $* >$name.out 2>$name.err; echo \$? >$name.status" &
}
attached() { # NUMBER: so many programs have a grant of contexts
    local count='import json, sys; print(len(json.load(sys.stdin)["programs"]))'
    [ "$(user scaf ps --json | python3 -c "$count")" = "$1" ]
}
ended() { # NAME: as it would alone, without a word
    until_so "$1 to end" 300 inside test -s "/home/alice/$1.status"
    [ "$(inside cat "/home/alice/$1.status")" = 0 ] || fail "$1 failed: $(inside cat "/home/alice/$1.err")"
    [ -z "$(inside cat "/home/alice/$1.err")" ] || fail "$1: $(inside cat "/home/alice/$1.err")"
    inside cat "/home/alice/$1.out"
}

say "a co-run"
start first /opt/kernels/ep --class=S
start second /opt/kernels/ep --class=S
ended first
ended second
echo "apt install ./scaf.deb, first commands and a co-run: $((($(date +%s%N) - started) / 1000000)) ms"
start cg /opt/kernels/cg --class=W --repeat=60
start ep /opt/kernels/ep --class=W --repeat=40
until_so "two programs under management" 60 attached 2
user scaf ps -v

say "upgrade while they run"
before=$(inside systemctl show --property=MainPID --value scafd.service)
apt install /opt/packages/new.deb
after=$(inside systemctl show --property=MainPID --value scafd.service)
{ [ "$after" != 0 ] && [ "$before" != "$after" ]; } || fail "the daemon wasn't restarted"
inside dpkg-query -W scaf
! inside test -e /home/alice/cg.status || fail "cg ended before the upgrade: give it more work"
until_so "both to attach to the new daemon" 60 attached 2
user scaf ps
ended cg
ended ep

demo() { # PATH OF SCAF: by what is installed
    say "make demo, without a toolchain, by $1"
    inside env HOME=/tmp/home PATH="${1%/*}:/usr/sbin:/usr/bin:/sbin:/bin" PYTHONDONTWRITEBYTECODE=1 \
        PIP_CERT=/opt/certificates.crt make -C /opt/scaf demo | tee "$work/demo"
    grep -q "this is $1, as it is installed" "$work/demo" || fail "the demo shows another scaf"
    grep -q '^ scaf ' "$work/demo" || fail "the demo shows no row of scaf"
    inside test -s /opt/scaf/build/demo/demo-real.svg || fail "the demo drew no picture"
    inside rm -rf /opt/scaf/.venv /opt/scaf/build /tmp/home
}
demo /usr/bin/scaf

say "a user's own daemon"
inside systemctl start user@1000.service
own() {
    inside runuser -u alice -- env HOME=/home/alice XDG_RUNTIME_DIR=/run/user/1000 "$@"
}
own systemctl --user start scafd.socket
own env SCAF_SOCKET=/run/user/1000/scaf/scafd.sock scaf ps
own systemctl --user is-active --quiet scafd.service || fail "the session's socket starts no daemon"
left() {
    ! own systemctl --user is-active --quiet scafd.service
}
until_so "it to leave, being idle" 60 left
own env SCAF_SOCKET=/run/user/1000/scaf/scafd.sock scaf ps
own systemctl --user stop scafd.socket
inside systemctl stop user@1000.service

say "purge while a program runs"
inside scaf cdi --write
inside test -s /etc/cdi/scaf.json || fail "containers aren't told"
start last /opt/kernels/ep --class=W --repeat=40
until_so "a program under management" 60 attached 1
apt purge --autoremove scaf
narrowed() {
    local all='cat /proc/1/status /proc/$(pgrep -x ep)/task/*/status'
    [ "$(inside sh -c "$all" | grep Cpus_allowed_list | sort -u | wc -l)" != 1 ]
}
! inside test -e /home/alice/last.status || fail "it ended before the purge: give it more work"
! narrowed || fail "it doesn't have all contexts again"
ended last
! inside pgrep -l scafd || fail "a daemon is left"
# The network is this machine's own, whose users may have daemons elsewhere.
! inside grep ' /run/.*scafd\.sock' /proc/net/unix || fail "a socket is left"
[ -z "$(inside find /run /tmp /var/lib /var/log /etc /home -name '*scaf*')" ] ||
    fail "left: $(inside find /run /tmp /var/lib /var/log /etc /home -name '*scaf*')"
listing >"$work/after"
diff "$work/before" "$work/after" || fail "the lines above are left, or missing"
inside grep '^scaf:' /etc/passwd
say "nothing is left but the system user"

say "the wheel, in the same root: a co-run of a user's, and the demo"
user sh -c 'cd; mkdir -p wheel/build wheel/scripts; cp /opt/packages/scaf-*.whl wheel/build/
    cp /opt/scaf/scripts/wheel-test.sh wheel/scripts/; sh wheel/scripts/wheel-test.sh; rm -r wheel'
inside python3 -m venv /tmp/wheel
inside sh -c '/tmp/wheel/bin/pip install -q --disable-pip-version-check --no-index /opt/packages/scaf-*.whl'
demo /tmp/wheel/bin/scaf
inside rm -rf /tmp/wheel
! inside pgrep -l scafd || fail "a daemon of the wheel's is left"

say "scaf-slurm: a job of a user's on a node of one"
apt install --no-install-recommends slurmctld slurmd slurm-client munge /opt/packages/new.deb
apt install /opt/packages/slurm.deb
host=$(inside hostname -s)
inside tee /etc/slurm/slurm.conf >/dev/null <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 Port=17818 CPUs=2
PartitionName=p Nodes=$host Default=YES OverSubscribe=FORCE:2
CONF
inside systemctl restart munge slurmctld slurmd
idle() { [ "$(inside sinfo -h -o %T)" = idle ]; }
(until_so "the node to be idle" 60 idle) || {
    inside journalctl --no-pager -n 20 -u munge -u slurmctld -u slurmd >&2
    exit 1
}
user sh -c 'cd; srun -Q -c2 --scaf=max=1 /opt/kernels/ep --class=W --repeat=20 >job.out 2>job.err &'
of_a_job() {
    local all='import json, sys; print([p["job"] for p in json.load(sys.stdin)["programs"]])'
    user scaf ps --json | python3 -c "$all" | tee "$work/job" | grep -q "'"
}
until_so "a program of a job" 60 of_a_job
echo "job and step: $(cat "$work/job")"
finished() { [ -s "$root/home/alice/job.out" ]; }
until_so "the job's end" 120 finished
inside cat /home/alice/job.out /home/alice/job.err
inside grep -q '"verified":true' /home/alice/job.out || fail "the job failed"
[ ! -s "$root/home/alice/job.err" ] || fail "the job complained"
inside scontrol show job -o | grep -o 'AdminComment=scaf:[^ ]*' || fail "nothing is in the job's record"
apt purge scaf-slurm
inside sh -c 'cd /tmp; srun -Q /opt/kernels/ep --class=S' || fail "without the package no job runs"
