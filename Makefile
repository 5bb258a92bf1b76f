# Short names for CMake commands. The settings are in CMakePresets.json.

prefix = /usr/local
DESTDIR =
FUZZ_SECONDS = 20
KILLS = 500
FAULTS = 200
DEMO_POLICIES = eenet,neural-epsilon,neural-ucb,neural-ts,neural-linear,neural-linucb,squarecb,linucb,lints,kernelucb,kernelts,greedy,thompson,ucb1,uniform
# Ten seeds: with up to 25 comparisons on a data set, fewer seeds could not show a significant difference.
DEMO_SEEDS = 0-9
DEMO_ROUNDS = 600
JOBS := $(shell nproc)
# Debian's Python, whose packages cmake/setup.sh installs; the first python3 on the PATH may be another one.
PYTHON = /usr/bin/python3

# Release artefacts carry the date of the commit, so that a second build has the same bytes.
COMMIT_DATE = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

# Packs the folder build/$(1), of static pages, as build/eenet-$(1)-VERSION.tar.gz, with the same bytes each time.
pack_pages = rm -f build/eenet-$(1)-*.tar.gz && \
    tar --sort=name --mtime=@$(COMMIT_DATE) --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=gnu \
    --transform='s,^$(1),eenet-$(1)-$(VERSION),' -C build -cf build/eenet-$(1)-$(VERSION).tar $(1) && \
    gzip -9 -n build/eenet-$(1)-$(VERSION).tar

# Packs the npm package in the folder $(1), whose files are $(2). npm keeps their modes, which depend on the umask.
npm_pack = cd $(1) && chmod 644 $(2) && npm pack --silent >/dev/null

VERSION = $(shell sed -n 's/^\#define EE_VERSION "\(.*\)"$$/\1/p' include/eenet.h)

# Debian's name of the processor that 'make image' builds for: amd64, arm64 or both. A release has both.
NATIVE = $(shell dpkg --print-architecture)
ARCH = $(NATIVE)
image test-image: export SOURCE_DATE_EPOCH ?= $(COMMIT_DATE)

# CMake starts its own make, which must not inherit our flags and variables.
CMAKE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake
CLANG_FORMAT = $$(command -v clang-format-14 || echo clang-format)
SOURCES = find $(wildcard include src cli tests bench examples python) -name '*.[ch]' -o -name '*.cpp'

.NOTPARALLEL:
.PHONY: image test-image build debug demo test test-ci test-all test-other test-32 test-musl wasm playground python site \
    source sbom release record-release test-abi abi-library test-release-files wheels test-wheels javascript deb \
    test-deb torture torture-fleet load load-fleet exports evaluations fairness learning fast-day coverage warm-starts \
    guardrails limits promotions bench bench-record record mutants claims structure messages install uninstall \
    test-packages lint lint-format lint-cppcheck lint-includes lint-python format fuzz clean help

build: ## build the program, build/eenet, and the library (the default target)
	@cmake/setup.sh build
	@$(CMAKE) --preset release -DEENET_TESTS=OFF >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS)
	@ln -sfn release/eenet build/eenet

debug: ## build build/debug/eenet and the unit tests with symbols and without optimisation, for gdb and valgrind
	@cmake/setup.sh build test
	@$(CMAKE) --preset debug >/dev/null
	@$(CMAKE) --build --preset debug -j $(JOBS)

demo: build ## run 15 policies on Fashion-MNIST and a built-in problem, and write build/demo/report.html
	@cmake/setup.sh demo
	@rm -rf build/demo
	build/eenet run -d fashion-mnist -d synthetic:cosine -p $(DEMO_POLICIES) -T $(DEMO_ROUNDS) -s $(DEMO_SEEDS) -o build/demo
	build/eenet report build/demo

test: ## run the unit tests and one journey through program, server, Python and library: five minutes with compiling
	@tests/tools/run_tier.py test

test-ci: ## run what .ci/run runs: also sanitizers, PostgreSQL, browser, MPI, packages, the other architecture, lint; STEPS selects
	@tests/tools/run_tier.py ci $(STEPS)

test-all: ## run everything in its long form, for a night: also kills, fuzzers, mutants, all packages; STEPS selects
	@tests/tools/run_tier.py all $(STEPS)

test-other: ## run unit tests and commands on the other architecture (x86-64 or aarch64) by qemu-user
	@cmake/setup.sh test-other
	@$(CMAKE) --preset other >/dev/null
	@$(CMAKE) --build --preset other -j $(JOBS) --target test_programs eenet
	ctest --preset other -j $(JOBS)

test-32: ## run the library's unit tests built for 32-bit x86
	@cmake/setup.sh test-32
	@$(CMAKE) --preset 32-bit >/dev/null
	@$(CMAKE) --build --preset 32-bit -j $(JOBS)
	ctest --preset 32-bit -j $(JOBS)

test-musl: ## build library and program (without the server) with musl, as one static file, and run them
	@cmake/setup.sh test-musl
	tests/install/musl.sh . build/musl

wasm: ## build the library for browsers, with its JavaScript, in build/wasm/, and the npm package of both
	@cmake/setup.sh wasm javascript
	@$(CMAKE) --preset wasm >/dev/null
	@$(CMAKE) --build --preset wasm -j $(JOBS)
	@rm -f build/wasm/*.tgz
	@$(call npm_pack,build/wasm,*.* LICENSE)
	@ls build/wasm/*.tgz

playground: ## build build/playground/, a page that shows how EE-Net learns, for any web server, and an archive of it
	@cmake/setup.sh wasm
	@$(CMAKE) --preset wasm >/dev/null
	@rm -rf build/playground
	@$(CMAKE) --build --preset wasm -j $(JOBS) --target playground
	@$(call pack_pages,playground)

python: ## build the Python wheel and sdist in build/python/
	@cmake/setup.sh build python
	@$(CMAKE) --preset release -DEENET_TESTS=OFF -DEENET_PYTHON=ON -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS)
	@mkdir -p build/python && rm -f build/python/*.whl build/python/*.tar.gz
	@EENET_BUILT=$(CURDIR)/build/release $(PYTHON) -m pip -q wheel . --no-build-isolation --no-deps -w build/python
	@$(PYTHON) -W ignore setup.py -q sdist -d build/python
	@ls build/python/*.whl build/python/*.tar.gz

site: playground ## build the web site in build/site/, with the playground, and an archive of it
	@cmake/setup.sh build python site
	@$(CMAKE) --preset release -DEENET_TESTS=OFF -DEENET_PYTHON=ON -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target python_core python_lab
	@SOURCE_DATE_EPOCH=$(COMMIT_DATE) $(PYTHON) -B site/build.py . build/release/python build/site build/playground
	@$(PYTHON) -B tests/tools/check_site.py build/site
	@$(call pack_pages,site)

source: ## write the source of HEAD as build/source/eenet-source-VERSION.tar.gz and .tar.xz
	@cmake/setup.sh release
	release/source.sh

sbom: ## list the packages that the artefacts and the images in build/image/ contain or need, in SPDX 2.3, in build/sbom/
	@cmake/setup.sh build python wasm site release
	@$(CMAKE) -S . -B build/sbom/objects -DCMAKE_BUILD_TYPE=Release -DEENET_MPI=OFF -DEENET_TESTS=OFF -DEENET_PYTHON=ON \
	    -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null
	@$(CMAKE) --build build/sbom/objects -j $(JOBS)
	@rm -f build/sbom/*.json
	@SOURCE_DATE_EPOCH=$(COMMIT_DATE) $(PYTHON) -B release/sbom.py . build/sbom/objects \
	    $(sort $(wildcard build/image/eenet-$(VERSION)-*.oci.tar)) >build/sbom/eenet-$(VERSION).spdx.json
	@$(PYTHON) -B tests/tools/check_sbom.py build/sbom/eenet-$(VERSION).spdx.json

release: ## build all artefacts of the tagged version in build/release-files/; RELEASE=snapshot: of any tree; PARTS selects
	@release/release.sh $(or $(RELEASE),release) $(PARTS)

record-release: ## record what users of this version rely on, in tests/releases/VERSION/, for the test 'releases'
	@cmake/setup.sh build python
	@$(CMAKE) --preset release -DEENET_TESTS=OFF -DEENET_PYTHON=ON -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS)
	$(PYTHON) -B tests/releases/server.py record build/release/eenet tests/releases/$(VERSION)
	$(PYTHON) -B tests/releases/interface.py build/release/eenet . build/release/python >tests/releases/$(VERSION)/interface.txt
	@$(MAKE) -s abi-library
	tests/releases/abi.sh record . build/abi/native/libeenet.so
	tests/releases/abi.sh record . build/abi/other/libeenet.so

test-abi: abi-library ## compare types and symbols of the library for x86-64 and aarch64 with those of releases, by abidiff
	tests/releases/abi.sh check . build/abi/native/libeenet.so
	tests/releases/abi.sh check . build/abi/other/libeenet.so

# The library with debug information, which abidiff reads; also cross-built for the other of x86-64 and aarch64.
abi-library:
	@cmake/setup.sh build abi
	@for machine in native other; do \
	    toolchain=; [ $$machine = native ] || toolchain='--toolchain cmake/other.cmake'; \
	    $(CMAKE) -S . -B build/abi/$$machine -DCMAKE_BUILD_TYPE=Debug -DEENET_PROGRAM=OFF -DEENET_TESTS=OFF \
	        $$toolchain >/dev/null && \
	    $(CMAKE) --build build/abi/$$machine -j $(JOBS) >/dev/null || exit 1; \
	done

test-release-files: ## build the release of HEAD twice, in two folders, and compare the bytes; PARTS selects
	tests/tools/test_release_files.sh . build/test-release-files $(PARTS)

wheels: export SOURCE_DATE_EPOCH ?= $(COMMIT_DATE)
wheels: ## build wheels for any Linux with glibc 2.28 (x86-64 and aarch64) and the sdist in build/wheels/
	@cmake/setup.sh build python wheels
	@rm -rf build/wheels build/python/work/eenet.egg-info
	@for preset in wheel wheel-other; do \
	    $(CMAKE) --preset $$preset -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null && \
	    $(CMAKE) --build --preset $$preset -j $(JOBS) && \
	    EENET_BUILT=$(CURDIR)/build/$$preset $(PYTHON) -W ignore setup.py -q bdist_wheel -d build/wheels \
	        -p manylinux_2_28_$$(sed -n 's/^set(CMAKE_SYSTEM_PROCESSOR "\(.*\)")$$/\1/p' build/$$preset/CMakeFiles/*/CMakeSystem.cmake) || exit 1; \
	done
	@$(PYTHON) -W ignore setup.py -q sdist -d build/wheels
	@$(PYTHON) tests/install/check_wheel.py build/wheels/*.whl
	@ls build/wheels/*

test-wheels: wheels ## install the wheels and the sdist in Debian 11 to 13 and by qemu-user, and build them in another folder
	@cmake/setup.sh test-wheels
	tests/install/wheels_again.sh build/wheels build/test-wheels
	tests/install/wheels.sh build/wheels build/test-wheels

javascript: ## build the npm package of the JavaScript client in build/javascript/
	@cmake/setup.sh javascript
	@rm -rf build/javascript && mkdir -p build/javascript/package
	@cp -R clients/javascript/. build/javascript/package
	@$(call npm_pack,build/javascript/package,*.* LICENSE src/*)
	@mv build/javascript/package/*.tgz build/javascript/
	@ls build/javascript/*.tgz

deb: ## build Debian packages for amd64 and arm64 in build/deb/; ARCHITECTURES selects one
	@cmake/setup.sh deb
	@debian/build.sh build/deb $(ARCHITECTURES)
	@ls build/deb/*.deb

test-deb: deb ## test the Debian packages: reproducible, lintian, autopkgtest, upgrade and purge in a fresh system
	@cmake/setup.sh test-deb
	tests/deb/test_deb.sh build/deb build/test-deb

torture: ## kill the server KILLS times (default: 500) under load, and as often with simulated power loss: nothing is lost
	@cmake/setup.sh build test
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet leaky_disk
	rm -rf build/torture && mkdir -p build/torture
	cd build/torture && EENET_LEAKY_DISK=$(CURDIR)/build/release/tests/libleaky_disk.so \
	    python3 -B ../../tests/serve/torture.py ../release/eenet $(KILLS)

torture-fleet: ## FAULTS random faults (default: 200) of KINDS (default: all), with three servers on PostgreSQL under load: nothing is lost
	@cmake/setup.sh build test test-ci
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet moved_clock
	python3 -B tests/fleet/torture.py build/release/eenet --faults $(FAULTS) --check-takeovers $(if $(SEED),--seed $(SEED)) \
	    $(if $(KINDS),--kinds $(KINDS))

load: ## measure the server: decisions, durable rewards, both for ten minutes, and 10,000 idle connections
	@cmake/setup.sh build test load
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	bench/serve/load.sh build/release/eenet 10 600
	python3 -B tests/serve/limits.py build/release/eenet 10000

load-fleet: ## measure one and three servers on PostgreSQL next to SQLite, and predict larger fleets: about 20 minutes
	@cmake/setup.sh build test test-ci load
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	mkdir -p build/load-fleet
	python3 -B bench/fleet/load.py build/release/eenet --output build/load-fleet/load.json
	python3 -B bench/fleet/profile_decision.py build/release/eenet build/release --output build/load-fleet/profile.json
	python3 -B bench/fleet/model.py build/load-fleet/load.json build/load-fleet/profile.json
	python3 -B bench/fleet/two_databases.py build/release/eenet

exports: ## measure what eight concurrent exports of the log cost decisions
	@cmake/setup.sh build test load
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	bench/serve/exports.sh build/release/eenet

evaluations: ## measure 'eenet evaluate' on ROUNDS rounds (default: 1000000), next to the least time that its parts allow
	@cmake/setup.sh build
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	bench/evaluate.sh build/release/eenet $(or $(ROUNDS),1000000)

fairness: ## measure for SECONDS (default: 600) whether a bandit that is expensive to train delays another one
	@cmake/setup.sh build test
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	python3 bench/serve/fairness.py build/release/eenet $(or $(SECONDS),600)

learning: ## measure how fast a bandit learns on SQLite, on PostgreSQL and behind a slow network; PROGRAMS: other builds of eenet
	@cmake/setup.sh build test test-ci
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target eenet
	python3 -B bench/serve/learning.py build/release/eenet $(PROGRAMS)

fast-day: ## simulate a day of two million requests with clock jumps and restarts, and compare the join with plain SQL
	@cmake/setup.sh build test
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target unit_serve
	cd build && EENET_TEST_LONG=1 release/tests/unit/unit_serve test_fast_day

coverage: ## measure how often confidence intervals cover the true value on DATASETS (default: synthetic:clicks); FLAGS: see bench/studies
	@cmake/setup.sh build
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target studies
	build/release/bench/studies coverage $(FLAGS) $(or $(DATASETS),synthetic:clicks)

warm-starts: ## measure how much a log helps a new bandit on DATASETS (default: synthetic:clicks); FLAGS: see bench/studies
	@cmake/setup.sh build
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target studies
	build/release/bench/studies warm-starts $(FLAGS) $(or $(DATASETS),synthetic:clicks)

guardrails: ## simulate guardrails and drift detection: false alarms, and how soon harm is found; FLAGS: see bench/studies
	@cmake/setup.sh build
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target studies
	build/release/bench/studies guardrails $(FLAGS)

limits: ## measure what budgets and shares cost and that caps hold, on problems whose optimum is known; FLAGS: see bench/studies
	@cmake/setup.sh build
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target studies
	build/release/bench/studies limits $(FLAGS)

promotions: ## simulate live evaluation: how often it promotes a worse challenger, and how soon a better one
	@cmake/setup.sh build test
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS) --target unit_serve
	build/release/tests/unit/unit_serve test_promotions --run 400

bench: build ## measure speed; FILTER selects parts (see 'eenet help bench'), EENET_DATA is the folder with yelp/ and mnist/
	build/eenet bench -o build/bench $(if $(EENET_DATA),-d "$(EENET_DATA)") $(FILTER)

bench-record: build ## record the instruction counts that the test 'guard' compares with
	@cmake/setup.sh test test-ci
	@$(CMAKE) --build --preset release --target bench_record

record: ## record the decisions of short runs that the test 'record' compares with, bit for bit
	@cmake/setup.sh build test
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build --preset release --target record_write

mutants: ## apply each error of tests/mutants.txt to a copy of the tree and check that a test fails; WORDS selects some
	@cmake/setup.sh build test python test-python
	$(PYTHON) tests/tools/mutants.py -j $(JOBS) $(WORDS)

claims: ## measure every number that README.md and docs/ state, and write it there: hours; NAMES selects (bench/claims.py list)
	@cmake/setup.sh build test test-ci python test-python load
	@$(CMAKE) --preset release -DEENET_PYTHON=ON -DEENET_PYTHON_EXECUTABLE=$(PYTHON) >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS)
	bench/claims.py run $(NAMES)

structure: ## draw the folders and what they use in docs/architecture.md
	$(PYTHON) tests/tools/structure.py --write .

messages: ## write tests/messages.txt: every sentence that we print
	$(PYTHON) tests/tools/messages.py . >tests/messages.txt

install: build ## install under prefix (default: /usr/local), staged in DESTDIR (optional)
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(prefix)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall: ## remove everything that 'make install' installed under the same prefix and DESTDIR
	@DESTDIR="$(DESTDIR)" cmake/uninstall.sh build/release "$(prefix)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

image: ## build build/image/eenet-VERSION-ARCH.oci.tar, a container image of the server; ARCH: amd64, arm64 or both, in quotes
	@cmake/setup.sh build image $(if $(filter-out $(NATIVE),$(ARCH)),test-other)
	@for architecture in $(ARCH); do \
	    toolchain=; [ $$architecture = $(NATIVE) ] || toolchain='--toolchain cmake/other.cmake'; \
	    $(CMAKE) -S . -B build/image/$$architecture -DCMAKE_BUILD_TYPE=Release -DEENET_MPI=OFF -DEENET_TESTS=OFF \
	        $$toolchain >/dev/null && \
	    $(CMAKE) --build build/image/$$architecture -j $(JOBS) --target eenet && \
	    cmake/image.sh build/image/$$architecture/eenet $(VERSION) $$architecture build/image || exit 1; \
	done

# Also the image for the other architecture, whatever ARCH says: it runs in qemu-user.
test-image: override ARCH = amd64 arm64
test-image: image ## build the image again and compare bytes; run it in podman without network (as root), and the other in qemu-user
	@cmake/setup.sh test-image
	@$(CMAKE) -S . -B build/image/again -DCMAKE_BUILD_TYPE=Release -DEENET_MPI=OFF -DEENET_TESTS=OFF >/dev/null
	@$(CMAKE) --build build/image/again -j $(JOBS) --target eenet
	@cmake/image.sh build/image/again/eenet $(VERSION) $(NATIVE) build/image/again
	cmp build/image/eenet-$(VERSION)-$(NATIVE).oci.tar build/image/again/eenet-$(VERSION)-$(NATIVE).oci.tar
	$(PYTHON) -B tests/image/run.py build/image/eenet-$(VERSION)-$(NATIVE).oci.tar
	$(PYTHON) -B tests/image/run.py build/image/eenet-$(VERSION)-$(filter-out $(NATIVE),$(ARCH)).oci.tar

test-packages: test-musl test-32 test-abi test-deb test-wheels test-image test-release-files ## all tests of what is installed elsewhere: packages, image, musl, 32 bits, ABI, the release built twice (as root)

lint: lint-format lint-cppcheck lint-includes lint-python ## check layout, includes, cppcheck and Python types

lint-format:
	@cmake/setup.sh lint
	$(SOURCES) | xargs $(CLANG_FORMAT) --dry-run -Werror

lint-cppcheck:
	@cmake/setup.sh lint
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr --max-configs=1 \
	    --suppress=missingIncludeSystem --library=python -j $(JOBS) -Iinclude -Isrc -Ipython/src \
	    src cli bench tests/fuzz python/src

lint-includes:
	tests/tools/check_includes.sh

lint-python:
	@cmake/setup.sh lint
	$(PYTHON) -m pyflakes setup.py python $(wildcard bench/python)
	MYPYPATH=python $(PYTHON) -m mypy -p eenet

format: ## format all C sources
	@cmake/setup.sh lint
	$(SOURCES) | xargs $(CLANG_FORMAT) -i

fuzz: ## run each fuzzer for FUZZ_SECONDS (default: 20)
	@cmake/setup.sh build fuzz
	@$(CMAKE) --preset fuzz -DEENET_FUZZ_SECONDS=$(FUZZ_SECONDS) >/dev/null
	@$(CMAKE) --build --preset fuzz -j $(JOBS)
	ctest --preset fuzz

clean: ## remove build/
	rm -rf build

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile
