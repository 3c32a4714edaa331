# Two commands do everything: `make demo` and `make test`. The others are their parts.

CARGO   ?= cargo
PREFIX  ?= /usr/local
BIN     := target/release
KERNELS := build/kernels

.PHONY: demo test build setup kernels check-format lint unit loom e2e purity docs install clean

demo: build
	scripts/demo.sh

test: build
	scripts/test.sh

setup:
	scripts/setup.sh

build: setup kernels
	$(CARGO) build --release --locked

kernels:
	$(MAKE) --no-print-directory -s -C bench/kernels BUILD=$(abspath $(KERNELS))

install: build
	scripts/install.sh "$(DESTDIR)$(PREFIX)"

clean:
	$(CARGO) clean
	rm -rf build .venv
