# make demo     build everything that is needed and render a picture with an unmodified OpenCL program
# make check    what to run after each change: format, lints, unit and file tests, the suite on one device
# make test     the tests; make test T=compiler_switch: those of the test-suite whose names contain that
# make test-all all of the tests with Intel's driver too, on every simulated device, and the fuzzers
# make lint     format, lints, links of the documents, licences
# make bench    the measurements of docs/measurements/benchmarks.md; OPTIONS='...' for those of utest/kernels/bench, as bench compare --help says
# make compare  BENCH=PROGRAM OPTIONS='...': Intel's compiler and ours on one model, docs/measurements/code.md
# make compare-code KERNELS=FOLDER BASE=GENCLC OPTIONS='...': the code that Intel's compiler, another build and this one make
# make fuzz     T=decoder MINUTES=30: coverage-guided fuzzing of a target, or of each (fuzz/fuzz_targets); takes cargo-fuzz
# make fuzz-ioctl MINUTES=30   random requests to the simulated render node; SEED=N to see a fault again
# make fuzz-kernels COUNT=1000   random kernels, compared with pocl; SEED=N for the first
# make fuzz-api MINUTES=30   random calls of the API from several threads; SEED=N to see a fault again
# make stress   MINUTES=10: load and attack: leaks, many at once, killed servers, limits, damaged caches and binaries; SEED=N to see a fault again
# make sanitize S=thread   the test-suite and fuzz-api under AddressSanitizer (S=address) or ThreadSanitizer; MINUTES=30 for the fuzzer
# make build    everything that is installed
# make install  what make build has built, below PREFIX=/usr/local; DESTDIR= for packages
# make uninstall   what make install has installed there
# make deb      the Debian packages, in target/debian; takes cargo-deb
# make wheel    the wheel for pip, in target/dist
# make dist     a tarball for any Linux, in target/dist
# make help     this list

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
RELEASE := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/release
# For the shell, as paths may have spaces in them.
export RELEASE PREFIX DESTDIR
DRIVER := OCL_ICD_VENDORS="$$RELEASE/vendors" GENCL_COMPILER="$$RELEASE/genclc"
T ?=
MINUTES ?= 5
COUNT ?= 1000
SEED ?=
S ?= address
DEVICE ?= skl

.PHONY: all help demo mandelbrot check test test-all lint bench compare compare-code fuzz fuzz-api fuzz-ioctl fuzz-kernels stress sanitize install uninstall deb wheel dist clean dependencies test-dependencies build

all: build

help:
	@sed -n '/^# /!q; s/^# //p' Makefile

dependencies:
	@scripts/install-dependencies

test-dependencies:
	@scripts/install-dependencies --tests

build: dependencies
	$(CARGO) build --release -p gencl -p gencl-compiler -p gencl-render-node -p gencl-profile -p gencl-check -p gencl-debug -p gencl-cli -p gencl-commands
	"$$RELEASE/gencl-manual" target/manual

mandelbrot: dependencies
	@mkdir -p "$$RELEASE"
	$(CC) -O2 -Wall -Wextra -ffp-contract=off examples/mandelbrot.c -o "$$RELEASE/mandelbrot" -lOpenCL -lpng

demo:
	@echo '== 1 of 3: what gencl is built from, by apt where something is missing'
	@scripts/install-dependencies
	@echo '== 2 of 3: the driver and its compiler: some 5 minutes on two cores, the first time'
	@$(CARGO) build --release -p gencl -p gencl-compiler -p gencl-cli -p gencl-profile -p gencl-check -p gencl-debug || \
	    { echo 'The build failed, as the lines above say. After a failed download, run make demo again: it goes on from here.'; exit 1; }
	@echo '== 3 of 3: examples/mandelbrot.c, an OpenCL program that knows nothing of gencl, on the simulated GPU'
	@$(MAKE) --no-print-directory mandelbrot
	@$(DRIVER) "$$RELEASE/mandelbrot"
	@echo 'The picture is mandelbrot.png. Other programs run so:  export OCL_ICD_VENDORS="'"$$RELEASE"'/vendors" PATH="'"$$RELEASE"':$$PATH"; clinfo'
	@echo 'Then:  gencl diagnose  says what works, and  gencl-profile -- ./program  which lines of its kernels take the time.'

check: lint mandelbrot
	CARGO='$(CARGO)' scripts/test --check '$(T)'

test: test-dependencies mandelbrot
	CARGO='$(CARGO)' scripts/test '$(T)'

test-all: test-dependencies mandelbrot
	CARGO='$(CARGO)' scripts/test --all '$(T)'

lint: dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	scripts/check-links
	scripts/check-docs
	scripts/diagrams --check
	scripts/check-crates
	scripts/check-modules
	scripts/check-generations
	scripts/check-words
	scripts/check-environment
	scripts/check-dependencies

bench: test-dependencies build
	CARGO='$(CARGO)' scripts/bench $(OPTIONS)

compare: test-dependencies build
	scripts/compare '$(BENCH)' $(OPTIONS)

compare-code: dependencies
	@$(CARGO) build --quiet --release -p gencl-compiler
	@BASE='$(BASE)' DEVICE='$(DEVICE)' scripts/compare-code '$(KERNELS)' $(OPTIONS)

fuzz:
	CARGO='$(CARGO)' MINUTES='$(MINUTES)' scripts/fuzz $(T)

fuzz-ioctl:
	$(CARGO) build --release -p gencl-render-node
	"$$RELEASE/gencl-sim" --device $(DEVICE) -- "$$RELEASE/gencl-fuzz-ioctl" --seconds $$(($(MINUTES) * 60)) $(if $(SEED),--seed $(SEED))

fuzz-kernels: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) GENCL_DEBUG=validate "$$RELEASE/gencl-fuzz-kernels" --count $(COUNT) $(if $(SEED),--seed $(SEED))

fuzz-api: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) "$$RELEASE/gencl-fuzz-api" --seconds $$(($(MINUTES) * 60)) $(if $(SEED),--seed $(SEED))

stress: build
	$(CARGO) build --release -p gencl-utest
	$(DRIVER) "$$RELEASE/gencl-stress" --seconds $$(($(MINUTES) * 60)) --section '$(T)' --folder "$$RELEASE/../stress" $(if $(SEED),--seed $(SEED))

sanitize: build
	CARGO='$(CARGO)' MINUTES='$(MINUTES)' scripts/sanitize '$(S)' '$(T)'

install:
	@scripts/install

uninstall:
	@scripts/install --uninstall

deb:
	@CARGO='$(CARGO)' scripts/reproducible scripts/package-deb

wheel: dependencies
	@CARGO='$(CARGO)' scripts/reproducible scripts/dist wheel

dist: dependencies
	@CARGO='$(CARGO)' scripts/reproducible scripts/dist tarball

clean:
	$(CARGO) clean
