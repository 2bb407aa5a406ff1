# `make run` and `make test` do all the set-up themselves: virtual environment, dependencies, system libraries, fonts.
#   TORCH_INDEX=URL   a package index to take torch from, such as PyTorch's CPU index: on Linux, plain torch is several GB
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCKS := .ci/locked-torch.txt .ci/locked.txt
VAULT ?= resources/vault
QUESTION ?= When is the server backed up?

.PHONY: run lock test soak fuzz simulate lint format bench bench-large readme picture frozen release audit clean
.DEFAULT_GOAL := run

$(READY): pyproject.toml .ci/system-packages $(LOCKS)
	@.ci/system-packages
	@echo "Installing the locked dependencies into $(VENV) (once; torch is large)"
	@TORCH_INDEX="$(TORCH_INDEX)" $(PYTHON) -m tests install
	@touch $@

# Writes the lock files anew, with the newest versions that pyproject.toml allows.
lock: $(READY)
	@PATH="$(CURDIR)/$(BIN):$$PATH" .ci/lock

run: $(READY)
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY$$QT_QPA_PLATFORM" ] || [ "$$(uname)" = Darwin ]; then \
	  exec $(BIN)/strata --vault $(VAULT); \
	else \
	  echo "There is no display, so here is the same conversation in the terminal."; \
	  $(BIN)/strata --vault $(VAULT) index && \
	  echo && echo "> $(QUESTION)" && $(BIN)/strata --vault $(VAULT) ask --no-index "$(QUESTION)" && \
	  echo && $(BIN)/strata --vault $(VAULT) context --last; \
	fi

lint: $(READY)
	@$(BIN)/python -m tests lint

test: $(READY)
	@$(BIN)/python -m tests lint run

# What takes too long for each change: everything marked `soak`, about 25 minutes on two cores.
#   HOURS=n   use the window and RPC for so many hours, with pauses as long as every timer
HOURS ?= 0
soak: $(READY)
	@HOURS="$(HOURS)" QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -m soak --timeout=7200 --durations=0

# The property tests with examples of their own in each run: FUZZ_RUNS times.
FUZZ_RUNS ?= 10
fuzz: $(READY)
	@for run in $$(seq $(FUZZ_RUNS)); do \
	  QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest --quiet --numprocesses=auto -m "hypothesis and not soak" --hypothesis-profile=fuzz || exit 1; \
	done

# Many events by chance over a disk that fails. A failure is shrunk, and SEED brings it back.
SEED ?= 1
EVENTS ?= 10000
simulate: $(READY)
	@PYTHONHASHSEED=0 QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.support.simulator --seed $(SEED) --events $(EVENTS)

# Writes BENCHMARKS.md. BENCHES="search start" runs only these, and the page keeps the rows of the others.
bench: $(READY)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.benchmarks --page $(BENCHES)

# What takes hours: 100,000 notes, and 1,000,000 vectors. With STRATA_BENCH_CACHE=FOLDER, an interrupted run goes on.
bench-large: $(READY)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.benchmarks --page --large $(BENCHES)

readme: $(READY)
	@$(BIN)/python -m tests.support.readme

picture: $(READY)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.support.pictures

# The program with all it needs in dist/strata, to copy to a computer without Python; then tried.
frozen: $(READY)
	@$(BIN)/python -m PyInstaller --noconfirm --log-level WARN --distpath dist --workpath build freeze/strata.spec
	@$(BIN)/python -m tests.support.processes.frozen_program dist/strata/strata

# Everything that is passed on to users, in dist, with checksums. It refuses a checkout with changes.
release: $(READY)
	@$(BIN)/python -m freeze.release

# Known weaknesses of the locked versions. It needs the Internet, and fails where a package cannot be looked up.
audit: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip-audit~=2.10"
	@$(BIN)/python -m pip_audit --strict --no-deps --disable-pip --requirement .ci/locked.txt

format: $(READY)
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

clean:
	rm -rf build dist /dev/shm/strata-tests-* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
