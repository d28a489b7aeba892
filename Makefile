# SPDX-License-Identifier: Apache-2.0
# Everything is built by meson; each target says what it shows.

SEED ?= 1
RUNS ?= 10000
OPS ?= 1000000
SECONDS ?= 60
JOBS ?= $(shell nproc)

PROOFS = $(CURDIR)/build/proofs.txt
export OVERSEER_PROOFS = $(PROOFS)
PG = tests/lib/with-postgres
PROGRAMS = overseerd overseer overseer-hold overseer.bash _overseer overseer.fish
PLANTED = act-before-commit no-version-check no-epoch-check step-again act-without-claim

# The three programs; tests are built by the targets that run them.
all: build/build.ninja
	@ninja -C build -j $(JOBS) $(PROGRAMS)

tests: build/build.ninja
	@ninja -C build -j $(JOBS)

build/build.ninja:
	@meson setup build >/dev/null

build/check/build.ninja:
	@meson setup build/check -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug -Doptimization=1 -Dc_args=-fno-sanitize-recover=undefined -Dcpp_args=-fno-sanitize-recover=undefined >/dev/null

build/tsan/build.ninja:
	@CC=clang meson setup build/tsan -Db_sanitize=thread -Db_lundef=false -Dbuildtype=debug -Doptimization=1 >/dev/null

# Under a minute, with ASan and UBSan: unit tests, the store's tests on SQLite, stories, a sample of the simulator.
check: build/check/build.ninja
	@ninja -C build/check build.ninja >/dev/null
	@ninja -C build/check -j $(JOBS) overseerd overseer $$(tests/lib/programs build/check unit)
	@meson test -C build/check --no-rebuild --suite unit --print-errorlogs
	@tests/e2e/smoke.py build/check/overseerd

# The rest of the tests with sanitizers, in the same build.
check-long: build/check/build.ninja
	@ninja -C build/check build.ninja >/dev/null
	@ninja -C build/check -j $(JOBS) overseerd overseer $$(tests/lib/programs build/check long)
	@meson test -C build/check --no-rebuild --suite long --print-errorlogs

# The daemon's threads.
tsan: build/tsan/build.ninja
	@ninja -C build/tsan -j $(JOBS) overseerd
	@tests/e2e/smoke.py build/tsan/overseerd
	@$(PG) sh -c 'tests/e2e/smoke.py build/tsan/overseerd "$$OVERSEER_TEST_PG"'

# The store's tests on PostgreSQL, and the plans of its queries.
store: tests
	@meson test -C build --no-rebuild --suite slow --print-errorlogs

# Random operations on a real store.
property: tests
	@build/tests/property --engine sqlite --ops $(OPS) --seed $(SEED)
	@$(PG) build/tests/property --engine postgres --ops $(OPS) --seed $(SEED)

story: build/build.ninja
	@ninja -C build -j $(JOBS) tests/story
	@$(PG) build/tests/story tests/stories/*.story

# Every interleaving within the budgets, and each planted bug found.
explore: tests
	@tests/prove/explore

sim: build/build.ninja
	@ninja -C build -j $(JOBS) tests/sim
	@build/tests/sim --seed $(SEED) --runs $(RUNS)

watchful: build/build.ninja
	@ninja -C build -j $(JOBS) tests/watchful
	@build/tests/watchful --seed $(SEED) --runs $(RUNS)

# Every face, and every agent program that is installed, in every scenario: an hour and more. Writes docs/agents.md.
e2e: tests
	@$(PG) tests/e2e/quick
	@$(PG) tests/e2e/displays
	@timeout 1800 tools/agents install || echo "some agent programs cannot be had; those are skipped"
	@tests/agents/whole.py --write; code=$$?; [ $$code = 77 ] && echo "skipped: no agent program is installed" || exit $$code
	@tests/agents/adopted.py; code=$$?; [ $$code = 77 ] || exit $$code
	@tests/bench/throughput.py goose claude-acp; code=$$?; [ $$code = 77 ] || exit $$code

# What holds an agent; tests/hold/run --full for all of it.
hold: tests
	@tests/hold/run

fault: tests
	@tests/fault/run

fuzz: all
	@tests/fuzz/run $(SECONDS)

bench: tests
	@tests/bench/run

# The two walks of ARCHITECTURE.md, recorded from the running programs.
walks:
	@tests/walks/walks.py

tidy:
	@tools/tidy

cover:
	@tests/prove/cover

# Each recipe of CONTRIBUTING.md, applied to a copy of the tree, built and shown working.
recipes: all
	@tests/recipes/run

# Everything in full, resumable; writes docs/proof.md.
prove: tests
	@tests/prove/prove

trace:
	@tools/trace

# The Debian package, into build/deb.
deb:
	@packaging/make-deb

install: all
	@DESTDIR="$(DESTDIR)" meson install -C build --no-rebuild

clean:
	@rm -rf build

.PHONY: all tests check check-long tsan store property story explore sim watchful e2e hold fault fuzz bench walks tidy cover recipes prove trace deb install clean
