# make demo     build everything that is needed and render a picture with an unmodified OpenCL program
# make check    what to run after each change: format, lints, unit and file tests, the suite on one device
# make test     the tests; make test T=compiler_switch: those of the test-suite whose names contain that
# make test-all all of the tests with Intel's driver too, on every simulated device, and the fuzzers
# make lint     format, lints, links of the documents, licences
# make bench    the measurements of docs/benchmarks.md
# make compare  BENCH=PROGRAM OPTIONS='...': Intel's compiler and ours on one model, docs/statistics.md
# make compare-code KERNELS=FOLDER BASE=GENCLC OPTIONS='...': the code that Intel's compiler, another build and this one make
# make fuzz     T=decoder MINUTES=30: coverage-guided fuzzing of a target, or of each (fuzz/fuzz_targets); takes cargo-fuzz
# make fuzz-ioctl MINUTES=30   random requests to the simulated render node; SEED=N to see a fault again
# make fuzz-kernels COUNT=1000   random kernels, compared with pocl; SEED=N for the first
# make fuzz-api MINUTES=30   random calls of the API from several threads; SEED=N to see a fault again
# make stress   MINUTES=10: load and attack: leaks, many at once, killed servers, limits, damaged caches and binaries; SEED=N to see a fault again
# make sanitize S=thread   the test-suite and fuzz-api under AddressSanitizer (S=address) or ThreadSanitizer; MINUTES=30 for the fuzzer
# make install  PREFIX=/usr/local DESTDIR=

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
RELEASE := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/release
DRIVER := OCL_ICD_VENDORS=$(RELEASE)/vendors GENCL_COMPILER=$(RELEASE)/genclc
T ?=
MINUTES ?= 5
COUNT ?= 1000
SEED ?=
S ?= address
DEVICE ?= skl

.PHONY: all demo check test test-all lint bench compare compare-code fuzz fuzz-api fuzz-ioctl fuzz-kernels stress sanitize install clean dependencies test-dependencies build

all: build

dependencies:
	@scripts/install-dependencies

test-dependencies:
	@scripts/install-dependencies --tests

build: dependencies
	$(CARGO) build --release -p gencl -p gencl-compiler -p gencl-render-node -p gencl-profile -p gencl-cli

$(RELEASE)/mandelbrot: examples/mandelbrot.c | dependencies
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -ffp-contract=off $< -o $@ -lOpenCL -lpng

demo: build $(RELEASE)/mandelbrot
	$(DRIVER) $(RELEASE)/mandelbrot

check: lint $(RELEASE)/mandelbrot
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' scripts/test --check '$(T)'

test: test-dependencies $(RELEASE)/mandelbrot
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' scripts/test '$(T)'

test-all: test-dependencies $(RELEASE)/mandelbrot
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' scripts/test --all '$(T)'

lint: dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	scripts/check-links
	scripts/check-crates
	scripts/check-modules
	scripts/check-generations
	scripts/check-words
	scripts/check-environment
	scripts/check-dependencies

bench: test-dependencies build
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' scripts/bench

compare: test-dependencies build
	RELEASE='$(RELEASE)' scripts/compare '$(BENCH)' $(OPTIONS)

compare-code: dependencies
	@$(CARGO) build --quiet --release -p gencl-compiler
	@RELEASE='$(RELEASE)' BASE='$(BASE)' DEVICE='$(DEVICE)' scripts/compare-code '$(KERNELS)' $(OPTIONS)

fuzz:
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' MINUTES='$(MINUTES)' scripts/fuzz $(T)

fuzz-ioctl:
	$(CARGO) build --release -p gencl-render-node
	$(RELEASE)/gencl-sim --device $(DEVICE) -- $(RELEASE)/gencl-fuzz-ioctl --seconds $$(($(MINUTES) * 60)) $(if $(SEED),--seed $(SEED))

fuzz-kernels: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) GENCL_DEBUG=validate $(RELEASE)/gencl-fuzz-kernels --count $(COUNT) $(if $(SEED),--seed $(SEED))

fuzz-api: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) $(RELEASE)/gencl-fuzz-api --seconds $$(($(MINUTES) * 60)) $(if $(SEED),--seed $(SEED))

stress: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) $(RELEASE)/gencl-stress --seconds $$(($(MINUTES) * 60)) --section '$(T)' --folder $(RELEASE)/../stress $(if $(SEED),--seed $(SEED))

sanitize: build
	CARGO='$(CARGO)' RELEASE='$(RELEASE)' MINUTES='$(MINUTES)' scripts/sanitize '$(S)' '$(T)'

install: build
	install -d '$(DESTDIR)$(PREFIX)/lib/gencl' '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)/etc/OpenCL/vendors'
	install -m 755 $(RELEASE)/libgencl.so '$(DESTDIR)$(PREFIX)/lib/gencl/libgencl.so'
	install -m 755 $(RELEASE)/genclc '$(DESTDIR)$(PREFIX)/bin/genclc'
	ln -sf ../../bin/genclc '$(DESTDIR)$(PREFIX)/lib/gencl/genclc'
	install -m 755 $(RELEASE)/libgencl_render_node.so '$(DESTDIR)$(PREFIX)/lib/gencl/libgencl_render_node.so'
	install -m 755 $(RELEASE)/gencl-sim '$(DESTDIR)$(PREFIX)/lib/gencl/gencl-sim'
	ln -sf ../lib/gencl/gencl-sim '$(DESTDIR)$(PREFIX)/bin/gencl-sim'
	install -m 755 $(RELEASE)/gencl-profile '$(DESTDIR)$(PREFIX)/lib/gencl/gencl-profile'
	ln -sf ../lib/gencl/gencl-profile '$(DESTDIR)$(PREFIX)/bin/gencl-profile'
	install -m 755 $(RELEASE)/gencl-stats '$(DESTDIR)$(PREFIX)/bin/gencl-stats'
	install -m 755 $(RELEASE)/gencl '$(DESTDIR)$(PREFIX)/bin/gencl'
	install -m 755 $(RELEASE)/gencl-objdump '$(DESTDIR)$(PREFIX)/bin/gencl-objdump'
	echo '$(PREFIX)/lib/gencl/libgencl.so' > '$(DESTDIR)/etc/OpenCL/vendors/gencl.icd'

clean:
	$(CARGO) clean
