# Two commands do everything: `make demo` and `make test`. The others are their parts.

CARGO   ?= cargo
PREFIX  ?= /usr/local
BIN     := target/release
KERNELS := build/kernels

.PHONY: demo test hunt soak faults suites gallery versions reproducible deb deb-test wheel wheel-test build setup kernels \
	check-format lint unit loom e2e purity docs install clean

demo:
	scripts/demo.sh

test: build
	scripts/setup.sh tests
	scripts/test.sh

setup:
	scripts/setup.sh

build: setup kernels
	$(CARGO) build --release --locked

kernels:
	$(MAKE) --no-print-directory -s -C bench/kernels BUILD=$(abspath $(KERNELS))

# Chaos for SECONDS seconds: grants without sense, a thousand a second, and results compared.
SECONDS ?= 3600
soak: build
	SCAF_SOAK_S=$$(( $(SECONDS) / 4 )) $(CARGO) test --release --locked -p scaf-tests chaos -- --nocapture

# The fault campaign: so many faults at random moments, and as large a part of all others (docs/internals/security.md).
FAULTS ?= 10000
faults: build
	SCAF_FAULTS=$(FAULTS) $(CARGO) test --release --locked -p scaf-tests campaign -- --nocapture
	scripts/leftovers.sh

# Generated programs, of which scaf must change none; from seed FIRST on.
hunt: build
	python3 fuzz/programs/hunt.py --first $(or $(FIRST),1) --count $(or $(COUNT),300)

# Real programs' own tests, managed and not; some minutes.
suites: build setup kernels
	scripts/suites.sh

# Real programs by others, alone and beside rivals: installs them, and takes some hours.
gallery: build setup kernels
	python3 bench/gallery/gallery.py install
	python3 bench/gallery/gallery.py run --rivals --into build/gallery/results.json
	python3 bench/gallery/gallery.py table build/gallery/results.json >build/gallery/results.md

# Programs of this version beside daemons of earlier ones, and the other way round; builds these from git.
versions: build kernels
	scripts/versions.sh

# A wheel for PyPI in build/, and a co-run with it in a fresh environment.
wheel:
	scripts/wheel.sh

wheel-test:
	scripts/wheel-test.sh

# build/scaf_VERSION_amd64.deb
deb:
	scripts/deb.sh

# The package in a clean Debian 12 without a compiler; needs root and the network, some minutes.
deb-test: deb wheel kernels
	scripts/deb-test.sh

# Package and wheel built twice from clean clones, and compared; some ten minutes.
reproducible:
	scripts/reproducible.sh

# What `make build` built; as root, for PREFIX=/usr/local.
install:
	DESTDIR="$(DESTDIR)" scripts/install.sh "$(PREFIX)"

clean:
	$(CARGO) clean
	rm -rf build .venv
