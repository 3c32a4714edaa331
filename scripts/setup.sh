#!/bin/sh
# Installs what building and testing need beyond Rust: Debian packages, and the real programs in a Python
# environment in .venv; `setup.sh tests` also what only tests need, `setup.sh scaf` only the packages that
# scaf and two kernels are built with, `setup.sh python` only that environment. Does nothing if all is there.
# Without root or network it says what is missing.
set -eu
for=${1:-build}
cd "$(dirname "$0")/.."

fail() {
    echo "setup: $*" >&2
    exit 1
}

scaf_needs() {
    cat <<'PACKAGES'
build-essential /usr/bin/make
gcc /usr/bin/gcc
pkg-config /usr/bin/pkg-config
libhwloc-dev /usr/include/hwloc.h
libudev-dev /usr/include/libudev.h
PACKAGES
}

python_needs() {
    cat <<'PACKAGES'
libgomp1 /usr/lib/*/libgomp.so.1
python3-venv /usr/lib/python3*/venv/__init__.py /usr/lib/python3*/ensurepip/__init__.py
PACKAGES
}

build_needs() {
    scaf_needs
    python_needs
    cat <<'PACKAGES'
g++ /usr/bin/g++
gfortran /usr/bin/gfortran
clang /usr/bin/clang
libomp-dev /usr/lib/llvm-*/lib/libomp.so
musl-tools /usr/bin/musl-gcc
libtbb-dev /usr/include/oneapi/tbb.h /usr/include/tbb/tbb.h
libjemalloc2 /usr/lib/*/libjemalloc.so.2
libtcmalloc-minimal4 /usr/lib/*/libtcmalloc_minimal.so.4
imagemagick /usr/bin/convert-im6.q16 /usr/bin/magick
util-linux /usr/bin/taskset
procps /usr/bin/pgrep
PACKAGES
}

[ "$for" = python ] || why=$(scripts/rust.sh 2>&1) || fail "$why"
case $for in
scaf | python) "${for}_needs" ;;
*) build_needs ;;
esac | scripts/need.sh setup
[ "$for" != scaf ] || exit 0

if [ "$for" = tests ]; then
    had_prometheus=$(command -v promtool || true) had_slurm=$(command -v srun || true)
    scripts/need.sh setup <<'PACKAGES'
tmux /usr/bin/tmux
lua5.1 /usr/bin/lua5.1
libc6-i386 /lib/ld-linux.so.2
chromium /usr/bin/chromium
chromium-driver /usr/bin/chromedriver
prometheus /usr/bin/promtool
munge /usr/sbin/munged
slurmctld /usr/sbin/slurmctld
slurmd /usr/sbin/slurmd
slurm-client /usr/bin/srun
libslurm-dev /usr/include/slurm/spank.h
PACKAGES
    scripts/need.sh setup --no-install-recommends <<'PACKAGES'
slurmdbd /usr/sbin/slurmdbd
mariadb-server-core /usr/sbin/mariadbd
mariadb-client-core /usr/bin/my_print_defaults
openmpi-bin /usr/bin/mpirun.openmpi
libopenmpi-dev /usr/bin/mpicc.openmpi
mpich /usr/bin/mpirun.mpich
libmpich-dev /usr/bin/mpicc.mpich
PACKAGES
    # Half as many packages as with what podman recommends, for images and networks that tests don't use.
    scripts/need.sh setup --no-install-recommends <<'PACKAGES'
bubblewrap /usr/bin/bwrap
runc /usr/sbin/runc
podman /usr/bin/podman
PACKAGES
    # Debian starts what it installs; only the programs are wanted here.
    if [ -d /run/systemd/system ]; then
        [ -n "$had_prometheus" ] ||
            systemctl disable -q --now prometheus prometheus-node-exporter 2>/dev/null || true
        [ -n "$had_slurm" ] || systemctl disable -q --now munge slurmctld slurmd slurmdbd 2>/dev/null || true
    fi
fi

stamp=.venv/scaf-requirements
if ! cmp -s bench/real/requirements.txt "$stamp"; then
    echo "setup: Python environment with scikit-learn, LightGBM and XGBoost in .venv"
    python3 -m venv .venv || fail "python3 -m venv failed: install python3-venv"
    .venv/bin/pip install -q --disable-pip-version-check -r bench/real/requirements.txt ||
        fail "pip could not install bench/real/requirements.txt (is the network reachable?)"
    cp bench/real/requirements.txt "$stamp"
fi
