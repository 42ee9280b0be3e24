# make demo [REPO=path]   an environment, gitmem in it, and its main job on a repository (default: a scratch clone of this one)
# make test               an environment, and the tests
# make lint               ruff and mypy
# make acceptance         which acceptance rows have a test
# make bench              the measurements, as ratios
# make soak               whole-size races, fuzzing and evaluations
# make modern-git         a recent git beside the system's, for the second run of the tests (Debian, root)
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
RUN = $(BIN)/python -m pytest

.PHONY: demo test test-modern lint acceptance bench soak modern-git clean

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "gitmem needs Python 3.11 or later: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/ready
	@sh docs/demo.sh "$(abspath $(BIN))" "$(REPO)"

test: $(VENV)/ready
	$(RUN)

# The same tests under a recent git, in the formats announced for Git 3.0.
test-modern: $(VENV)/ready
	@if [ -x .modern-git/bin/git ]; then \
	    PATH="$(abspath .modern-git/bin):$$PATH" TEST_OBJECT_FORMAT=sha256 TEST_REF_FORMAT=reftable $(RUN); \
	else echo "not run: no recent git beside this one ('make modern-git' needs Debian and root)"; fi

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check -q .
	$(BIN)/mypy

acceptance: $(VENV)/ready
	@$(BIN)/python tests/acceptance.py

bench: $(VENV)/ready
	@sh bench/run.sh "$(abspath $(BIN))"

soak: $(VENV)/ready
	$(RUN) -m soak

modern-git:
	@tests/modern-git "$(abspath .modern-git)"

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache
